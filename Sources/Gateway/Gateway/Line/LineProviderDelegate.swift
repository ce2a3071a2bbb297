import CallKit
import Foundation

/// The only place where a line acts: each action of an accepted transaction becomes signalling and media here, in the order of the
/// contract.
final class LineProviderDelegate: NSObject, CallSystemAudioDelegate {
    private unowned let line: Line

    init(line: Line) { self.line = line }

    func providerDidReset(_ provider: CXProvider) {
        for leg in line.legsInOrder { leg.end(.reset) }
    }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        act(on: action) { $0.performStart() ? action.fulfill() : action.fail() }
    }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        act(on: action) { $0.performAnswer() ? action.fulfill() : action.fail() }
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        act(on: action) { leg in
            leg.end(.action)
            action.fulfill()
        }
    }

    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        act(on: action) { leg in
            if action.isOnHold {
                leg.performHold()
                action.fulfill()
            } else {
                leg.performResume(action)
            }
        }
    }

    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
        act(on: action) { $0.performGroup(with: action.callUUIDToGroupWith) ? action.fulfill() : action.fail() }
    }

    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        act(on: action) { $0.performMuted(action.isMuted) ? action.fulfill() : action.fail() }
    }

    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        act(on: action) { $0.performKeys(action.digits) ? action.fulfill() : action.fail() }
    }

    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
        guard let action = action as? CXSetHeldCallAction else { return }
        line.legs[action.callUUID]?.resumeTimedOut()
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { start(audioSession.hookswitchCalls) }

    /// Calls that join a session that is on already, as the caller does when its callee was connected first.
    func provider(_ provider: CXProvider, didAdmit calls: [UUID], to audioSession: AVAudioSession) { start(calls) }

    private func start(_ calls: [UUID]) {
        for call in calls { line.legs[call]?.audioIsOn() }
    }

    private func act(on action: CXCallAction, _ perform: (Leg) -> Void) {
        guard let leg = line.legs[action.callUUID] else { return action.fail() }
        perform(leg)
    }
}
