import Primitives
import Testing

@Suite struct FixedHistogramTests {
    @Test func `a value counts for its bound and all above it`() {
        var histogram = FixedHistogram([1, 2, 5])
        #expect(histogram.count == 0 && histogram.cumulative.map(\.count) == [0, 0, 0])
        for value in [0.5, 1, 1.5, 5, 7] { histogram.add(value) }
        #expect(histogram.cumulative.map(\.count) == [2, 3, 4] && histogram.cumulative.map(\.bound) == [1, 2, 5])
        #expect(histogram.count == 5 && histogram.sum == 15)
    }
}
