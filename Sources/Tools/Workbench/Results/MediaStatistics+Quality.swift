import Media
import Primitives
import RTP

extension MediaStatistics {
    /// ITU-T G.107 of what came, where more is missing than the numbers of the packets tell.
    ///
    /// - Parameters:
    ///   - codec: of what came; nil where it is not known.
    ///   - percent: of all that was due; nil where it is not known.
    func quality(codec: Text?, lossPercent percent: Double?) -> CallQuality? {
        let late = playout.map { Double($0.packets.late) / Double(max(1, receiving.packets + (receiving.lost ?? 0))) } ?? 0
        let delay = roundTrip.map { $0 / 2 + .milliseconds(playout?.wait ?? 0) }
        return CallQuality(.of(codec), loss: percent.map { $0 / 100 + late }, delay: delay)
    }
}

extension SoundArrival {
    /// R and MOS of what came: what was due and did not come is heard as silence.
    func quality(of statistics: MediaStatistics, codec: Text?) -> (rating: Double, mos: Double)? {
        guard !isMissing else { return (0, 1) }
        let quality = isNumbered ? statistics.receivingQuality : statistics.quality(codec: codec, lossPercent: lossPercent)
        return quality.map { ($0.rFactor, $0.meanOpinionScore) }
    }
}

extension CallQuality.Impairment {
    /// Gives the impairment of a codec by its name; that of G.711 where the codec is not known.
    static func of(_ codec: Text?) -> Self { codec?.lowercased == "opus" ? .opus : .g711 }
}
