import Audio
import Primitives
import Runtime
import Synchronization

/// One media lane of a server: an engine, and the pump that waits for its sockets and timers.
///
/// Not a `Lane` of Runtime, for its time comes from the pump, and its turns are counted in thousands a second: everything here is concrete, and
/// neither an actor nor a queue, which cost much of a packet to enter. `turn` and `drain` are the only ways in, and each is a turn by itself.
final class KernelMediaLane: MediaLaneDoor, @unchecked Sendable {
    private let turns = Mutex(())
    private let pump: MediaPump
    private let engine: MediaEngine
    private let report: @Sendable (MediaLegID, MediaEvent) -> Void
    /// When the pump will come back by itself.
    private var visit = Instant.distantFuture

    /// Lives until `close`: its pump holds it.
    init(number: Int, batch: MediaPump.Batch, opus: OpusSettings, report: @escaping @Sendable (MediaLegID, MediaEvent) -> Void) throws(PumpError) {
        let pump = try MediaPump()
        self.pump = pump
        self.report = report
        engine = MediaEngine(binder: KernelPortBinder(pump: pump), random: SystemRandom(), opus: opus, at: MonotonicClock.now)
        try pump.start(name: "media-\(number)", batch: batch) { [self] tokens in drain(tokens) }
    }

    /// Not on the lane itself, where it could never come back.
    func turn(_ work: (MediaEngine) -> Void) { turns.withLock { _ in run(work) } }

    var urgency: MediaPump.Urgency { pump.urgency }

    func close() { pump.stop() }

    /// One batch of the pump; returns when it is due again.
    private func drain(_ tokens: UnsafeBufferPointer<UInt64>) -> Instant? { turns.withLock { _ in take(tokens, at: MonotonicClock.now) } }

    private func take(_ tokens: UnsafeBufferPointer<UInt64>, at now: Instant) -> Instant? {
        if engine.measuresPacing { advanceMeasured() }   // what is due goes before what has come
        for token in tokens { engine.ready(token, at: now) }
        if engine.measuresPacing { advanceMeasured() } else { engine.advance(to: now) }
        deliver()
        let next = engine.deadline
        visit = next ?? .distantFuture
        return next
    }

    /// What arrived in this turn took its time, which is not to be hidden.
    private func advanceMeasured() {
        let begin = MonotonicClock.now
        engine.advance(to: begin)
        engine.settlePacing(from: begin, to: MonotonicClock.now)
    }

    /// A turn of signalling: afterwards posts what there is to say, and calls the pump where something became due before its next visit.
    private func run(_ work: (MediaEngine) -> Void) {
        work(engine)
        deliver()
        if let deadline = engine.deadline, deadline < visit {
            visit = deadline
            pump.wake()
        }
    }

    private func deliver() {
        for (leg, event) in engine.takeEvents() { report(leg, event) }
    }
}
