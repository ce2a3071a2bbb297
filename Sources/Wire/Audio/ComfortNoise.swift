import Glibc

/// The noise behind a sender's silence, as the sender describes it (RFC 3389): its level. Spectral information, which may follow, is not
/// used.
public struct ComfortNoise: Hashable, Sendable {
    /// dB below the overload point, 0…127 (a full-scale sine lies at 3).
    public var level: UInt8

    /// - Parameter level: more than 127 counts as 127.
    public init(level: UInt8) { self.level = min(level, 127) }

    /// Nil for an empty payload. The highest bit is reserved, and left out.
    public init?(parsing payload: Span<UInt8>) {
        guard payload.count > 0 else { return nil }
        level = payload[0] & 0x7F
    }

    /// Noise of a frame's own level.
    public init(of samples: Span<Int16>) {
        let level = LevelMeter.level(of: samples)   // of a sine, which is 3 dB below the overload point
        self.level = level == -.infinity ? 127 : UInt8(max(0, min(127, (3.01 - level).rounded())))
    }

    /// The payload: this one byte.
    public var payload: UInt8 { level }
}

/// Makes white noise of a level.
public struct NoiseGenerator: Sendable {
    private var state: UInt64

    /// - Parameter seed: of the noise, which is the same for the same seed.
    public init(seed: UInt64 = 1) { state = seed }

    /// Fills a frame with noise of that level. Allocates nothing.
    public mutating func fill(_ samples: inout MutableSpan<Int16>, _ noise: ComfortNoise) {
        // Even noise between two limits is as loud as their amplitude over the root of three.
        let amplitude = Float(min(32_767, 32_768 * pow(10, -Double(noise.level) / 20) * 3.0.squareRoot()))
        for index in 0..<samples.count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            samples[index] = Int16((Float(Int32(truncatingIfNeeded: state >> 32)) / 2_147_483_648 * amplitude).rounded())
        }
    }
}
