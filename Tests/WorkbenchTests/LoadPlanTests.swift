import Media
import Primitives
import RTP
import SIP
import Testing

@testable import Workbench

/// What calls of a plan are like: their kind, their length, and what follows from the plan as a whole.
@Suite struct LoadPlanTests {
    @Test(arguments: [1, 2, 3] as [UInt64]) func `of many calls each kind has its share, and the rest is plain`(seed: UInt64) {
        var random = SeededRandom(seed: seed), counts: [CallKind: Int] = [:]
        let mix = CallMix([.hold: 20, .dtmf: 5, .cancel: 25])
        for _ in 0..<10_000 { counts[mix.draw(using: &random), default: 0] += 1 }
        for (kind, percent) in [(.plain, 50), (.hold, 20), (.dtmf, 5), (.cancel, 25)] as [(CallKind, Int)] {
            #expect(abs((counts[kind] ?? 0) - 100 * percent) < 200, "\(kind): \(counts[kind] ?? 0) of 10,000")
        }
        #expect(counts[.reinvite] == nil && counts[.busy] == nil)
    }

    @Test(
        arguments: [([:], .plain), ([.busy: 100], .busy), ([.hold: 100, .busy: 100], .hold), ([.plain: 100], .plain)]
            as [([CallKind: Double], CallKind)])
    func `a mix of one kind is that kind`(percent: [CallKind: Double], kind: CallKind) {
        var random = SeededRandom(seed: 7)
        #expect((0..<200).allSatisfy { _ in CallMix(percent).draw(using: &random) == kind })
    }

    @Test func `a fixed time is fixed, and one by chance has its mean and is not shorter than a fifth of a second`() {
        var random = SeededRandom(seed: 7)
        #expect(HoldTime.fixed(.seconds(3)).draw(using: &random) == .seconds(3) && HoldTime.fixed(.zero).draw(using: &random) == .zero)
        let times = (0..<20_000).map { _ in HoldTime.exponential(.seconds(10)).draw(using: &random).inSeconds }
        #expect(abs(times.reduce(0, +) / 20_000 - 10) < 0.3 && times.min() == 0.2)
        #expect(abs(Double(times.count { $0 > 10 }) / 20_000 - 0.368) < 0.02, "one in e is longer than the mean")
        #expect(HoldTime.fixed(.seconds(3)).mean == .seconds(3) && HoldTime.exponential(.seconds(4)).mean == .seconds(4))
    }

    @Test func `one call by a script is one call, as an account or as nobody`() throws {
        let target = try URI(parsing: "sip:1001@a.test"), account = LoadAccount(user: "1002")
        var script = CallScript()
        script.digitsAfter = .seconds(9)
        let plan = LoadPlan.call(target, script, as: account, timeout: .seconds(20))
        #expect(plan.target == target && plan.accounts == [account] && plan.calls == 1 && plan.concurrent == 1)
        #expect(plan.script?.digitsAfter == .seconds(9) && plan.timeout == .seconds(20) && plan.registrationTimeout == .seconds(20))
        #expect(plan.tellsLegs && !plan.marksCalls && !plan.onlyAnswers && LoadPlan.call(target, script).accounts.isEmpty)
    }

    @Test func `a plan that answers begins no call`() {
        var policy = AnswerPolicy()
        policy.maximumCalls = 3
        let plan = LoadPlan.answering(policy, as: LoadAccount(user: "1002"))
        #expect(plan.onlyAnswers && plan.tellsLegs && plan.accounts.map(\.user) == ["1002"] && plan.answering?.maximumCalls == 3)
        #expect(ArrivalSchedule(plan.arrivals, seed: 1).due == nil)
        var both = plan
        both.arrivals = ArrivalPlan(rate: 1)
        #expect(!both.onlyAnswers && !LoadPlan().onlyAnswers)
    }

    @Test func `steps of a scenario say how long a call is`() {
        var plan = LoadPlan()
        (plan.arrivals, plan.hold) = (ArrivalPlan(rate: 10), .fixed(.seconds(600)))
        plan.steps = [.wait(.seconds(30)), .press([DTMFDigit("5")!]), .hold, .wait(.seconds(5)), .hangUp]
        // 10 a second, of 38 s and two until the answer: 400, five deviations of 20, and twenty more.
        #expect(plan.expectedConcurrency == 520)
        plan.answersAfter = .seconds(60)
        #expect(plan.expectedConcurrency == Int((1_000 + 5 * Double(1_000).squareRoot() + 20).rounded(.up)))
    }

    @Test func `a plan of nothing has room for one call`() {
        var plan = LoadPlan()
        plan.arrivals = ArrivalPlan(steps: [])
        #expect(plan.expectedConcurrency == 1)
        (plan.arrivals, plan.calls) = (ArrivalPlan(rate: 1_000), 0)
        #expect(plan.expectedConcurrency == 1)
    }
}

@Suite struct AnswerPolicyTests {
    private static func verdict(_ number: Int, _ calls: Int = 0, _ adapt: (inout AnswerPolicy) -> Void = { _ in }) -> AnswerPolicy.Verdict {
        var policy = AnswerPolicy()
        adapt(&policy)
        return policy.verdict(onCall: number, calls: calls)
    }

    @Test func `calls ring while there is room for them`() {
        #expect([0, 7, 8, 9].map { Self.verdict(1, $0) } == [.ring, .ring, .refuse(486), .refuse(486)])
        #expect(Self.verdict(1, 0) { $0.maximumCalls = 0 } == .refuse(486))
    }

    @Test func `every so many-th call is busy`() {
        #expect((1...6).map { Self.verdict($0) { $0.busyEvery = 3 } } == [.ring, .ring, .refuse(486), .ring, .ring, .refuse(486)])
        #expect(Self.verdict(1) { $0.busyEvery = 1 } == .refuse(486) && Self.verdict(1) { $0.busyEvery = 0 } == .ring)
    }

    @Test func `a refusal goes before business, and the end of all before both`() {
        #expect(Self.verdict(2, 99) { ($0.refusal, $0.busyEvery) = (603, 2) } == .refuse(603))
        #expect((2...4).map { Self.verdict($0) { ($0.totalCalls, $0.refusal) = (3, 603) } } == [.refuse(603), .refuse(603), .refuse(480)])
    }
}

@Suite struct CallScriptTests {
    @Test func `keys and holds interrupt what is played, and nothing else does`() {
        var script = CallScript()
        let keys = "12#".compactMap { DTMFDigit($0) }
        #expect(script.interruptions == 0)
        script.steps = [.wait(.seconds(1)), .press(keys), .hold, .resume, .reinvite, .press([]), .hangUp]
        #expect(script.interruptions == 4 && script.steps.flatMap(\.keys) == keys)
    }
}
