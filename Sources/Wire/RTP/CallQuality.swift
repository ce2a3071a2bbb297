import Primitives

/// The quality that a conversation can have by what was measured of it: the E-model of ITU-T G.107 in its packet form.
///
/// R = 93.2 − Id − Ie,eff. Everything that is not measured here (echo, levels, noise) has G.107's default. What was not measured at all is
/// not guessed: `init` then gives nil.
public struct CallQuality: Hashable, Sendable {
    /// 0 to 100.
    public let rFactor: Double
    /// 1 to 4.5, of conversation (G.107 Annex B).
    public let meanOpinionScore: Double

    /// The impairment that a codec causes by itself, and its robustness against losses: `Ie` and `Bpl` of G.107.
    public struct Impairment: Hashable, Sendable {
        /// `Ie`: what is lost of R though no packet is.
        public var equipment: Double
        /// `Bpl`: the percentage of random loss that costs half of what loss can cost at most.
        public var lossRobustness: Double

        /// The figures of a codec.
        public init(equipment: Double, lossRobustness: Double) { (self.equipment, self.lossRobustness) = (equipment, lossRobustness) }

        /// G.711 with concealment (G.113 Appendix I).
        public static let g711 = Self(equipment: 0, lossRobustness: 25.1)
        /// The ITU has none for G.722 on the narrow-band scale: taken as G.711, for its concealment is the same here.
        public static let g722 = Self(equipment: 0, lossRobustness: 25.1)
        /// The ITU has none for Opus. Assumed: transparent on the narrow-band scale from 16 kbit/s on, and with in-band error correction as
        /// robust as the best that G.113 lists.
        public static let opus = Self(equipment: 0, lossRobustness: 34)
        /// Opus without in-band error correction.
        public static let opusWithoutCorrection = Self(equipment: 0, lossRobustness: 20)
    }

    /// - Parameters:
    ///   - codec: nil where nothing is known of it.
    ///   - loss: 0 to 1, with what came too late to be heard; nil when nothing was expected yet.
    ///   - burstRatio: mean length of the losses over that of random ones; 1 when they are random.
    ///   - delay: one way, from mouth to ear; nil when it was not measured, and then it costs nothing.
    public init?(_ codec: Impairment?, loss: Double?, burstRatio: Double = 1, delay: Duration?) {
        guard let codec, let loss else { return nil }
        let percent = min(max(loss, 0), 1) * 100
        let lost = (95 - codec.equipment) * percent / (percent / max(1, burstRatio) + codec.lossRobustness)
        let factor = 93.2 - Self.impairment(delay: delay) - codec.equipment - lost
        rFactor = min(max(factor, 0), 100)
        meanOpinionScore = Self.score(rFactor)
    }

    /// Id of G.107 where there is no echo, by its usual two straight lines.
    private static func impairment(delay: Duration?) -> Double {
        let milliseconds = Double(delay?.wholeNanoseconds ?? 0) / 1_000_000
        return 0.024 * milliseconds + 0.11 * max(0, milliseconds - 177.3)
    }

    /// G.107 Annex B.
    private static func score(_ factor: Double) -> Double {
        guard factor > 0 else { return 1 }
        return min(max(1 + 0.035 * factor + factor * (factor - 60) * (100 - factor) * 7e-6, 1), 4.5)
    }
}
