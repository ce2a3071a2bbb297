import Dispatch
import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

/// The settings of a telephone of ours on this machine.
public struct LivePhoneSettings: Sendable {
    /// The user part of its address of record.
    public var user: Text
    /// The domain of its address of record; nil: the server's address.
    public var domain: Text?
    /// The display name in From; nil: none.
    public var displayName: Text?
    /// Answers challenges; nil: a challenged call fails.
    public var credentials: Credentials?
    /// The server, or the peer itself.
    public var server: SocketAddress
    /// SIP goes over this.
    public var transport = Transport.udp
    /// The path at the server of a WebSocket. Begins with `/`.
    public var webSocketPath = "/"
    /// The address that it binds and tells the other side; nil: the address that faces the server.
    public var address: IPAddress?
    /// Connections that it may have at a time.
    public var maximumConnections = 4_096
    /// 0 lets the kernel choose.
    public var port: UInt16 = 0
    /// Ports for RTP and RTCP, in pairs: a call needs one.
    public var mediaPorts: ClosedRange<UInt16> = 21_000...22_999
    /// Threads for media.
    public var mediaLanes = 1
    /// Packets that it makes leave on time to within 0.1 ms, for a little more of the processor.
    public var isPunctual = false
    /// In the order of preference.
    public var codecs = Codec.usual
    /// Whether sound is encrypted, and how our own offers agree on keys.
    public var srtp = SRTPPolicy.off
    /// The way in which keys are agreed on in our own offers. It means nothing without `srtp`.
    public var keying = SRTPKeying.sdes
    /// Certificates, for TLS. Without one to show nobody can connect to us, and calls come over the connection that we opened.
    public var tls = TLSSettings()
    /// The name that the server's certificate must have; nil: the domain, and without a domain its address.
    public var serverName: Text?
    /// The methods that it allows besides those of calls.
    public var furtherMethods: [SIP.Method] = []
    /// Told, on the telephone's lane, of every TLS session that could not be had.
    public var onTLSFailure: (@Sendable (TLSError) -> Void)?

    /// UDP, the usual codecs, without encryption.
    public init(user: Text, server: SocketAddress) { (self.user, self.server) = (user, server) }
}

/// Why a telephone could not be set up. The description is one sentence for a person.
public enum LivePhoneError: Error, CustomStringConvertible {
    /// This machine has no way to the server.
    case noRoute(SocketAddress)
    case socket(SocketError)
    case media(PollerError)
    case tls(TLSError)

    public var description: String {
        switch self {
        case .noRoute(let server): "this machine has no way to \(server)"
        case .socket(let error): error.description
        case .media(let error): "media: \(error)"
        case .tls(let error): "TLS: \(error)"
        }
    }
}

/// A telephone of ours on real sockets: a signalling lane with its transports, a media lane, and the client that drives both.
///
/// Thread-safe. Close it when it is done.
public final class LivePhone<Client: PhoneClient>: Sendable {
    private let lane: Lane<SignallingHost<Client>>
    private let finished = DispatchSemaphore(value: 0)
    /// The address at which it takes SIP.
    public let address: SocketAddress

    /// Binds its SIP socket and starts the client.
    ///
    /// - Parameter make: makes the client, on its lane; set its `onEvent` there.
    public init(_ settings: LivePhoneSettings, make: @escaping @Sendable (Phone) -> Client) throws(LivePhoneError) {
        guard let host = settings.address ?? LocalAddresses.used(towards: settings.server.address) else { throw .noRoute(settings.server) }
        let contexts = try Self.contexts(settings), finished = finished
        lane = try Lane(label: "phone-\(settings.user)") { lane, now throws(LivePhoneError) in
            let media = try Self.media(settings, lane)
            let transports: Transports
            do throws(SocketError) {
                let listens = !settings.transport.isWebSocket && contexts?.canServe ?? true,
                    place = Transports.Listener(settings.transport, SocketAddress(host, port: settings.port))
                var configuration = Transports.Configuration(listeners: listens ? [place] : [])
                (configuration.opensWebSockets, configuration.webSocketPath) = (true, settings.webSocketPath)
                configuration.maximumConnections = settings.maximumConnections
                transports = try Transports(configuration, tls: contexts, on: lane)
            } catch { throw .socket(error) }
            transports.onTLSFailure = { error, _, _ in settings.onTLSFailure?(error) }
            return SignallingHost(transports: transports) { transports in
                let client = make(Self.phone(settings, host, transports, media))
                client.onFinish = { finished.signal() }
                return client
            }
        }
        address = lane.sync { host, _ in host.endpoint.phone.identity.flow.local } ?? SocketAddress(host, port: settings.port)
        lane.post { host, now in host.endpoint.start(at: now) }
    }

    /// Does something with the client, on its lane.
    public func post(_ work: @escaping @Sendable (Client, Instant) -> Void) { lane.post { host, now in work(host.endpoint, now) } }

    /// Asks the client, on its lane, and waits for the answer; nil when the phone was closed. Not from the lane itself.
    public func ask<Value: Sendable>(_ question: @Sendable (Client, Instant) -> Value) -> Value? {
        lane.sync { host, now in question(host.endpoint, now) }
    }

    /// Counts of its signalling sockets.
    public var transportCounts: Transports.Counts? { lane.sync { host, _ in host.transports.counts } }

    /// Ends what is under way in good order; `waitUntilFinished` returns after it.
    public func stop() { post { client, now in client.stop(at: now) } }

    /// Waits for the client's end, once. False when the time is over first.
    public func waitUntilFinished(timeout: Duration = .seconds(86_400)) -> Bool {
        finished.wait(timeout: .now() + .nanoseconds(Int(timeout.wholeNanoseconds))) == .success
    }

    /// Lets sockets and all go. Calls that are up are not said goodbye: `stop` first.
    public func close() { lane.close() }

    private static func contexts(_ settings: LivePhoneSettings) throws(LivePhoneError) -> TLSContexts? {
        guard settings.transport.isSecure else { return nil }
        do throws(TLSError) { return try TLSContexts(settings.tls) } catch { throw .tls(error) }
    }

    private static func media(_ settings: LivePhoneSettings, _ lane: Lane<SignallingHost<Client>>) throws(LivePhoneError) -> MediaLanes {
        let media = MediaSettings(
            ports: settings.mediaPorts, lanes: settings.mediaLanes, batch: settings.isPunctual ? .punctual : .immediate)
        do throws(PollerError) {
            return try MediaLanes(settings: media, random: SystemRandom()) { [weak lane] leg, event in
                lane?.post { host, now in host.endpoint.phone.receive(event, of: leg, at: now) }
            }
        } catch { throw .media(error) }
    }

    private static func phone(_ settings: LivePhoneSettings, _ host: IPAddress, _ transports: Transports, _ media: MediaLanes) -> Phone {
        let local = transports.listeners.first?.address ?? SocketAddress(host, port: settings.port)
        let peer = settings.transport.isSecure ? settings.serverName ?? settings.domain ?? Text("\(settings.server.address)") : .empty
        let flow = Flow(transport: settings.transport, local: local, remote: settings.server, peer: peer)
        var identity = PhoneIdentity(
            user: settings.user, domain: settings.domain ?? Text("\(settings.server.address)"), displayName: settings.displayName,
            credentials: settings.credentials, flow: flow, mediaAddress: host, codecs: settings.codecs)
        (identity.srtp, identity.keying) = (settings.srtp, settings.keying)
        var configuration = UserAgentConfiguration()
        configuration.allowedMethods += settings.furtherMethods
        let agent = UserAgent(configuration: configuration, network: transports, random: SystemRandom(), hash: OpenSSLDigest.sip)
        return Phone(identity: identity, agent: agent, plane: media, random: SystemRandom())
    }
}
