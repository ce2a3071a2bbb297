import Glibc
import Testing

@testable import Workbench

@Suite struct HeardTests {
    /// 440 Hz, at half of full scale.
    private static func sine(_ count: Int, rate: Int) -> [Int16] {
        (0..<count).map { Int16(16_384 * sin(2 * .pi * 440 * Double($0) / Double(rate))) }
    }

    @Test func `nothing and silence have no level`() {
        var heard = Heard()
        #expect(heard.level == nil && heard.samples.isEmpty && heard.seconds == 0)
        heard.append([Int16](repeating: 0, count: 8_000), sampleRate: 8_000)
        #expect(heard.level == nil && heard.samples.count == 8_000 && heard.seconds == 1)
    }

    @Test func `half of full scale is six decibels below it`() throws {
        var heard = Heard()
        heard.append(Self.sine(8_000, rate: 8_000), sampleRate: 8_000)
        #expect(abs(try #require(heard.level) + 6.02) < 0.1)
        #expect(heard.samples == Self.sine(8_000, rate: 8_000), "as it came, at its own rate")
    }

    @Test func `other rates are converted, and seconds count all of them`() {
        var heard = Heard()
        for rate in [48_000, 16_000, 8_000] { for _ in 0..<50 { heard.append(Self.sine(rate / 50, rate: rate), sampleRate: rate) } }
        #expect(abs(heard.seconds - 3) < 1e-9 && abs(heard.samples.count - 24_000) < 100, "\(heard.samples.count)")
    }

    @Test func `a minute is kept, and the level is that of all`() throws {
        var heard = Heard()
        for _ in 0..<61 { heard.append([Int16](repeating: 0, count: 8_000), sampleRate: 8_000) }
        #expect(heard.samples.count == Heard.longest && heard.seconds == 61 && heard.level == nil)
        heard.append(Self.sine(8_000, rate: 8_000), sampleRate: 8_000)
        #expect(heard.samples.count == Heard.longest && heard.samples.allSatisfy { $0 == 0 } && heard.level != nil)
    }
}
