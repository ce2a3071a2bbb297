/// The indices of one source that were taken: the highest, and those of the 127 below it (RFC 3711 §3.3.2; at least 64 are asked for).
public struct SRTPReplayWindow: Hashable, Sendable {
    /// Indices that are remembered, the highest among them.
    public static let size: UInt64 = 128

    /// Nil before the first packet.
    public private(set) var highest: UInt64?
    /// Bit n: `highest` − n was taken.
    private var taken: UInt128 = 0

    /// Nothing was taken yet.
    public init() {}

    /// The 48-bit index that a sequence number stands for, by the nearest to the highest (RFC 3711 §3.3.1, appendix A). The rollover
    /// counter never falls below 0.
    public func index(of sequence: UInt16) -> UInt64 {
        guard let highest else { return UInt64(sequence) }
        let near = Int64(highest) + Int64(Int16(truncatingIfNeeded: Int(sequence) - Int(highest & 0xFFFF)))
        return UInt64(near < 0 ? near + 0x1_0000 : near)
    }

    /// Throws `.replayed` or `.tooOld`. Does not remember: that comes when the packet has proved to be genuine.
    public func check(_ index: UInt64) throws(SRTPRefusal) {
        guard let highest, index <= highest else { return }
        let age = highest - index
        guard age < Self.size else { throw .tooOld }
        if taken & (1 << UInt128(age)) != 0 { throw .replayed }
    }

    /// Notes that the packet of this index was genuine. Older than the window, it is passed over.
    public mutating func accept(_ index: UInt64) {
        let highest = highest ?? index
        if index > highest || self.highest == nil {
            let step = index - highest
            taken = step < Self.size ? taken << UInt128(step) | 1 : 1
            self.highest = index
        } else if highest - index < Self.size {
            taken |= 1 << UInt128(highest - index)
        }
    }
}

/// The windows of the sources (SSRCs) under one key, the busiest first. At most sixteen: a new one takes the place of the one that was
/// quiet longest, so that a far end which changes its source with every transfer is heard for ever. Only who has the key can make one.
struct SRTPSources {
    struct Source {
        var ssrc: UInt32
        var window = SRTPReplayWindow()
        /// The window is of the key before this one, and nothing was heard under this one yet.
        var isInherited = false
    }

    static let limit = 16

    private var sources: [Source] = []

    init() { sources.reserveCapacity(2) }

    /// The sources of an earlier key: the rollover counter goes on (RFC 3711 §3.3.1).
    init(inheriting earlier: SRTPSources) {
        sources = earlier.sources
        for index in sources.indices { sources[index].isInherited = true }
    }

    subscript(ssrc: UInt32) -> Source {
        if let first = sources.first, first.ssrc == ssrc { return first }
        return sources.first { $0.ssrc == ssrc } ?? Source(ssrc: ssrc)
    }

    /// Keeps what became of a source after a genuine packet.
    mutating func keep(_ source: Source) {
        if let first = sources.first, first.ssrc == source.ssrc { return sources[0] = source }
        if let place = sources.firstIndex(where: { $0.ssrc == source.ssrc }) {
            sources.remove(at: place)
        } else if sources.count == Self.limit {
            sources.removeLast()
        }
        sources.insert(source, at: 0)
    }
}
