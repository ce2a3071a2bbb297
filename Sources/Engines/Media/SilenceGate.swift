import Audio

/// Says which frames need not be sent: after a fifth of a second of quiet, comfort noise in their place, and its level anew every two
/// fifths (RFC 3389 §3).
struct SilenceGate {
    enum Verdict: Hashable { case sound, silence, noise(ComfortNoise) }

    /// Quieter frames are silence, in dB below the overload point.
    private static let threshold: UInt8 = 50
    private let timeout: Int, interval: Int
    /// Frames in a row that were quiet.
    private var quiet = 0

    init(frameMilliseconds: Int) { (timeout, interval) = (200 / frameMilliseconds, max(1, 400 / frameMilliseconds)) }

    mutating func judge(_ frame: Span<Int16>) -> Verdict {
        let noise = ComfortNoise(of: frame)
        guard noise.level >= Self.threshold else {
            quiet = 0
            return .sound
        }
        quiet += 1
        guard quiet > timeout else { return .sound }
        return (quiet - timeout - 1).isMultiple(of: interval) ? .noise(noise) : .silence
    }
}
