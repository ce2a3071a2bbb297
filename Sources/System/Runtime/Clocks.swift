import Glibc
public import Primitives

/// The kernel's monotonic clock: the one place where a running server asks for the time.
public enum MonotonicClock {
    /// Nanoseconds since the machine started; comparable across threads, not across machines.
    public static var now: Instant { Instant(nanoseconds: readClock(CLOCK_MONOTONIC)) }
}

/// The processor time of the calling thread.
public enum ThreadClock {
    /// Processor time in and outside of the kernel since the thread began.
    public static var now: Duration { .nanoseconds(Int64(clamping: readClock(CLOCK_THREAD_CPUTIME_ID))) }
}

/// The time of day, for journals, `Date` headers and people. It may jump; no deadline is computed from it.
public enum WallClock {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    public static var now: UInt64 { readClock(CLOCK_REALTIME) }
}

private func readClock(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
