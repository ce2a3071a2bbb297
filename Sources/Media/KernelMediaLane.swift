import Primitives
import Runtime

/// One media lane of a server: a queue, an engine on it, and the pump that waits for its sockets and timers.
final class KernelMediaLane: MediaLaneDoor {
    private let lane: Lane<MediaLaneResident>

    init(number: Int, batch: MediaPump.Batch, report: @escaping @Sendable (MediaLegID, MediaEvent) -> Void) throws(PumpError) {
        lane = try Lane(label: "media-\(number)") { (lane, now) throws(PumpError) in
            let pump = try MediaPump(name: "media-\(number)", batch: batch) { tokens in
                nonisolated(unsafe) let tokens = tokens   // read in the turn, while the pump waits
                return lane.sync { resident, now in resident.drain(tokens, at: now) } ?? nil
            }
            return MediaLaneResident(pump: pump, report: report, at: now)
        }
    }

    deinit { lane.close() }

    func enter<Value: Sendable, Failure: Error>(_ work: @Sendable (MediaEngine) throws(Failure) -> Value) throws(Failure) -> Value {
        let value = try lane.sync { (resident, _) throws(Failure) in
            defer { resident.settle() }
            return try work(resident.engine)
        }
        guard let value else { preconditionFailure("a media lane that is closed was entered") }
        return value
    }
}

/// What lives on a media lane. Its time comes from the pump, not from the lane's own timer.
private final class MediaLaneResident: LaneResident {
    let engine: MediaEngine
    private let pump: MediaPump
    private let report: @Sendable (MediaLegID, MediaEvent) -> Void
    /// When the pump will come back by itself.
    private var visit = Instant.distantFuture

    init(pump: MediaPump, report: @escaping @Sendable (MediaLegID, MediaEvent) -> Void, at now: Instant) {
        self.pump = pump
        self.report = report
        engine = MediaEngine(binder: KernelPortBinder(pump: pump), random: SystemRandomNumberGenerator(), at: now)
    }

    deinit { pump.stop() }

    var deadline: Instant? { nil }
    func advance(to now: Instant) {}

    /// One batch of the pump; returns when it is due again.
    func drain(_ tokens: UnsafeBufferPointer<UInt64>, at now: Instant) -> Instant? {
        for token in tokens { engine.ready(token, at: now) }
        engine.advance(to: now)
        deliver()
        visit = engine.deadline ?? .distantFuture
        return engine.deadline
    }

    /// The end of a turn of signalling: posts what there is to say, and calls the pump where something became due before its next visit.
    func settle() {
        deliver()
        guard let deadline = engine.deadline, deadline < visit else { return }
        visit = deadline
        pump.wake()
    }

    private func deliver() {
        for (leg, event) in engine.takeEvents() { report(leg, event) }
    }
}
