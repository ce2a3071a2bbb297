import Dispatch
import Foundation
import Media
import Primitives
import Runtime
import UserAgent

// The foundation of a gateway on this machine: sockets, media lanes, the journal, DNS, recordings and pushes. Their later results are
// posted to the signalling lane.
extension GatewayServer {
    static func host(
        _ settings: Settings, _ file: JournalFile?, on lane: Lane<Host>, at now: Instant, _ notice: @escaping @Sendable (Notice) -> Void
    ) throws(StartError) -> Host {
        let media = try mediaLanes(settings, lane)
        let transports = try transports(settings, on: lane)
        transports.tap = settings.trace
        transports.onTLSFailure = { error, flow, isOurs in notice(.tls(error, peer: flow.remote, isOurs: isOurs)) }
        let epoch = Date().timeIntervalSince1970
        let journal = journal(settings, file, epoch, at: now, notice)
        var environment = Gateway.Environment(
            network: transports, media: media, random: SystemRandom(), hash: OpenSSLDigest.sip,
            addressTowards: LocalAddresses.used(towards:),
            listeners: transports.listeners, journal: journal, epoch: Date(timeIntervalSince1970: epoch - Double(now.nanoseconds) / 1e9))
        environment.ownAddresses = LocalAddresses.all.map(\.address)
        environment.run = Text(String(UInt64.random(in: .min ... .max), radix: 16))
        environment.onTrunk = { notice(.trunk($0)) }
        environment.onGuessing = { notice(.guessing($0)) }
        (environment.directories, environment.store, environment.kept) = (settings.callDirectories, settings.store, settings.kept)
        environment.resolve = resolver(settings, on: lane)
        environment.recordings = recordings(on: lane, notice)
        environment.streams = try streams(settings, on: lane)
        environment.push = settings.push.map { push(by: $0, on: lane, notice) }
        if let decider = settings.decider { environment.ask = ask(decider, on: lane) }
        let teller = settings.tellsCalls ? callTeller(on: lane, notice) : nil
        journal.onEvent = listener(teller, settings.onEvent)
        let made = environment
        return SignallingHost(transports: transports) { _ in
            let gateway = Gateway(settings.gateway, made, at: now)
            gateway.callTeller = teller
            return gateway
        }
    }

    private static func journal(
        _ settings: Settings, _ file: JournalFile?, _ epoch: TimeInterval, at now: Instant,
        _ notice: @escaping @Sendable (Notice) -> Void
    ) -> Journal {
        let clock = WallClock(instant: now, unixNanoseconds: UInt64(epoch * 1e9))
        let journal = Journal(lane: "signalling", clock: clock, sink: file)
        journal.onViolation = { violation in
            notice(.violation(violation))
            if settings.violationsAreFatal { preconditionFailure("\(violation)") }
        }
        return journal
    }

    /// nil where the system has no resolver to offer.
    private static func resolver(_ settings: Settings, on lane: Lane<Host>) -> ((DNSQuestion, UInt64) -> Void)? {
        var names = DNSResolver.Settings()
        names.servers = settings.nameServers
        guard let resolver = DNSResolver(names) else { return nil }
        return { [weak lane] question, id in
            resolver.ask(question) { [weak lane] answer in lane?.post { host, now in host.endpoint.receive(answer, of: id, at: now) } }
        }
    }

    private static func recordings(on lane: Lane<Host>, _ notice: @escaping @Sendable (Notice) -> Void) -> RecordingWriter {
        RecordingWriter(
            clock: { MonotonicClock.now },
            onMessage: { [weak lane] news in lane?.post { host, now in host.endpoint.receive(news, at: now) } }
        ) { [weak lane] failure in
            notice(.recording(failure))
            lane?.post { host, now in host.endpoint.recordingFailed(failure, at: now) }
        }
    }

    private static func streams(_ settings: Settings, on lane: Lane<Host>) throws(StartError) -> StreamLanes {
        var tls = TLSSettings()
        tls.serverAuthorities = settings.programAuthorities
        let trust: TLSContexts
        do throws(TLSError) { trust = try TLSContexts(tls) } catch { throw .tls(error) }
        return StreamLanes(lanes: settings.mediaLanes ?? max(ProcessInfo.processInfo.activeProcessorCount, 1), trusting: trust) {
            [weak lane] id, event in
            lane?.post { host, now in host.endpoint.receive(event, of: id, at: now) }
        }
    }

    private static func push(
        by sender: any PushSender, on lane: Lane<Host>, _ notice: @escaping @Sendable (Notice) -> Void
    ) -> (PushMessage) -> Void {
        { [weak lane] message in
            sender.send(message) { [weak lane] cause in
                notice(.push(line: message.line, cause: cause))
                lane?.post { host, now in host.endpoint.pushFailed(cause, for: message, at: now) }
            }
        }
    }

    private static func ask(_ decider: any CallDecider, on lane: Lane<Host>) -> (CallQuestion, UInt64) -> Void {
        { [weak lane] question, id in
            decider.decide(question) { [weak lane] verdict in
                lane?.post { host, now in host.endpoint.receive(verdict, of: id, at: now) }
            }
        }
    }

    /// nil: nobody listens, which costs nothing.
    private static func listener(
        _ teller: CallTeller?, _ onEvent: (@Sendable (borrowing JournalEvent) -> Void)?
    ) -> ((borrowing JournalEvent) -> Void)? {
        guard let teller else { return onEvent.map { onEvent in { onEvent($0) } } }
        guard let onEvent else { return { teller.note($0) } }
        return { event in
            teller.note(event)
            onEvent(event)
        }
    }

    private static func callTeller(on lane: Lane<Host>, _ notice: @escaping @Sendable (Notice) -> Void) -> CallTeller {
        CallTeller(notice) { [weak lane] in
            DispatchQueue.global().asyncAfter(deadline: .now() + CallTeller.gathering) { [weak lane] in
                lane?.post { host, now in host.endpoint.tellCalls(at: now) }
            }
        }
    }

    private static func transports(_ settings: Settings, on lane: Lane<Host>) throws(StartError) -> Transports {
        let contexts: TLSContexts?, webContexts: TLSContexts?
        do throws(TLSError) {
            contexts = try settings.tls.map { tls throws(TLSError) in try TLSContexts(tls) }
            webContexts = try settings.webSocketTLS.map { tls throws(TLSError) in try TLSContexts(tls) }
        } catch { throw .tls(error) }
        do throws(SocketError) {
            return try Transports(configuration(settings), tls: contexts, webSocketTLS: webContexts, on: lane)
        } catch { throw .socket(error) }
    }

    static func configuration(_ settings: Settings) -> Transports.Configuration {
        let gateway = settings.gateway
        var configuration = Transports.Configuration(listeners: settings.listeners)
        (configuration.maximumConnections, configuration.maximumConnectionsPerSource) = (
            gateway.limits.connections, gateway.limits.connectionsPerSource
        )
        configuration.trusted = gateway.access.trusted
        (configuration.webSocketOrigins, configuration.webSocketProxies) = (settings.webSocketOrigins, settings.webSocketProxies)
        for case .trunk(let trunk) in gateway.lines.map(\.endpoint) { configuration.trusted += trunk.sources }
        return configuration
    }

    private static func mediaLanes(_ settings: Settings, _ lane: Lane<Host>) throws(StartError) -> MediaLanes {
        let lanes = settings.mediaLanes ?? max(ProcessInfo.processInfo.activeProcessorCount, 1)
        let media = MediaSettings(
            ports: settings.gateway.media.ports, quarantine: settings.gateway.media.quarantine, lanes: lanes,
            batch: settings.mediaBatch.map { $0 == .zero ? .immediate : .every($0) } ?? .automatic, opus: settings.gateway.media.opus)
        do throws(PollerError) {
            return try MediaLanes(settings: media, random: SystemRandom(), tap: settings.mediaTap, relay: settings.kernelRelay) {
                [weak lane] leg, event in
                lane?.post { host, now in host.endpoint.receive(event, of: leg, at: now) }
            }
        } catch { throw .media(error) }
    }
}
