/// The verdicts as JUnit XML: a test case for validity, for each term of the service level, for each kind of finding, and for what was left
/// behind.
/// What the exit code is not made of has passed, with what was found in its output.
public enum LoadJUnit {
    private struct Case {
        var group: String, name: String
        /// Nil: passed.
        var failure: String?
        /// The run could not be judged.
        var isError = false
        /// What was found, and is no failure.
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
        let isJudged = report.validity.isBelievable && !report.isNothingJudged
        let reasons = report.validity.reasons + (report.isNothingJudged ? ["it was stopped before a call was over"] : [])
        var cases = [
            Case(
                group: "validity", name: "the run can be believed", failure: isJudged ? nil : reasons.joined(separator: "\n"),
                isError: !isJudged)
        ]
        // A search goes on until a term breaks.
        let isSearch = report.knee != nil, isAllowed = isSearch || !report.slo.isEmpty && report.isSLOKept
        cases += report.slo.map { verdict in
            let actual = verdict.actual.map { "was \(Number.text($0))" } ?? "was not measured"
            return Case(
                group: "slo", name: verdict.term, failure: verdict.isKept ? nil : actual,
                isError: verdict.isToolsFault || report.isNothingJudged
            ).excused(isSearch)
        }
        if let knee = report.knee {
            cases.append(
                Case(
                    group: "knee", name: "a rate is held", failure: knee.lastKept == nil ? LoadText.text(knee) : nil,
                    isError: knee.lastKept == nil && knee.firstBroken == nil))
        }
        if report.slo.isEmpty, report.knee == nil {
            let bad = report.counts.failed + report.counts.faulty
            let failure = bad > 0 ? "\(bad) of \(report.counts.begun) are not" : report.counts.begun == 0 ? "no call was begun" : nil
            cases.append(Case(group: "calls", name: "every call is good", failure: failure))
        }
        cases += Finding.Kind.allCases.map { kind in
            let found = report.findings.first { $0.kind == kind }
            return Case(group: "findings", name: "\(kind.rawValue) does not occur", failure: found.map { "\($0.calls) calls: \($0.text)" })
                .excused(isAllowed || [.lateAnswer, .lateMedia].contains(kind))
        }
        if let leaks = report.leaks {
            cases.append(
                Case(group: "leaks", name: "nothing is left behind", failure: leaks.isClean ? nil : leaks.leftovers.joined(separator: "\n"))
            )
        }
        return cases
    }

    private static func element(_ test: Case) -> String {
        let head = "<testcase classname=\"load.\(test.group)\" name=\"\(Markup.escaped(test.name))\""
        if let remark = test.remark { return head + "><system-out>\(Markup.escaped(remark))</system-out></testcase>" }
        guard let failure = test.failure else { return head + "/>" }
        let tag = test.isError ? "error" : "failure"
        return head + "><\(tag) message=\"\(Markup.escaped(failure))\"/></testcase>"
    }
}

/// XML and HTML.
public enum Markup {
    /// For text and attributes of XML and HTML; what XML has no place for is left out.
    public static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "&#10;"
            case "\t": result += " "
            case _ where scalar.value < 32 || scalar.value == 127, "\u{FFFE}", "\u{FFFF}": break
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
