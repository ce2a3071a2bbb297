import Primitives
import SIP

extension LoadPlan {
    /// One call by a script: what `hookswitch call` makes.
    ///
    /// - Parameters:
    ///   - account: registered before the call.
    ///   - patience: an unanswered call is cancelled after so long, and an unanswered registration given up.
    public static func call(_ target: URI, _ script: CallScript, as account: LoadAccount? = nil, timeout: Duration = .seconds(60))
        -> LoadPlan
    {
        var plan = LoadPlan()
        (plan.target, plan.script, plan.timeout, plan.registrationTimeout) = (target, script, timeout, timeout)
        (plan.calls, plan.concurrent, plan.accounts) = (1, 1, account.map { [$0] } ?? [])
        (plan.tellsLegs, plan.marksCalls) = (true, false)
        return plan
    }

    /// No call of its own, only those that come: what `hookswitch answer` takes.
    ///
    /// - Parameter account: registered, and again when that fails.
    public static func answering(_ policy: AnswerPolicy, as account: LoadAccount? = nil) -> LoadPlan {
        var plan = LoadPlan()
        (plan.arrivals, plan.answering, plan.tellsLegs) = (ArrivalPlan(steps: []), policy, true)
        plan.accounts = account.map { [$0] } ?? []
        return plan
    }

    /// Nothing but answering.
    var onlyAnswers: Bool { answering != nil && arrivals.steps.isEmpty }
}
