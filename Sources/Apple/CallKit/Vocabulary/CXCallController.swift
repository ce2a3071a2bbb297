import Dispatch
import Foundation

/// The local user's door to the system: every wish is a transaction, and the provider's delegate is asked to perform it.
open class CXCallController: NSObject, @unchecked Sendable {
    let system: CallSystem
    /// The app that made it, where several share the telephone.
    private let app = CallSystem.currentApp
    /// nil: wherever the host runs everything. Set while the controller is made, and never again.
    private(set) var queue: DispatchQueue?
    /// Watches the calls of the same system.
    public let callObserver: CXCallObserver

    /// Completions run on a serial queue of the controller's own. Works on `CallSystem.current`.
    public convenience override init() { self.init(system: .current, completionQueue: nil) }

    /// Completions run on `queue`. Works on `CallSystem.current`. A subclass that overrides this inherits the other initialisers.
    public init(queue: DispatchQueue) {
        system = queue.getSpecific(key: Self.systemKey) ?? .current
        self.queue = queue
        callObserver = CXCallObserver(observing: system)
        super.init()
    }

    // With a second designated initialiser, which they cannot see, subclasses would inherit none: the queue brings the system along.
    convenience init(system: CallSystem, completionQueue: DispatchQueue?) {
        // One of its own: a completion may wait for another controller's.
        let ownQueue = DispatchQueue(label: "CallKit.controller")
        ownQueue.setSpecific(key: Self.systemKey, value: system)
        self.init(queue: ownQueue)
        if completionQueue != nil || system.host is InlineHost { queue = completionQueue }
    }

    private static let systemKey = DispatchSpecificKey<CallSystem>()

    /// Completion nil: accepted, and the delegate will be asked; it says nothing about success. An error is a
    /// `CXErrorCodeRequestTransactionError`, and nothing of the transaction is performed.
    @preconcurrency open func request(_ transaction: CXTransaction, completion: @escaping @Sendable ((any Error)?) -> Void) {
        system.request(transaction, by: app, queue: queue, completion: completion)
    }

    /// Returns when the transaction is accepted, not when it is performed. Throws a `CXErrorCodeRequestTransactionError` where it is
    /// refused.
    open func request(_ transaction: CXTransaction) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            request(transaction) { continuation.resume(with: $0.map(Result.failure) ?? .success(())) }
        }
    }

    /// Requests a transaction of these actions; the completion is that of `request(_:completion:)`.
    @preconcurrency open func requestTransaction(with actions: [CXAction], completion: @escaping @Sendable ((any Error)?) -> Void) {
        request(CXTransaction(actions: actions), completion: completion)
    }

    /// Requests a transaction of one action; the completion is that of `request(_:completion:)`.
    @preconcurrency open func requestTransaction(with action: CXAction, completion: @escaping @Sendable ((any Error)?) -> Void) {
        request(CXTransaction(action: action), completion: completion)
    }

    /// Requests a transaction of these actions; throws as `request(_:)`.
    open func requestTransaction(with actions: [CXAction]) async throws { try await request(CXTransaction(actions: actions)) }
    /// Requests a transaction of one action; throws as `request(_:)`.
    open func requestTransaction(with action: CXAction) async throws { try await request(CXTransaction(action: action)) }
}
