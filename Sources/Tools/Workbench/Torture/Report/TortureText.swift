import CallJournal

/// Verdicts as lines for a person.
public enum TortureText {
    /// One case, with what was expected and what came where it failed.
    public static func line(_ result: TortureResult) -> String {
        let marks: [TortureResult.Verdict: String] = [.passed: "passed    ", .failed: "FAILED    ", .notJudged: "not judged"]
        let head = "\(marks[result.verdict] ?? "")  \(result.name): \(result.title) (\(result.reference))"
        switch result.verdict {
        case .passed: return head
        case .failed:
            return head + "\n            expected \(result.expected ?? "something else"), and there came \(result.came ?? "nothing")"
        case .notJudged: return head + "\n            \(result.reason ?? "")"
        }
    }

    /// The end of the report: how many of each, and which failed.
    public static func summary(_ report: TortureReport) -> [String] {
        let counts = report.counts, failed = report.cases.filter { $0.verdict == .failed }.map(\.name)
        let numbers =
            "\(report.target) over \(report.transport): \(counts.passed) passed, \(counts.failed) failed, \(counts.notJudged) not judged, in \(Number.text(report.elapsedSeconds)) s"
            + (report.wasStopped ? "; stopped early" : "")
        return [numbers] + (failed.isEmpty ? [] : ["failed: " + failed.joined(separator: ", ")])
    }
}

/// Verdicts as JUnit XML: a test suite for each group, a test case for each case.
public enum TortureJUnit {
    /// The whole document; what XML has no place for is left out.
    public static func text(_ report: TortureReport) -> String {
        let suites = TortureCase.Group.allCases.compactMap { group -> String? in
            let cases = report.cases.filter { $0.group == group }
            return cases.isEmpty ? nil : suite(group, cases)
        }
        let head = head(report.cases) + " time=\"\(report.elapsedSeconds)\""
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hookswitch torture\" \(head)>\n" + suites.joined()
            + "</testsuites>\n"
    }

    private static func suite(_ group: TortureCase.Group, _ cases: [TortureResult]) -> String {
        "<testsuite name=\"\(group.rawValue)\" \(head(cases))>\n" + cases.map(element).joined() + "</testsuite>\n"
    }

    private static func head(_ cases: [TortureResult]) -> String {
        "tests=\"\(cases.count)\" failures=\"\(cases.count { $0.verdict == .failed })\" skipped=\"\(cases.count { $0.verdict == .notJudged })\""
    }

    private static func element(_ result: TortureResult) -> String {
        let time = result.milliseconds.map { " time=\"\($0 / 1_000)\"" } ?? ""
        let head =
            "<testcase classname=\"torture.\(result.group.rawValue)\" name=\"\(Markup.escaped("\(result.name): \(result.title)"))\"\(time)"
        switch result.verdict {
        case .passed: return head + "/>\n"
        case .failed:
            return head
                + "><failure message=\"\(Markup.escaped("expected \(result.expected ?? ""), and there came \(result.came ?? "nothing")"))\"/></testcase>\n"
        case .notJudged: return head + "><skipped message=\"\(Markup.escaped(result.reason ?? ""))\"/></testcase>\n"
        }
    }
}
