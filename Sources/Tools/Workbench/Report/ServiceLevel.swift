/// The terms that a run has to pass: `setup_p95<200ms,mos_p5>=4.0,failed<0.1%`.
public struct ServiceLevel: Hashable, Sendable {
    /// One comparison of a figure with a limit.
    public struct Term: Hashable, Sendable {
        /// The figure that is compared.
        public enum Quantity: Hashable, Sendable {
            case percentile(LoadMetric, Double), mean(LoadMetric), minimum(LoadMetric), maximum(LoadMetric)
            case share(Share)
        }

        /// As it was written.
        public var text: String
        /// The figure on the left.
        public var quantity: Quantity
        /// The comparison.
        public var comparison: Comparison
        /// The number on the right, in the unit of the metric, or in percent.
        public var limit: Double

        /// Whether it is of times and sound, and not of how many calls.
        var isTimed: Bool { if case .share = quantity { false } else { true } }
    }

    /// Comparison of the figure on the left with the limit on the right.
    public enum Comparison: String, Hashable, Sendable, CaseIterable { case atMost = "<=", atLeast = ">=", below = "<", above = ">" }

    /// In percent of the calls.
    public enum Share: String, Codable, Hashable, Sendable, CaseIterable {
        case failed, refused, oneWay = "one_way", silent, crossTalk = "cross_talk", encrypted, ser, seer, isa, scr
    }

    /// One line for a person.
    public enum ParseError: Error, Hashable, Sendable {
        case empty
        case noComparison(term: String)
        case unknownName(String, term: String)
        /// A metric alone says nothing: which percentile?
        case noStatistic(String, term: String)
        case badStatistic(String, term: String)
        case badLimit(String, unit: String, term: String)
    }

    /// All of them have to pass.
    public var terms: [Term]

    /// Terms that are joined by commas; blanks do not count. Throws for the first that cannot be read, and where there is none.
    public init(parsing text: String) throws(ParseError) {
        terms = []
        for part in text.split(separator: ",") { terms.append(try Self.term(String(part.filter { $0 != " " }))) }
        if terms.isEmpty { throw .empty }
    }

    /// All that a term may begin with.
    public static var names: [String] { LoadMetric.allCases.map(\.rawValue) + Share.allCases.map(\.rawValue) }

    /// Lists the quantities that these names stand for at the beginning of a term.
    static func quantities(_ names: String...) -> [(name: String, quantity: Term.Quantity)] {
        names.compactMap { name in (try? quantity(name, name)).map { (name, $0) } }
    }

    private static func term(_ text: String) throws(ParseError) -> Term {
        guard let place = text.firstIndex(where: { $0 == "<" || $0 == ">" }) else { throw .noComparison(term: text) }
        let rest = text[place...]
        guard let comparison = Comparison.allCases.first(where: { rest.hasPrefix($0.rawValue) }) else { throw .noComparison(term: text) }
        let quantity = try quantity(String(text[..<place]), text)
        let limit = try limit(String(rest.dropFirst(comparison.rawValue.count)), unit: unit(of: quantity), text)
        return Term(text: text, quantity: quantity, comparison: comparison, limit: limit)
    }

    private static func quantity(_ name: String, _ term: String) throws(ParseError) -> Term.Quantity {
        if let share = Share(rawValue: name) { return .share(share) }
        if LoadMetric(rawValue: name) != nil { throw .noStatistic(name, term: term) }
        let parts = name.split(separator: "_"), suffix = parts.last.map(String.init) ?? ""
        guard parts.count > 1, let metric = LoadMetric(rawValue: parts.dropLast().joined(separator: "_")) else {
            throw .unknownName(parts.count > 1 ? parts.dropLast().joined(separator: "_") : name, term: term)
        }
        switch suffix {
        case "mean": return .mean(metric)
        case "min": return .minimum(metric)
        case "max": return .maximum(metric)
        default:
            guard suffix.hasPrefix("p"), let percent = Double(suffix.dropFirst()), (0...100).contains(percent) else {
                throw .badStatistic(suffix, term: term)
            }
            return .percentile(metric, percent)
        }
    }

    private static func unit(of quantity: Term.Quantity) -> String {
        switch quantity {
        case .percentile(let metric, _), .mean(let metric), .minimum(let metric), .maximum(let metric): metric.unit
        case .share: "%"
        }
    }

    private static func limit(_ text: String, unit: String, _ term: String) throws(ParseError) -> Double {
        let units: [(String, Double)] =
            unit == "ms" ? [("ms", 1), ("us", 0.001), ("s", 1_000), ("", 1)] : unit.isEmpty ? [("", 1)] : [(unit, 1), ("", 1)]
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            if let value = Double(text.dropLast(suffix.count)), value.isFinite { return value * factor }
        }
        throw .badLimit(text, unit: unit, term: term)
    }
}

extension ServiceLevel {
    /// The verdict on one term.
    public struct Verdict: Codable, Hashable, Sendable {
        /// Whether the term passed.
        public enum State: String, Codable, Hashable, Sendable {
            case passed, failed
            /// Neither: too little is known, or what is known is not the target's.
            case notMeasured = "not measured"
        }

        /// The term as it was written.
        public var term: String
        /// Nil: never measured.
        public var actual: Double?
        public private(set) var state: State
        /// Why it is not measured.
        public private(set) var reason: String?
        /// Passed.
        public private(set) var isKept: Bool
        /// The tool was late itself, so that a term that is not passed says nothing of the target.
        public private(set) var isToolsFault = false

        init(_ term: Term, on tally: LoadTally) {
            (self.term, actual) = (term.text, tally.value(of: term.quantity))
            state = actual.map { term.comparison.holds($0, term.limit) ? .passed : .failed } ?? .notMeasured
            isKept = state == .passed
            if actual == nil { reason = tally.reasonForNone(term.quantity) }
        }

        mutating func leaveOpen(_ why: String, isToolsFault: Bool) {
            (state, reason, isKept, self.isToolsFault) = (.notMeasured, why, false, isToolsFault)
        }

        /// In words, without the term.
        var outcome: String {
            let was = actual.map { "was \(Number.text($0))" }
            return state == .notMeasured ? [was, reason].compactMap(\.self).joined(separator: ", ") : was ?? ""
        }
    }

    /// Gives the verdict on each term, in their order.
    public func verdicts(on tally: LoadTally) -> [Verdict] { terms.map { Verdict($0, on: tally) } }

    /// Every term passed.
    public func isKept(by tally: LoadTally) -> Bool { verdicts(on: tally).allSatisfy(\.isKept) }

    /// A term has failed. One that was not measured has not.
    func isBroken(by tally: LoadTally) -> Bool { verdicts(on: tally).contains { $0.state == .failed } }

    /// Whether a term says how much there may be of it.
    func bounds(_ kind: Finding.Kind) -> Bool { terms.contains { $0.quantity.bounds(kind) } }
}

extension ServiceLevel.Term.Quantity {
    fileprivate func bounds(_ kind: Finding.Kind) -> Bool {
        switch self {
        case .percentile(let metric, _), .mean(let metric), .minimum(let metric), .maximum(let metric): metric.kinds.contains(kind)
        case .share(.failed): true
        case .share(let share): share.kinds.contains(kind)
        }
    }
}

extension ServiceLevel.Share {
    /// The findings that it counts or that show in it.
    var kinds: Set<Finding.Kind> {
        switch self {
        case .failed: Set(Finding.Kind.allCases)
        case .refused: [.refused]
        case .oneWay: [.oneWay]
        case .silent: [.silence, .noAudio, .oneWay]
        case .crossTalk: [.crossTalk, .stale]
        case .encrypted: []
        case .ser, .seer, .isa: [.refused, .noAnswer]
        case .scr: [.refused, .noAnswer, .endedEarly, .noEnd]
        }
    }
}

extension LoadMetric {
    /// The findings that show in it.
    fileprivate var kinds: Set<Finding.Kind> {
        switch self {
        case .loss, .lossOut, .lossIn: [.missing]
        case .mos, .mosOut, .mosIn, .rating, .ratingOut, .ratingIn: [.missing, .longDelay]
        case .delay, .delayOut, .delayIn: [.longDelay]
        case .setup, .ring, .answer: [.lateAnswer]
        case .media: [.lateMedia]
        default: []
        }
    }
}

extension ServiceLevel.Comparison {
    func holds(_ value: Double, _ limit: Double) -> Bool {
        switch self {
        case .atMost: value <= limit
        case .atLeast: value >= limit
        case .below: value < limit
        case .above: value > limit
        }
    }
}

extension LoadTally {
    func value(of quantity: ServiceLevel.Term.Quantity) -> Double? {
        switch quantity {
        case .percentile(let metric, let percent): self[metric].percentile(percent)
        case .mean(let metric): self[metric].mean
        case .minimum(let metric): self[metric].minimum
        case .maximum(let metric): self[metric].maximum
        case .share(let share): value(of: share)
        }
    }

    private func value(of share: ServiceLevel.Share) -> Double? {
        switch share {
        case .failed: failedPercent
        case .refused, .oneWay, .silent, .crossTalk: percent(with: share)
        case .encrypted: encryptedPercent
        case .ser: establishmentRatio
        case .seer: effectivenessRatio
        case .isa: ineffectiveAttempts
        case .scr: completionRatio
        }
    }

    fileprivate func reasonForNone(_ quantity: ServiceLevel.Term.Quantity) -> String {
        switch quantity {
        case .percentile(let metric, let percent) where self[metric].count > 0:
            let needed = Percentile.valuesNeeded(for: percent), count = self[metric].count
            return "\(count.counted("value", "values")), and \(needed) are needed for p\(Number.short(percent))"
        case .percentile, .mean, .minimum, .maximum: return "no value"
        case .share: return "no call"
        }
    }
}
