import Histogram
import Primitives

/// What is measured of every call, by the name that reports and service levels use.
public enum LoadMetric: String, Codable, Hashable, Sendable, CaseIterable {
    case setup, ring, answer, media, end
    case inviteTransit = "invite_transit", answerTransit = "answer_transit", byeTransit = "bye_transit"
    case delay, jitter, loss, roundTrip = "rtt", mos, rating = "r"

    public var unit: String {
        switch self {
        case .loss: "%"
        case .mos, .rating: ""
        default: "ms"
        }
    }

    /// For people.
    public var title: String {
        switch self {
        case .setup: "set-up (SRD)"
        case .ring: "ringing"
        case .answer: "answer"
        case .media: "first packet"
        case .end: "hang-up (SDD)"
        case .inviteTransit: "INVITE through the target"
        case .answerTransit: "200 through the target"
        case .byeTransit: "BYE through the target"
        case .delay: "one-way delay"
        case .jitter: "jitter"
        case .loss: "loss"
        case .roundTrip: "round trip"
        case .mos: "MOS"
        case .rating: "R (G.107)"
        }
    }

    /// Every value that a call has of this: those of media once for each end.
    func values(of call: CallFigures) -> [Double] {
        func ends(_ value: (EndFigures) -> Double?) -> [Double] { [call.caller, call.callee].compactMap { $0.flatMap(value) } }
        switch self {
        case .setup: return [call.setup].compactMap(\.self)
        case .ring: return [call.ring].compactMap(\.self)
        case .answer: return [call.answer].compactMap(\.self)
        case .media: return [call.media].compactMap(\.self)
        case .end: return [call.end].compactMap(\.self)
        case .inviteTransit: return [call.inviteTransit].compactMap(\.self)
        case .answerTransit: return [call.answerTransit].compactMap(\.self)
        case .byeTransit: return [call.byeTransit].compactMap(\.self)
        case .delay: return ends(\.delay) + ends(\.lastDelay)
        case .jitter: return ends(\.jitter)
        case .loss: return ends(\.lossPercent)
        case .roundTrip: return ends(\.roundTrip)
        case .mos: return ends(\.mos)
        case .rating: return ends(\.rating)
        }
    }
}

/// The distribution of one metric: an HDR histogram, in thousandths of its unit, to three digits.
public struct Distribution: Sendable {
    private var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

    public init() {}

    public var count: UInt64 { histogram.totalCount }

    /// Below zero counts as zero.
    public mutating func record(_ value: Double) { _ = histogram.record(UInt64(max(0, min(value * 1_000, 1e12)).rounded())) }

    /// Nil before the first value, as all here.
    public func percentile(_ percent: Double) -> Double? { count == 0 ? nil : Double(histogram.valueAtPercentile(percent)) / 1_000 }
    public var mean: Double? { count == 0 ? nil : histogram.mean / 1_000 }
    public var minimum: Double? { count == 0 ? nil : Double(histogram.min) / 1_000 }
    public var maximum: Double? { count == 0 ? nil : Double(histogram.max) / 1_000 }

    public var summary: Summary? {
        guard count > 0 else { return nil }
        return Summary(
            count: count, min: minimum ?? 0, mean: ((mean ?? 0) * 1_000).rounded() / 1_000, p5: percentile(5) ?? 0,
            p50: percentile(50) ?? 0,
            p90: percentile(90) ?? 0, p95: percentile(95) ?? 0, p99: percentile(99) ?? 0, max: maximum ?? 0)
    }

    /// The steps of the histogram: up to which value, and how many.
    public var steps: [Step] { histogram.recordedValues().map { Step(upTo: Double($0.value) / 1_000, count: $0.count) } }

    public struct Step: Codable, Hashable, Sendable {
        public var upTo: Double
        public var count: UInt64
    }

    public struct Summary: Codable, Hashable, Sendable {
        public var count: UInt64
        public var min: Double, mean: Double, p5: Double, p50: Double, p90: Double, p95: Double, p99: Double, max: Double
    }
}
