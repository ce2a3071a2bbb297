import CallJournal

/// The verdicts as JUnit XML: a test case for the verdict, for validity, for each term of the service level, for each kind of finding, and
/// for leaks. A finding that the verdict allows has passed, with what was found in its output.
public enum LoadJUnit {
    private struct Case {
        var group: String, name: String
        /// Nil: passed.
        var failure: String?
        /// Not measured: the run could not be judged.
        var isError = false
        /// A remark on what was found and is no failure.
        var remark: String?

        func excused(_ isExcused: Bool) -> Case { isExcused ? Case(group: group, name: name, remark: failure) : self }
    }

    public static func text(_ report: LoadReport) -> String {
        let cases = cases(report), failures = cases.count { $0.failure != nil && !$0.isError }, errors = cases.count { $0.isError }
        let head = "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\" time=\"\(report.run.elapsed)\""
        let body = cases.map(element).joined(separator: "\n")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(head)>
            <testsuite name="hookswitch load" timestamp="\(Markup.escaped(report.run.began))" \(head)>
            \(body)
            <system-out>\(Markup.escaped(LoadText.lines(report).joined(separator: "\n")))</system-out>
            </testsuite>
            </testsuites>

            """
    }

    private static func cases(_ report: LoadReport) -> [Case] {
        [verdict(report), validity(report)] + levels(report) + search(report) + findings(report) + leaks(report)
    }

    private static func verdict(_ report: LoadReport) -> Case {
        let verdict = report.verdict, isGood = verdict.word == .good
        return Case(
            group: "verdict", name: "the verdict is good", failure: isGood ? nil : verdict.text, isError: verdict.word == .notMeasured)
    }

    private static func validity(_ report: LoadReport) -> Case {
        let reasons = report.validity.reasons + (report.isNothingJudged ? ["it was stopped before a call was over"] : [])
        return Case(
            group: "validity", name: "the run is valid", failure: reasons.isEmpty ? nil : reasons.joined(separator: "\n"),
            isError: !reasons.isEmpty)
    }

    private static func levels(_ report: LoadReport) -> [Case] {
        report.slo.map { verdict in
            let isOpen = verdict.state == .notMeasured || report.isNothingJudged
            let failure = verdict.state == .passed ? nil : isOpen ? "not measured: \(verdict.outcome)" : verdict.outcome
            return Case(group: "slo", name: verdict.term, failure: failure, isError: isOpen).excused(report.knee?.lastKept != nil)
        }
    }

    private static func search(_ report: LoadReport) -> [Case] {
        report.knee.map { knee in
            let isFound = knee.lastKept != nil && knee.isKnown
            return [
                Case(
                    group: "knee", name: "a rate passes", failure: isFound ? nil : LoadText.text(knee),
                    isError: !isFound && (!knee.isKnown || knee.firstBroken == nil))
            ]
        } ?? []
    }

    private static func findings(_ report: LoadReport) -> [Case] {
        Finding.Kind.allCases.map { kind in
            let found = report.findings.first { $0.kind == kind }, level = report.level
            let text = found.map { "\($0.calls.counted("call", "calls")): \($0.text)\(LoadText.consequences(of: $0))" }
            let isBounded = report.isSLOKept && level?.bounds(kind) == true || level != nil && kind.isOfTime
            let isOpen = text != nil && !report.validity.blamesTarget
            return Case(group: "findings", name: "\(kind.rawValue) does not occur", failure: text, isError: isOpen)
                .excused(report.knee != nil || isBounded)
        }
    }

    private static func leaks(_ report: LoadReport) -> [Case] {
        report.leaks.map { leaks in
            [
                Case(
                    group: "leaks", name: "nothing is left behind",
                    failure: leaks.isClean ? nil : leaks.leftovers.joined(separator: "\n"))
            ]
        } ?? []
    }

    private static func element(_ test: Case) -> String {
        let head = "<testcase classname=\"load.\(test.group)\" name=\"\(Markup.escaped(test.name))\""
        if let remark = test.remark { return head + "><system-out>\(Markup.escaped(remark))</system-out></testcase>" }
        guard let failure = test.failure else { return head + "/>" }
        let tag = test.isError ? "error" : "failure"
        return head + "><\(tag) message=\"\(Markup.escaped(failure))\"/></testcase>"
    }
}
