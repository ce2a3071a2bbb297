import Audio
import Testing

@Suite struct ToneTests {
    @Test func `frames join without a jump`() {
        var whole = ToneGenerator(Tone(425, 1_000, level: -20), sampleRate: 8_000), pieces = whole
        var expected = [Int16](repeating: 0, count: 1_600), got: [Int16] = []
        var room = expected.mutableSpan
        whole.fill(&room)
        for _ in 0..<10 {
            var frame = [Int16](repeating: 0, count: 160), space = frame.mutableSpan
            pieces.fill(&space)
            got += frame
        }
        #expect(got == expected)
    }

    @Test(arguments: [(-3.0, 440.0), (-10, 1_000), (-20, 3_400), (-40, 60)])
    func `level and frequency are what was asked for`(level: Double, frequency: Double) {
        let samples = Signals.sine(frequency, sampleRate: 16_000, count: 16_000, level: level)
        #expect(abs(LevelMeter.level(of: samples.span) - level) < 0.05)
        let heard = ToneDetector.hearing(samples, frequency: frequency, sampleRate: 16_000)
        #expect(heard.presence == 1 && abs(heard.level - level) < 0.7)
        #expect(ToneDetector.hearing(samples, frequency: frequency + 200, sampleRate: 16_000).presence == 0)
    }

    @Test func `a cadence sounds and rests, and the detector counts its gaps`() {
        var generator = ToneGenerator(Tone(425, cadence: [300, 200]), sampleRate: 8_000)
        var samples = [Int16](repeating: 0, count: 16_000), room = samples.mutableSpan
        generator.fill(&room)
        let heard = ToneDetector.hearing(samples, frequency: 425, sampleRate: 8_000)
        #expect(heard.blocks == 100 && heard.toneBlocks == 60 && heard.gaps == 3 && heard.longestGapMilliseconds == 200)
        #expect(!heard.isPresent)
        #expect(samples[2_400..<4_000].allSatisfy { $0 == 0 } && samples[4_000..<4_100].contains { $0 != 0 })
    }

    @Test(arguments: [[0], [0, 0], [-5, 0]]) func `a cadence without time is a steady tone`(cadence: [Int]) {
        var generator = ToneGenerator(Tone(425, cadence: cadence), sampleRate: 8_000)
        var samples = [Int16](repeating: 0, count: 1_600), room = samples.mutableSpan
        generator.fill(&room)
        #expect(ToneDetector.hearing(samples, frequency: 425, sampleRate: 8_000).presence == 1)
    }

    @Test func `neither noise nor silence is a tone`() {
        #expect(ToneDetector.hearing(Signals.noise(seed: 4, count: 16_000), frequency: 1_000, sampleRate: 8_000).presence < 0.01)
        let silence = ToneDetector.hearing([Int16](repeating: 0, count: 800), frequency: 1_000, sampleRate: 8_000)
        #expect(silence.presence == 0 && silence.level == -.infinity)
    }

    @Test(arguments: [("1" as Character, 697.0, 1_209.0), ("5", 770, 1_336), ("#", 941, 1_477), ("D", 941, 1_633)])
    func `a key has its two frequencies`(key: Character, low: Double, high: Double) throws {
        let tone = try #require(Tone.key(key))
        #expect(tone.first == low && tone.second == high)
        #expect(Tone.key("x") == nil)
    }

    @Test func `levels are relative to a full-scale sine`() {
        var meter = LevelMeter()
        #expect(meter.level == -.infinity && meter.peakLevel == -.infinity)
        meter.listen(to: [Int16.min, .max].span)
        #expect(abs(meter.level - 3.01) < 0.01 && meter.peak == 32_768 && meter.peakLevel == 0 && meter.count == 2)
    }

    @Test func `silence is told once, after its time, and so is the sound after it`() {
        var detector = SilenceDetector(after: 60, sampleRate: 8_000)
        let quiet = [Int16](repeating: 3, count: 160), loud = Signals.sine(400, sampleRate: 8_000, count: 160)
        let changes = [quiet, loud, loud, quiet, quiet, loud, quiet, quiet, quiet, quiet, quiet, loud].map { detector.listen(to: $0.span) }
        #expect(changes == [nil, .heard, nil, nil, nil, nil, nil, nil, .silent, nil, nil, .heard])
        #expect(detector.soundSamples == 4 * 160)
    }

    private static let silences: [(Int?, [SilenceDetector.Change?])] = [
        (60, [nil, nil, .silent, nil, .heard, nil]), (nil, [nil, nil, nil, nil, nil, nil]),
    ]

    @Test(arguments: silences)
    func `silence from the beginning is told where that is a change`(timeout: Int?, expected: [SilenceDetector.Change?]) {
        var detector = SilenceDetector(after: timeout, sampleRate: 8_000, beginsSilent: false)
        let quiet = [Int16](repeating: 3, count: 160), loud = Signals.sine(400, sampleRate: 8_000, count: 160)
        #expect([quiet, quiet, quiet, quiet, loud, quiet].map { detector.listen(to: $0.span) } == expected)
    }
}
