import Calls
import Media
import Primitives
import RTP
import SDP
import UserAgent

// Steps of the script while the call is connected.
extension PhoneCall {
    /// The time that keys may take, and a second more for each.
    private static let timeoutForKeys = Duration.seconds(2)

    /// Takes steps until one has to be waited for.
    func takeSteps(at now: Instant) {
        endWaitForKeys(at: now)
        stepsAt = nil
        while state == .connected, nextStep < script.steps.count {
            let step = script.steps[nextStep]
            nextStep += 1
            if step == .hangUp { return hangUp(at: now) }
            if take(step, at: now) { return }
        }
    }

    /// - Returns: true where it has to be waited for; false also where it could not be done, which the record says.
    private func take(_ step: CallStep, at now: Instant) -> Bool {
        switch step {
        case .wait(let time):
            stepsAt = now + time
            return true
        case .press(let digits): return pressStep(digits, at: now) || isUndone("no keys are pressed: our sound is stopped")
        // It may have been refused before.
        case .hold, .resume:
            return isHolding != (step == .hold)
                && (setHold(step == .hold, at: now) || isUndone("hold or resume: another offer was under way"))
        case .reinvite: return reoffer(at: now) || isUndone("reinvite: another offer was under way")
        case .hangUp: return false
        }
    }

    /// - Returns: false.
    private func isUndone(_ failure: Text) -> Bool {
        if state == .connected { record.failure = record.failure ?? failure }
        return false
    }

    /// The next step waits for the keys, and so does the end of the call; not for ever, where the other side holds us meanwhile.
    ///
    /// - Returns: false when they cannot be sent.
    private func pressStep(_ digits: [DTMFDigit], at now: Instant) -> Bool {
        guard press(digits, failingAt: now) else { return false }
        let timeout = Self.timeoutForKeys + .seconds(digits.count)
        (keysUnderWay, stepsAt, hangsUpAt) = (digits, now + timeout, hangsUpAt.map { $0 + timeout })
        return true
    }

    /// Ends the wait for keys. The call has the same time left as when the keys began.
    private func endWaitForKeys(at now: Instant) {
        guard keysUnderWay.take() != nil, let until = stepsAt else { return }
        hangsUpAt = hangsUpAt.map { now + ($0 - until) }
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
        guard state == .connected, wishesHold == nil, let session, session.canOffer, signalling.negotiation.state == .stable else {
            return false
        }
        wishesHold = isHolding
        signalling.renegotiate()
        return offer(over: session, at: now)
    }
}
