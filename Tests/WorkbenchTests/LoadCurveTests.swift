import Testing

@testable import Workbench

@Suite struct LoadCurveTests {
    @Test func `the most at a time and the calls of each second are kept, and gaps stay gaps`() {
        var curve = LoadCurve()
        for (elapsed, up, begun) in [(0.2, 1, 1), (0.7, 3, 4), (1.1, 2, 5), (3.5, 0, 6)] {
            curve.note(up: up, begun: begun, elapsed: elapsed)
        }
        #expect(curve.up == [3, 2, nil, 0] && curve.begun == [4, 1, nil, 1] && curve.length == 1)
    }

    @Test func `a long run has longer parts, and no more of them`() {
        var curve = LoadCurve()
        for second in 0..<1_000 { curve.note(up: second % 7, begun: second * 2, elapsed: Double(second)) }
        #expect(curve.length == 8 && curve.up.count <= LoadCurve.mostParts)
        #expect(curve.up.dropLast().allSatisfy { $0 == 6 })
        #expect(curve.begun.dropFirst().dropLast().allSatisfy { abs(($0 ?? 0) - 2) < 0.01 }, "\(curve.begun.prefix(4))")
    }
}
