import Testing

@testable import Audio

@Suite struct SoundSignatureTests {
    private static let codecs: [AudioCodec] = [.pcmu, .pcma, .g722, .opus]
    private static let mine = SoundSignature(run: 5, call: 123_456, side: .callee)

    @Test(arguments: codecs) func `a signature is read after a codec, whatever comes before it`(codec: AudioCodec) throws {
        let sent = [Int16](repeating: 0, count: 8_000 / 3) + Self.mine.samples().prefix(24_000)
        let hearing = SignatureHearing(try Self.through(codec, sent))
        #expect(hearing.sightings.count >= 5)
        #expect(Set(hearing.sightings.map(\.signature)) == [Self.mine])
        #expect(hearing.sightings.map(\.round) == Array(hearing.sightings[0].round..<hearing.sightings[0].round + hearing.sightings.count))
    }

    @Test(arguments: [0, 37, 1_000, 12_345]) func `where a round begins is found to the sample`(offset: Int) throws {
        let hearing = SignatureHearing([Int16](repeating: 0, count: offset) + Self.mine.samples().prefix(12_000)),
            second = try #require(hearing.sightings.dropFirst().first)
        #expect(second.round == 1 && abs(second.position - offset - 3_360) <= 80)
        #expect(hearing.refined(second)?.position == offset + 3_360)
    }

    @Test func `calls, sides and runs are told apart`() {
        let others = [
            SoundSignature(run: 5, call: 123_457, side: .callee), SoundSignature(run: 5, call: 123_456, side: .caller),
            SoundSignature(run: 6, call: 123_456, side: .callee),
            SoundSignature(run: 0, call: 0, side: .caller), SoundSignature(run: 15, call: 0x7_FFFF, side: .callee),
        ]
        for other in others { #expect(Set(SignatureHearing(other.samples()).sightings.map(\.signature)) == [other]) }
    }

    @Test func `it says where another call breaks in`() {
        let other = SoundSignature(run: 5, call: 9, side: .callee)
        let hearing = SignatureHearing(Array(Self.mine.samples().prefix(10_080)) + other.samples().prefix(10_080))
        #expect(hearing.sightings.map(\.signature) == [Self.mine, Self.mine, Self.mine, other, other, other])
    }

    @Test func `silence and speech have none`() {
        #expect(SignatureHearing([Int16](repeating: 0, count: 16_000)).sightings.isEmpty)
        #expect(SignatureHearing([Int16](repeating: 0, count: 16_000)).loudPart == 0)
        let speech = SignatureHearing(Signals.speech(seed: 3, seconds: 5))
        #expect(speech.sightings.isEmpty && speech.loudPart > 0.5)
        #expect(SignatureHearing([]).sightings.isEmpty)
    }

    @Test(arguments: [(delay: 0.0, from: 0), (85.0, 0), (85.0, 5_000), (1_234.0, 53_760 + 100)])
    func `a verdict says how long the sound took`(delay: Double, from start: Int) {
        let sound = Self.mine.samples(), looped = sound + sound + sound
        let recording = Array(looped[start..<start + 30_000])
        let context = SignatureContext(began: Double(start) / 8_000 + delay / 1_000)
        let verdict = SignatureHearing(recording).verdict(expecting: Self.mine, context: context)
        #expect(verdict.sound == .right && verdict.wrong == nil && verdict.rounds >= 7 && verdict.gaps.isEmpty)
        #expect(abs((verdict.delay ?? -1) - delay) < 0.2 && abs((verdict.lastDelay ?? -1) - delay) < 0.2)
        #expect(SignatureHearing(recording).verdict(expecting: Self.mine).delay == nil, "nobody knows when it was sent")
    }

    /// Frames that a jitter buffer drops make the recording shorter than what it holds: the figure would be that of another signature.
    @Test func `sound that would be heard before it was sent has no delay`() {
        let recording = Array(Self.mine.samples()[800..<30_800])
        for hearsBeginning in [true, false] {
            let context = SignatureContext(began: 0.02, hearsBeginning: hearsBeginning)
            let verdict = SignatureHearing(recording).verdict(expecting: Self.mine, context: context)
            #expect(verdict.sound == .right && verdict.delay == nil && verdict.lastDelay == nil, "\(verdict)")
        }
    }

    @Test(arguments: [(7_000.0, 0), (7_000, 4_000), (20, 0), (4, 60)])
    func `a delay of more than a signature is told where the beginning is heard`(delay: Double, from start: Int) throws {
        let sound = Self.mine.samples(), recording = Array((sound + sound + sound)[start..<start + 90_000])
        let began = Double(start) / 8_000 + delay / 1_000
        let context = SignatureContext(began: began, beganByEnd: began + 0.003, hearsBeginning: true)
        let verdict = SignatureHearing(recording).verdict(expecting: Self.mine, context: context)
        let first = try #require(verdict.delay), last = try #require(verdict.lastDelay)
        #expect(abs(first - delay) < 0.2 && abs(last - delay - 3) < 0.2, "\(verdict)")
    }

    @Test(arguments: [80, 200, 1_000]) func `a verdict says where the sound was gone, and for how long`(milliseconds: Int) throws {
        var sound = Array(Self.mine.samples().prefix(32_000))
        for index in 12_000..<12_000 + 8 * milliseconds { sound[index] = 0 }
        let verdict = SignatureHearing(sound).verdict(expecting: Self.mine)
        #expect(verdict.sound == .right && verdict.gaps.count == 1)
        let gap = try #require(verdict.gaps.first)
        #expect(abs(gap.start - 1_500) <= 15 && abs(gap.length - Double(milliseconds)) <= 25, "\(gap)")
    }

    @Test func `a verdict says whose sound is in the wrong place`() {
        let own = SoundSignature(run: 5, call: 123_456, side: .caller)
        let context = SignatureContext(own: own, upAtBeginning: [700])
        let cases: [(SoundSignature, SignatureVerdict.Sound)] = [
            (Self.mine, .right), (own, .own), (SoundSignature(run: 6, call: 123_456, side: .callee), .foreign),
            (SoundSignature(run: 5, call: 699, side: .callee), .stale), (SoundSignature(run: 5, call: 700, side: .callee), .crossTalk),
            (SoundSignature(run: 5, call: 123_457, side: .callee), .crossTalk),
            (SoundSignature(run: 5, call: 0, side: .callee), .crossTalk),
        ]
        for (heard, sound) in cases {
            let verdict = SignatureHearing(Array(heard.samples().prefix(16_000))).verdict(expecting: Self.mine, context: context)
            #expect(verdict.sound == sound && (verdict.wrong == nil) == (sound == .right))
            let mixed = SignatureHearing(Array(Self.mine.samples().prefix(16_000)) + heard.samples().prefix(16_000)).verdict(
                expecting: Self.mine, context: context)
            #expect(mixed.sound == sound, "a part of it is enough")
        }
        #expect(SignatureHearing([Int16](repeating: 0, count: 16_000)).verdict(expecting: Self.mine).sound == .silence)
        #expect(SignatureHearing(Signals.speech(seed: 3, seconds: 3)).verdict(expecting: Self.mine).sound == .unsigned)
    }

    /// At 8 kHz in and out.
    private static func through(_ codec: AudioCodec, _ sent: [Int16]) throws -> [Int16] {
        let encoder = try FrameEncoder(codec, sampleRate: 8_000), decoder = try FrameDecoder(codec, sampleRate: 8_000)
        var heard: [Int16] = [], bytes = [UInt8](repeating: 0, count: 2_000), pcm = [Int16](repeating: 0, count: decoder.largestOutput)
        for start in stride(from: 0, to: sent.count - 160, by: 160) {
            let frame = Array(sent[start..<start + 160])
            var room = bytes.mutableSpan
            let count = try encoder.encode(frame.span, into: &room), payload = Array(bytes[..<count])
            var decoded = pcm.mutableSpan
            let samples = try decoder.decode(payload.span, into: &decoded)
            heard += pcm[..<samples]
        }
        return heard
    }
}
