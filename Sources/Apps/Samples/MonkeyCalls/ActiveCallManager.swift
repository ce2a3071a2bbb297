import CallKit

/// The calls that there are, and the user's wishes as transactions.
public class ActiveCallManager {
    public internal(set) var calls: [ActiveCall] = []
    public let service: CallService
    private let callController = CXCallController()

    public init(service: CallService) { self.service = service }

    public func findCall(_ uuid: UUID) -> ActiveCall? { calls.first { $0.uuid == uuid } }

    public func startCall(_ contact: String, type: CXHandle.HandleType = .generic, isVideo: Bool = false) {
        let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: type, value: contact))
        action.isVideo = isVideo
        send(CXTransaction(action: action))
    }

    public func endCall(_ call: ActiveCall) { send(CXTransaction(action: CXEndCallAction(call: call.uuid))) }
    public func placeCallOnHold(_ call: ActiveCall) { send(CXTransaction(action: CXSetHeldCallAction(call: call.uuid, onHold: true))) }
    public func removeCallFromOnHold(_ call: ActiveCall) {
        send(CXTransaction(action: CXSetHeldCallAction(call: call.uuid, onHold: false)))
    }

    private func send(_ transaction: CXTransaction) {
        callController.request(transaction) { error in
            if let error = error { print("Not requested: \(error)") }
        }
    }
}
