import Primitives
import Testing

@testable import Media

@Suite struct LatenessTests {
    /// Found missing by scripts/mutate: the first step was taken for every percentile.
    @Test func `a percentile is at most a step above the value, and never above the greatest`() throws {
        var lateness = Lateness()
        #expect(lateness.percentile(50) == nil)
        for milliseconds in 1...1_000 { lateness.note(.milliseconds(Int64(milliseconds))) }
        for percent in [10, 50, 90, 99] {
            let value = Duration.milliseconds(Int64(10 * percent)), found = try #require(lateness.percentile(Double(percent)))
            #expect(found >= value && found <= value * 17 / 16 + .microseconds(1), "\(percent) %: \(found)")
        }
        #expect(lateness.percentile(100) == .seconds(1))
    }
}
