import Audio
import Glibc
import Media
import Primitives
import RTP
import SDP
import Testing

@Suite struct TranscodeTests {
    struct Side: Sendable, CustomTestStringConvertible {
        var codec: NegotiatedCodec
        var audio: AudioCodec
        var testDescription: String { "\(audio)" }
    }

    static let sides = [
        Side(codec: .opus(), audio: .opus), Side(codec: .g722(), audio: .g722), Side(codec: .pcmu(), audio: .pcmu),
        Side(codec: .pcma(), audio: .pcma),
    ]
    static let linear = [
        Side(codec: .l16(8_000, 97), audio: .linear8), Side(codec: .l16(16_000, 98), audio: .linear16),
        Side(codec: .l16(44_100, 11), audio: .linear44), Side(codec: .l16(48_000, 99), audio: .linear48),
    ]

    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private var bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    private func bridge(_ first: [NegotiatedCodec], _ second: [NegotiatedCodec], keys: ([NegotiatedCodec], [NegotiatedCodec]) = ([], []))
        throws -> (MediaLegID, MediaLegID)
    {
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: first, keys: keys.0)
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: second, keys: keys.1)
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        return (a, b)
    }

    /// Alice says it, a packet every 20 ms; packets of numbers in `lost` do not arrive, and those of a group together with the last of it.
    private mutating func say(
        _ speech: [Int16], _ side: Side, expectedLossPercent: Int32 = 0, together group: Int = 1, lost: (Int) -> Bool = { _ in false }
    ) throws {
        var waiting: [[UInt8]] = []
        for (number, payload) in try encoded(speech, side.audio, expectedLossPercent: expectedLossPercent).enumerated() {
            let packet = alice.packet(side.codec.receivePayloadType, payload, step: side.audio.timestampStep(milliseconds: 20))
            if !lost(number) { waiting.append(packet) }
            if number % group == group - 1 {
                for packet in waiting { bench.arrive(packet, from: alice.address, at: 20_000) }
                waiting = []
            }
            bench.pass(.milliseconds(20))
        }
    }

    @Test(arguments: sides, sides)
    mutating func `what one side says in its codec the other hears in its own`(from: Side, to: Side) throws {
        try expectHeard(from, to, seconds: 3)
    }

    @Test(arguments: sides + linear, linear)
    mutating func `uncompressed sound goes to all and comes from all`(from: Side, to: Side) throws {
        try expectHeard(from, to, seconds: 2)
        if !to.audio.isLinear || !from.audio.isLinear {
            var back = TranscodeTests()
            try back.expectHeard(to, from, seconds: 2)
        }
    }

    private mutating func expectHeard(_ from: Side, _ to: Side, seconds: Int) throws {
        let (a, b) = try bridge([from.codec], [to.codec])
        let speech = speech(seconds: seconds, sampleRate: from.audio.workingSampleRate)
        try say(speech, from)
        bench.pass(.milliseconds(100))
        let packets = bench.heard(by: bob.address)
        let heard = try WAV(sampleRate: to.audio.workingSampleRate, samples: decode(packets, to.audio)).resampled(
            to: from.audio.workingSampleRate)
        let likeness = try SignalCorrelation(sent: speech, received: heard.samples, sampleRate: from.audio.workingSampleRate)
        #expect(likeness.score > 0.85, "\(likeness)")
        let headers = try packets.map(header)
        #expect(headers.allSatisfy { $0.payloadType == to.codec.sendPayloadType })
        for (one, next) in zip(headers, headers.dropFirst()) {
            #expect(one.sequence.distance(to: next.sequence) == 1)
            // 20 ms of it would not fit a packet.
            let length = to.audio.clockRate >= 44_100 && to.audio.isLinear && from.audio != to.audio ? 10 : 20
            #expect(next.timestamp &- one.timestamp == to.audio.timestampStep(milliseconds: length))
        }
        let playout = try bench.statistics(a).playout
        #expect((playout == nil) == (from.audio == to.audio), "the same codec is passed on as it is")
        #expect(try bench.statistics(b).lateFrames == 0)
        #expect(bench.heard(by: alice.address).isEmpty, "nobody says anything to her")
    }

    @Test mutating func `a codec that both agreed to is passed on, another one of the same leg is not`() throws {
        let (a, _) = try bridge([.opus(), .pcma()], [.pcma()])
        bench.arrive(alice.packet(8, Array(repeating: 0x2A, count: 160)), from: alice.address, at: 20_000)
        #expect(try payload(#require(bench.heard(by: bob.address).first)) == Array(repeating: 0x2A, count: 160))
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        #expect(try bench.statistics(a).playout?.packets.played ?? 0 > 40)
        #expect(try bench.heard(by: bob.address).allSatisfy { try header($0).payloadType == 8 })
    }

    @Test mutating func `a codec that changes in the call is heard at once`() throws {
        let (a, b) = try bridge([.pcmu()], [.pcmu()])
        try say(speech(seconds: 1, sampleRate: 8_000), Self.sides[2])
        #expect(try bench.statistics(a).playout == nil)
        _ = bench.heard(by: bob.address)
        try bench.update(a) { $0.audio.codecs = [.opus()] }
        let speech = speech(seconds: 3, sampleRate: 48_000)
        try say(speech, Self.sides[0])
        let packets = bench.heard(by: bob.address)
        let heard = try WAV(sampleRate: 8_000, samples: decode(packets, .pcmu)).resampled(to: 48_000)
        #expect(try SignalCorrelation(sent: speech, received: heard.samples, sampleRate: 48_000).matches)
        try bench.update(a) { $0.audio.codecs = [.pcmu()] }
        #expect(try bench.statistics(b).playout == nil)
        try bench.update(b) { $0.audio.codecs = [.g722()] }
        _ = bench.heard(by: bob.address)
        try say(self.speech(seconds: 1, sampleRate: 8_000), Self.sides[2])
        #expect(try bench.heard(by: bob.address).count { try header($0).payloadType == 9 } > 45)
    }

    @Test(arguments: [10, 20, 40, 60])
    mutating func `packets leave in the length that the far end asked for`(ptime: Int) throws {
        for to in Self.sides.dropFirst() {
            let test = TranscodeTests()
            var far = test.alice
            let b = try test.bench.open(2, port: 20_002, far: test.bob.address, codecs: [to.codec])
            try test.bench.update(b) { $0.audio.ptime = ptime }
            let a = try test.bench.open(1, port: 20_000, far: far.address, codecs: [.opus()])
            try test.bench.engine.link(a, b, at: test.bench.now)
            try test.bench.start(a, b)
            for sound in try encoded(speech(seconds: 2, sampleRate: 48_000), .opus) {
                test.bench.arrive(far.packet(111, sound, step: 960), from: far.address, at: 20_000)
                test.bench.pass(.milliseconds(20))
            }
            let packets = test.bench.heard(by: test.bob.address)
            #expect(try packets.allSatisfy { try payload($0).count == 8 * ptime })
            #expect(abs(packets.count - 2_000 / ptime) <= 200 / ptime)
        }
    }

    @Test(arguments: sides)
    mutating func `one packet in ten that is lost is made up for`(from: Side) throws {
        let to = from.audio == .pcmu ? Self.sides[1] : Self.sides[2]
        let (a, _) = try bridge([from.codec], [to.codec])
        let speech = speech(seconds: 6, sampleRate: from.audio.workingSampleRate)
        try say(speech, from, expectedLossPercent: 10) { $0 % 10 == 7 }
        let packets = bench.heard(by: bob.address)
        #expect(isWhole(try packets.map(header)), "no gap goes on")
        let playout = try #require(try bench.statistics(a).playout)
        #expect(playout.packets.lost == 30)
        #expect((560...660).contains(playout.concealed))
        let heard = try WAV(sampleRate: to.audio.workingSampleRate, samples: decode(packets, to.audio)).resampled(
            to: from.audio.workingSampleRate)
        let likeness = try SignalCorrelation(sent: speech, received: heard.samples, sampleRate: from.audio.workingSampleRate)
        #expect(likeness.score > 0.75, "\(likeness)")
    }

    /// Whatever becomes of the codecs that heard it: the other leg closes first, the bridge ends, the codec changes.
    @Test(arguments: ["close", "unlink", "update"])
    mutating func `what was made up is in the figures of the leg that lost it`(then: String) throws {
        let (a, b) = try bridge([.g722()], [.pcmu()])
        try say(speech(seconds: 2, sampleRate: 16_000), Self.sides[1]) { $0 % 10 == 7 }
        let playout = try #require(try bench.statistics(a).playout)
        #expect(playout.concealed > 150 && playout.packets.lost == 10)
        switch then {
        case "unlink": try bench.engine.unlink(a)
        case "update": try bench.update(a) { $0.audio.codecs = [.pcmu()] }
        default: break
        }
        var totals = MediaTotals()
        for leg in [b, a] {
            try bench.engine.stop(leg, at: bench.now)
            try bench.engine.deactivate(leg)
            let statistics = try bench.engine.close(leg)
            if leg == a {
                #expect(statistics.playout?.packets == playout.packets)
            } else {
                #expect(statistics.playout == nil || statistics.playout?.packets.played == 0)
            }
            totals.add(statistics)
        }
        #expect(totals.concealed == playout.concealed)
    }

    /// Packets come in threes at first, so that all wait for longer, and evenly after that: the wait falls in the first word.
    @Test mutating func `phrases are passed on sample by sample, and a shorter wait is taken from the pause between them`() throws {
        let from = Self.linear[0], (a, _) = try bridge([from.codec], [.pcmu()])
        let words = [chirp(seconds: 15, from: 200), chirp(seconds: 1, from: 3_400)], pause = [Int16](repeating: 0, count: 5_760)
        try say(pause, from, together: 3)
        try say(words[0] + pause + words[1] + pause, from)
        let heard = try decode(bench.heard(by: bob.address), .pcmu)
        let places = try words.map { word in
            let coded = try decode(encoded(word, .pcmu).map { alice.packet(0, $0, step: 160) }, .pcmu)
            return try #require(
                heard.indices.dropLast(coded.count).first {
                    heard[$0] == coded[0] && heard[$0 + 1..<$0 + coded.count].elementsEqual(coded.dropFirst())
                }, "a word is not whole")
        }
        let taken = words[0].count + pause.count - (places[1] - places[0])
        #expect((16...200).contains(taken), "\(taken) samples of the pause")
        #expect(try #require(bench.statistics(a).playout).wait <= 25)
    }

    @Test mutating func `nothing is sent when nobody speaks any more, and speech after that is a new beginning`() throws {
        _ = try bridge([.opus()], [.pcmu()])
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        bench.pass(.seconds(5))
        #expect(bench.heard(by: bob.address).count < 160, "two seconds of comfort, then nothing")
        alice.timestamp &+= 240_000
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        let headers = try bench.heard(by: bob.address).map(header)
        #expect(headers.count > 45 && headers[0].marker)
    }

    @Test mutating func `no packet leaves after a stop, and nothing old after the next start`() throws {
        let (a, b) = try bridge([.opus()], [.pcmu()])
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        try bench.engine.stop(b, at: bench.now)
        _ = bench.heard(by: bob.address)
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        #expect(bench.heard(by: bob.address).isEmpty)
        #expect(try bench.statistics(a).refused.noReceiver == 50)
        try bench.start(b)
        bench.pass(.seconds(1))
        #expect(bench.heard(by: bob.address).isEmpty)
    }

    @Test mutating func `keys cross with the other side's number, clock, timestamps and three ends`() throws {
        _ = try bridge([.opus()], [.pcmu()], keys: ([.keys(110, 110, rate: 48_000)], [.keys(101, 96)]))
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        let before = try header(#require(bench.heard(by: bob.address).last))
        let start = alice.timestamp
        for packet in 1...12 {
            let ended = packet >= 10, duration = UInt16(960 * min(packet, 10))
            var bytes = [UInt8](repeating: 0, count: 4)
            bytes.withUnsafeMutableBytes { TelephoneEvent(event: 5, isEnd: ended, duration: duration).write(to: $0) }
            alice.timestamp = start
            bench.arrive(alice.packet(110, bytes, step: 0, marker: packet == 1), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        alice.timestamp = start &+ 11_520
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        let packets = bench.heard(by: bob.address)
        let keys = try packets.filter { try header($0).payloadType == 96 }
        let headers = try keys.map(header), events = try keys.map { try payload($0).withUnsafeBytes { TelephoneEvent(parsing: $0)! } }
        #expect(keys.count == 12)
        #expect(Set(headers.map(\.timestamp)).count == 1 && headers[0].marker && !headers[1].marker)
        #expect(headers[0].timestamp &- before.timestamp >= 160)
        #expect(events.map(\.duration) == (1...12).map { UInt16(160 * min($0, 10)) })
        #expect(events.map(\.isEnd) == (1...12).map { $0 >= 10 })
        #expect(isWhole(try packets.map(header)))
        let sound = try packets.map(header).filter { $0.payloadType == 0 }
        let inPress = sound.filter {
            $0.sequence.distance(to: headers[0].sequence) < 0 && headers[11].sequence.distance(to: $0.sequence) < 0
        }
        #expect(inPress.isEmpty, "no sound in a press")
        #expect(try bench.statistics(MediaLegID(1)).playout?.packets.lost == 0, "keys are no losses")
    }

    @Test mutating func `speech is heard again at once behind a key whose ends were all lost`() throws {
        _ = try bridge([.opus()], [.pcmu()], keys: ([.keys(110, 110, rate: 48_000)], [.keys(101, 96)]))
        try say(speech(seconds: 1, sampleRate: 48_000), Self.sides[0])
        let start = alice.timestamp
        for packet in 1...8 {
            var bytes = [UInt8](repeating: 0, count: 4)
            bytes.withUnsafeMutableBytes { TelephoneEvent(event: 5, isEnd: false, duration: UInt16(960 * packet)).write(to: $0) }
            alice.timestamp = start
            let sent = alice.packet(110, bytes, step: 0, marker: packet == 1)
            if packet <= 5 { bench.arrive(sent, from: alice.address, at: 20_000) }
            bench.pass(.milliseconds(20))
        }
        _ = bench.heard(by: bob.address)
        alice.timestamp = start &+ 8 * 960
        try say(Array(speech(seconds: 1, sampleRate: 48_000).prefix(19_200)), Self.sides[0])
        let heard = try bench.heard(by: bob.address).count { try header($0).payloadType == 0 }
        #expect(heard >= 17, "\(heard) of 20")
    }

    @Test mutating func `opus is made as the far end wishes`() throws {
        var opus = NegotiatedCodec.opus()
        opus.codec.fmtp = "maxplaybackrate=8000;maxaveragebitrate=12000;cbr=1"
        _ = try bridge([.pcmu()], [opus])
        try say(speech(seconds: 3, sampleRate: 8_000), Self.sides[2])
        let payloads = try bench.heard(by: bob.address).map(payload)
        #expect(Set(payloads.map(\.count)) == [30], "12 kbit/s, all alike")
        #expect(Set(payloads.map { $0[0] >> 3 }).allSatisfy { $0 < 4 || (16..<20).contains($0) }, "narrow band (RFC 6716, table 2)")
    }

    @Test mutating func `silence is left out for a far end that wishes so`() throws {
        var opus = NegotiatedCodec.opus()
        opus.codec.fmtp = "usedtx=1"
        _ = try bridge([.pcmu()], [opus])
        try say([Int16](repeating: 0, count: 40_000), Self.sides[2])
        try say(speech(seconds: 1, sampleRate: 8_000), Self.sides[2])
        let headers = try bench.heard(by: bob.address).map(header)
        #expect(headers.count < 120, "5 s of silence are not 250 packets")
        #expect(headers.dropFirst().contains { $0.marker }, "speech begins with a marker")
        #expect(isWhole(headers))
        let span = Int(headers[headers.count - 1].timestamp &- headers[0].timestamp)
        #expect((278_000...288_000).contains(span), "its clock went on for 5.9 s")
    }

    /// Each follows the one before it.
    private func isWhole(_ headers: [RTPHeader]) -> Bool {
        zip(headers, headers.dropFirst()).allSatisfy { $0.sequence.distance(to: $1.sequence) == 1 }
    }

    /// Rises by 200 Hz a second; no two places of it are alike.
    private func chirp(seconds: Int, from start: Double) -> [Int16] {
        (0..<seconds * 8_000).map { index in
            let time = Double(index) / 8_000
            return Int16(9_000 * sin(2 * .pi * (start * time + 100 * time * time)))
        }
    }

    /// Syllables of changing pitch with pauses.
    private func speech(seconds: Int, sampleRate: Int) -> [Int16] {
        var random = SeededRandom(seed: 5), samples: [Int16] = []
        while samples.count < seconds * sampleRate {
            let tone = Tone(
                .random(in: 120...300, using: &random), .random(in: 500...2_200, using: &random),
                level: .random(in: -24 ... -12, using: &random))
            var generator = ToneGenerator(tone, sampleRate: sampleRate)
            var syllable = [Int16](repeating: 0, count: sampleRate * Int.random(in: 60...200, using: &random) / 1_000),
                room = syllable.mutableSpan
            generator.fill(&room)
            samples += syllable + [Int16](repeating: 0, count: sampleRate * Int.random(in: 0...60, using: &random) / 1_000)
        }
        return Array(samples.prefix(seconds * sampleRate))
    }
}
