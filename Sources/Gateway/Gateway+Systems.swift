import CallKit
import Primitives

/// What the lines' CallKit systems tell.
extension Gateway {
    func listen(to line: Line) {
        line.journal.onSystemAction = { [unowned line] call, cause in
            guard let leg = line.legs[call], leg.endCause == nil else { return }
            switch cause {
            case .ringTimeout: leg.endCause = .ringTimeout
            case .answerTimeout: leg.endCause = .answerTimeout
            case .automaticHold, .automaticResume: break
            }
        }
        line.journal.onAnswered = { [unowned self, unowned line] call in tell(line.legs[call]?.bridge, .callerConnected) }
        line.journal.onEnd = { [unowned self, unowned line] call, _ in
            guard let leg = line.legs[call] else { return }
            ended.append(leg)
            tell(leg.bridge, .ended(call, leg.endCause ?? .failed))
        }
    }
}
