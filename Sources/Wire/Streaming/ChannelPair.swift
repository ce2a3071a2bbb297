/// The two directions of a call, as samples of two channels side by side.
struct ChannelPair {
    private var left: [Int16] = [], right: [Int16] = []

    mutating func append(_ samples: Span<Int16>, of track: StreamTrack) {
        for index in samples.indices { track == .inbound ? left.append(samples[index]) : right.append(samples[index]) }
    }

    /// Samples of both in turn, the left one first, as far as both have come; where one is further ahead than this, silence fills the other.
    /// - Parameter most: samples that one may be ahead.
    mutating func take(most: Int) -> [Int16] {
        let common = min(left.count, right.count), count = max(common, max(left.count, right.count) - most)
        guard count > 0 else { return [] }
        var pairs: [Int16] = []
        pairs.reserveCapacity(2 * count)
        for index in 0..<count {
            pairs.append(index < left.count ? left[index] : 0)
            pairs.append(index < right.count ? right[index] : 0)
        }
        left.removeFirst(min(count, left.count))
        right.removeFirst(min(count, right.count))
        return pairs
    }
}
