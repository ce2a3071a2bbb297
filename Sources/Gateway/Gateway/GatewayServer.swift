import CallKit
import Media
import Primitives
import Runtime
import UserAgent

/// A gateway on this machine's sockets: its signalling lane, its media lanes and its journal.
///
/// Thread-safe: everything that it is asked is posted to the signalling lane, or waits for it.
public final class GatewayServer: Sendable {
    /// All that a server is started with.
    public struct Settings: Sendable {
        /// Lines, trunks, limits and policies.
        public var gateway: GatewayConfiguration
        /// The sockets for SIP.
        public var listeners: [Transports.Listener]
        /// nil: no TLS, neither in nor out.
        public var tls: TLSSettings?
        /// For listeners of secure WebSockets; nil: as `tls`.
        public var webSocketTLS: TLSSettings?
        /// Origins of the pages whose WebSockets are taken; empty: all.
        public var webSocketOrigins: Set<String> = []
        /// Networks of proxies whose word on who connected to them is believed.
        public var webSocketProxies: [IPNetwork] = []
        /// The name servers that are asked; empty: those of the system.
        public var nameServers: [SocketAddress] = []
        /// nil: as many as there are cores.
        public var mediaLanes: Int?
        /// nil: paced under load; zero: lowest latency.
        public var mediaBatch: Duration?
        /// nil: the journal is audited, and not written.
        public var journalFile: String?
        /// Bytes after which the journal's file is put aside; nil: never.
        public var journalRotation: Int?
        /// Loaded when the server starts; lines enable them by name.
        public var directories: [DirectorySource] = []
        /// The call directories that they are loaded to; restored already, where they have a store.
        public var callDirectories = CallDirectories()
        /// Keeps lines over a restart; nil: nothing does.
        public var store: (any LineStore)?
        /// The state that was kept there.
        public var kept = KeptState()
        /// Wakes devices; used where the configuration has it on.
        public var push: (any PushSender)?
        /// Asked about each call from outside, before the configuration; nil: nobody is.
        public var decider: (any CallDecider)?
        /// The path of the authorities whose certificates the programs of streams may show; nil: those that the system trusts.
        public var programAuthorities: String?
        /// Each call's end and each registration is a notice.
        public var tellsCalls = false
        /// Sees each event of the journal, on the signalling lane, when it is written; nil: nobody does. It must not block.
        public var onEvent: (@Sendable (borrowing JournalEvent) -> Void)?
        /// Gets every SIP message; nil: nobody does.
        public var trace: MessageTrace?
        /// Sees all media; nil: nobody does.
        public var mediaTap: (any PacketTap)?
        /// Relays plain bridged calls in the kernel; nil: sockets do.
        public var kernelRelay: KernelRelayDevice?
        /// A violation of a rule traps.
        public var violationsAreFatal = false

        /// Without TLS, journal, store and trace.
        public init(gateway: GatewayConfiguration, listeners: [Transports.Listener]) {
            self.gateway = gateway
            self.listeners = listeners
        }
    }

    /// A notice that an operator should see in the log.
    public enum Notice: Sendable {
        case violation(Violation)
        case journal(JournalFile.Report)
        case directory(DirectoryOutcome)
        /// A recording has ended for want of room, rights or the like; its call has not.
        case recording(RecordingWriter.Failure)
        /// A TLS session that could not be established, or broke.
        case tls(TLSError, peer: SocketAddress, isOurs: Bool)
        case trunk(TrunkNotice)
        /// A push that nobody took, for a device of this line. Which device is not said: who knows what it is pushed by can push to it.
        case push(line: String, cause: String)
        /// A call is over.
        case call(CallSummary)
        /// A device registered, or its registration ended.
        case registration(RegistrationSummary)
        /// Somebody, or a device that nobody has looked after, tries passwords.
        case guessing(WrongPassword)
    }

    /// Why it could not start. The description is one sentence for a person.
    public enum StartError: Error, CustomStringConvertible {
        case socket(SocketError)
        case tls(TLSError)
        case journal(path: String, JournalFileError)
        case media(PollerError)

        public var description: String {
            switch self {
            case .socket(let error): error.description
            case .tls(let error): "TLS: \(error)"
            case .journal(let path, let error): "the journal \(path): \(error)"
            case .media(let error): "media: \(error)"
            }
        }
    }

    typealias Host = SignallingHost<Gateway>
    let lane: Lane<Host>
    private let journalFile: JournalFile?
    /// The messages that were seen last; nil: they are not traced.
    public let trace: MessageTrace?
    let directories: CallDirectories
    let notice: @Sendable (Notice) -> Void
    /// The listening sockets, with the ports that the kernel chose.
    public let listeners: [Transports.Listener]

    /// Opens the sockets and begins to serve. `notice` is called on lanes and queues of the server; it may not block.
    public init(_ settings: Settings, notice: @escaping @Sendable (Notice) -> Void) throws(StartError) {
        let file = try Self.openJournal(settings, notice)
        (journalFile, trace, directories, self.notice) = (file, settings.trace, settings.callDirectories, notice)
        lane = try Lane(label: "signalling", hasPoller: true) { lane, now throws(StartError) in
            try Self.host(settings, file, on: lane, at: now, notice)
        }
        listeners = lane.sync { host, _ in host.transports.listeners } ?? []
        directories.load(settings.directories) { notice(.directory($0)) }
    }

    /// Present counts; nil after the stop.
    public var counts: Gateway.Counts? { lane.sync { host, now in host.endpoint.counts(at: now) } }

    /// All that somebody who watches it asks for; nil when it has stopped.
    public var figures: GatewayFigures? {
        var figures = lane.sync { host, now in host.endpoint.figures(host.transports.counts, journalFile?.counts, at: now) }
        figures?.trace = trace?.counts
        return figures
    }

    /// Takes no new call from now on.
    public func drain() { lane.post { host, now in host.endpoint.drain(at: now) } }

    /// Lines, trunks and limits of other settings hold from now on (``Gateway/reconfigure(_:at:)``), the call directories are loaded anew,
    /// and the certificates are read again, for the connections that come; those that stand, and the calls on them, keep what they have.
    ///
    /// - Throws: what is wrong with the certificates; then everything is as it was.
    /// - Returns: what is different.
    @discardableResult
    public func reload(_ settings: Settings) throws(TLSError) -> ConfigurationChange {
        let contexts = try settings.tls.map { tls throws(TLSError) in try TLSContexts(tls) }
        let webContexts = try settings.webSocketTLS.map { tls throws(TLSError) in try TLSContexts(tls) }
        directories.load(settings.directories) { [notice] in notice(.directory($0)) }
        let limits = Self.configuration(settings)
        return lane.sync { host, now in
            if let contexts { host.transports.tls = contexts }
            if let webContexts { host.transports.webSocketTLS = webContexts }
            host.transports.limit(
                connections: limits.maximumConnections, perSource: limits.maximumConnectionsPerSource, exceptFrom: limits.trusted)
            return host.endpoint.reconfigure(settings.gateway, at: now)
        } ?? ConfigurationChange()
    }

    /// Peers outside are told this address from now on (``Gateway/advertise(_:at:)``).
    public func advertise(_ address: IPAddress) { lane.post { host, now in host.endpoint.advertise(address, at: now) } }

    /// Ends every call as a user would.
    public func endAll() { lane.post { host, now in host.endpoint.endAll(at: now) } }

    /// Calls that are up, and what is left of them on the wire.
    public var legs: Int { lane.sync { host, now in host.endpoint.counts(at: now).legs } ?? 0 }

    /// Registrations of ours with trunks, those that are being taken back included.
    public var registrations: Int { lane.sync { host, now in host.endpoint.counts(at: now).agent.registrations } ?? 0 }

    /// Refusals since the start, by cause.
    public var refusals: [(cause: String, count: UInt64)] {
        lane.sync { host, _ in
            let connections = UInt64(host.transports.counts.refused)
            return host.endpoint.refusals + (connections > 0 ? [("connections", connections)] : [])
        } ?? []
    }

    /// Writes the journal's end, waits until it is on the disk, and lets everything go. Violations found, the last ones included.
    @discardableResult
    public func stop() -> Int {
        // The lane hears of the last messages before its end.
        (lane.sync { host, _ in host.endpoint.recorder.writer } ?? nil)?.finish(at: MonotonicClock.now)
        let violations = lane.sync { host, now in
            defer { host.endpoint.tellCalls(at: now) }
            return host.endpoint.finish(at: now)
        }
        lane.close()
        trace?.finish()
        journalFile?.synchronize()
        return violations ?? 0
    }

    private static func openJournal(_ settings: Settings, _ notice: @escaping @Sendable (Notice) -> Void) throws(StartError) -> JournalFile?
    {
        guard let path = settings.journalFile else { return nil }
        do throws(JournalFileError) {
            return try JournalFile(path: path, settings: .init(rotationBytes: settings.journalRotation, isClaimed: true)) {
                notice(.journal($0))
            }
        } catch {
            throw .journal(path: path, error)
        }
    }
}
