import Audio
import Dispatch
import Primitives
import Runtime

/// One media lane of a server: a queue, an engine on it, and the pump that waits for its sockets and timers.
///
/// Not a `Lane` of Runtime, for its time comes from the pump, and its turns are counted in thousands a second: everything here is concrete,
/// and no actor, for entering one costs as much as a packet does. `turn` and `drain` are the only ways in, and both enter by the queue.
final class KernelMediaLane: MediaLaneDoor, @unchecked Sendable {
    private let queue: DispatchQueue
    private let pump: MediaPump
    private let engine: MediaEngine
    private let report: @Sendable (MediaLegID, MediaEvent) -> Void
    /// When the pump will come back by itself.
    private var visit = Instant.distantFuture

    /// Lives until `close`: its pump holds it.
    init(number: Int, batch: MediaPump.Batch, opus: OpusSettings, report: @escaping @Sendable (MediaLegID, MediaEvent) -> Void) throws(PumpError) {
        queue = DispatchQueue(label: "media-\(number)")
        let pump = try MediaPump()
        self.pump = pump
        self.report = report
        engine = MediaEngine(binder: KernelPortBinder(pump: pump), random: SystemRandom(), opus: opus, at: MonotonicClock.now)
        try pump.start(name: "media-\(number)", batch: batch) { [self] tokens in drain(tokens) }
    }

    /// Not on the lane itself, where it could never come back.
    func turn(_ work: (MediaEngine) -> Void) {
        dispatchPrecondition(condition: .notOnQueue(queue))
        queue.sync { run(work) }
    }

    func close() { pump.stop() }

    /// One batch of the pump; returns when it is due again.
    private func drain(_ tokens: UnsafeBufferPointer<UInt64>) -> Instant? {
        var next: Instant?   // written from the turn: a value returned through Dispatch costs a look-up of its type each time
        queue.sync { take(tokens, &next, at: MonotonicClock.now) }
        return next
    }

    private func take(_ tokens: UnsafeBufferPointer<UInt64>, _ next: inout Instant?, at now: Instant) {
        for token in tokens { engine.ready(token, at: now) }
        if engine.measuresPacing { advanceMeasured() } else { engine.advance(to: now) }
        deliver()
        next = engine.deadline
        visit = next ?? .distantFuture
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
