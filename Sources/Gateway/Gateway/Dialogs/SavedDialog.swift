import Foundation
import Primitives
import SIP
import UserAgent

/// A dialog as gateways that share a database keep it for each other: texts, and all that a BYE in it needs.
public struct SavedDialog: Sendable, Equatable {
    /// The call that it is the dialog of.
    public var call: UUID
    /// The number of the line that has the call.
    public var line: String
    /// The call at the other end of the conversation; nil where there was none when the row was written.
    public var peer: UUID?
    public var callID: String
    /// From and To of requests of the gateway, with their tags.
    public var local: String, remote: String
    /// The CSeq number of its last request.
    public var sequence: UInt32
    /// The proxies that its requests pass, in their order.
    public var routes: [String]
    /// The far end's last Contact.
    public var target: String
    /// Whether every request in it must use TLS.
    public var isSecure: Bool
    /// `udp`, `tcp`, `tls`, `ws` or `wss`.
    public var transport: String
    /// The far end of the way that messages took, and the name that its certificate had; empty: none.
    public var address: String, serverName: String
    /// The number of the line whose trunk the far end is; nil: it is none.
    public var trunk: String?

    public init(
        call: UUID, line: String, peer: UUID?, callID: String, local: String, remote: String, sequence: UInt32, routes: [String],
        target: String, isSecure: Bool, transport: String, address: String, serverName: String, trunk: String? = nil
    ) {
        (self.call, self.line, self.peer, self.callID) = (call, line, peer, callID)
        (self.local, self.remote, self.sequence, self.routes) = (local, remote, sequence, routes)
        (self.target, self.isSecure, self.transport) = (target, isSecure, transport)
        (self.address, self.serverName, self.trunk) = (address, serverName, trunk)
    }
}

extension SavedDialog {
    /// Requests of which other gateways do not know that may have been sent in a dialog since its row was written.
    static let unknownRequests: UInt32 = 1_000

    /// Nil where the call has no dialog yet.
    init?(_ leg: Leg, peer: UUID?) {
        guard let session = leg.session, let dialog = session.dialog else { return nil }
        let flow = session.flow
        self.init(
            call: leg.uuid, line: leg.line.configuration.number.description, peer: peer, callID: dialog.callID.description,
            local: dialog.local.description, remote: dialog.remote.description, sequence: dialog.localSequence,
            routes: dialog.routeSet.map(\.description), target: dialog.remoteTarget.text.description, isSecure: dialog.isSecure,
            transport: flow.transport.text.description, address: flow.remote.description, serverName: flow.peer.description,
            trunk: leg.trunk?.line.description)
    }

    /// The dialog as another gateway can go on with it, and the server that messages went to; nil for what cannot be read.
    func restored() -> (dialog: Dialog, server: ServerPool.Member)? {
        guard let local = try? NameAddress(parsing: Text(local)), let remote = try? NameAddress(parsing: Text(remote)),
            let target = try? URI(parsing: Text(target)), let transport = Transport(text: Text(transport)),
            let address = SocketAddress(address, defaultPort: transport.standardPort)
        else { return nil }
        let dialog = Dialog(
            callID: Text(callID), local: local, remote: remote, routeSet: routes.compactMap { try? NameAddress(parsing: Text($0)) },
            remoteTarget: target, localSequence: min(sequence, .max / 2 - Self.unknownRequests) + Self.unknownRequests, isSecure: isSecure)
        return (dialog, ServerPool.Member(.init(transport, address), name: Text(serverName)))
    }
}

/// A dialog whose gateway has died.
public struct OrphanedDialog: Sendable, Equatable {
    public var dialog: SavedDialog
    /// The gateway that had it.
    public var node: String

    public init(_ dialog: SavedDialog, node: String) { (self.dialog, self.node) = (dialog, node) }
}

/// Calls of gateways that have died, for this one to end.
public struct OrphanedCalls: Sendable, Equatable {
    public var dialogs: [OrphanedDialog]
    /// Recents of theirs whose end nobody has written.
    public var recents: [RecentCall]

    public init(dialogs: [OrphanedDialog], recents: [RecentCall]) { (self.dialogs, self.recents) = (dialogs, recents) }
}
