import Foundation
import Media
import Primitives
import Testing

@testable import Workbench

/// The parts of a load that agents make, and what they tell added up.
@Suite struct LoadShareTests {
    private func times(_ plan: LoadPlan) -> [Duration] {
        var schedule = ArrivalSchedule(plan.arrivals, seed: plan.seed), times: [Duration] = []
        while let due = schedule.due, times.count < 600, due < .seconds(60) {
            times.append(due)
            schedule.advance()
        }
        return times
    }

    private func shares(_ plan: LoadPlan, _ count: Int) throws -> [LoadPlan] {
        try (0..<count).map { index in
            let share = try #require(LoadShare(index, of: count))
            return try #require(plan.share(share))
        }
    }

    @Test(arguments: [ArrivalPlan(rate: 7), ArrivalPlan(from: 4, to: 12, by: 4, every: .seconds(6))])
    func `calls of all agents together begin when those of one tool would`(arrivals: ArrivalPlan) throws {
        var plan = LoadPlan()
        plan.arrivals = arrivals
        let whole = times(plan), parts = try shares(plan, 3).map(times), all = parts.flatMap(\.self).sorted()
        #expect(whole.count > 100 && abs(all.count - whole.count) <= 3, "\(whole.count) \(all.count)")
        for (one, other) in zip(all, whole) { #expect(abs((one - other).wholeNanoseconds) < 1_000, "\(one) \(other)") }
        #expect(parts.allSatisfy { abs($0.count - whole.count / 3) <= 2 })
    }

    @Test func `numbers, calls and accounts are divided, and nothing is lost or doubled`() throws {
        var plan = LoadPlan()
        (plan.calls, plan.concurrent) = (11, 7)
        plan.accounts = (1...9).map { LoadAccount(user: Text("10\($0)")) }
        let parts = try shares(plan, 3)
        #expect(parts.compactMap(\.calls) == [4, 4, 3] && parts.map(\.concurrent) == [3, 2, 2])
        #expect(parts.flatMap(\.accounts) == plan.accounts && parts.allSatisfy { $0.accounts.count == 3 })
        #expect(Set(parts.map(\.seed)).count == 3)
        let numbers = parts.flatMap { part in (1...UInt32(part.calls ?? 0)).compactMap { part.share?.number(ofCall: $0) } }
        #expect(numbers.sorted() == Array(1...11))
    }

    @Test func `a load that is too small for its agents is refused`() throws {
        var plan = LoadPlan()
        let first = try #require(LoadShare(0, of: 3)), last = try #require(LoadShare(2, of: 3))
        plan.calls = 2
        #expect(plan.share(last) == nil)
        (plan.calls, plan.concurrent) = (3, 2)
        #expect(plan.share(last) == nil)
        plan.concurrent = 3
        #expect(plan.share(last) != nil)
        plan.accounts = (1...5).map { LoadAccount(user: Text("10\($0)")) }
        #expect(plan.share(first) == nil, "an agent has one line, and nobody to call")
    }

    @Test(arguments: [#"{"index":0,"count":0}"#, #"{"index":3,"count":3}"#, #"{"index":-1,"count":3}"#, #"{"index":0,"count":65}"#])
    func `a share that there is not is no share`(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(LoadShare.self, from: Data(text.utf8)) }
    }

    @Test(arguments: [
        #"{"greatest":1,"steps":[[512,1]]}"#, #"{"greatest":1,"steps":[[1]]}"#, #"{"greatest":1,"steps":[[0,1099511627776]]}"#,
    ])
    func `a lateness with steps that there are not is none`(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Lateness.self, from: Data(text.utf8)) }
    }

    // MARK: Added up

    private func call(_ number: UInt32) -> CallFigures {
        let isBad = number % 10 == 0
        return CallFigures(
            number: number, kind: number % 4 == 0 ? .hold : .plain, step: 0, began: Double(number) / 10, callID: "c\(number)",
            outcome: isBad ? .faulty : .good, status: 200, setup: Double(number * 3), answer: Double(number * 4), duration: 3_000,
            retransmissions: Int(number % 3), findings: isBad ? [Finding(.oneWay, "nothing came", second: Double(number))] : [])
    }

    private func state(_ calls: [CallFigures], late: Duration) throws -> AgentState {
        var state = LoadLedger.State(), lateness = Lateness(), progress = LoadProgress()
        for call in calls { state.tally.add(call) }
        for _ in 0..<200 { lateness.note(late) }
        (state.stepLateness[0], progress.begun, progress.lateness) = (lateness, calls.count, lateness)
        let now = MachineReading.now
        var evidence = ValidityEvidence(before: now, after: now, elapsed: .seconds(20), mediaPorts: 4_000...4_999)
        (evidence.packets, evidence.progress, evidence.calls) = (lateness, progress, lateness)
        let end = AgentState.End(
            failure: nil, validity: Validity(evidence), leaks: LeakReport(leftovers: late > .milliseconds(5) ? ["1 media socket"] : []),
            machine: .this, calls: calls.count)
        let told = AgentState(progress: progress, elapsed: 20, figures: LoadFigures(state), end: end)
        return try JSONDecoder().decode(AgentState.self, from: JSONEncoder().encode(told))
    }

    private func report(_ results: [AgentResult]) throws -> LoadReport {
        var plan = LoadPlan()
        plan.arrivals = ArrivalPlan(rate: 10)
        let run = LoadReport.Run(command: "", target: "", transport: "udp", version: "", began: "", elapsed: 20, wasStopped: false, seed: 1)
        return try #require(LiveLoad.Outcome(adding: results).report(run, plan: plan, slo: nil, findsKnee: false))
    }

    private func result(_ name: String, _ calls: [CallFigures], late: Duration = .zero) throws -> AgentResult {
        var result = AgentResult(name: name)
        (result.last, result.calls) = (try state(calls, late: late), calls)
        return result
    }

    @Test func `two agents give the figures that one of twice the size gives`() throws {
        let calls = (1...200).map { call($0) }, odd = calls.filter { $0.number % 2 == 1 }, even = calls.filter { $0.number % 2 == 0 }
        let whole = try report([try result("a", calls)]), halves = try report([try result("a", odd), try result("b", even)])
        #expect(halves.counts.begun == 200 && halves.counts == whole.counts)
        #expect(halves.ratios == whole.ratios && halves.totals == whole.totals && halves.metrics == whole.metrics)
        #expect(halves.histograms == whole.histograms && halves.series == whole.series && halves.calls == calls)
        let known = halves.metrics["setup"] ?? nil, setup = try #require(known)
        #expect(setup.count == 200 && abs(setup.max - 600) < 1 && abs((setup.p50 ?? 0) - 300) < 4)
        let found = try #require(halves.findings.first { $0.kind == .oneWay })
        #expect(found.calls == 20 && found.pattern == "every 10th call" && halves.findings == whole.findings)
        #expect(halves.validity.isValid && halves.agents?.map(\.begun) == [100, 100] && halves.validity.rate.asked == 10)
    }

    @Test func `one agent that is late, or leaves something behind, is named`() throws {
        let calls = (1...40).map { call($0 * 2 + 1) }
        let report = try report([try result("a", Array(calls[..<20])), try result("b:1", Array(calls[20...]), late: .milliseconds(60))])
        #expect(
            !report.validity.isValid && !report.validity.blamesTarget
                && report.validity.reasons.allSatisfy { $0.hasPrefix("b:1: the tool") })
        #expect(report.leaks?.leftovers == ["b:1: 1 media socket"])
        #expect(LoadPage.text(report).contains("<li>Agent b:1: 20 calls in 20.0 s, not valid"))
        let lines = LoadText.lines(report).filter { $0.hasPrefix("agent ") }
        #expect(
            lines.count == 2 && lines[0].contains("a: 20 calls in 20.0 s, valid")
                && lines[1].contains("b:1: 20 calls in 20.0 s, not valid"), "\(lines)")
    }

    @Test func `an agent that is lost makes the run invalid, and what it had told still counts`() throws {
        var lost = try result("b", [call(3), call(5)])
        lost.last?.end = nil
        (lost.lostAfter, lost.calls) = (12.5, [])
        let report = try report([try result("a", [call(1), call(7)]), lost])
        #expect(report.counts.begun == 4 && report.calls.count == 2 && report.callsLeftOut == 2)
        #expect(report.validity.reasons == ["b was lost 12.5 s after the beginning: its calls from then on are missing"])
        #expect(report.exitCode == 3 && !report.validity.rate.isKept && report.agents?.last?.lostAfter == 12.5)
    }

    @Test func `a search over agents waits for all of them, and for those that go back`() throws {
        let level = try ServiceLevel(parsing: "failed<5%")
        func told(_ steps: [Bool], late: Duration = .zero, restarts: Int = 0) -> AgentState {
            var state = LoadLedger.State()
            for (step, isGood) in steps.enumerated() {
                let begin = Duration.seconds(10 * step), window = StepWindow(step: step, from: begin, to: begin + .seconds(10))
                for number in 1...10 {
                    let figures = CallFigures(
                        number: UInt32(number), kind: .plain, step: step, began: begin.inSeconds + 1, callID: "",
                        outcome: isGood ? .good : .failed, status: isGood ? 200 : 503, retransmissions: 0,
                        findings: isGood ? [] : [Finding(.refused, "503")])
                    state.judge.add(figures, ended: begin + .seconds(2))
                }
                let reading = StepReading(window: window, began: .zero, calls: [])
                state.close(reading)
                state.judge.close(reading)
                var lateness = Lateness()
                for _ in 0..<200 { lateness.note(late) }
                state.stepLateness[step] = lateness
            }
            return AgentState(progress: LoadProgress(), figures: LoadFigures(state), restarts: restarts)
        }
        var search = AgentsSearch(level)
        #expect(search.decide([told([true]), told([true, false])]) == nil, "the first has not ended its second step")
        #expect(search.decide([told([true, true]), told([true, false], late: .milliseconds(9))]) == .again(1))
        #expect(search.decide([told([true, true]), told([true, false])], restarts: 1) == nil, "both are from before")
        #expect(search.decide([told([true, true], restarts: 1), told([true, false], restarts: 1)], restarts: 1) == .end)
        #expect(search.decide([told([true, false], restarts: 1), told([true, false], restarts: 1)], restarts: 1) == nil)
    }
}
