import Dispatch
import Primitives
import Runtime
import SIP
import Synchronization
import UserAgent

/// Torture on the sockets of this machine. Made, run once, and done.
public final class LiveTorture: Sendable {
    private let lane: Lane<SignallingHost<TortureClient>>
    private let media: MediaSink
    private let ledger = Ledger()

    /// Binds its sockets. Nothing leaves before `run`.
    /// - Parameters:
    ///   - plan: its flow names the target; our own address may be that of all, and our port 0: the kernel chooses.
    ///   - onEvent: hears of everything, on a lane.
    public init(_ plan: TorturePlan, onEvent: @escaping @Sendable (TortureClient.Event) -> Void) throws(LivePhoneError) {
        guard let host = plan.flow.local.address.isAny ? LocalAddresses.used(towards: plan.flow.remote.address) : plan.flow.local.address
        else {
            throw .noRoute(plan.flow.remote)
        }
        let media: MediaSink
        do throws(SocketError) { media = try MediaSink.find(host) } catch { throw .socket(error) }
        self.media = media
        let (ledger, mediaPort) = (ledger, media.port)
        lane = try Lane(label: "torture") { lane, _ throws(LivePhoneError) in
            var plan = plan
            let transports: Transports
            do throws(SocketError) {
                transports = try Transports(
                    .init(listeners: [.init(plan.flow.transport, SocketAddress(host, port: plan.flow.local.port))]), on: lane)
            } catch { throw .socket(error) }
            plan.flow.local = transports.listeners.first?.address ?? SocketAddress(host, port: plan.flow.local.port)
            plan.mediaPort = mediaPort
            return SignallingHost(transports: transports) { transports in
                let client = TortureClient(plan, network: transports, random: SystemRandom(), hash: OpenSSLDigest.sip)
                client.onEvent = { event, _ in
                    onEvent(event)
                    ledger.hear(event)
                }
                return client
            }
        }
    }

    /// Plays everything; waits for the end.
    /// - Returns: the results in the order in which they came, and why it could not run, if it could not.
    public func run() -> (results: [TortureResult], failure: String?) {
        lane.post { host, now in host.endpoint.start(at: now) }
        ledger.finished.wait()
        lane.close()
        return ledger.outcome
    }

    /// Begins no more.
    public func stop() { lane.post { host, now in host.endpoint.stop(at: now) } }
}

extension LiveTorture {
    /// Thread-safe.
    private final class Ledger: Sendable {
        private let state = Mutex<(results: [TortureResult], failure: String?)>(([], nil))
        let finished = DispatchSemaphore(value: 0)

        var outcome: (results: [TortureResult], failure: String?) { state.withLock { $0 } }

        func hear(_ event: TortureClient.Event) {
            switch event {
            case .began: break
            case .judged(let result): state.withLock { $0.results.append(result) }
            case .finished(let failure):
                state.withLock { $0.failure = failure }
                finished.signal()
            }
        }
    }

    /// Takes what the target sends as sound, so that nobody refuses it; looks at none of it.
    private final class MediaSink: Sendable {
        private let socket: FileDescriptorOwner
        let port: UInt16

        init(_ host: IPAddress) throws(SocketError) {
            socket = try FileDescriptorOwner.udp(bound: SocketAddress(host, port: 0))
            port = socket.localAddress?.port ?? 0
        }

        /// At an even port of the kernel's choice: a gateway on this machine has its own below those, and refuses to send to one of them.
        static func find(_ host: IPAddress) throws(SocketError) -> MediaSink {
            for _ in 0..<50 {
                let sink = try MediaSink(host)
                if sink.port.isMultiple(of: 2) { return sink }
            }
            return try MediaSink(host)
        }
    }
}
