import Primitives
import SDP
import UserAgent

// What the script wants done while the call is connected.
extension PhoneCall {
    /// Takes steps until one has to be waited for.
    func takeSteps(at now: Instant) {
        stepsAt = nil
        while state == .connected, nextStep < script.steps.count {
            let step = script.steps[nextStep]
            nextStep += 1
            switch step {
            case .wait(let time):
                stepsAt = now + time
                return
            case .press(let digits): press(digits, failingAt: now)
            case .hold: if setHold(true, at: now) { return }
            case .resume: if setHold(false, at: now) { return }
            case .reinvite: if reoffer(at: now) { return }
            case .hangUp: return hangUp(at: now)
            }
        }
    }

    /// An offer of ours was agreed or refused: goes on with the steps.
    func offerSettled(at now: Instant) {
        if nextStep < script.steps.count, stepsAt == nil { takeSteps(at: now) }
    }

    /// Offers again what is agreed.
    ///
    /// - Returns: false when another offer is under way.
    @discardableResult
    public func reoffer(at now: Instant) -> Bool {
        guard state == .connected, wishesHold == nil, let session, session.canOffer, negotiation.state == .stable else { return false }
        wishesHold = isHolding
        return session.reinvite(body: negotiation.offer(direction: isHolding ? .sendonly : .sendrecv).serialized(), at: now)
    }
}
