import Primitives

/// The actions of a caller, drawn from a seed.
struct CallerScript {
    var number: Text
    /// Leaves the offer to the gateway.
    var isLateOffer = false
    /// Gives up so long after its INVITE, if it has no answer by then.
    var cancelAfter: Duration?
    /// A caller that is gone when the 200 comes: it neither acknowledges nor ends the call.
    var acknowledges = true
    /// Wants its 180 acknowledged.
    var requiresReliability = false
    var steps: [TalkStep] = []
}

/// The actions of a called phone.
struct CalleeScript {
    enum Decision {
        case answer
        case reject(Int)
        /// Rings until it is cancelled.
        case ring
        /// Does not react at all.
        case silent
    }

    var decision: Decision
    var ringsAfter: Duration = .zero
    var decidesAfter: Duration
    /// 183 with a description in place of 180.
    var hasEarlyMedia = false
    /// Accepts the gateway's re-INVITEs.
    var takesOffers = true
    var steps: [TalkStep] = []
}

/// An action of a party when the call is up.
struct TalkStep {
    enum Action {
        case hold, resume, bye, info, update, recode
        /// Has the other end transferred to this number.
        case refer(Text)
        /// Is gone without a word: only the session timer notices.
        case vanish
    }

    /// After the step before.
    var delay: Duration
    var action: Action
}

extension SeededRandom {
    mutating func chance(_ thousandths: Int) -> Bool { Int.random(in: 0..<1_000, using: &self) < thousandths }

    /// One of a few moments, give or take: so that things collide.
    mutating func moment(_ seconds: [Int64]) -> Duration {
        let whole = seconds[Int.random(in: seconds.indices, using: &self)]
        return .milliseconds(whole * 1_000 + Int64.random(in: 0...120, using: &self))
    }

    mutating func callerScript(to numbers: [Text]) -> CallerScript {
        var script = CallerScript(number: numbers[Int.random(in: numbers.indices, using: &self)])
        script.isLateOffer = chance(80)
        if chance(300) { script.cancelAfter = chance(100) ? .milliseconds(Int64.random(in: 0...300, using: &self)) : moment([1, 2, 3]) }
        script.acknowledges = !chance(30)
        script.requiresReliability = chance(100)
        script.steps = talk()
        return script
    }

    mutating func calleeScript() -> CalleeScript {
        var script = CalleeScript(decision: .answer, decidesAfter: moment([1, 2, 3]))
        let drawn = Int.random(in: 0..<100, using: &self)
        if drawn < 15 { script.decision = .reject([486, 480, 603, 404, 500, 488, 302][Int.random(in: 0..<7, using: &self)]) }
        if drawn >= 92 { script.decision = .ring }
        if drawn >= 97 { script.decision = .silent }
        script.ringsAfter = .milliseconds(Int64.random(in: 0...400, using: &self))
        if chance(50) { script.decidesAfter = .zero }
        script.hasEarlyMedia = chance(200)
        script.takesOffers = !chance(100)
        script.steps = talk()
        return script
    }

    /// Mostly a line with a device; at times an application, which takes no transfers, or nobody.
    private mutating func transferTarget() -> Text {
        let numbers: [Text] = ["1001", "1002", "1002", "2000", "9196", "4040"]
        return numbers[Int.random(in: numbers.indices, using: &self)]
    }

    /// Hold and resume at times, and BYE in most cases, also right behind another request.
    private mutating func talk() -> [TalkStep] {
        var steps: [TalkStep] = []
        if chance(300) {
            steps.append(TalkStep(delay: moment([0, 1, 2]), action: .hold))
            if chance(700) { steps.append(TalkStep(delay: moment([0, 1, 2]), action: .resume)) }
        }
        if chance(80) { steps.append(TalkStep(delay: moment([0, 1]), action: .info)) }
        if chance(150) { steps.append(TalkStep(delay: moment([0, 1]), action: .recode)) }
        if chance(150) { steps.append(TalkStep(delay: moment([0, 1]), action: .update)) }
        if chance(120) { steps.append(TalkStep(delay: moment([0, 1, 2]), action: .refer(transferTarget()))) }
        if chance(30) { return steps + [TalkStep(delay: moment([0, 1]), action: .vanish)] }
        steps.append(TalkStep(delay: chance(200) ? .zero : moment([1, 2, 4, 6]), action: .bye))
        return steps
    }
}
