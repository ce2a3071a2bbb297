import CallJournal
import Foundation
import Media
import Primitives
import Testing

@testable import Workbench

/// What a report says, made without a run.
@Suite struct LoadReportTests {
    private func call(_ number: UInt32, began: Double, seconds: Double?, setup: Double? = nil, _ outcome: CallFigures.Outcome = .good)
        -> CallFigures
    {
        CallFigures(
            number: number, kind: .plain, step: 0, began: began, callID: "", outcome: outcome, status: seconds == nil ? 487 : 200,
            setup: setup, answer: seconds.map { _ in 0 }, duration: seconds.map { $0 * 1_000 }, retransmissions: 0, findings: [])
    }

    private func report(
        _ calls: [CallFigures], leftOut: Int = 0, slo: String? = nil, leaks: LeakReport = LeakReport(leftovers: []), skipped: Int = 0,
        late: [Duration] = []
    ) throws -> LoadReport {
        var state = LoadLedger.State()
        for call in calls { state.tally.add(call) }
        (state.calls, state.callsLeftOut) = (calls, leftOut)
        let reading = MachineReading.now
        var progress = LoadProgress(),
            evidence = ValidityEvidence(before: reading, after: reading, elapsed: .seconds(10), mediaPorts: 40_000...40_999)
        (progress.begun, progress.skipped) = (calls.count, skipped)
        for time in late { progress.lateness.note(time) }
        (evidence.progress, evidence.calls) = (progress, progress.lateness)
        let outcome = LiveLoad.Outcome(
            failure: nil, state: state, progress: progress, elapsed: .seconds(10), evidence: evidence, leaks: leaks)
        let run = LoadReport.Run(command: "", target: "", transport: "udp", version: "", began: "", elapsed: 10, wasStopped: true, seed: 1)
        return try #require(outcome.report(run, plan: LoadPlan(), slo: try slo.map { try ServiceLevel(parsing: $0) }, findsKnee: false))
    }

    @Test(
        arguments: [(nil, 3), ("failed<90%", 0), ("failed<1%", 3), ("setup_p0<1s", 2)] as [(String?, Int)])
    func `what the exit code allows is no failure for JUnit, and told there`(slo: String?, failures: Int) throws {
        var refused = call(1, began: 0, seconds: nil, .failed)
        refused.findings = [Finding(.refused, "486 Busy Here"), Finding(.lateAnswer, "the answer took 2 s")]
        let report = try report([refused, call(2, began: 0, seconds: 1, setup: 1)], slo: slo), text = LoadJUnit.text(report)
        #expect(text.contains("failures=\"\(failures)\"") && (failures > 0) == (report.exitCode == 1), "\(text)")
        #expect(text.contains("486 Busy Here"))
        let late = slo == nil ? "<failure message=\"1 call: the answer took 2 s\"" : "<system-out>1 call: the answer took 2 s"
        #expect(text.contains("late answer does not occur\">\(late)"), "\(text)")
    }

    struct Judged: CustomTestStringConvertible, Sendable {
        var slo: String?, skipped = 0, late: [Duration] = [], isFaulty = false
        var word: LoadVerdict.Word, text: String
        var testDescription: String { "\(word): \(text)" }
    }

    static let judged = [
        Judged(slo: "setup_max<2s", word: .good, text: ""),
        Judged(slo: "setup_max<5ms", word: .failed, text: "setup_max<5ms (was 20.0)"),
        Judged(slo: "setup_p99<2s", word: .notMeasured, text: "setup_p99<2s (20 values, and 100 are needed for p99)"),
        Judged(slo: "setup_max<2s", skipped: 3, word: .notMeasured, text: "the rate was not kept: 3 of 23 calls were not begun"),
        Judged(slo: "setup_max<2s", skipped: 3, word: .notMeasured, text: "setup_max<2s (was 20.0, of the calls that were let in)"),
        Judged(slo: "setup_max<5ms", skipped: 3, word: .failed, text: "setup_max<5ms (was 20.0)"),
        Judged(slo: "setup_max<5ms", late: [Duration](repeating: .seconds(1), count: 20), word: .notMeasured, text: "one call in 20"),
        Judged(isFaulty: true, word: .failed, text: "silence: 1 call"),
        Judged(
            slo: "setup_max<2s", isFaulty: true, word: .failed, text: "silence: 1 call, and no term of the level says how many may be so"),
        Judged(slo: "setup_max<2s,silent<10%", isFaulty: true, word: .good, text: ""),
        Judged(late: [.seconds(1), .seconds(1)], isFaulty: true, word: .notMeasured, text: "silence: 1 call, perhaps by the tool"),
    ]

    @Test(arguments: judged) func `one verdict is in the text, the page, JUnit and the exit code`(example: Judged) throws {
        var calls = (1...20).map { call(UInt32($0), began: Double($0), seconds: 1, setup: Double($0)) }
        if example.isFaulty { (calls[2].outcome, calls[2].findings) = (.faulty, [Finding(.silence, "packets came, with silence in them")]) }
        let report = try report(calls, slo: example.slo, skipped: example.skipped, late: example.late), verdict = report.verdict
        #expect(verdict.word == example.word && (example.text.isEmpty || verdict.text.contains(example.text)), "\(verdict)")
        #expect(verdict.exitCode == [.good: 0, .failed: 1, .notMeasured: 3][example.word])
        #expect(LoadText.lines(report).last == "verdict      \(verdict.text)")
        #expect(LoadPage.text(report).contains("verdict: \(Markup.escaped(verdict.text))</p>"))
        let junit = LoadJUnit.text(report), tag = [.failed: "><failure message", .notMeasured: "><error message"][example.word] ?? "/>"
        #expect(junit.contains("name=\"the verdict is good\"\(tag)"), "\(junit)")
        #expect(junit.contains(" failures=\"0\"") == (example.word != .failed), "\(junit)")
    }

    /// One in a hundred is nothing that fifty tell.
    @Test(arguments: [(51, 1, true), (51, 4, false), (200, 1, true), (200, 3, false), (10, 1, true), (10, 6, false)])
    func `calls that were begun late are judged by a percentile that their number tells`(all: Int, late: Int, isValid: Bool) throws {
        let times = [Duration](repeating: .zero, count: all - late) + [Duration](repeating: .milliseconds(80), count: late)
        let report = try report([call(1, began: 0, seconds: 1)], late: times), lateness = try #require(report.validity.callLateness)
        #expect(report.validity.isValid == isValid && report.validity.isBelievable == isValid, "\(report.validity.reasons)")
        #expect((lateness.p99 != nil) == (all >= 100) && (lateness.p95 != nil) == (all >= 20))
        #expect(LoadText.lines(report)[0] == (isValid ? "valid        yes" : "valid        NO: do not blame the target for what follows"))
    }

    @Test func `the page has both directions, limits, the calls that are not good, the machine and the run before`() throws {
        var calls = (1...20).map { call(UInt32($0), began: Double($0), seconds: 1, setup: Double($0)) }
        for index in calls.indices {
            calls[index].caller = EndFigures(sent: 50, received: 50, lossPercent: 0, jitter: 1, delay: 5, mos: 4.4)
            calls[index].callee = EndFigures(sent: 50, received: 40, lossPercent: 20, jitter: 2, delay: 7, mos: 2)
        }
        calls[6].findings = [Finding(.missing, "from caller to callee: stopped 2.0 s after the answer, and 10 of 50 packets did not come")]
        (calls[6].outcome, calls[6].callID) = (.faulty, "a<b@host")
        var report = try report(calls, slo: "setup_p95<12ms,failed<50%")
        let earlier = try JSONDecoder().decode(EarlierReport.self, from: JSONEncoder().encode(report))
        report.baseline = LoadBaseline(earlier, beside: report)
        let page = LoadPage.text(report), text = LoadText.lines(report).joined(separator: "\n")
        for piece in [
            "  out, from the caller", "  in, to the caller", "class=\"limit\"", "setup_p95&lt;12ms", "Calls that are not good",
            "a&lt;b@host",
            "stopped 2.0 s after the answer", Markup.escaped(report.machine.kernel), "Beside an earlier run", "1.00 ×", "Cumulative",
            "packets received", "95 %",
        ] { #expect(page.contains(piece), "\(piece)") }
        #expect(text.contains("machine      ") && text.contains("setup_p50") && text.contains("10.0 → 10.0 ms (1.00 ×)"), "\(text)")
        #expect(report.totals.packetsSent == 2_000 && report.totals.packetsReceived == 1_800 && report.totals.talkTime == 20)
        #expect(report.series.compactMap(\.lossOut).allSatisfy { $0 == 20 } && report.series.compactMap(\.lossIn).allSatisfy { $0 == 0 })
        #expect(report.series.allSatisfy { $0.setupP95 == nil }, "one call a second tells no p95")
    }

    @Test func `a consequence is told with its cause, and counts as no finding`() throws {
        let findings = [Finding(.noEnd, "the BYE was not answered"), Finding(.forgottenEnd, "not told"), Finding(.silence, "x")]
        let folded = Finding.folded(findings)
        #expect(folded.map(\.kind) == [.noEnd, .silence] && folded[0].consequences?.map(\.kind) == [.forgottenEnd])
        var bad = call(1, began: 0, seconds: 1, .faulty)
        bad.findings = folded
        let report = try report([bad])
        #expect(Set(report.findings.map(\.kind)) == [.silence, .noEnd])
        let ends = try #require(report.findings.first { $0.kind == .noEnd })
        #expect(ends.consequences == ["end not passed on": 1] && ends.calls == 1)
        #expect(LoadText.lines(report).contains { $0.hasSuffix("the BYE was not answered; with it: end not passed on") })
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
            note = "the first call alone makes the plots, the series and what is found late; 7 more are in the sums"
        let report = try report(calls, leftOut: 7), whole = try self.report(calls)
        #expect(LoadText.lines(report).contains("note         \(note)") && LoadPage.text(report).contains(note))
        #expect(!LoadText.lines(whole).contains { $0.contains("call alone makes") } && !LoadPage.text(whole).contains("call alone makes"))
    }

    @Test(arguments: [nil, "failed<1%"]) func `a run that was stopped before a call was over says nothing of the target`(slo: String?)
        throws
    {
        let stopped = [call(1, began: 0, seconds: nil, .cutOff), call(2, began: 1, seconds: nil, .cutOff)]
        let none = try report(stopped, slo: slo), lines = LoadText.lines(none)
        #expect(
            LoadJUnit.text(none).contains("failures=\"0\"")
                && LoadJUnit.text(none).contains("<error message=\"it was stopped before a call was over"))
        #expect(
            none.exitCode == 3 && none.counts.cutOff == 2
                && lines.last == "verdict      not measured: it was stopped before a call was over")
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
