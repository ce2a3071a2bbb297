/// A point on the monotonic clock, in nanoseconds since an arbitrary origin.
///
/// Everything below the Runtime floor is told the time and cannot ask for it.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since the origin of the clock; `UInt64.max` is `distantFuture`.
    public var nanoseconds: UInt64

    /// The instant so many nanoseconds after the origin.
    @inlinable public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The origin of a virtual clock.
    public static let zero = Instant(nanoseconds: 0)
    /// Later than everything; a deadline that never comes.
    public static let distantFuture = Instant(nanoseconds: .max)

    @inlinable public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Saturates at the two ends instead of trapping.
    @inlinable public static func + (instant: Self, duration: Duration) -> Self {
        let amount = duration.wholeNanoseconds
        if amount >= 0 {
            let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(UInt64(amount))
            return Self(nanoseconds: overflow ? .max : sum)
        }
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(amount.magnitude)
        return Self(nanoseconds: overflow ? 0 : difference)
    }

    /// Moves the instant, and saturates as `+` does.
    @inlinable public static func += (instant: inout Self, duration: Duration) { instant = instant + duration }

    /// The time from `right` to `left`, negative where `left` is earlier. Instants beyond 292 years count as 292 years.
    @inlinable public static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(Int64(clamping: left.nanoseconds) - Int64(clamping: right.nanoseconds))
    }
}

extension Duration {
    /// Rounded towards zero; saturates after 292 years.
    @inlinable public var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// Rounded towards zero.
    @inlinable public var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}
