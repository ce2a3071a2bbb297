import Audio
import Media
import Primitives
import RTP
import SDP
import SIP
import Testing
import UserAgent

@testable import Workbench

/// A step of a ramp is judged by what happened in it, while its calls are still up.
@Suite struct StepTests {
    @Test func `windows begin when a step has settled and end with it`() {
        let plan = ArrivalPlan(from: 10, to: 30, by: 10, every: .seconds(10))
        #expect(StepWindow.all(of: plan, settling: nil).map(\.from) == [.seconds(2), .seconds(12), .seconds(22)])
        #expect(StepWindow.all(of: plan, settling: .seconds(4)).map(\.to) == [.seconds(10), .seconds(20), .seconds(30)])
        #expect(StepWindow.all(of: ArrivalPlan(from: 1, to: 2, by: 1, every: .seconds(60)), settling: nil)[0].from == .seconds(3))
        #expect(StepWindow.all(of: ArrivalPlan(rate: 5), settling: nil).isEmpty)
    }

    /// Calls of ten minutes, 10 in the first five seconds and 20 in the next, and the tally of each step when that has ended.
    private func steps(
        atATime concurrent: Int = 100, expects: ExpectedSound = .echo, _ treat: @escaping (Int, Room.Seat, InviteSession, Instant) -> Void
    ) -> (tallies: [LoadTally], up: Int) {
        let room = Room(), caller = room.seat("caller", 1, server: Room.address(2), codecs: [.pcmu]),
            callee = room.seat("callee", 2, server: Room.address(1), codecs: [.pcmu])
        var plan = LoadPlan(), answered = 0, judge = StepJudge()
        (plan.target, plan.hold, plan.expects) = (URI(user: "callee", address: Room.address(2)), .fixed(.seconds(600)), expects)
        (plan.arrivals, plan.concurrent) = (ArrivalPlan(from: 2, to: 4, by: 2, every: .seconds(5)), concurrent)
        let client = LoadClient(phone: caller.phone, plan: plan)
        caller.client = client
        client.onEvent = { event, _ in
            if case .call(let call) = event { judge.add(CallJudge.figures(of: call), ended: call.caller.ended - .zero) }
            if case .step(let reading) = event { judge.close(reading) }
        }
        callee.phone.onIncoming = { session, now in
            answered += 1
            treat(answered, callee, session, now)
        }
        client.start(at: room.now)
        room.run(seconds: 12)
        return (judge.steps.sorted { $0.key < $1.key }.map(\.value), client.progress.active)
    }

    private func echo(
        _ seat: Room.Seat, _ session: InviteSession, after: Duration = .milliseconds(20), source: MediaSource = .echo, _ now: Instant
    ) {
        var script = CallScript()
        script.source = source
        seat.phone.ring(session, answeringAfter: after, script: script, at: now)
    }

    @Test func `refusals count in their own step, though no call of the one before has ended`() {
        let (tallies, up) = steps { number, seat, session, now in
            if number > 10 { seat.phone.refuse(session, status: 503, at: now) } else { self.echo(seat, session, now) }
        }
        #expect(tallies.count == 2 && up == 10)
        #expect(tallies.map(\.failedPercent) == [0, 100])
        #expect(tallies[0].calls == 8 && tallies[1].statuses == [503: 16], "what was begun before the step settled is not counted")
        #expect(tallies[0][.setup].count == 8 && tallies[0][.mos].minimum.map { $0 > 4 } == true)
    }

    @Test func `a direction that dies in a step is seen in it`() {
        let (tallies, up) = steps { number, seat, session, now in self.echo(seat, session, source: number > 12 ? .silence : .echo, now) }
        #expect(up == 30 && tallies[0].findings.isEmpty)
        #expect(tallies[1].percent(with: .oneWay).map { $0 > 80 } == true)
    }

    @Test func `a prompt that ends breaks no step, and sound that never begins does`() {
        let prompt = MediaSource.samples(
            SoundSignature(run: 2, call: 1, side: .callee).samples().prefix(8_000).map(\.self), sampleRate: 8_000, loops: false)
        let (tallies, up) = steps(expects: .prompt) { number, seat, session, now in
            self.echo(seat, session, source: number > 12 ? .silence : prompt, now)
        }
        #expect(up == 30 && tallies[0].findings.isEmpty, "\(tallies[0].findings)")
        #expect(
            tallies[1].findings.keys.map(\.self) == [.oneWay] && tallies[1].findings[.oneWay]?.numbers.min() == 13, "\(tallies[1].findings)"
        )
    }

    @Test func `a step whose calls were kept back was not offered`() {
        let (tallies, up) = steps(atATime: 12) { _, seat, session, now in self.echo(seat, session, now) }
        #expect(up == 12 && tallies.map(\.notBegun) == [0, 16], "those of before its window do not count")
    }

    /// What is wrong with them is known five seconds after their end, or half a minute, when the window has long been closed.
    @Test(arguments: [true, false]) func `calls whose end goes no further count in the step that they ended in`(isAnswered: Bool) {
        let room = Room(), seat = room.seat("caller", 1, server: Room.address(3), codecs: [.pcmu])
        var plan = LoadPlan(), judge = StepJudge()
        (plan.target, plan.hold, plan.playsBothEnds) = (URI(user: "callee", address: Room.address(3)), .fixed(.milliseconds(800)), true)
        plan.arrivals = ArrivalPlan(from: 2, to: 4, by: 2, every: .seconds(5))
        let client = LoadClient(phone: seat.phone, plan: plan)
        seat.client = client
        client.onEvent = { event, _ in
            if case .call(let call) = event { judge.add(CallJudge.figures(of: call), ended: call.caller.ended - .zero) }
            if case .step(let reading) = event { judge.close(reading) }
        }
        room.place(at: Room.address(3)) { message, _ in
            guard message.isRequest, message.method == .bye else { return Room.forwarded(message) }
            return isAnswered ? Message.response(to: message, status: 200, toTag: .empty) : nil
        }
        client.start(at: room.now)
        room.run(seconds: 100)   // each end's BYE has half a minute, one after the other
        let kind = isAnswered ? Finding.Kind.forgottenEnd : .noEnd
        #expect(judge.steps.count == 2 && client.progress.over == 30)
        #expect(
            (judge.steps[0]?.findings[kind]?.count, judge.steps[1]?.findings[kind]?.count) == (8, 16),
            "\(judge.steps.mapValues(\.findings))")
        #expect(
            (judge.steps[0]?.calls, judge.steps[1]?.calls) == (9, 19),
            "each once: those that were begun in it, and those that only ended in it")
        #expect(judge.steps[0]?.findings[kind]?.numbers.first == 2, "the first that ended once the step had settled")
    }

    @Test func `an end that hears nothing in a step has lost all, and that is no sound`() throws {
        var (before, mute, good) = (MediaStatistics(), MediaStatistics(), MediaStatistics())
        (before.sending.packets, before.receiving.packets) = (100, 100)
        (mute.sending.packets, mute.receiving.packets) = (300, 100)
        (good.sending.packets, good.receiving.packets, good.receiving.lost, good.receiving.lossFraction) = (300, 300, 0, 0)
        func end(_ now: MediaStatistics) -> StepReading.End {
            StepReading.End(began: .zero, ringing: .zero, answered: .zero, codec: "opus", encryption: .clear, before: before, now: now)
        }
        let call = StepReading.Call(
            number: 1, kind: .plain, caller: end(mute), callee: end(good), expects: .sound, interruptions: 0)
        var judge = StepJudge()
        judge.close(StepReading(window: StepWindow(step: 0, from: .seconds(2), to: .seconds(6)), began: .zero, calls: [call]))
        let tally = try #require(judge.steps[0])
        #expect(
            tally[.loss].count == 1 && tally[.lossIn].minimum.map { $0 > 99 } == true && tally[.lossOut].maximum == 0
                && tally.findings[.oneWay]?.count == 1)
        #expect(tally[.mos].minimum.map { $0 < 1.5 } == true, "\(tally[.mos].count)")
    }

    @Test(arguments: [(10.0, 10, nil, 195), (1, 600, nil, 745), (10, 10, 4, 4), (1_000, 600, nil, 20_000)] as [(Double, Int64, Int?, Int)])
    func `a plan has room for the calls that its rate and hold time make`(_ rate: Double, _ hold: Int64, _ calls: Int?, _ expected: Int) {
        var plan = LoadPlan()
        (plan.arrivals, plan.hold, plan.calls) = (ArrivalPlan(rate: rate), .exponential(.seconds(hold)), calls)
        #expect(plan.expectedConcurrency == expected)
        plan.duration = .seconds(5)
        #expect(plan.expectedConcurrency == min(expected, Int(rate) * 5 + 1), "no more than are begun")
        (plan.duration, plan.arrivals) = (nil, ArrivalPlan(from: 1, to: rate, by: 1, every: .seconds(10)))
        #expect(plan.expectedConcurrency <= expected)
    }

    @Test func `calls without an answer are slow ones`() {
        let (tallies, _) = steps { number, seat, session, now in
            if number <= 10 { self.echo(seat, session, now) }
        }
        #expect(tallies[0][.setup].maximum.map { abs($0 - 10) < 0.1 } == true)
        #expect(tallies[1][.setup].percentile(50).map { $0 > 1_000 } == true)
    }
}
