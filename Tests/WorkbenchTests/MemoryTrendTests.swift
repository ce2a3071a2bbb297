import Testing

@testable import Workbench

@Suite struct MemoryTrendTests {
    /// A run that climbs to 100 calls, stays there and comes down, one look a second: 20 calls are over in each.
    private func trend(_ allowance: Double = 4_000, seconds: Int = 200, resident: (_ over: Int, _ up: Int) -> Double) -> MemoryTrend {
        var trend = MemoryTrend(allowance: allowance)
        for second in 0..<seconds {
            let up = min(100, second * 10, (seconds - second) * 10), over = max(0, second - 5) * 20
            trend.note(resident: UInt64(resident(over, up)), over: over, up: up, at: .seconds(second))
        }
        return trend
    }

    @Test func `memory that follows the calls that are up is no leak`() throws {
        let trend = trend { _, up in 50e6 + Double(up) * 30_000 }
        #expect(!trend.isGrowing)
        let bytes = try #require(trend.perCall)
        #expect(abs(bytes) < 10)
    }

    @Test func `ten kilobytes that every call leaves are found and told`() throws {
        let trend = trend { over, up in 50e6 + Double(up) * 30_000 + Double(over) * 10_000 }
        #expect(trend.isGrowing)
        let bytes = try #require(trend.perCall)
        #expect(abs(bytes - 10_000) < 500)
    }

    @Test func `what a call may leave is allowed`() {
        #expect(!trend(12_000) { over, _ in 50e6 + Double(over) * 10_000 }.isGrowing)
    }

    @Test func `a jump early in the run is no leak`() {
        #expect(!trend { over, _ in over > 500 ? 90e6 : 50e6 }.isGrowing)
    }

    @Test func `what transactions keep for half a minute is no leak, however long the run`() {
        for seconds in 20...200 {
            var trend = MemoryTrend(allowance: 4_000)
            for second in 0..<seconds {
                let waiting = 40 * min(second, 32)
                trend.note(resident: UInt64(26e6 + Double(waiting) * 20_000), over: second * 40, up: 10, at: .seconds(second))
            }
            #expect(!trend.isGrowing, "\(seconds) s")
        }
    }

    @Test func `a short run tells nothing`() {
        #expect(trend(seconds: 12) { over, _ in 50e6 + Double(over) * 10_000 }.perCall == nil)
    }

    @Test func `a long one keeps no more than so many looks`() throws {
        let trend = trend(seconds: 20_000) { over, _ in 50e6 + Double(over) * 10_000 }
        let bytes = try #require(trend.perCall)
        #expect(trend.isGrowing && abs(bytes - 10_000) < 500)
    }
}
