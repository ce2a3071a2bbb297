import Dispatch

/// Carries an object of one lane through a closure that Dispatch runs on that lane. Opening it anywhere else traps.
///
/// Unchecked: Dispatch's handlers are `@Sendable` and cannot say that they run on the queue of their source.
struct Confined<Object: AnyObject>: @unchecked Sendable {
    private weak let object: Object?
    private let queue: DispatchQueue

    init(_ object: Object, to queue: DispatchQueue) {
        self.object = object
        self.queue = queue
    }

    /// The object, or nil when it is gone. Only on its queue.
    func open() -> Object? {
        dispatchPrecondition(condition: .onQueue(queue))
        return object
    }
}
