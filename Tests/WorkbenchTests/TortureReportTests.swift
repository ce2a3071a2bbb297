import Foundation
import Primitives
import Testing

@testable import Workbench

/// What is told of a run.
@Suite struct TortureReportTests {
    private static func result(_ index: Int, _ verdict: TortureResult.Verdict) -> TortureResult {
        var result = TortureResult(TortureCase.all[index])
        (result.verdict, result.milliseconds) = (verdict, 1_500)
        switch verdict {
        case .passed: break
        case .failed: (result.expected, result.came) = ("400 or <501>", "200 \"OK\" & more")
        case .notJudged: result.reason = "no line"
        }
        return result
    }

    private static func report(_ verdicts: [TortureResult.Verdict], wasStopped: Bool = false) -> TortureReport {
        TortureReport(
            target: "sip:a@b", transport: "udp", version: "1", began: "2026-11-26T00:00:00Z", elapsedSeconds: 2.5, wasStopped: wasStopped,
            cases: verdicts.enumerated().map { result($0.offset, $0.element) })
    }

    @Test(
        arguments: [
            ([], false, [0, 0, 0], 0), ([.passed, .passed], false, [2, 0, 0], 0), ([.passed, .notJudged], false, [1, 0, 1], 0),
            ([.failed, .notJudged, .failed], false, [0, 2, 1], 1), ([.passed], true, [1, 0, 0], 3), ([.failed], true, [0, 1, 0], 1),
        ] as [([TortureResult.Verdict], Bool, [Int], Int32)])
    func `cases are counted by verdict, and a failure is the exit code`(
        verdicts: [TortureResult.Verdict], wasStopped: Bool, counts: [Int], code: Int32
    ) {
        let report = Self.report(verdicts, wasStopped: wasStopped)
        #expect([report.counts.passed, report.counts.failed, report.counts.notJudged] == counts && report.exitCode == code)
    }

    @Test func `a line says what was asked for and what came`() {
        let name = TortureCase.all[0].name, rest = "\(name): \(TortureCase.all[0].title) (\(TortureCase.all[0].reference))"
        #expect(TortureText.line(Self.result(0, .passed)) == "passed      " + rest)
        #expect(
            TortureText.line(Self.result(0, .failed)) == "FAILED      " + rest
                + "\n            expected 400 or <501>, and there came 200 \"OK\" & more")
        #expect(TortureText.line(Self.result(0, .notJudged)) == "not judged  " + rest + "\n            no line")
        var bare = Self.result(0, .failed)
        (bare.expected, bare.came) = (nil, nil)
        #expect(TortureText.line(bare).hasSuffix("expected something else, and there came nothing"))
    }

    @Test func `the summary counts, and names what failed`() {
        let names = TortureCase.all.prefix(3).map(\.name)
        #expect(
            TortureText.summary(Self.report([.failed, .passed, .failed], wasStopped: true)) == [
                "sip:a@b over udp: 1 passed, 2 failed, 0 not judged, in 2.50 s; stopped early", "failed: \(names[0]), \(names[2])",
            ])
        #expect(TortureText.summary(Self.report([.passed])) == ["sip:a@b over udp: 1 passed, 0 failed, 0 not judged, in 2.50 s"])
    }

    @Test func `JUnit has a suite for each group, and escapes what it tells`() throws {
        let text = TortureJUnit.text(Self.report([.passed, .failed, .notJudged]))
        #expect(text.contains("<testsuites name=\"hookswitch torture\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"2.5\">"))
        #expect(text.contains("<testsuite name=\"rfc4475\" tests=\"3\" failures=\"1\" skipped=\"1\">") && !text.contains("name=\"races\""))
        #expect(text.contains("time=\"1.5\"/>") && text.contains("<skipped message=\"no line\"/>"))
        #expect(text.contains("<failure message=\"expected 400 or &lt;501&gt;, and there came 200 &quot;OK&quot; &amp; more\"/>"))
        let names = Reader.elements(of: text)
        #expect(names == ["testsuites", "testsuite", "testcase", "testcase", "failure", "testcase", "skipped"])
    }

    @Test func `a report comes back from its JSON`() throws {
        let report = Self.report([.passed, .failed, .notJudged], wasStopped: true)
        let data = try JSONEncoder().encode(report), back = try JSONDecoder().decode(TortureReport.self, from: data)
        #expect(back.cases == report.cases && back.counts == report.counts && back.exitCode == 1)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("\"schema\":\"hookswitch.torture\\/1\"") && text.contains("\"verdict\":\"not-judged\""))
    }
}

/// The elements of an XML text in their order; what is not well formed ends it.
private enum Reader {
    static func elements(of text: String) -> [String] {
        var names: [String] = [], open: [Substring] = []
        for tag in text.matches(of: /<([\/?]?)([a-z]+)([^<>]*?)(\/?)>/) {
            if tag.output.1 == "?" { continue }
            if tag.output.1 == "/" {
                guard open.popLast() == tag.output.2 else { return names + ["not closed"] }
                continue
            }
            names.append(String(tag.output.2))
            if tag.output.4.isEmpty { open.append(tag.output.2) }
        }
        return names + open.map { "open \($0)" }
    }
}
