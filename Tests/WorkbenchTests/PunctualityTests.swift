import Media
import Primitives
import Testing

@testable import Workbench

@Suite struct PunctualityTests {
    private func lateness(_ late: Duration, packets: Int = 1_000) -> Lateness {
        var lateness = Lateness()
        for _ in 0..<packets { lateness.note(late) }
        return lateness
    }

    @Test func `the largest number in time is told, and the next that was late`() throws {
        var punctuality = Punctuality()
        for calls in stride(from: 100, through: 1_000, by: 100) {
            punctuality.note(lateness(calls <= 600 ? .microseconds(200) : .milliseconds(3)), calls: calls, streams: 2 * calls)
        }
        let figures = try #require(punctuality.figures)
        #expect(figures.calls == 600 && figures.streams == 1_200)
        #expect(figures.lateAt == 700 && (figures.latenessThere ?? 0) >= 3)
    }

    @Test func `late at few calls and in time at more was not for their number`() throws {
        var punctuality = Punctuality()
        punctuality.note(lateness(.milliseconds(8)), calls: 20, streams: 20)
        punctuality.note(lateness(.microseconds(80)), calls: 400, streams: 400)
        #expect(punctuality.figures == PunctualityFigures(calls: 400, streams: 400, lateAt: nil, latenessThere: nil))
    }

    @Test func `never in time, and too little sent to tell`() throws {
        var punctuality = Punctuality()
        punctuality.note(lateness(.microseconds(80), packets: 20), calls: 900, streams: 900)
        #expect(punctuality.figures == nil)
        punctuality.note(lateness(.milliseconds(2)), calls: 100, streams: 200)
        let figures = try #require(punctuality.figures)
        #expect(figures.calls == nil && figures.lateAt == 100)
    }
}
