/// What came of one case.
public struct TortureResult: Codable, Sendable, Equatable {
    public enum Verdict: String, Codable, Sendable {
        case passed, failed
        /// Nothing can be said of the target: `reason` says why.
        case notJudged = "not-judged"
    }

    public var name: String
    public var group: TortureCase.Group
    public var reference: String
    public var title: String
    public var verdict = Verdict.passed
    /// What was asked for; of a case of several steps only where it failed.
    public var expected: String?
    /// What came instead, or what came.
    public var came: String?
    public var reason: String?
    public var milliseconds: Double?

    init(_ test: TortureCase) { (name, group, reference, title) = (test.name, test.group, test.reference, test.title) }

    static func notJudged(_ test: TortureCase, _ reason: String) -> TortureResult {
        var result = TortureResult(test)
        (result.verdict, result.reason) = (.notJudged, reason)
        return result
    }
}

/// What a run found out about a target. As JSON: `hookswitch.torture/1`.
public struct TortureReport: Codable, Sendable {
    public struct Counts: Codable, Sendable, Equatable { public var passed = 0, failed = 0, notJudged = 0 }

    public var schema = "hookswitch.torture/1"
    public var target: String
    public var transport: String
    public var version: String
    /// ISO 8601.
    public var began: String
    public var elapsedSeconds: Double
    public var wasStopped: Bool
    public var counts = Counts()
    public var cases: [TortureResult]

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
