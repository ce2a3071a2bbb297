import Audio
import Testing
import Workbench

@Suite struct SpeechLikeSignalTests {
    private let rate = SpeechLikeSignal.sampleRate

    @Test func `one seed is one voice, and another seed is another`() throws {
        let voice = SpeechLikeSignal.samples(seed: 7, seconds: 4)
        #expect(voice.count == 4 * rate && voice == SpeechLikeSignal.samples(seed: 7, seconds: 4))
        for seed in UInt64(8)...11 {
            let other = SpeechLikeSignal.samples(seed: seed, seconds: 4)
            let score = try SignalCorrelation(sent: voice, received: other, sampleRate: rate).score
            #expect(score < 0.35)
        }
    }

    @Test func `it is like itself, also later, and not like its own past`() throws {
        let voice = SpeechLikeSignal.samples(seed: 3, seconds: 8)
        #expect(try SignalCorrelation(sent: voice, received: [Int16](repeating: 0, count: rate) + voice, sampleRate: rate).score > 0.95)
        #expect(
            try SignalCorrelation(
                sent: Array(voice.prefix(4 * rate)), received: Array(voice.suffix(4 * rate)), sampleRate: rate, maximumDelay: 500
            ).score < 0.35)
    }

    @Test(arguments: AudioCodec.allCases) func `it survives every codec`(codec: AudioCodec) throws {
        let voice = SpeechLikeSignal.samples(seed: 5, seconds: 2), encoder = try FrameEncoder(codec, sampleRate: rate),
            decoder = try FrameDecoder(codec, sampleRate: rate)
        var heard: [Int16] = []
        for start in stride(from: 0, to: voice.count, by: encoder.samplesPerFrame) {
            let frame = Array(voice[start..<start + encoder.samplesPerFrame])
            var payload = [UInt8](repeating: 0, count: encoder.largestPayload), room = payload.mutableSpan
            let length = try encoder.encode(frame.span, into: &room), packet = Array(payload.prefix(length))
            var samples = [Int16](repeating: 0, count: 8 * encoder.samplesPerFrame), space = samples.mutableSpan
            let count = try decoder.decode(packet.span, into: &space)
            heard += samples.prefix(count)
        }
        let score = try SignalCorrelation(sent: voice, received: heard, sampleRate: rate).score
        #expect(score > 0.8)
    }

    @Test func `it is as loud as speech, and not too loud`() {
        let voice = SpeechLikeSignal.samples(seed: 1, seconds: 5)
        var meter = LevelMeter()
        meter.listen(to: voice.span)
        #expect((-30.0 ... -12).contains(meter.level))
        #expect(voice.allSatisfy { abs(Int($0)) <= 16_384 })
    }
}
