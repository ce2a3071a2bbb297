import Audio
import Media
import Primitives
import RTP
import SDP
import Testing

/// RFC 3389 on the legs of a bridge.
@Suite struct ComfortNoiseTests {
    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private let bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)
    private static let noise = NegotiatedCodec(codec: .comfortNoise(8_000), receivePayloadType: 13, sendPayloadType: 13)

    private func bridge(_ first: NegotiatedCodec, _ second: NegotiatedCodec, noise: (Bool, Bool)) throws {
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: [first]),
            b = try bench.open(2, port: 20_002, far: bob.address, codecs: [second])
        if noise.0 { try bench.update(a) { $0.audio.comfortNoise = [Self.noise] } }
        if noise.1 { try bench.update(b) { $0.audio.comfortNoise = [Self.noise] } }
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
    }

    /// Half a second of sound, then a word of noise and nothing for two and a half seconds, then sound.
    private mutating func speakAndPause() throws {
        let sounds = try encoded(sine(8_000, frequency: 500, seconds: 1), .pcmu).prefix(25)
        for round in 0..<2 {
            for sound in sounds {
                bench.arrive(alice.packet(0, sound), from: alice.address, at: 20_000)
                bench.pass(.milliseconds(20))
            }
            guard round == 0 else { return bench.pass(.milliseconds(100)) }
            bench.arrive(alice.packet(13, [50]), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(2_500))
            alice.timestamp &+= 2_480 * 8
        }
    }

    @Test mutating func `noise is heard at its level until the sender speaks again`() throws {
        try bridge(.pcmu(), .pcma(), noise: (true, false))
        try speakAndPause()
        let packets = bench.heard(by: bob.address)
        #expect(try packets.allSatisfy { try header($0).payloadType == 8 })
        let heard = try decode(packets, .pcma)
        #expect(abs(heard.count - 28_000) < 1_000, "the whole time is filled: \(heard.count)")
        let silence = Array(heard[8_000..<20_000])
        #expect(abs(LevelMeter.level(of: silence.span) - 3.01 + 50) < 2, "\(LevelMeter.level(of: silence.span))")
        #expect(detector(of: 500, in: Array(heard.suffix(3_200)), .pcma).presence > 0.9)
        #expect(try bench.statistics(MediaLegID(1)).playout?.packets.lost == 0)
    }

    @Test(arguments: [350, 400, 600, 900], [true, false])
    mutating func `speech goes on soon where the way grows longer for good`(longer: Int, inSilence: Bool) throws {
        try bridge(.pcmu(), .pcma(), noise: (true, false))
        let sounds = try encoded(sine(8_000, frequency: 500, seconds: 3), .pcmu)
        for sound in sounds {
            bench.arrive(alice.packet(0, sound), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        if inSilence {
            bench.arrive(alice.packet(13, [50]), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(1_000))
            alice.timestamp &+= 980 * 8
        }
        bench.pass(.milliseconds(Int64(longer)))
        _ = bench.heard(by: bob.address)
        for sound in sounds {
            bench.arrive(alice.packet(0, sound), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        let heard = try decode(bench.heard(by: bob.address), .pcma)
        let loud = stride(from: 0, to: heard.count - 160, by: 160).count { LevelMeter.level(of: Array(heard[$0..<$0 + 160]).span) > -30 }
        #expect(loud >= 138, "\(loud) of \(heard.count / 160)")
    }

    @Test mutating func `noise passes from leg to leg where both know it`() throws {
        try bridge(.pcmu(), .pcmu(), noise: (true, true))
        try speakAndPause()
        let types = try bench.heard(by: bob.address).map { try header($0).payloadType }
        #expect(types.count == 51 && types[25] == 13)
    }

    @Test mutating func `silence is left out for a far end that agreed to noise, and told how it sounds`() throws {
        try bridge(.l16(8_000, 97), .pcma(), noise: (false, true))
        let speech = Array(sine(8_000, frequency: 500, seconds: 1).prefix(4_000))
        let quiet = (0..<16_000).map { Int16($0 % 2 == 0 ? 33 : -33) }   // 60 dB below the overload point
        for sound in try encoded(speech + quiet + speech, .linear8) {
            bench.arrive(alice.packet(97, sound), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        bench.pass(.milliseconds(60))
        let packets = bench.heard(by: bob.address), headers = try packets.map(header)
        let noises = try packets.filter { try header($0).payloadType == 13 }
        #expect((4...6).contains(noises.count) && headers.count < 80, "\(noises.count) of \(headers.count)")
        #expect(try noises.allSatisfy { try payload($0) == [60] })
        let end = try #require(headers.lastIndex { $0.payloadType == 13 })
        #expect(headers[end + 1].marker && !headers[end].marker, "sound after it begins a spurt")
        #expect(zip(headers, headers.dropFirst()).allSatisfy { $0.sequence.distance(to: $1.sequence) == 1 })
        #expect(abs(Int(headers[headers.count - 1].timestamp &- headers[0].timestamp) - 23_840) <= 480, "its clock went on")
    }
}
