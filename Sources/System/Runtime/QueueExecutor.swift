public import Dispatch

/// Runs an actor on a serial Dispatch queue, so that plain queue blocks and Dispatch sources may enter the actor by `assumeIsolated`.
///
/// (Linux has no `DispatchSerialQueue`; this is its use as an executor.)
public final class QueueExecutor: SerialExecutor {
    /// The queue that everything runs on.
    public let queue: DispatchQueue

    /// - Parameter queue: serial.
    public init(queue: DispatchQueue) { self.queue = queue }

    /// Makes `assumeIsolated` trap on any other queue.
    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    public func enqueue(_ job: consuming ExecutorJob) {
        queue.async { [job = UnownedJob(job)] in job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
