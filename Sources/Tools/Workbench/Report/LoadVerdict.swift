/// The one verdict on a run: the text, the page, the JSON, JUnit and the exit code all say it.
public struct LoadVerdict: Hashable, Sendable, Encodable {
    /// The verdict in a word.
    public enum Word: String, Hashable, Sendable, Encodable {
        case good, failed
        /// Nothing can be said of the target.
        case notMeasured = "not measured"
    }

    /// Good, failed, or neither.
    public var word: Word
    /// Why it is not good; empty where it is.
    public var reasons: [String]

    /// 0 good, 1 failed, 3 not measured.
    public var exitCode: Int32 {
        switch word {
        case .good: 0
        case .failed: 1
        case .notMeasured: 3
        }
    }

    /// `failed: 2 of 40 calls are not good`.
    public var text: String { reasons.isEmpty ? word.rawValue : "\(word.rawValue): \(reasons.joined(separator: "; "))" }
}

extension LoadReport {
    public var exitCode: Int32 { verdict.exitCode }

    /// The verdict. Faults of the target go before the reasons that make a run invalid; a leak is a fault in any case.
    public var verdict: LoadVerdict {
        let failures = failures, wrong = (validity.blamesTarget ? failures : []) + leakReasons
        guard wrong.isEmpty else { return LoadVerdict(word: .failed, reasons: wrong) }
        let open = openReasons + failures.map { "\($0), perhaps by the tool" }
        return LoadVerdict(word: open.isEmpty ? .good : .notMeasured, reasons: open)
    }

    private var leakReasons: [String] { leaks.map { $0.isClean ? [] : ["leaks: \($0.leftovers.joined(separator: ", "))"] } ?? [] }

    /// Failures that the target is blamed for.
    private var failures: [String] {
        if isNothingJudged { return [] }
        if counts.begun == 0 { return ["no call was begun"] }
        if let knee { return knee.lastKept == nil && knee.firstBroken != nil && knee.isKnown ? [LoadText.text(knee)] : [] }
        return slo.filter { $0.state == .failed }.map { "\($0.term) (\($0.outcome))" } + unboundedFailures
    }

    /// Calls that are not good, where no term says how many may be so: without a level, all of them.
    private var unboundedFailures: [String] {
        let level = level
        let unbounded = findings.filter { level?.bounds($0.kind) != true && (level == nil || !$0.kind.isOfTime) }
        guard !unbounded.isEmpty else { return [] }
        let kinds = unbounded.map { "\($0.kind.rawValue): \($0.calls.counted("call", "calls"))" }.joined(separator: ", ")
        return [level == nil ? kinds : "\(kinds), and no term of the level says how many may be so"]
    }

    /// Why nothing can be said of the target.
    private var openReasons: [String] {
        if isNothingJudged { return ["it was stopped before a call was over"] }
        let terms = knee == nil ? slo.filter { $0.state == .notMeasured && !$0.isToolsFault }.map { "\($0.term) (\($0.outcome))" } : []
        let search = knee.map { $0.isKnown ? [] : [LoadText.text($0)] } ?? []
        return validity.reasons + search + terms
    }

    /// As it was parsed from the terms; nil without one.
    var level: ServiceLevel? { slo.isEmpty ? nil : try? ServiceLevel(parsing: slo.map(\.term).joined(separator: ",")) }
}

extension Finding.Kind {
    /// Calls that were late beside the others: a level has terms for that.
    var isOfTime: Bool { self == .lateAnswer || self == .lateMedia }
}
