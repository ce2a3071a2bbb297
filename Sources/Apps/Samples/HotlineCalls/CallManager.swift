import CallKit

/// The calls, and what the user wants of them. It asks the system for everything, and does nothing itself.
public class CallManager {
    public var callsChangedHandler: (() -> Void)?
    public private(set) var calls: [Call] = []
    public let network: CallNetwork
    private let callController = CXCallController()

    public init(network: CallNetwork) { self.network = network }

    public func callWithUUID(uuid: UUID) -> Call? { calls.first { $0.uuid == uuid } }

    func add(call: Call) {
        calls.append(call)
        call.stateChanged = { [weak self] in self?.callsChangedHandler?() }
        callsChangedHandler?()
    }

    func remove(call: Call) {
        calls.removeAll { $0 === call }
        callsChangedHandler?()
    }

    func removeAllCalls() {
        calls.removeAll()
        callsChangedHandler?()
    }

    public func startCall(handle: String, videoEnabled: Bool) {
        let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .phoneNumber, value: handle))
        action.isVideo = videoEnabled
        requestTransaction(CXTransaction(action: action))
    }

    public func end(call: Call) {
        requestTransaction(CXTransaction(action: CXEndCallAction(call: call.uuid)))
    }

    public func setHeld(call: Call, onHold: Bool) {
        let transaction = CXTransaction()
        transaction.addAction(CXSetHeldCallAction(call: call.uuid, onHold: onHold))
        requestTransaction(transaction)
    }

    private func requestTransaction(_ transaction: CXTransaction) {
        callController.request(transaction) { error in
            if let error = error { print("The system refused a transaction: \(error)") }
        }
    }
}
