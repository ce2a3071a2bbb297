/// Tells losses that come together (bursts) from single ones in what lies between (gaps), with the transition counts of RFC 3611 §4.7.2 and
/// its appendix A.2: losses belong to one burst while fewer than sixteen packets arrive between them.
public struct BurstMetrics: Hashable, Sendable {
    /// Packets in a row that must arrive for a burst to be over (RFC 3611 §4.7.2 recommends 16).
    public static let gmin = 16

    /// Packets since the last loss, and losses of the burst that is under way.
    @usableFromInline var since: Int64 = 0, run: Int64 = 0
    var c11: Int64 = 0, c13: Int64 = 0, c14: Int64 = 0, c22: Int64 = 0, c23: Int64 = 0, c33: Int64 = 0
    /// Stretches of losses without a packet between, and the losses in them.
    var stretches: Int64 = 0, losses: Int64 = 0
    var packets: Int64 = 0

    /// Nothing has come yet.
    public init() {}

    /// One packet came, after so many that did not.
    @inlinable public mutating func receive(lostBefore lost: Int) {
        if lost > 0 { lose(lost) }
        since += 1
    }

    @usableFromInline mutating func lose(_ count: Int) {
        stretches += 1
        losses += Int64(count)
        packets += since
        for _ in 0..<min(count, 3_000) { loseOne() }
    }

    private mutating func loseOne() {
        if since >= Int64(Self.gmin) {
            if run == 1 { c14 += 1 } else { c13 += 1 }
            run = 1
            c11 += since
        } else {
            run += 1
            if since == 0 {
                c33 += 1
            } else {
                c23 += 1
                c22 += since - 1
            }
        }
        since = 0
    }

    /// Parts of the packets that were lost, 0 to 1, in bursts and in gaps, and mean lengths in packets; nil before there was a loss.
    public var figures: (burstDensity: Double, gapDensity: Double, burstLength: Double, gapLength: Double)? {
        guard losses > 0 else { return nil }
        let (c31, c32) = (c13, c23)
        let all = Double(c11 + c14 + c13 + c22 + c23 + c31 + c32 + c33)
        let leaving = c31 + c32 + c33 > 0 ? Double(c32) / Double(c31 + c32 + c33) : 0
        let returning = c22 + c23 < 1 ? 1 : 1 - Double(c22) / Double(c22 + c23)
        let gap = c13 > 0 ? Double(c11 + c14 + c13) / Double(c13) : Double(c11 + c14 + c13)
        let burst = c13 > 0 ? max(0, all / Double(c13) - gap) : 0
        return (returning / max(returning + leaving, 1e-9), c11 + c14 > 0 ? Double(c14) / Double(c11 + c14) : 0, burst, gap)
    }

    /// Mean length of the losses over that of random ones at the same rate (`BurstR` of G.107): 1 when they are random.
    public var burstRatio: Double {
        guard stretches > 0 else { return 1 }
        let rate = Double(losses) / Double(losses + packets + since)
        return max(1, Double(losses) / Double(stretches) * (1 - rate))
    }
}
