import Audio
import Testing

@Suite struct SignalCorrelationTests {
    @Test(arguments: AudioCodec.allCases, [8_000, 16_000])
    func `speech that came through a codec, late and noisy, is the same speech`(codec: AudioCodec, rate: Int) throws {
        let sent = Signals.speech(seed: 11, seconds: 2.5, sampleRate: rate)
        var received = [Int16](repeating: 0, count: rate * 3 / 10)
        received += try FrameDecoder(codec, sampleRate: rate).samples(of: FrameEncoder(codec, sampleRate: rate).payloads(of: sent))
        received = zip(received, Signals.noise(seed: 77, count: received.count)).map { $0 &+ $1 >> 8 }
        let correlation = try SignalCorrelation(sent: sent, received: received, sampleRate: rate)
        #expect(correlation.matches && correlation.score > 0.8)
        #expect((295...320).contains(correlation.delayMilliseconds))
    }

    @Test func `a tenth of the packets lost is still the same speech`() throws {
        let sent = Signals.speech(seed: 12, seconds: 4)
        let payloads = try FrameEncoder(.pcmu, sampleRate: 8_000).payloads(of: sent)
        let chance = Signals.noise(seed: 5, count: payloads.count)
        let received = try FrameDecoder(.pcmu, sampleRate: 8_000).samples(of: zip(payloads, chance).map { $1 % 10 == 0 ? nil : $0 })
        #expect(try SignalCorrelation(sent: sent, received: received, sampleRate: 8_000).score > 0.6)
    }

    @Test func `a recording that drifts and skips is still the same speech`() throws {
        let sent = Signals.speech(seed: 13, seconds: 4)
        let received = Array(sent[..<12_000]) + sent[12_160..<20_000] + Array(repeating: 0, count: 80) + sent[20_000...]
        #expect(try SignalCorrelation(sent: sent, received: received, sampleRate: 8_000).score > 0.8)
    }

    @Test(arguments: [1_200, -1_200, 1_500]) func `a recording that stood still now and then is still the same speech`(samples: Int) throws
    {
        let sent = Signals.speech(seed: 16, seconds: 6)
        var received: [Int16] = []
        for start in [0, 16_000, 32_000] {
            received += [Int16](repeating: 0, count: max(0, samples))
            received += sent[(start + max(0, -samples))..<(start + 16_000)]
        }
        #expect(try SignalCorrelation(sent: sent, received: received, sampleRate: 8_000).score > 0.8)
        let other = Signals.speech(seed: 17, seconds: 6)
        #expect(try SignalCorrelation(sent: other, received: received, sampleRate: 8_000).score < 0.2)
    }

    @Test func `a recording that started before the audio has a negative delay`() throws {
        let sent = Signals.speech(seed: 14, seconds: 4)
        let correlation = try SignalCorrelation(sent: sent, received: Array(sent.dropFirst(8_000)), sampleRate: 8_000)
        #expect(correlation.score > 0.95 && abs(correlation.delayMilliseconds + 1_000) < 1)
    }

    @Test(arguments: 0..<4) func `other speech is not`(seed: UInt64) throws {
        let sent = Signals.speech(seed: seed, seconds: 4), other = Signals.speech(seed: seed + 100, seconds: 4)
        let correlation = try SignalCorrelation(sent: sent, received: other, sampleRate: 8_000)
        #expect(!correlation.matches && correlation.score < 0.2)
    }

    @Test func `silence, nothing and noise match nothing`() throws {
        let speech = Signals.speech(seed: 15, seconds: 2), silence = [Int16](repeating: 0, count: 16_000)
        for (sent, received) in [(speech, silence), (silence, speech), (speech, []), ([], speech), ([], []), (silence, silence)] {
            #expect(try SignalCorrelation(sent: sent, received: received, sampleRate: 8_000).score == 0)
        }
        #expect(try SignalCorrelation(sent: speech, received: Signals.noise(seed: 1, count: 16_000), sampleRate: 8_000).score < 0.2)
        #expect(throws: CodecError.unsupported) { _ = try SignalCorrelation(sent: speech, received: speech, sampleRate: 44_100) }
    }
}
