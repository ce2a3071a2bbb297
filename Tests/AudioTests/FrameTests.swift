import Audio
import Testing

@Suite struct FrameTests {
    @Test(arguments: [
        (AudioCodec.opus, 960 as UInt32, 48_000), (.g722, 160, 8_000), (.pcmu, 160, 8_000), (.pcma, 160, 8_000), (.linear16, 320, 16_000),
        (.linear44, 882, 44_100), (.linear48, 960, 48_000),
    ])
    func `a frame of 20 ms moves the RTP timestamp by the codec's clock`(codec: AudioCodec, step: UInt32, clock: Int) throws {
        #expect(codec.clockRate == clock)
        for rate in [8_000, 16_000, 24_000, 48_000] {
            let encoder = try FrameEncoder(codec, sampleRate: rate), decoder = try FrameDecoder(codec, sampleRate: rate)
            #expect(encoder.timestampStep == step && decoder.timestampStep == step)
            #expect(encoder.samplesPerFrame == rate / 50 && decoder.samplesPerFrame == rate / 50)
        }
    }

    @Test(arguments: AudioCodec.allCases, [8_000, 16_000, 48_000])
    func `a tone arrives at its level through every codec at every rate`(codec: AudioCodec, rate: Int) throws {
        let payloads = try FrameEncoder(codec, sampleRate: rate).payloads(of: Signals.sine(1_000, sampleRate: rate, count: rate))
        if codec != .opus { #expect(payloads.allSatisfy { $0.count == (codec.isLinear ? codec.clockRate / 25 : 160) }) }
        let samples = try FrameDecoder(codec, sampleRate: rate).samples(of: payloads)
        #expect(samples.count == rate)
        let heard = ToneDetector.hearing(samples, frequency: 1_000, sampleRate: rate)
        #expect(heard.presence > 0.9 && heard.gaps == 0)
        #expect(abs(heard.level + 10) < 2)
    }

    @Test(arguments: [AudioCodec.g722, .pcmu, .pcma], [10, 20, 30, 60, 120])
    func `a peer may choose another packet length`(codec: AudioCodec, milliseconds: Int) throws {
        let payload = [UInt8](repeating: 0x2A, count: milliseconds * 8)
        for rate in [8_000, 16_000, 48_000] {
            #expect(try FrameDecoder(codec, sampleRate: rate).samples(of: [payload]).count == rate / 1_000 * milliseconds)
        }
    }

    @Test(arguments: [AudioCodec.g722, .pcmu, .pcma])
    func `empty and endless payloads are refused, and a short buffer is told`(codec: AudioCodec) throws {
        let decoder = try FrameDecoder(codec, sampleRate: 48_000)
        #expect(throws: CodecError.malformed) { try decoder.samples(of: [[]]) }
        #expect(throws: CodecError.malformed) { try decoder.samples(of: [[UInt8](repeating: 0, count: 961)]) }
        #expect(throws: CodecError.bufferTooSmall) {
            var samples = [Int16](repeating: 0, count: 959), room = samples.mutableSpan
            _ = try decoder.decode([UInt8](repeating: 0, count: 160).span, into: &room)
        }
        #expect(try decoder.samples(of: [[UInt8](repeating: 0xFF, count: 160)]).count == 960)   // and goes on after them
    }

    @Test(arguments: [AudioCodec.g722, .pcmu, .pcma])
    func `lost frames are the last period again, fading by a fifth each 10 ms after the first, and silence after three`(codec: AudioCodec)
        throws
    {
        let rate = codec.nativeSampleRate, frame = rate / 50
        let tone = try FrameEncoder(codec, sampleRate: rate).payloads(of: Signals.sine(1_000, sampleRate: rate, count: frame * 10))
        let samples = try FrameDecoder(codec, sampleRate: rate).samples(of: tone + [nil, nil, nil, nil, nil])
        let levels = (9..<15).map { LevelMeter.level(of: samples.span.extracting($0 * frame..<($0 + 1) * frame)) }
        for (lost, fall) in [(1, 0.43), (2, 4.28), (3, 12.7)] { #expect(abs(levels[0] - fall - levels[lost]) < 0.5) }
        #expect(levels[4] == -.infinity && levels[5] == -.infinity)
    }

    @Test func `a frame of the wrong length is refused`() throws {
        let encoder = try FrameEncoder(.pcmu, sampleRate: 16_000)
        var payload = [UInt8](repeating: 0, count: 160)
        for count in [0, 319, 321] {
            #expect(throws: CodecError.unsupported) {
                var room = payload.mutableSpan
                _ = try encoder.encode([Int16](repeating: 0, count: count).span, into: &room)
            }
        }
    }
}
