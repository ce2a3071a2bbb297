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

    /// The whole state, in parts; lines and users of which nothing is kept have empty ones, where they are named.
    func updates(of numbers: [String], users: [String]) -> [KeptUpdate] {
        let byUser = Dictionary(grouping: registrations, by: \.user)
        return Set(lines.keys).union(numbers).sorted().flatMap { number in
            let record = self[number]
            return [
                record.doNotDisturb.map { .doNotDisturb(line: number, $0) }, .blocked(line: number, record.blocked),
                .pushBindings(line: number, record.pushBindings), .recents(line: number, record.recents),
                .messages(line: number, record.messages),
            ].compactMap(\.self) as [KeptUpdate]
        } + Set(byUser.keys).union(users).sorted().map { .registrations(user: $0, byUser[$0] ?? []) }
    }

    /// Takes a part of the state of a line in the place of what was there.
    mutating func adopt(_ update: KeptUpdate) {
        switch update {
        case .doNotDisturb(let line, let state): self[line].doNotDisturb = state
        case .blocked(let line, let callers): self[line].blocked = callers
        case .pushBindings(let line, let bindings): self[line].pushBindings = bindings
        case .recents(let line, let calls): self[line].recents = calls
        // They would grow without a bound while no such line is there.
        case .recent: break
        case .messages(let line, let messages): self[line].messages = messages
        case .registrations(let user, let saved): registrations = registrations.filter { $0.user != user } + saved
        }
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
    /// In the place of the row of the same call.
    case dialog(SavedDialog)
    /// The call is over.
    case noDialog(UUID)
    /// In the place of what was kept of the trunk of this line, while its lease is this gateway's.
    case trunk(line: String, TrunkState)
}

/// A part of the kept state as the store has it: written by another gateway, or before this one found its store.
public enum KeptUpdate: Sendable, Equatable {
    case doNotDisturb(line: String, DoNotDisturbState)
    /// All keys of callers that the line's users have blocked.
    case blocked(line: String, Set<String>)
    /// All of a line's.
    case pushBindings(line: String, [PushBinding])
    /// All of a user's that this gateway can call.
    case registrations(user: String, [SavedRegistration])
    /// All of a line's, the newest first.
    case recents(line: String, [RecentCall])
    /// One more, or another state of one.
    case recent(RecentCall)
    /// All of a line's, the newest first.
    case messages(line: String, [MailboxMessage])
}

/// Keeps lines over a restart. Called on the signalling lane: it returns at once, and never fails there.
public protocol LineStore: AnyObject, Sendable {
    func keep(_ change: LineChange)

    /// Whether the state that the store has read is to be taken for the line's: false where a change of ours came in between. Called once
    /// for each, before it is taken.
    func takes(_ update: KeptUpdate) -> Bool

    /// Other gateways end the calls of this one when it dies, by the rows of its dialogs.
    var sharesCalls: Bool { get }

    /// Several gateways share the store, and one of them at a time registers a trunk and checks its servers.
    var leasesTrunks: Bool { get }

    /// Asks for the leases of the trunks of these lines from now on, and gives those of all others up.
    func contend(for trunks: [String])
}

extension LineStore {
    /// A store that nobody else writes to has nothing to tell.
    public func takes(_ update: KeptUpdate) -> Bool { true }
    public var sharesCalls: Bool { false }
    public var leasesTrunks: Bool { false }
    public func contend(for trunks: [String]) {}
}

/// Figures of a store that a monitor asks for.
public struct LineStoreFigures: Sendable, Equatable {
    /// Changes are written at present.
    public var isUp: Bool
    /// Changes that wait to be written.
    public var waiting: Int
    /// Changes that were given up, in this run.
    public var lost: Int

    public init(isUp: Bool, waiting: Int, lost: Int) { (self.isUp, self.waiting, self.lost) = (isUp, waiting, lost) }
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
    /// Another gateway, which shares the store, wrote it.
    public var isElsewhere = false

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
        var contact = Registrar.Contact(
            uri: parsed.uri, displayName: parsed.displayName, parameters: parsed.parameters, path: routes,
            origin: Flow(transport: transport, local: local, remote: remote),
            userAgent: userAgent.map { Text($0) }, callID: Text(callID), cseq: cseq, refreshed: min(Self.instant(refreshed, epoch), now),
            expiry: min(Self.instant(expiry, epoch), now + granted))
        contact.isElsewhere = isElsewhere
        return contact
    }

    private var routes: [NameAddress] {
        path.isEmpty ? [] : path.components(separatedBy: ", ").compactMap { try? NameAddress(parsing: Text($0)) }
    }

    private static func instant(_ date: Date, _ epoch: Date) -> Instant {
        Instant(nanoseconds: UInt64(max(0, date.timeIntervalSince(epoch) * 1e9)))
    }
}
