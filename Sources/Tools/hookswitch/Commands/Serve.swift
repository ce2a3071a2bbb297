import ArgumentParser
import CallKit
import Console
import Dispatch
import Foundation
import Gateway
import Logging
import Media
import Primitives
import Runtime
import Synchronization
import UserAgent

struct Serve: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "it was stopped by a signal",
        .usage: "the configuration is wrong",
        .cannotRun: "a port is in use, or a file cannot be used",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Run the gateway.",
        discussion: """
            SIGTERM and SIGINT drain: no new calls, the rest ended after `drain` seconds, exit 0. A later one stops at once.
            \(ExitStatus.sentence(exits))

            Settings (in the file, as HOOKSWITCH_… variables, and as flags: --media-ports 20000-20099):
            \(Setting.all.map(\.listing).joined(separator: "\n"))
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print the summary of the start as one JSON object.") var json = false

    func run() throws {
        let begin = MonotonicClock.now
        let configuration = try options.load().findingAdvertisedName().speakingPrompts()
        let log = NoticeLog(configuration)
        do { try serve(configuration, log, since: begin) } catch {
            log.finish()
            throw error
        }
        // `exit` would wait for the line that nobody reads.
        if !log.finish() { _exit(0) }
    }

    private func serve(_ configuration: ServeConfiguration, _ log: NoticeLog, since begin: Instant) throws {
        if let folder = configuration.dataFolder { try NamedFile.makeFolder(folder) }
        let claim = try configuration.dataFolder.map(LockFile.init)
        defer { withExtendedLifetime(claim) {} }
        ProcessResources.raiseDescriptorLimit()
        ProcessResources.shareMemory()
        let stop = StopSignals()
        let store = try ServeStore.open(configuration, log), trace = try ServeTrace.make(configuration, log)
        let running = Mutex<GatewayServer?>(nil)
        // It reads on behind what the journal has until here: what the gateway says first is told, too.
        let hook = try Self.hook(configuration), webhooks = try WebhookService(configuration, log)
        let control = try Self.control(configuration, log)
        control?.use(webhooks)
        // Before the server, which registers with carriers at once, and which a port that is taken would end without taking that back.
        let monitor = try Self.monitor(configuration) {
            ServiceFigures(
                webhooks: webhooks.statuses, hookWait: hook?.waits, api: control?.figures, store: store?.figures,
                node: configuration.nodeName)
        } figures: {
            running.withLock(\.self)?.figures
        }
        let memory = MallocTrimmer()
        let relay = try KernelRelayStart(configuration)
        if let refusal = relay.refusal { log.say(.notice, "media.kernel-relay: packets go by sockets: \(refusal)") }
        let server = try Self.start(configuration, store, trace, control, hook, relay.device, log)
        running.withLock { $0 = server }
        hook?.desk.begin(server)
        store?.begin(server)
        printSummary(configuration, server, relay, since: begin)
        let reload = Reload(configuration, server, control, webhooks, log) { [options] in try options.load().speakingPrompts() }
        stop.onReload = { reload.perform() }
        control?.use(SettingsReport(configuration, summary(configuration, server, relay)))
        control?.begin(server) { [stop] in stop.askReload() }
        let name = Self.advertisedName(configuration, server, log)
        withExtendedLifetime((monitor, memory, name)) { Drain(server, deadline: configuration.drainDeadline, log: log).wait(for: stop) }
        stop.endReloads()
        webhooks.end()
        control?.end()
        store?.end(log)
    }

    /// It serves whether anybody reads this or not.
    private func printSummary(
        _ configuration: ServeConfiguration, _ server: GatewayServer, _ relay: KernelRelayStart, since begin: Instant
    ) {
        let summary = summary(configuration, server, relay)
        if json {
            try? printJSON(summary)
        } else {
            try? StandardOutput.print(
                "hookswitch \(Hookswitch.version) is ready after \((MonotonicClock.now - begin).wholeMilliseconds) ms\n\(summary.text)")
        }
    }

    private func summary(_ configuration: ServeConfiguration, _ server: GatewayServer, _ relay: KernelRelayStart) -> StartupSummary {
        var summary = StartupSummary(configuration, listeners: server.listeners, ephemeral: EphemeralPortRange.current)
        summary.relay = relay.summary
        summary.warnings += Examination(configuration, .here).resourceWarnings
        return summary
    }

    /// The same authorities as of the servers that SIP goes to.
    private static func pushTrust(_ configuration: ServeConfiguration) throws -> TLSContexts {
        var settings = TLSSettings()
        settings.serverAuthorities = configuration.serverAuthorities
        return try contexts(settings)
    }

    private static func start(
        _ configuration: ServeConfiguration, _ store: ServeStore?, _ trace: MessageTrace?, _ control: ControlServer?,
        _ hook: DecisionHook?, _ relay: KernelRelayDevice?, _ log: NoticeLog
    ) throws -> GatewayServer {
        var settings = configuration.server
        if control != nil || hook != nil {
            settings.onEvent = { event in
                control?.note(event)
                hook?.desk.note(event)
            }
        }
        (settings.trace, settings.mediaTap) = (trace, trace.flatMap { ServeTrace.mediaTap(configuration, $0) })
        settings.kernelRelay = relay
        try store?.restore(into: &settings, configuration.data.address)
        settings.push = try configuration.pushURL.map {
            try WebhookPushSender(to: $0, trusting: $0.scheme == "https" ? pushTrust(configuration) : nil)
        }
        settings.decider = hook
        settings.tellsCalls = NoticeLog.level(configuration.log.level) <= .info
        let words = NoticeWords(log)
        do { return try GatewayServer(settings) { words.say($0) } } catch { throw Failure.cannotRun(error.description) }
    }

    /// nil: the configuration alone decides.
    private static func hook(_ configuration: ServeConfiguration) throws -> DecisionHook? {
        guard let address = configuration.hook.address, let standard = configuration.hook.standard else { return nil }
        let isSecure = [address, configuration.hook.fallback].contains { $0?.scheme == "https" }
        return DecisionHook(configuration.hook, at: address, default: standard, trusting: isSecure ? try pushTrust(configuration) : nil)
    }

    /// nil: nobody steers it but by signals.
    static func control(_ configuration: ServeConfiguration, _ log: NoticeLog) throws -> ControlServer? {
        let (path, addresses) = (configuration.controlPath, configuration.control.addresses)
        guard path != nil || !addresses.isEmpty else { return nil }
        let tokens = configuration.control.tokens.map(AccessTokenFile.init)
        if let open = addresses.first(where: { !$0.address.isLoopback }), try Self.count(of: tokens) == 0 {
            throw Failure.cannotRun("the control interface: \(open) needs a token: 'hookswitch token create NAME' makes one")
        }
        let tls = try configuration.control.tls ? configuration.tlsSettings.map(Self.contexts) : nil
        let nodes = try nodes(configuration)
        func server(_ path: String?) throws(SocketError) -> ControlServer {
            try ControlServer(
                path: path, addresses: addresses, tls: tls, tokens: tokens, origins: configuration.control.origins,
                journal: configuration.journalFile, nodes: nodes, phone: configuration.phoneServer, version: Hookswitch.version)
        }
        do throws(SocketError) { return try server(path) } catch {
            // The socket in the data folder is only a default: not each file system has sockets, and the gateway does without.
            guard case .failedPath = error, configuration.control.socket == .inDataFolder else {
                throw Failure.cannotRun("the control interface: \(error.description)")
            }
            log.say(.warning, "\(error.description): the commands that steer a gateway cannot reach this one (api.socket)")
            guard !addresses.isEmpty else { return nil }
            do throws(SocketError) { return try server(nil) } catch {
                throw Failure.cannotRun("the control interface: \(error.description)")
            }
        }
    }

    /// nil: no gateway asks this one, and this one asks none.
    private static func nodes(_ configuration: ServeConfiguration) throws -> NodeSettings? {
        guard let secret = configuration.control.nodesSecret else { return nil }
        let isSecure = configuration.control.nodes.contains(where: \.isSecure)
        return NodeSettings(
            own: configuration.nodeName, nodes: configuration.control.nodes, secret: secret,
            trust: isSecure ? try pushTrust(configuration) : nil)
    }

    private static func contexts(_ settings: TLSSettings) throws -> TLSContexts {
        do throws(TLSError) { return try TLSContexts(settings) } catch { throw Failure.cannotRun(error.description) }
    }

    private static func count(of file: AccessTokenFile?) throws -> Int {
        do { return try file?.read().count ?? 0 } catch { throw Failure.cannotRun("\(error)") }
    }

    private static func advertisedName(_ configuration: ServeConfiguration, _ server: GatewayServer, _ log: NoticeLog) -> AdvertisedName? {
        guard let name = configuration.advertisedName, let address = configuration.gateway.advertise.address else { return nil }
        return AdvertisedName(address) {
            configuration.addressOfAdvertisedName
        } onNews: { news in
            switch news {
            case .moved(let old, let new):
                server.advertise(new)
                log.say(.notice, "advertise.address: \(name) is \(new), no longer \(old); new calls are told so")
            case .lost: log.say(.warning, "advertise.address: \(name) has no address at the moment; peers are told the one before")
            }
        }
    }

    private static func monitor(
        _ configuration: ServeConfiguration, service: @escaping @Sendable () -> ServiceFigures,
        figures: @escaping @Sendable () -> GatewayFigures?
    ) throws -> MonitorServer? {
        guard let address = configuration.metricsAddress else { return nil }
        do throws(SocketError) { return try MonitorServer(listening: address, service: service, figures: figures) } catch {
            throw Failure.cannotRun(error.description)
        }
    }
}

/// The signals that end a server: the first asks for a drain, a later one for an end at once. Caught from the making on.
final class StopSignals: Sendable {
    let drain = DispatchSemaphore(value: 0), stop = DispatchSemaphore(value: 0)
    /// SIGHUP. Set once, when there is something to reload. May block: no end waits for it.
    var onReload: (@Sendable () -> Void)? {
        get { reloads.action }
        set { reloads.action = newValue }
    }
    /// As SIGHUP.
    func askReload() { reloads.ask() }

    /// Returns when none is under way, as none should be where the process cleans up; one that hangs is waited for no longer than a second.
    func endReloads() { reloads.end() }

    private let trap: Trap
    private let reloads: Reloads

    init() {
        let (drain, stop, reloads) = (drain, stop, Reloads())
        self.reloads = reloads
        trap = Trap(
            SignalTrap(on: DispatchQueue(label: "signals")) { request in
                switch request {
                case .drain: drain.signal()
                case .stop: stop.signal()
                case .reload: reloads.ask()
                }
            })
    }

    /// Made once and only kept.
    private struct Trap: @unchecked Sendable {
        let trap: SignalTrap
        init(_ trap: SignalTrap) { self.trap = trap }
    }
}

/// Does the same again each time that it is asked to, on a queue of its own. Those that ask before it begins are answered by one.
final class Reloads: Sendable {
    private struct State {
        var action: (@Sendable () -> Void)?
        var isDue = false
    }

    private let queue = DispatchQueue(label: "reloads")
    private let state = Mutex(State())

    var action: (@Sendable () -> Void)? {
        get { state.withLock { $0.action } }
        set { state.withLock { $0.action = newValue } }
    }

    func ask() {
        let wasDue = state.withLock { state in
            defer { state.isDue = true }
            return state.isDue
        }
        if !wasDue { queue.async { self.reload() } }
    }

    /// No more of them. Returns when none is under way, but waits only a moment for one.
    func end() {
        action = nil
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + 1)
    }

    private func reload() {
        let action = state.withLock { state in
            state.isDue = false
            return state.action
        }
        action?()
    }
}

/// The end of a server: a signal, then a drain, then exit 0.
///
/// Calls end by themselves until the deadline, or a later signal; then those that are left are ended, and given a moment for their BYEs.
struct Drain {
    private let server: GatewayServer
    private let deadline: Duration
    private let log: NoticeLog

    init(_ server: GatewayServer, deadline: Duration, log: NoticeLog) { (self.server, self.deadline, self.log) = (server, deadline, log) }

    /// Returns when the server has stopped.
    func wait(for signals: StopSignals) {
        signals.drain.wait()
        server.drain()
        log.say(.notice, "draining: \(calls) calls are up")
        let isEarly = wait(signals, for: deadline)
        if server.legs > 0 {
            server.endAll()
            _ = wait(signals, for: isEarly ? .milliseconds(500) : .seconds(2))
        }
        let refusals = server.refusals
        if !refusals.isEmpty {
            log.say(.notice, "refused in this run: \(refusals.map { "\($0.count) (\($0.cause))" }.joined(separator: ", "))")
        }
        let violations = server.stop()
        log.say(.notice, "stopped; \(violations) violations of the contract in this run")
    }

    /// A bridge has two legs, and is one call.
    private var calls: Int { server.counts.map { max(0, $0.legs - $0.bridges) } ?? 0 }

    /// Until no call is left, the time is over, or a later signal came (true).
    private func wait(_ signals: StopSignals, for limit: Duration) -> Bool {
        let end = MonotonicClock.now + limit
        // A registrar has a moment to hear that we leave; calls have the whole time.
        let farewell = MonotonicClock.now + min(limit, .seconds(2))
        while server.legs > 0 || server.registrations > 0 && MonotonicClock.now < farewell, MonotonicClock.now < end {
            if signals.stop.wait(timeout: .now() + .milliseconds(50)) == .success { return true }
        }
        return false
    }
}
