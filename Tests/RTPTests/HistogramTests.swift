import RTP
import Testing

@Suite struct HistogramTests {
    @Test func `percentiles are right to a fifth, whatever the width of a count`() throws {
        var packets = Histogram<UInt32>(), reports = Histogram<UInt16>()
        for value in UInt32(1)...1_000 {
            packets.note(value)
            reports.note(value)
        }
        for percent in [1.0, 50, 95, 99, 100] {
            let found = try #require(packets.percentile(percent))
            let exact = percent * 10
            #expect(Double(found) >= exact && Double(found) <= exact * 1.2 + 1, "\(percent) %: \(found)")
            #expect(reports.percentile(percent) == found)
        }
        #expect(HistogramFigures(packets, unit: 0.1) == HistogramFigures(reports, unit: 0.1))
        #expect(HistogramFigures(packets, unit: 0.1)?.greatest == 100)
    }

    @Test func `a step that is full counts no more, and no other is wrong by it`() throws {
        var spread = Histogram<UInt8>()
        for _ in 0..<300 { spread.note(2) }
        spread.note(3)
        #expect(spread.count == 256)
        let figures = try #require(HistogramFigures(spread, unit: 1))
        #expect(figures.steps.map(\.count) == [255, 1])
        #expect(figures.median == 2 && figures.greatest == 3)
    }

    @Test func `nothing was measured before the first value`() {
        #expect(Histogram<UInt16>().percentile(50) == nil)
        #expect(HistogramFigures(Histogram<UInt16>(), unit: 1) == nil)
    }
}
