import Audio
import Glibc
import Testing

@Suite struct ConcealmentTests {
    /// A voice of 125 Hz: a period of 64 samples at 8 kHz with six harmonics.
    private static func voice(_ count: Int, rate: Int) -> [Int16] {
        (0..<count).map { index in
            let angle = 2 * Double.pi * 125 * Double(index) / Double(rate)
            return Int16((1...6).reduce(0.0) { $0 + 3_000 / Double($1) * sin(angle * Double($1)) })
        }
    }

    @Test(arguments: [AudioCodec.pcmu, .pcma, .g722])
    func `a lost frame of a voice sounds as the voice would have`(codec: AudioCodec) throws {
        let rate = codec.nativeSampleRate, frame = rate / 50
        let voice = Self.voice(10 * frame, rate: rate)
        let encoder = try FrameEncoder(codec, sampleRate: rate)
        let decoder = try FrameDecoder(codec, sampleRate: rate)
        var payloads: [[UInt8]?] = try encoder.payloads(of: voice)
        payloads[6] = nil
        let heard = try decoder.samples(of: payloads)
        #expect(heard.count == voice.count)
        let delay = codec == .g722 ? 22 : 0
        let lost = 6 * frame..<7 * frame, wanted = lost.map { Double(voice[$0 - delay]) }, got = lost.map { Double(heard[$0]) }
        let product = zip(wanted, got).reduce(0) { $0 + $1.0 * $1.1 }
        let energy = wanted.reduce(0) { $0 + $1 * $1 } * got.reduce(0) { $0 + $1 * $1 }
        let likeness = product / energy.squareRoot()
        #expect(likeness > 0.9, "as like as it was before: \(likeness)")
        let jump = (6 * frame - 4..<7 * frame + 40).map { abs(Int(heard[$0]) - Int(heard[$0 - 1])) }.max()!
        let usual = (2 * frame..<4 * frame).map { abs(Int(heard[$0]) - Int(heard[$0 - 1])) }.max()!
        #expect(jump < 2 * usual, "no click at either seam")
    }

    @Test func `sound that stays away fades to silence in 60 ms`() throws {
        let decoder = try FrameDecoder(.pcmu, sampleRate: 8_000)
        let voice = Self.voice(960, rate: 8_000)
        _ = try decoder.samples(of: [voice.map(G711.encodeMu)])
        var levels: [Double] = []
        for _ in 0..<4 {
            let samples = try decoder.samples(of: [nil])
            levels.append(LevelMeter.level(of: samples.span))
        }
        #expect(levels[0] > levels[1] && levels[1] > levels[2] && levels[3] == -.infinity)
    }

    @Test(arguments: [8_000, 16_000, 48_000])
    func `a stretched voice keeps its pitch and has no click`(rate: Int) {
        let frame = rate / 50, voice = Self.voice(frame, rate: rate)
        let usual = zip(voice, voice.dropFirst()).map { abs(Int($0) - Int($1)) }.max()!
        for longer in [true, false] {
            var samples = voice + Array(repeating: 0, count: rate / 100), room = samples.mutableSpan
            let count =
                longer
                ? TimeStretch.lengthen(&room, count: frame, sampleRate: rate) : TimeStretch.shorten(&room, count: frame, sampleRate: rate)
            #expect(abs(count - frame) == rate / 125, "a period of 8 ms")
            let steps = zip(samples[..<count], samples[1..<count]).map { abs(Int($0) - Int($1)) }
            #expect(steps.max()! <= usual * 5 / 4)
        }
    }

    @Test func `what is too short, or has no room, is not stretched`() {
        var samples = [Int16](repeating: 5, count: 160), room = samples.mutableSpan
        #expect(TimeStretch.lengthen(&room, count: 160, sampleRate: 8_000) == 160)
        #expect(TimeStretch.shorten(&room, count: 100, sampleRate: 8_000) == 100)
    }
}
