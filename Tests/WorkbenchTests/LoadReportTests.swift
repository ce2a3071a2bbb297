import Primitives
import Testing

@testable import Workbench

/// What a report says, made without a run.
@Suite struct LoadReportTests {
    private func call(_ number: UInt32, began: Double, seconds: Double?, _ outcome: CallFigures.Outcome = .good) -> CallFigures {
        CallFigures(
            number: number, kind: .plain, step: 0, began: began, callID: "", outcome: outcome, status: seconds == nil ? 487 : 200,
            answer: seconds.map { _ in 0 }, duration: seconds.map { $0 * 1_000 }, retransmissions: 0, findings: [])
    }

    private func report(
        _ calls: [CallFigures], leftOut: Int = 0, slo: String? = nil, findsKnee: Bool = false, leaks: LeakReport = LeakReport(leftovers: [])
    ) throws -> LoadReport {
        var state = LoadLedger.State()
        for call in calls { state.tally.add(call) }
        (state.calls, state.callsLeftOut) = (calls, leftOut)
        let reading = MachineReading.now,
            evidence = ValidityEvidence(before: reading, after: reading, elapsed: .seconds(10), mediaPorts: 40_000...40_999)
        let outcome = LiveLoad.Outcome(
            failure: nil, state: state, progress: LoadProgress(), elapsed: .seconds(10), evidence: evidence, leaks: leaks)
        let run = LoadReport.Run(command: "", target: "", transport: "udp", version: "", began: "", elapsed: 10, wasStopped: true, seed: 1)
        return try #require(outcome.report(run, plan: LoadPlan(), slo: try slo.map { try ServiceLevel(parsing: $0) }, findsKnee: findsKnee))
    }

    @Test(
        arguments: [(nil, false, 2), ("failed<90%", false, 0), ("failed<1%", false, 2), ("failed<1%", true, 0)] as [(String?, Bool, Int)])
    func `what the exit code allows is no failure for JUnit, and told there`(slo: String?, findsKnee: Bool, failures: Int) throws {
        var refused = call(1, began: 0, seconds: nil, .failed)
        refused.findings = [Finding(.refused, "486 Busy Here"), Finding(.lateAnswer, "the answer took 2 s")]
        let report = try report([refused, call(2, began: 0, seconds: 1)], slo: slo, findsKnee: findsKnee), text = LoadJUnit.text(report)
        #expect(text.contains("failures=\"\(failures)\"") && (findsKnee || (failures > 0) == (report.exitCode == 1)), "\(text)")
        #expect(
            text.contains("486 Busy Here")
                && text.contains("late answer does not occur\"><system-out>1 calls: the answer took 2 s</system-out>"))
    }

    @Test func `what XML has no place for is not in a report`() throws {
        var refused = call(1, began: 0, seconds: nil, .failed)
        refused.findings = [Finding(.refused, "486 a\u{FFFE}b\u{FFFF}c\u{1}d\u{1FFFE}e")]
        #expect(LoadJUnit.text(try report([refused])).contains("486 abcd\u{1FFFE}e"))
    }

    @Test func `the calls that are up are those at one time, and not all of a second`() {
        let turns = (0..<20).map { call(UInt32($0 + 1), began: 0.3 * Double($0), seconds: 0.25) }
        #expect(LoadSeries.points(of: turns).map(\.active) == [Int](repeating: 1, count: 6))
        let three = (1...3).map { call(UInt32($0), began: 0.5 * Double($0), seconds: 2.2) } + [call(4, began: 2, seconds: nil, .cutOff)]
        let points = LoadSeries.points(of: three)
        #expect(points.map(\.active) == [1, 3, 3, 2] && points.map(\.begun) == [1, 2, 1, 0])
        #expect(points.flatMap(\.failures.keys).isEmpty, "what was cut off is no failure")
    }

    @Test func `what is told of the first calls alone says so, in text and on the page`() throws {
        let calls = [call(1, began: 0, seconds: 1)],
            note = "the first 1 calls alone make the plots, the series and what is found late; 7 more are in the sums"
        let report = try report(calls, leftOut: 7), whole = try self.report(calls)
        #expect(LoadText.lines(report).contains("note         \(note)") && LoadPage.text(report).contains(note))
        #expect(!LoadText.lines(whole).contains { $0.contains("alone make") } && !LoadPage.text(whole).contains("alone make"))
    }

    @Test(arguments: [nil, "failed<1%"]) func `a run that was stopped before a call was over says nothing of the target`(slo: String?)
        throws
    {
        let stopped = [call(1, began: 0, seconds: nil, .cutOff), call(2, began: 1, seconds: nil, .cutOff)]
        let none = try report(stopped, slo: slo), lines = LoadText.lines(none)
        #expect(
            LoadJUnit.text(none).contains("failures=\"0\"")
                && LoadJUnit.text(none).contains("<error message=\"it was stopped before a call was over"))
        #expect(none.exitCode == 3 && none.counts.cutOff == 2 && lines.last == "verdict      none: it was stopped before a call was over")
        #expect(lines.contains { $0.contains("0 good, 0 faulty, 0 failed, 2 cut off by the stop; stopped early") })
        #expect(LoadPage.text(none).contains("cut off by the stop"))
        let some = try report(stopped + [call(3, began: 0, seconds: 1)], slo: slo)
        #expect(some.exitCode == 0 && some.counts.good == 1 && some.ratios.failed == 0)
    }

    /// Its 200 came when the sockets for it could not be bound.
    @Test func `a call that the tool had no media port for counts as answered nowhere`() throws {
        let calls = [call(1, began: 0, seconds: 1), call(2, began: 0, seconds: 0, .notTried)], report = try report(calls)
        #expect(report.counts.answered == 1 && report.ratios.ser == 100 && LoadSeries.points(of: calls).map(\.answered).reduce(0, +) == 1)
        var record = CallRecord(peer: "sip:9196@127.0.0.1", isOutgoing: true, script: CallScript(), began: .zero)
        (record.status, record.answered, record.couldNotBind) = (200, .zero, true)
        #expect(record.result().verdict == .notConnected)
    }

    @Test(arguments: [480, 503]) func `what a target says to a CANCEL of ours is in no ratio`(status: Int) {
        var tally = LoadTally()
        tally.add(call(1, began: 0, seconds: 1))
        for number in 2...5 as ClosedRange<UInt32> {
            tally.add(
                CallFigures(
                    number: number, kind: .plain, step: 0, began: 0, callID: "", outcome: .cutOff, status: status, retransmissions: 0,
                    findings: []))
        }
        #expect(tally.effectivenessRatio == 100 && tally.ineffectiveAttempts == 0 && tally.tried == 1)
    }

    @Test func `ports that were nearly all in use are counted one by one`() {
        let reading = MachineReading.now
        var evidence = ValidityEvidence(before: reading, after: reading, elapsed: .seconds(10), mediaPorts: 40_000...40_999)
        evidence.portsAtMost = 950
        #expect(Validity(evidence).notes.contains("950 of 1000 of our media ports were in use or resting"))
    }

    @Test func `what could not be judged is told, and is nothing that was left`() throws {
        let report = try report([call(1, began: 0, seconds: 1)], leaks: LeakReport(leftovers: [], notJudged: "the journal"))
        #expect(report.exitCode == 0 && LoadText.lines(report).contains("left behind  nothing; not judged: the journal"))
        #expect(LoadPage.text(report).contains("Not judged: the journal"))
    }
}
