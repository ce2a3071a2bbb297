import CallKit
import Foundation
import Primitives
import SIP
import UserAgent

/// The kept state of one line.
public struct LineRecord: Sendable, Equatable {
    /// Nil: as the configuration has it.
    public var doNotDisturb: DoNotDisturbState?
    /// Keys of callers that the human blocked while the gateway ran.
    public var blocked: Set<String> = []
    /// The newest first.
    public var recents: [RecentCall] = []
    /// Push bindings of devices that sleep.
    public var pushBindings: [PushBinding] = []
    /// Messages in its mailbox, the newest first.
    public var messages: [MailboxMessage] = []

    public init() {}
}

/// All that was kept when the gateway ran last.
public struct KeptState: Sendable, Equatable {
    /// By number.
    public private(set) var lines: [String: LineRecord] = [:]
    /// The registrations of all lines; those that have ended among them.
    public var registrations: [SavedRegistration] = []

    public init() {}

    /// The kept state of a line by its number; empty where nothing was kept.
    public subscript(line: String) -> LineRecord {
        get { lines[line] ?? LineRecord() }
        set { lines[line] = newValue }
    }

    /// Gives the kept state of other lines than these.
    func without(_ numbers: [String]) -> KeptState {
        var rest = KeptState()
        rest.lines = lines
        for number in numbers { rest.lines[number] = nil }
        return rest
    }
}

/// Something that is to survive a restart.
public enum LineChange: Sendable, Equatable {
    /// In the place of what was kept of the same call and line before.
    case recent(RecentCall)
    /// The recents of the line do not have the call after all.
    case noRecent(line: String, id: UUID, RecentCall.Direction)
    case doNotDisturb(line: String, DoNotDisturbState)
    /// The caller by its key.
    case blocked(line: String, caller: String, Bool)
    /// All of a line's.
    case pushBindings(line: String, [PushBinding])
    /// All of a user's.
    case registrations(user: String, [SavedRegistration])
    /// In the place of what was kept of the same message before.
    case message(MailboxMessage)
    case noMessage(line: String, id: UUID)
}

/// Keeps lines over a restart. Called on the signalling lane: it returns at once, and never fails there.
public protocol LineStore: AnyObject, Sendable {
    func keep(_ change: LineChange)
}

/// A registration as it can be kept: texts, and dates of the wall clock.
public struct SavedRegistration: Sendable, Equatable {
    public var user: String
    /// The Contact, with its parameters.
    public var contact: String
    /// Its Path, as a route set.
    public var path: String
    /// `udp`, `tcp` or `tls`.
    public var transport: String
    public var local: String, remote: String
    public var userAgent: String?
    public var callID: String
    public var cseq: UInt32
    public var refreshed: Date, expiry: Date

    public init(
        user: String, contact: String, path: String, transport: String, local: String, remote: String, userAgent: String?, callID: String,
        cseq: UInt32,
        refreshed: Date, expiry: Date
    ) {
        (self.user, self.contact, self.path, self.transport) = (user, contact, path, transport)
        (self.local, self.remote, self.userAgent, self.callID, self.cseq) = (local, remote, userAgent, callID, cseq)
        (self.refreshed, self.expiry) = (refreshed, expiry)
    }
}

extension SavedRegistration {
    init(_ contact: Registrar.Contact, user: Text, epoch: Date) {
        let flow = contact.origin
        self.init(
            user: user.description,
            contact: NameAddress(displayName: contact.displayName, uri: contact.uri, parameters: contact.parameters).description,
            path: contact.path.map(\.description).joined(separator: ", "), transport: flow.transport.text.description,
            local: flow.local.description,
            remote: flow.remote.description, userAgent: contact.userAgent?.description, callID: contact.callID.description,
            cseq: contact.cseq,
            refreshed: epoch.addingTimeInterval(Double(contact.refreshed.nanoseconds) / 1e9),
            expiry: epoch.addingTimeInterval(Double(contact.expiry.nanoseconds) / 1e9))
    }

    /// nil for what cannot be read. A connection did not survive: one that is lost is opened again towards the device, as far as that is
    /// possible.
    /// If the wall clock was set back meanwhile, the contact lasts no longer than was granted.
    func contact(epoch: Date, at now: Instant) -> Registrar.Contact? {
        guard let parsed = try? NameAddress(parsing: Text(contact)), let transport = Transport(text: Text(transport)),
            let local = SocketAddress(local, defaultPort: 5060), let remote = SocketAddress(remote, defaultPort: 5060)
        else { return nil }
        // Only the browser could have opened its connection again.
        if transport.isWebSocket, !parsed.uri.parameters.contains("pn-prid" as StaticString) { return nil }
        let granted = Duration.milliseconds(Int64(max(0, min(expiry.timeIntervalSince(refreshed), Double(Int32.max))) * 1_000))
        return Registrar.Contact(
            uri: parsed.uri, displayName: parsed.displayName, parameters: parsed.parameters, path: routes,
            origin: Flow(transport: transport, local: local, remote: remote),
            userAgent: userAgent.map { Text($0) }, callID: Text(callID), cseq: cseq, refreshed: min(Self.instant(refreshed, epoch), now),
            expiry: min(Self.instant(expiry, epoch), now + granted))
    }

    private var routes: [NameAddress] {
        path.isEmpty ? [] : path.components(separatedBy: ", ").compactMap { try? NameAddress(parsing: Text($0)) }
    }

    private static func instant(_ date: Date, _ epoch: Date) -> Instant {
        Instant(nanoseconds: UInt64(max(0, date.timeIntervalSince(epoch) * 1e9)))
    }
}
