import Audio
import Primitives
import Runtime
import Synchronization

/// One media lane of a server: an engine, and the poller that waits for its sockets and timers.
///
/// Not a `Lane` of Runtime, for its time comes from the poller, and its turns are counted in thousands a second: everything here is
/// concrete, and neither an actor nor a queue, which cost much of a packet to enter. `turn` and `drain` are the only ways in, and each is a
/// turn by itself.
final class KernelMediaLane: MediaLaneDoor, @unchecked Sendable {
    private let turns = Mutex(())
    private let poller: Poller
    private let engine: MediaEngine
    /// Nil: no packet is relayed in the kernel.
    private let relay: KernelPacketRelay?
    private let report: @Sendable (MediaLegID, MediaEvent) -> Void
    /// When the poller will come back by itself.
    private var visit = Instant.distantFuture

    /// Lives until `close`: its poller holds it.
    init(
        number: Int, batch: Poller.Batch, opus: OpusSettings, tap: (any PacketTap)?, relay device: KernelRelayDevice?,
        report: @escaping @Sendable (MediaLegID, MediaEvent) -> Void
    ) throws(PollerError) {
        let poller = try Poller()
        self.poller = poller
        self.report = report
        let ports = KernelPortBinder(poller: poller), binder: any PortBinder = tap.map { TappingPortBinder(ports, $0) } ?? ports
        engine = MediaEngine(binder: binder, random: SystemRandom(), opus: opus, at: MonotonicClock.now)
        // A tap sees all packets, and those of the kernel would pass it by.
        relay = tap == nil ? device.flatMap(KernelPacketRelay.init) : nil
        engine.packetRelay = relay
        try poller.start(name: "media-\(number)", batch: batch) { [self] ready in drain(ready) }
    }

    /// Not on the lane itself, where it could never come back.
    func turn(_ work: (MediaEngine) -> Void) { turns.withLock { _ in run(work) } }

    var urgency: Poller.Urgency { poller.urgency }

    func close() { poller.stop() }

    /// One batch of the poller; returns when it is due again.
    private func drain(_ ready: UnsafeBufferPointer<Poller.Ready>) -> Instant? {
        turns.withLock { _ in take(ready, at: MonotonicClock.now) }
    }

    private func take(_ ready: UnsafeBufferPointer<Poller.Ready>, at now: Instant) -> Instant? {
        if engine.measuresPacing { advanceMeasured() }   // what is due goes before what has come
        for socket in ready { engine.ready(socket.token, at: now) }
        if engine.measuresPacing { advanceMeasured() } else { engine.advance(to: now) }
        tendRelay(at: now)
        deliver()
        var next = engine.deadline
        if let deadline = relay?.deadline { next = min(next ?? deadline, deadline) }
        visit = next ?? .distantFuture
        return next
    }

    private func tendRelay(at now: Instant) {
        guard let relay, let deadline = relay.deadline, now >= deadline else { return }
        relay.beat(at: now)
        if relay.waysHaveChanged() { engine.waysHaveChanged(at: now) }
    }

    /// Advances the engine to a time read now: the packets of this turn took theirs, which is not to be hidden.
    private func advanceMeasured() {
        let begin = MonotonicClock.now
        engine.advance(to: begin)
        engine.settlePacing(from: begin, to: MonotonicClock.now)
    }

    /// A turn of signalling: afterwards posts what there is to say, and calls the poller where something became due before its next visit.
    private func run(_ work: (MediaEngine) -> Void) {
        work(engine)
        deliver()
        if let deadline = engine.deadline, deadline < visit {
            visit = deadline
            poller.wake()
        }
    }

    private func deliver() {
        for (leg, event) in engine.takeEvents() { report(leg, event) }
    }
}
