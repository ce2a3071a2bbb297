/// The result of one case.
public struct TortureResult: Codable, Sendable, Equatable {
    /// Verdicts on the target.
    public enum Verdict: String, Codable, Sendable {
        /// It did as the case asks, or it did not.
        case passed, failed
        /// Nothing can be said of the target: `reason` says why.
        case notJudged = "not-judged"
    }

    /// The name of the case.
    public var name: String
    /// The group of the case.
    public var group: TortureCase.Group
    /// The place of the rule: `RFC 4475 §3.1.1.1`.
    public var reference: String
    /// The subject of the case, for a person.
    public var title: String
    /// The verdict on the target.
    public var verdict = Verdict.passed
    /// The demand; for a case of several steps only where it failed.
    public var expected: String?
    /// The answer that came.
    public var came: String?
    /// Why it was not judged.
    public var reason: String?
    /// The duration of the case; nil where it was not played.
    public var milliseconds: Double?

    init(_ test: TortureCase) { (name, group, reference, title) = (test.name, test.group, test.reference, test.title) }

    static func notJudged(_ test: TortureCase, _ reason: String) -> TortureResult {
        var result = TortureResult(test)
        (result.verdict, result.reason) = (.notJudged, reason)
        return result
    }
}

/// The results of a run against a target. As JSON: `hookswitch.torture/1`.
public struct TortureReport: Codable, Sendable {
    /// Cases by verdict.
    public struct Counts: Codable, Sendable, Equatable { public var passed = 0, failed = 0, notJudged = 0 }

    /// The form of the JSON; a change that breaks a reader has another number.
    public var schema = "hookswitch.torture/1"
    /// The callee, as a URI.
    public var target: String
    /// `udp` or `tcp`.
    public var transport: String
    /// The version of this program.
    public var version: String
    /// ISO 8601.
    public var began: String
    /// The duration of the whole run.
    public var elapsedSeconds: Double
    /// Somebody ended it before all cases were played.
    public var wasStopped: Bool
    /// Cases by verdict.
    public var counts = Counts()
    /// In the order in which they were played.
    public var cases: [TortureResult]

    /// Counts the verdicts.
    public init(
        target: String, transport: String, version: String, began: String, elapsedSeconds: Double, wasStopped: Bool, cases: [TortureResult]
    ) {
        (self.target, self.transport, self.version) = (target, transport, version)
        (self.began, self.elapsedSeconds, self.wasStopped, self.cases) = (began, elapsedSeconds, wasStopped, cases)
        counts.passed = cases.count { $0.verdict == .passed }
        counts.failed = cases.count { $0.verdict == .failed }
        counts.notJudged = cases.count { $0.verdict == .notJudged }
    }

    /// 1 when a case failed; else 3 when it was stopped, for nobody knows what the rest would have been.
    public var exitCode: Int32 { counts.failed > 0 ? 1 : wasStopped ? 3 : 0 }
}
