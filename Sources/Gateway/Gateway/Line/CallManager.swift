import CallKit
import Foundation

/// Requests of a line's user as CallKit transactions: the only way to ask anything of a line's calls.
///
/// It asks and never acts; `LineProviderDelegate` acts. A refused transaction is in the journal with its error code.
final class CallManager {
    private let controller: CXCallController

    init(controller: CXCallController) { self.controller = controller }

    /// Starts an outgoing call in the group of the call that it is made for; nil: in one of its own.
    func start(_ call: UUID, to handle: CXHandle, with group: UUID?, refused: @escaping () -> Void) {
        var actions: [CXCallAction] = [CXStartCallAction(call: call, handle: handle)]
        if let group { actions.append(CXSetGroupCallAction(call: call, callUUIDToGroupWith: group)) }
        request(actions, refused: refused)
    }

    func answer(_ call: UUID) { request([CXAnswerCallAction(call: call)]) }

    func end(_ call: UUID) { request([CXEndCallAction(call: call)]) }

    func setHeld(_ call: UUID, _ isHeld: Bool) { request([CXSetHeldCallAction(call: call, onHold: isHeld)]) }

    /// Requests a transaction for somebody outside. The completion is called before this returns.
    func request(_ transaction: CXTransaction, completion: @escaping ((any Error)?) -> Void) {
        controller.hookswitchRequest(transaction, completion: completion)
    }

    private func request(_ actions: [CXCallAction], refused: @escaping () -> Void = {}) {
        controller.hookswitchRequest(CXTransaction(actions: actions)) { error in
            if error != nil { refused() }
        }
    }
}
