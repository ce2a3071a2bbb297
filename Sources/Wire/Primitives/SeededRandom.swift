/// A random source that replays: the same seed gives the same numbers (SplitMix64, Steele and others 2014).
///
/// For rehearsals and tests. Tags, nonces and SSRCs of a running server come from the operating system's source.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    /// The seed that it began with, to be printed with a failure.
    public let seed: UInt64
    private var state: UInt64

    /// The numbers of this seed, from the first on.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
