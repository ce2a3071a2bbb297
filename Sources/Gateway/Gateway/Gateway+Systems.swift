import CallKit
import Foundation
import Primitives

/// What the lines' CallKit systems tell.
extension Gateway {
    /// A system asks for something by itself.
    func systemActs(on call: UUID, _ cause: SystemCause, of line: Line) {
        guard let leg = line.legs[call], leg.endCause == nil else { return }
        switch cause {
        case .ringTimeout: leg.endCause = .ringTimeout
        case .answerTimeout: leg.endCause = .answerTimeout
        case .automaticHold, .automaticResume: break
        }
    }

    func ended(_ call: UUID, _ end: CallEnd, on line: Line) {
        endCounts[end, default: 0] += 1
        guard let leg = line.legs[call] else { return }
        ended.append(leg)
        noteEnd(of: leg, end)
        forget(leg, of: leg.origination)
        tell(leg.bridge, .ended(call, leg.endCause ?? .failed))
    }

    /// An incoming call was answered, to the end of the action.
    func answered(_ call: UUID, on line: Line) {
        guard let leg = line.legs[call] else { return }
        leg.origin?.connected = date
        if let sound = leg.announcement { arm(.announcement, of: leg, after: sound.length) }
        guard let bridge = leg.bridge else { return }
        defer { leg.tellFirstHold() }
        guard let old = leg.replaced else { return tell(bridge, .callerConnected) }
        leg.replaced = nil
        // Also where the bridge is gone by now: then so is the call.
        bridgeEvents.append((bridge, .replaced(old, by: call)))
    }
}
