/// The sums over many calls, added up as the calls end. A value; the same for a whole run and for one step of it.
public struct LoadTally: Codable, Sendable {
    /// Calls that are over.
    public private(set) var calls = 0
    /// Calls that got a 200.
    public private(set) var answered = 0
    /// Number of calls with each outcome.
    public private(set) var outcomes: [CallFigures.Outcome: Int] = [:]
    /// Number of calls of each kind.
    public private(set) var kinds: [CallKind: Int] = [:]
    /// Final statuses of INVITEs; 0 for none.
    public private(set) var statuses: [Int: Int] = [:]
    /// Calls with each kind of finding.
    public private(set) var findings: [Finding.Kind: FoundCalls] = [:]
    /// Calls whose sound was judged.
    public private(set) var listened = 0
    /// Messages of SIP that either side sent again.
    public private(set) var retransmissions = 0
    /// Seconds of conversation, and packets of all ends.
    public private(set) var talkTime = 0.0
    public private(set) var packetsSent: UInt64 = 0, packetsReceived: UInt64 = 0
    /// Calls of a step that the tool did not begin, so that its rate was not offered.
    public var notBegun = 0
    /// Ends that had media, by how it was encrypted.
    public private(set) var encryption: [MediaEncryption: Int] = [:]
    /// Calls with a finding of those that a share is of.
    private var sharing: [ServiceLevel.Share: Int] = [:]
    /// Calls that nobody answered in any way.
    private var unheard = 0
    private var distributions: [LoadMetric: Distribution] = [:]

    /// A tally without calls.
    public init() {}

    /// Adds a call that is over.
    public mutating func add(_ call: CallFigures) {
        calls += 1
        if call.isAnswered { answered += 1 }
        if call.status == 0, call.outcome == .failed { unheard += 1 }
        outcomes[call.outcome, default: 0] += 1
        kinds[call.kind, default: 0] += 1
        // An answer to our CANCEL is no answer to the call, and a refusal by our own callee is not the target's.
        if call.outcome != .cutOff, call.outcome != .notTried { statuses[call.status, default: 0] += 1 }
        retransmissions += call.retransmissions
        if call.isAnswered { talkTime += (call.duration ?? 0) / 1_000 }
        for case let end? in [call.caller, call.callee] {
            packetsSent += end.sent
            packetsReceived += end.received
        }
        if call.caller?.audio != nil || call.callee?.audio != nil { listened += 1 }
        for case let kind? in [call.caller?.encryption, call.callee?.encryption] { encryption[kind, default: 0] += 1 }
        for finding in call.findings { findings[finding.kind, default: FoundCalls()].add(call.number, finding) }
        let kinds = Set(call.findings.flatMap { [$0.kind] + ($0.consequences ?? []).map(\.kind) })
        for share in ServiceLevel.Share.allCases where !kinds.isDisjoint(with: share.kinds) { sharing[share, default: 0] += 1 }
        addValues(of: call)
    }

    /// Adds the calls of another tally: none of them is in this one.
    mutating func add(_ other: LoadTally) {
        (calls, answered, unheard) = (calls + other.calls, answered + other.answered, unheard + other.unheard)
        (listened, retransmissions) = (listened + other.listened, retransmissions + other.retransmissions)
        (talkTime, notBegun) = (talkTime + other.talkTime, notBegun + other.notBegun)
        (packetsSent, packetsReceived) = (packetsSent &+ other.packetsSent, packetsReceived &+ other.packetsReceived)
        outcomes.merge(other.outcomes, uniquingKeysWith: +)
        kinds.merge(other.kinds, uniquingKeysWith: +)
        statuses.merge(other.statuses, uniquingKeysWith: +)
        encryption.merge(other.encryption, uniquingKeysWith: +)
        sharing.merge(other.sharing, uniquingKeysWith: +)
        for (kind, found) in other.findings { findings[kind, default: FoundCalls()].add(found) }
        for (metric, values) in other.distributions { distributions[metric, default: Distribution()].add(values) }
    }

    /// Only what was measured of a call, which does not count as one.
    mutating func addValues(of call: CallFigures) {
        for metric in LoadMetric.allCases {
            if let value = metric.value(of: call) { distributions[metric, default: Distribution()].record(value) }
        }
    }

    public subscript(_ metric: LoadMetric) -> Distribution { distributions[metric] ?? Distribution() }
    public subscript(_ outcome: CallFigures.Outcome) -> Int { outcomes[outcome] ?? 0 }

    /// Calls that the target had its part in.
    public var tried: Int { calls - self[.notTried] - self[.cutOff] }

    private func count(_ matches: (Int) -> Bool) -> Int { statuses.filter { matches($0.key) }.values.reduce(0, +) }
    private var redirected: Int { count { (300..<400).contains($0) } }
    private func percent(_ part: Int, of whole: Int) -> Double? { whole > 0 ? 100 * Double(part) / Double(whole) : nil }

    /// Session Establishment Ratio, RFC 6076 §4.6, in percent; nil without a call, as all here.
    public var establishmentRatio: Double? { percent(answered, of: tried - redirected) }
    /// Session Establishment Effectiveness Ratio, §4.7: also those that the callee refused.
    public var effectivenessRatio: Double? { percent(answered + count { [480, 486, 600, 603].contains($0) }, of: tried - redirected) }
    /// Ineffective Session Attempts, §4.8; what nobody answered counts as a 408.
    public var ineffectiveAttempts: Double? { percent(count { [408, 500, 503, 504].contains($0) } + unheard, of: tried) }
    /// Session Completion Ratio, §4.9: answered, and ended as it should.
    public var completionRatio: Double? {
        percent(answered - (findings[.endedEarly]?.count ?? 0) - (findings[.noEnd]?.count ?? 0), of: tried)
    }
    /// Not as planned, or with something wrong.
    public var failedPercent: Double? { percent(self[.failed] + self[.faulty], of: tried) }
    /// Ends whose sound was encrypted, of those that had any.
    public var encryptedPercent: Double? {
        percent(encryption.values.reduce(0, +) - (encryption[.clear] ?? 0), of: encryption.values.reduce(0, +))
    }
    /// 503 to an INVITE: the target limits.
    public var limited: Int { statuses[503] ?? 0 }

    /// Calls with one of the findings that the share is of.
    func percent(with share: ServiceLevel.Share) -> Double? { percent(sharing[share] ?? 0, of: tried) }
}

/// The calls that a finding was made with. The first are kept.
public struct FoundCalls: Codable, Sendable {
    static let kept = 1_000

    /// Number of calls.
    public private(set) var count = 0
    /// The numbers of the first thousand, in the order in which they ended.
    public private(set) var numbers: [UInt32] = []
    /// The first one.
    public private(set) var first: Finding?
    /// Directions of the sound, and the other findings in the same calls that are a consequence of it.
    public private(set) var directions: Set<Finding.Direction> = []
    public private(set) var consequences: [Finding.Kind: Int] = [:]
    private var last: UInt32?

    /// The words of the first finding; empty before there is one.
    public var text: String { first?.text ?? "" }

    mutating func add(_ number: UInt32, _ finding: Finding) {
        if let direction = finding.direction { directions.insert(direction) }
        if last == number { return }
        last = number
        count += 1
        if numbers.count < Self.kept { numbers.append(number) }
        first = first ?? finding
        for consequence in Set((finding.consequences ?? []).map(\.kind)) { consequences[consequence, default: 0] += 1 }
    }

    /// Adds other calls that the same was found in.
    mutating func add(_ other: FoundCalls) {
        (count, first) = (count + other.count, first ?? other.first)
        numbers += other.numbers.prefix(max(0, Self.kept - numbers.count))
        directions.formUnion(other.directions)
        consequences.merge(other.consequences, uniquingKeysWith: +)
    }

    /// `every 50th call`, where three or more lie so; nil otherwise.
    public var pattern: String? {
        let sorted = numbers.sorted(), gaps = Set(zip(sorted.dropFirst(), sorted).map { $0 - $1 })
        guard sorted.count >= 3, gaps.count == 1, let gap = gaps.first, gap > 1 else { return nil }
        return "every \(gap)\(Self.ordinal(gap)) call"
    }

    private static func ordinal(_ number: UInt32) -> String {
        switch (number % 10, number % 100) {
        case (_, 11...13): "th"
        case (1, _): "st"
        case (2, _): "nd"
        case (3, _): "rd"
        default: "th"
        }
    }
}
