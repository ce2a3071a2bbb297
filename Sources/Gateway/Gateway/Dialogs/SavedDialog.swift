import Foundation
import Primitives
import SIP
import UserAgent

/// A dialog as gateways that share a database keep it for each other: texts, and all that a BYE in it needs. Before the answer it is what
/// ends the call.
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
    /// Before the answer, the message that ends the call: a CANCEL or a refusal. There is no dialog for a BYE then: the fields from `local`
    /// to `isSecure` say no more than whom the call is with. Nil: the call was answered.
    public var lastWord: String?
    /// The call, for who goes on with it; nil: it was not answered, or an earlier version wrote the row.
    public var answered: SavedCall?

    public init(
        call: UUID, line: String, peer: UUID?, callID: String, local: String, remote: String, sequence: UInt32, routes: [String],
        target: String, isSecure: Bool, transport: String, address: String, serverName: String, trunk: String? = nil,
        lastWord: String? = nil, answered: SavedCall? = nil
    ) {
        (self.call, self.line, self.peer, self.callID) = (call, line, peer, callID)
        (self.local, self.remote, self.sequence, self.routes) = (local, remote, sequence, routes)
        (self.target, self.isSecure, self.transport) = (target, isSecure, transport)
        (self.address, self.serverName, self.trunk, self.lastWord) = (address, serverName, trunk, lastWord)
        self.answered = answered
    }
}

extension SavedDialog {
    /// Requests of which other gateways do not know that may have been sent in a dialog since its row was written.
    static let unknownRequests: UInt32 = 1_000

    /// Nil where the call is between its answer and the dialog, or over.
    /// - Parameter answered: when the call was, as far as it is.
    init?(_ leg: Leg, in table: CallTable, answered: Date) {
        let peer = table.peer(of: leg)?.uuid
        switch leg.state {
        case .connected: self.init(confirmed: leg, peer: peer, SavedCall(leg, in: table, answered: answered))
        case .ended: return nil
        default:
            guard let adoption = leg.destination?.value.adoption else { self.init(unanswered: leg, peer: peer); return }
            self.init(confirmed: leg, peer: peer, adoption.call)
        }
    }

    private init?(unanswered leg: Leg, peer: UUID?) {
        guard let session = leg.session, let word = session.lastWord(reasons: EndCause.gatewayLost.reasons) else { return nil }
        let request = session.request, farEnd = session.dialog?.remoteTarget ?? request.requestURI
        self.init(
            call: leg.uuid, line: leg.line.configuration.number.description, peer: peer, callID: request.callID.description, local: "",
            remote: "", sequence: 0, routes: [], target: farEnd?.text.description ?? "", isSecure: false,
            transport: word.flow.transport.text.description, address: word.flow.remote.description,
            serverName: word.flow.peer.description, trunk: leg.trunk?.line.description,
            lastWord: String(decoding: word.message, as: UTF8.self))
    }

    private init?(confirmed leg: Leg, peer: UUID?, _ call: SavedCall) {
        guard let session = leg.session, let dialog = session.dialog else { return nil }
        let flow = session.flow
        self.init(
            call: leg.uuid, line: leg.line.configuration.number.description, peer: peer, callID: dialog.callID.description,
            local: dialog.local.description, remote: dialog.remote.description, sequence: dialog.localSequence,
            routes: dialog.routeSet.map(\.description), target: dialog.remoteTarget.text.description, isSecure: dialog.isSecure,
            transport: flow.transport.text.description, address: flow.remote.description, serverName: flow.peer.description,
            trunk: leg.trunk?.line.description, answered: call)
    }

    /// The far end of the way that messages took; nil for what cannot be read.
    var server: ServerPool.Member? {
        guard let transport = Transport(text: Text(transport)),
            let address = SocketAddress(address, defaultPort: transport.standardPort)
        else { return nil }
        return ServerPool.Member(.init(transport, address), name: Text(serverName))
    }

    /// Each `id` that the call may have in recents. Only a call that came is in them.
    public var recentIDs: Set<UUID> { attemptID.map { [call, $0] } ?? [call] }

    private var attemptID: UUID? {
        guard let lastWord else {
            return (try? NameAddress(parsing: Text(remote))).map { RecentCall.id(ofAttempt: InviteSession.attempt(Text(callID), $0.tag)) }
        }
        guard let word = try? Message(parsing: Array(lastWord.utf8)), word.status != nil else { return nil }
        return RecentCall.id(ofAttempt: InviteSession.attempt(word.callID, word.from.tag))
    }

    /// The dialog as another gateway can go on with it; nil for what cannot be read.
    func restored() -> Dialog? {
        guard let local = try? NameAddress(parsing: Text(local)), let remote = try? NameAddress(parsing: Text(remote)),
            let target = try? URI(parsing: Text(target))
        else { return nil }
        return Dialog(
            callID: Text(callID), local: local, remote: remote, routeSet: routes.compactMap { try? NameAddress(parsing: Text($0)) },
            remoteTarget: target, localSequence: min(sequence, .max / 2 - Self.unknownRequests) + Self.unknownRequests, isSecure: isSecure)
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
