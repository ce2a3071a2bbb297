import Audio
import Testing

@Suite struct ComfortNoiseTests {
    @Test(arguments: [0, 3, 20, 40, 60, 90] as [UInt8]) func `noise is as loud as it says`(level: UInt8) {
        var generator = NoiseGenerator(), samples = [Int16](repeating: 0, count: 16_000), room = samples.mutableSpan
        generator.fill(&room, ComfortNoise(level: level))
        let measured = LevelMeter.level(of: samples.span) - 3.01   // of a sine, which is 3 dB below the overload point
        if level <= 60 { #expect(abs(measured + Double(max(level, 5))) < 1, "\(measured)") } else { #expect(measured < -80) }
    }

    @Test func `a payload is its level, whatever follows and whatever the reserved bit says`() {
        func level(_ payload: [UInt8]) -> UInt8? { ComfortNoise(parsing: payload.span)?.level }
        #expect(level([0x40]) == 64 && level([0xC0, 1, 2, 3]) == 64 && level([]) == nil)
        #expect(ComfortNoise(level: 200).payload == 127)
    }

    @Test func `a frame's own level is told, and silence is the lowest`() {
        func level(_ samples: [Int16]) -> UInt8 { ComfortNoise(of: samples.span).level }
        #expect(level(Signals.sine(400, sampleRate: 8_000, count: 1_600, level: -40)) == 43)
        #expect(level([Int16](repeating: 0, count: 160)) == 127)
    }
}
