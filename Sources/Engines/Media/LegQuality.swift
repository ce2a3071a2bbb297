import Primitives
import RTP

/// The quality of both directions of a leg from its opening on, in whole numbers as a journal has them. Figures that were not measured are
/// nil.
public struct LegQuality: Hashable, Sendable {
    /// One direction, as its receiver measured it.
    public struct Direction: Hashable, Sendable {
        /// Packets that never came, and how many they are a part of.
        public var lost: UInt64?, expected: UInt64?
        /// In hundredths of a percent of those expected.
        public var loss: Int?
        /// Interarrival jitter at present, in microseconds (RFC 3550 §6.4.1).
        public var jitter: Int?
        /// MOS of conversation in hundredths, 100 to 450 (ITU-T G.107 Annex B).
        public var score: Int?

        init(_ figures: RTPFigures, _ quality: CallQuality?) {
            (lost, expected) = (figures.lost, figures.expected)
            loss = figures.lossFraction.map { Int(($0 * 10_000).rounded()) }
            jitter = figures.jitter.map { Int(($0 * 1_000).rounded()) }
            score = quality.map { Int(($0.meanOpinionScore * 100).rounded()) }
        }
    }

    /// The quality of what came.
    public var receiving: Direction
    /// The quality of what we sent, by the far end's last report.
    public var sending: Direction
    /// To the far end and back, in microseconds.
    public var roundTrip: Int?

    /// The figures of a leg in whole units, as the journal has them.
    public init(_ statistics: MediaStatistics) {
        receiving = Direction(statistics.receiving, statistics.receivingQuality)
        sending = Direction(statistics.sending, statistics.sendingQuality)
        roundTrip = statistics.roundTrip.map { Int($0.wholeNanoseconds / 1_000) }
    }
}
