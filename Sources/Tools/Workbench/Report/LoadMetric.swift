/// The metrics of every call, by the names that reports and service levels use.
///
/// For sound there are three of each: `_out` of what the caller sends, `_in` of what it hears, and without either the worse of both.
public enum LoadMetric: String, Codable, Hashable, Sendable, CaseIterable {
    case setup, ring, answer, media, end
    case inviteTransit = "invite_transit", answerTransit = "answer_transit", byeTransit = "bye_transit"
    case delay, delayOut = "delay_out", delayIn = "delay_in"
    case jitter, jitterOut = "jitter_out", jitterIn = "jitter_in"
    case loss, lossOut = "loss_out", lossIn = "loss_in"
    case roundTrip = "rtt"
    case mos, mosOut = "mos_out", mosIn = "mos_in"
    case rating = "r", ratingOut = "r_out", ratingIn = "r_in"

    public var unit: String {
        switch self {
        case .loss, .lossOut, .lossIn: "%"
        case .mos, .mosOut, .mosIn, .rating, .ratingOut, .ratingIn: ""
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
        case .delayOut, .jitterOut, .lossOut, .mosOut, .ratingOut: "  out, from the caller"
        case .delayIn, .jitterIn, .lossIn, .mosIn, .ratingIn: "  in, to the caller"
        }
    }

    /// Whether the metric is of one direction alone.
    var isOfDirection: Bool { rawValue.hasSuffix("_out") || rawValue.hasSuffix("_in") }

    /// Gives the value of a call; nil: not measured.
    func value(of call: CallFigures) -> Double? {
        switch self {
        case .setup: call.setup
        case .ring: call.ring
        case .answer: call.answer
        case .media: call.media
        case .end: call.end
        case .inviteTransit: call.inviteTransit
        case .answerTransit: call.answerTransit
        case .byeTransit: call.byeTransit
        case .delay: greatest(.delayOut, .delayIn, call)
        case .jitter: greatest(.jitterOut, .jitterIn, call)
        case .loss: greatest(.lossOut, .lossIn, call)
        case .roundTrip: [call.caller?.roundTrip, call.callee?.roundTrip].compactMap(\.self).max()
        case .mos: least(.mosOut, .mosIn, call)
        case .rating: least(.ratingOut, .ratingIn, call)
        case .delayOut: call.callee?.longestDelay
        case .delayIn: call.caller?.longestDelay
        case .jitterOut: call.callee?.jitter ?? call.reported?.jitter
        case .jitterIn: call.caller?.jitter
        case .lossOut: call.callee?.lossPercent ?? call.reported?.lossPercent
        case .lossIn: call.caller?.lossPercent
        case .mosOut: call.callee?.mos ?? call.reported?.mos
        case .mosIn: call.caller?.mos
        case .ratingOut: call.callee?.rating ?? call.reported?.rating
        case .ratingIn: call.caller?.rating
        }
    }

    private func greatest(_ one: LoadMetric, _ other: LoadMetric, _ call: CallFigures) -> Double? {
        [one.value(of: call), other.value(of: call)].compactMap(\.self).max()
    }

    private func least(_ one: LoadMetric, _ other: LoadMetric, _ call: CallFigures) -> Double? {
        [one.value(of: call), other.value(of: call)].compactMap(\.self).min()
    }
}
