import Primitives
import Runtime
import Testing

@testable import Store

/// Gateways that read everything after they have lost the database.
@Suite struct ReadingScheduleTests {
    private static func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: 1_000_000_000) + .milliseconds(milliseconds) }

    /// The waits of so many gateways, whose last reading took so long. In milliseconds.
    private static func waits(_ gateways: Int, reading milliseconds: Int) -> [Int] {
        (0..<gateways).map { number in
            var schedule = ReadingSchedule(random: SeededRandom(seed: UInt64(number) + 1))
            schedule.gateways = gateways
            schedule.begin(at: at(0))
            schedule.end(at: at(milliseconds))
            schedule.connected(at: at(5_000))
            return Int((schedule.due - at(5_000)).wholeMilliseconds)
        }
    }

    @Test func `one gateway does not wait, and three of a small database wait for some milliseconds`() {
        #expect(Self.waits(1, reading: 10_000) == [0])
        #expect(Self.waits(3, reading: 5).allSatisfy { (0...10).contains($0) })
    }

    @Test(arguments: [(64, 500, 31_500), (64, 14_000, 180_000), (8, 14_000, 98_000)])
    func `many gateways spread over the time in which they could read one after the other, and over three minutes at most`(
        gateways: Int, reading: Int, span: Int
    ) {
        let waits = Self.waits(gateways, reading: reading)
        #expect(waits.allSatisfy { (0...span).contains($0) })
        for part in 0..<2 { #expect(waits.contains { $0 * 2 / span == part || $0 == span }, "\(waits.sorted())") }
        #expect(Set(waits.map { $0 * 16 / span }).count > min(gateways, 16) / 2, "\(waits.sorted())")
    }

    @Test func `a reading that was given up says how long one takes at least, and a connection without one says nothing`() {
        var schedule = ReadingSchedule(random: SeededRandom(seed: 1))
        let guess = schedule.length
        schedule.lost(at: Self.at(900))
        #expect(schedule.length == guess && schedule.span == .zero)
        schedule.begin(at: Self.at(1_000))
        schedule.lost(at: Self.at(16_000))
        schedule.lost(at: Self.at(99_000))
        schedule.gateways = 3
        #expect(schedule.length == .seconds(15) && schedule.span == .seconds(30))
        schedule.begin(at: Self.at(100_000))
        schedule.lost(at: Self.at(100_001))
        #expect(schedule.length == .seconds(15))
        schedule.begin(at: Self.at(200_000))
        schedule.end(at: Self.at(200_001))
        #expect(schedule.span == .milliseconds(2))
    }
}
