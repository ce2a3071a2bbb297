import Dispatch
import Foundation

/// One call as it was at one moment.
open class CXCall: NSObject, @unchecked Sendable {
    /// The identity that the app has given it.
    public let uuid: UUID
    /// Whether the user called.
    public let isOutgoing: Bool
    /// Whether the user holds it. A hold of the other party does not show.
    public let isOnHold: Bool
    /// Whether it was answered, by whichever side; stays true when it has ended.
    public let hasConnected: Bool
    /// Whether it is over, for whatever reason.
    public let hasEnded: Bool

    init(_ call: CallSnapshot) {
        (uuid, isOutgoing, isOnHold) = (call.uuid, call.isOutgoing, call.isOnHold)
        (hasConnected, hasEnded) = (call.hasConnected, call.hasEnded)
        super.init()
    }

    open override var description: String {
        describe([
            Detail("uuid", uuid), Detail("isOutgoing", isOutgoing), Detail("isOnHold", isOnHold), Detail("hasConnected", hasConnected),
            Detail("hasEnded", hasEnded),
        ])
    }

    /// The same call in the same state.
    open func isEqual(to call: CXCall) -> Bool {
        uuid == call.uuid && isOutgoing == call.isOutgoing && isOnHold == call.isOnHold
            && hasConnected == call.hasConnected && hasEnded == call.hasEnded
    }

    open override func isEqual(_ object: Any?) -> Bool { (object as? CXCall).map(isEqual(to:)) ?? false }
    open override var hash: Int { uuid.hashValue }
}

/// Hears of each call that appears, changes or ends.
public protocol CXCallObserverDelegate: NSObjectProtocol {
    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall)
}

/// Watches all calls of a system, whichever provider they belong to.
open class CXCallObserver: NSObject, @unchecked Sendable {
    struct Wiring {
        weak var delegate: (any CXCallObserverDelegate)?
        var queue: DispatchQueue?
    }

    let system: CallSystem
    private let wiring = Locked(Wiring())

    /// Watches `CallSystem.current`.
    public override init() {
        system = .current
        super.init()
    }

    init(observing system: CallSystem) {
        self.system = system
        super.init()
    }

    /// The calls that exist and have not ended, oldest first. An outgoing call exists once its start action is fulfilled.
    open var calls: [CXCall] { system.calls.filter(\.isVisible).map(CXCall.init) }

    /// The delegate is held weakly; a nil queue is the main queue.
    open func setDelegate(_ delegate: (any CXCallObserverDelegate)?, queue: DispatchQueue?) {
        wiring.withLock { ($0.delegate, $0.queue) = (delegate, queue) }
        system.setObserving(self, delegate != nil)
    }

    final var current: Wiring { wiring.withLock { $0 } }
}
