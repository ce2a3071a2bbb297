import Primitives

/// The phases of the 20 ms of a frame at which the legs of a lane send, so that no moment has more than its share of them. A value; told
/// the time.
///
/// Legs of one phase are due at the same nanosecond and leave in one turn: a lane wakes up for its own sound no more than 2,000 times a
/// second, however many legs it has.
struct FramePhases {
    static let count = 40
    /// In nanoseconds.
    private static var length: UInt64 { 500_000 }
    private var legs = [Int](repeating: 0, count: count)

    /// Takes the emptiest phase, of several the next one, and tells when it begins: less than 20 ms and a phase from now.
    mutating func take(at now: Instant) -> (phase: Int, begin: Instant) {
        let next = (now.nanoseconds + Self.length - 1) / Self.length
        var best = next
        for candidate in next..<next + UInt64(Self.count) where legs[Self.phase(of: candidate)] < legs[Self.phase(of: best)] {
            best = candidate
        }
        legs[Self.phase(of: best)] += 1
        return (Self.phase(of: best), Instant(nanoseconds: best * Self.length))
    }

    mutating func leave(_ phase: Int) { legs[phase] -= 1 }

    private static func phase(of moment: UInt64) -> Int { Int(moment % UInt64(count)) }
}
