import CLinux

/// The operating system's random numbers, for tags, branches, nonces and SSRCs; one system call for 32 of them.
///
/// A class, because a copy of a buffered generator would give the same numbers twice. Lives on one lane.
public final class SystemRandom: RandomNumberGenerator {
    // Nothing in here calls out, so no two accesses overlap: these are not checked.
    private var buffer = [UInt64](repeating: 0, count: 32)
    private var used = 32

    /// A source of its own buffer: one for each owner.
    public init() {}

    /// Traps when the kernel has no randomness to give, which Linux does not do once it is up.
    public func next() -> UInt64 {
        if used == buffer.count { refill() }
        let number = buffer[used]
        buffer[used] = 0
        used += 1
        return number
    }

    private func refill() {
        let status = buffer.withUnsafeMutableBytes { clinux_random($0.baseAddress, UInt($0.count)) }
        precondition(status == 0, "getrandom failed")
        used = 0
    }
}
