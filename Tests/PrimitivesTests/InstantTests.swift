import Primitives
import Testing

@Suite struct InstantTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    @Test(
        arguments: [
            (start, .milliseconds(5), Instant(nanoseconds: 1_005_000_000)), (start, .seconds(-1), .zero), (start, .zero, start),
            (start, .nanoseconds(1), Instant(nanoseconds: 1_000_000_001)), (start, .nanoseconds(-1), Instant(nanoseconds: 999_999_999)),
            // It saturates at both ends.
            (start, .seconds(-2), .zero), (.zero, .nanoseconds(-1), .zero), (.zero, .seconds(Int64.min), .zero),
            (.distantFuture, .nanoseconds(1), .distantFuture), (.distantFuture, .seconds(Int64.max), .distantFuture),
            (Instant(nanoseconds: .max - 1), .nanoseconds(2), .distantFuture),
            (.distantFuture, .nanoseconds(-1), Instant(nanoseconds: .max - 1)),
            // Less than a nanosecond is nothing.
            (start, Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), start),
        ] as [(Instant, Duration, Instant)])
    func `a duration moves an instant, within the ends of time`(instant: Instant, duration: Duration, result: Instant) {
        #expect(instant + duration == result)
        var moved = instant
        moved += duration
        #expect(moved == result)
    }

    @Test func `the difference of two instants is signed`() {
        let later = Self.start + .milliseconds(5)
        #expect(later - Self.start == .milliseconds(5) && Self.start - later == .milliseconds(-5) && later - later == .zero)
        #expect(Instant.distantFuture - .zero == .nanoseconds(Int64.max) && .zero - Instant.distantFuture == .nanoseconds(-Int64.max))
        #expect(Instant.zero < later && !(later < later) && later < .distantFuture)
    }

    @Test(
        arguments: [
            (.seconds(1), 1_000_000_000, 1_000), (.milliseconds(-1_500), -1_500_000_000, -1_500), (.nanoseconds(1_999_999), 1_999_999, 1),
            (.nanoseconds(-1_999_999), -1_999_999, -1), (Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999), -1, 0),
            (.seconds(Int64.max), .max, .max / 1_000_000), (.seconds(Int64.min), .min, .min / 1_000_000),
        ] as [(Duration, Int64, Int64)])
    func `a duration in whole units is rounded towards zero and saturates`(duration: Duration, nanoseconds: Int64, milliseconds: Int64) {
        #expect(duration.wholeNanoseconds == nanoseconds && duration.wholeMilliseconds == milliseconds)
    }
}
