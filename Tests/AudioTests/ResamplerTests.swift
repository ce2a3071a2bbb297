import Audio
import Testing

@Suite struct ResamplerTests {
    private func resampled(_ samples: [Int16], from: Int, to: Int, piece: Int) throws -> [Int16] {
        var resampler = try Resampler(from: from, to: to)
        return try stride(from: 0, to: samples.count, by: piece).flatMap { start in
            let input = Array(samples[start..<min(start + piece, samples.count)])
            var output = [Int16](repeating: 0, count: resampler.outputCapacity(for: input.count)), room = output.mutableSpan
            let count = try resampler.process(input.span, into: &room)
            return Array(output.prefix(count))
        }
    }

    /// What a sine of -6 dBFS becomes, in dB relative to itself, once the filter has filled.
    private func gain(_ frequency: Double, from: Int, to: Int) throws -> Double {
        let output = try resampled(
            Signals.sine(frequency, sampleRate: from, count: from / 2, level: -6), from: from, to: to, piece: from / 50)
        return LevelMeter.level(of: output.span.extracting(to / 10..<output.count)) + 6
    }

    static let pairs = [
        (8_000, 16_000), (8_000, 48_000), (16_000, 48_000), (16_000, 8_000), (48_000, 8_000), (48_000, 16_000), (44_100, 16_000),
        (24_000, 8_000),
    ]

    @Test(arguments: pairs) func `the pass band is flat within 0.1 dB to 0.85 of the lower Nyquist frequency`(from: Int, to: Int) throws {
        for part in [0.02, 0.1, 0.3, 0.5, 0.7, 0.8, 0.85] {
            #expect(abs(try gain(part * Double(min(from, to)) / 2, from: from, to: to)) < 0.1)
        }
    }

    @Test(arguments: pairs.filter { $0.0 > $0.1 }) func `what would alias is 60 dB down`(from: Int, to: Int) throws {
        for part in [1.0, 1.02, 1.1, 1.3, 1.6, 1.9] where part * Double(to) < Double(from) {
            #expect(try gain(part * Double(to) / 2, from: from, to: to) < -60)
        }
    }

    @Test(arguments: pairs.filter { $0.0 < $0.1 }) func `images above the old Nyquist frequency are 60 dB down`(from: Int, to: Int) throws {
        for part in [0.1, 0.5, 0.85] {
            let frequency = part * Double(from) / 2
            let output = try resampled(
                Signals.sine(frequency, sampleRate: from, count: from / 2, level: -6), from: from, to: to, piece: from / 50)
            let image = ToneDetector.hearing(Array(output.dropFirst(to / 10)), frequency: Double(from) - frequency, sampleRate: to)
            #expect(image.toneBlocks == 0)
            let total = LevelMeter.level(of: output.span.extracting(to / 10..<output.count)) + 6
            #expect(abs(total) < 0.1)   // no power beside the tone's own
        }
    }

    @Test(arguments: pairs) func `the pieces in which samples come change nothing`(from: Int, to: Int) throws {
        let samples = Signals.noise(seed: 5, count: from / 5)
        let whole = try resampled(samples, from: from, to: to, piece: samples.count)
        for piece in [1, 7, from / 50, 1_000] { #expect(try resampled(samples, from: from, to: to, piece: piece) == whole) }
        #expect(abs(whole.count - to / 5) <= 1)
    }

    @Test(arguments: pairs) func `a constant stays what it is, and full scale is clipped, not wrapped`(from: Int, to: Int) throws {
        let output = try resampled([Int16](repeating: 12_345, count: from / 5), from: from, to: to, piece: 160)
        #expect(output.dropFirst(output.count / 2).allSatisfy { $0 == 12_345 })
        let square = (0..<from / 5).map { $0 / 40 % 2 == 0 ? Int16.max : .min }   // overshoots at each edge
        let edges = try resampled(square, from: from, to: to, piece: 160)
        #expect(edges.contains(.max) && edges.contains(.min))
    }

    @Test(arguments: pairs) func `an impulse comes out where the delay says, the same on both sides`(from: Int, to: Int) throws {
        var samples = [Int16](repeating: 0, count: from / 10)
        samples[samples.count / 2] = 20_000
        let output = try resampled(samples, from: from, to: to, piece: 160), resampler = try Resampler(from: from, to: to)
        let energy = output.map { Double($0) * Double($0) }, total = energy.reduce(0, +)
        let centre = energy.enumerated().reduce(0.0) { $0 + Double($1.offset) * $1.element } / total / Double(to)
        #expect(abs(centre - Double(samples.count / 2) / Double(from) - resampler.delay) < 0.000_02)
    }

    @Test(arguments: [(0, 8_000), (8_000, 0), (8_000, 193_000), (11_025, 48_000), (-8_000, 8_000)])
    func `rates that make no filter are refused`(from: Int, to: Int) {
        #expect(throws: CodecError.unsupported) { _ = try Resampler(from: from, to: to) }
    }
}
