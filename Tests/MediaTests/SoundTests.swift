import Audio
import Media
import Primitives
import RTP
import SDP
import Testing

@Suite struct SoundTests {
    private let bench = Bench()
    private var far = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xFA2)
    static let codecs: [(NegotiatedCodec, AudioCodec)] = [(.opus(), .opus), (.g722(), .g722), (.pcmu(), .pcmu), (.pcma(), .pcma)]

    @Test(arguments: codecs)
    func `a tone is heard in every codec, a packet every 20 ms`(codec: NegotiatedCodec, audio: AudioCodec) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, codecs: [codec], source: .tone(Tone(440)))
        bench.pass(.seconds(1))
        #expect(bench.heard(by: far.address).isEmpty)
        try bench.start(leg)
        bench.pass(.milliseconds(1_990))
        let packets = bench.heard(by: far.address)
        #expect(packets.count == 100)
        let headers = try packets.map(header)
        #expect(headers[0].marker && !headers.dropFirst().contains(where: \.marker))
        for (one, next) in zip(headers, headers.dropFirst()) {
            #expect(one.sequence.distance(to: next.sequence) == 1)
            #expect(next.timestamp &- one.timestamp == UInt32(audio.clockRate / 50))
        }
        let heard = detector(of: 440, in: try decode(packets, audio), audio)
        #expect(heard.presence > 0.95 && heard.level > -20)
        #expect(detector(of: 1_000, in: try decode(packets, audio), audio).presence < 0.05)
    }

    @Test func `no packet of a tone leaves after the stop, and it goes on after the next start`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(Tone(440)))
        try bench.start(leg)
        bench.pass(.milliseconds(95))
        let interval = try bench.engine.stop(leg, at: bench.now)
        #expect(interval.packetsSent == 5)
        #expect(bench.network.take(to: far.address).count == 5)
        bench.pass(.seconds(30))
        #expect(bench.network.take(to: far.address).isEmpty)
        #expect(bench.engine.deadline == nil)
        try bench.start(leg)
        bench.pass(.milliseconds(30))
        #expect(bench.heard(by: far.address).count == 2)
    }

    @Test func `a lane that was away does not send a burst`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(Tone(440)))
        try bench.start(leg)
        bench.now += .milliseconds(100)
        bench.engine.advance(to: bench.now)
        #expect(bench.heard(by: far.address).count == 6)
        bench.now += .seconds(5)
        bench.engine.advance(to: bench.now)
        #expect(bench.heard(by: far.address).count == 1)
    }

    @Test(arguments: [(true, 101), (false, 50)])
    func `samples are played once or again and again`(loops: Bool, packets: Int) throws {
        let second = sine(16_000, frequency: 600, seconds: 1)
        let leg = try bench.open(
            1, port: 20_000, far: far.address, codecs: [.g722()], source: .samples(second, sampleRate: 16_000, loops: loops))
        try bench.start(leg)
        bench.pass(.seconds(2))
        let sent = bench.heard(by: far.address)
        #expect(sent.count == packets)
        #expect(bench.events[leg]?.count { $0 == .sourceFinished } ?? 0 == (loops ? 0 : 1))
        #expect(detector(of: 600, in: try decode(sent, .g722), .g722).presence > 0.95)
    }

    @Test func `samples wait while a key is down`() throws {
        let second = sine(8_000, frequency: 600, seconds: 1)
        let leg = try bench.open(
            1, port: 20_000, far: far.address, keys: [.keys()], source: .samples(second, sampleRate: 8_000, loops: false))
        try bench.start(leg)
        try bench.engine.send([DTMFDigit("1")!], on: leg, at: bench.now)
        bench.pass(.seconds(2))
        let sent = bench.heard(by: far.address)
        #expect(try sent.count { try header($0).payloadType == 0 } == 50)
        #expect(try sent.count { try header($0).payloadType == 101 } == 10)
    }

    @Test(arguments: codecs)
    mutating func `echo sends the very payloads back under a source of its own`(codec: NegotiatedCodec, audio: AudioCodec) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, codecs: [codec], source: .echo)
        try bench.start(leg)
        var sent: [[UInt8]] = []
        for sound in try encoded(sine(audio.workingSampleRate, frequency: 500, seconds: 1), audio) {
            sent.append(sound)
            bench.arrive(far.packet(codec.receivePayloadType, sound, step: UInt32(audio.clockRate / 50)), from: far.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        let back = bench.heard(by: far.address)
        #expect(try back.map(payload) == sent)
        #expect(try Set(back.map { try header($0).ssrc }).isDisjoint(with: [far.ssrc]))
        #expect(detector(of: 500, in: try decode(back, audio), audio).presence > 0.95)
    }

    @Test(arguments: codecs)
    mutating func `a recording is what was said, with silence where packets were lost`(codec: NegotiatedCodec, audio: AudioCodec) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, codecs: [codec], source: .silence, sink: .record)
        try bench.start(leg)
        for (number, sound) in try encoded(sine(audio.workingSampleRate, frequency: 500, seconds: 3), audio).enumerated() {
            let packet = far.packet(codec.receivePayloadType, sound, step: UInt32(audio.clockRate / 50))
            if !(60..<75).contains(number) { bench.arrive(packet, from: far.address, at: 20_000) }
            bench.pass(.milliseconds(20))
        }
        try bench.engine.stop(leg, at: bench.now)
        for (leg, event) in bench.engine.takeEvents() { bench.events[leg, default: []].append(event) }
        let recorded = recording(of: leg)
        #expect(recorded.count == 3 * audio.workingSampleRate)
        let heard = detector(of: 500, in: recorded, audio)
        #expect(heard.gaps == 1 && (280...320).contains(heard.longestGapMilliseconds))
        let gap = recorded[(61 * recorded.count / 150)..<(75 * recorded.count / 150)]
        #expect(gap.allSatisfy { $0 == 0 })
        #expect(bench.network.take(to: far.address).filter(isRTP).isEmpty)
    }

    @Test mutating func `a recording never grows faster than time`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, sink: .record)
        try bench.start(leg)
        var chance = SeededRandom(seed: 3)
        for _ in 0..<2_000 {
            far.timestamp = .random(in: 0 ... .max, using: &chance)
            if Bool.random(using: &chance) { far.ssrc &+= 1 }
            bench.arrive(far.packet(0), from: far.address, at: 20_000)
            bench.pass(.milliseconds(1))
        }
        try bench.engine.stop(leg, at: bench.now)
        for (leg, event) in bench.engine.takeEvents() { bench.events[leg, default: []].append(event) }
        #expect((8_000...24_000).contains(recording(of: leg).count))
    }

    @Test mutating func `late packets and copies are not recorded twice`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, sink: .record)
        try bench.start(leg)
        let packets = (0..<10).map { _ in far.packet(0) }
        for index in [0, 1, 1, 2, 4, 3, 5, 5, 6, 7, 8, 9] { bench.arrive(packets[index], from: far.address, at: 20_000) }
        bench.pass(.milliseconds(200))
        try bench.engine.stop(leg, at: bench.now)
        for (leg, event) in bench.engine.takeEvents() { bench.events[leg, default: []].append(event) }
        #expect(recording(of: leg).count == 1_600)
    }

    @Test func `a source that needs a codec we do not have is refused, and nothing stays bound`() throws {
        let unknown = NegotiatedCodec(codec: Codec(name: "iLBC", clockRate: 8_000), receivePayloadType: 97, sendPayloadType: 97)
        #expect(throws: MediaError.unsupportedPlan) {
            try bench.open(1, port: 20_000, far: far.address, codecs: [unknown], source: .tone(.dial))
        }
        #expect(throws: MediaError.unsupportedPlan) { try bench.open(1, port: 20_000, far: far.address, codecs: [unknown], sink: .record) }
        #expect(bench.network.bound.isEmpty)
        try bench.open(1, port: 20_000, far: far.address, codecs: [unknown], source: .relay)
        #expect(bench.network.bound == ["192.0.2.1:20000"])
    }

    private func recording(of leg: MediaLegID) -> [Int16] {
        (bench.events[leg] ?? []).flatMap { event -> [Int16] in if case .recorded(let samples, _) = event { samples } else { [] } }
    }
}

func sine(_ sampleRate: Int, frequency: Double, seconds: Int) -> [Int16] {
    var generator = ToneGenerator(Tone(frequency, level: -10), sampleRate: sampleRate)
    var samples = [Int16](repeating: 0, count: sampleRate * seconds)
    var room = samples.mutableSpan
    generator.fill(&room)
    return samples
}

/// PCM at the codec's own rate as payloads of 20 ms; Opus as an encoder makes it that was told of so many losses.
func encoded(_ samples: [Int16], _ codec: AudioCodec, expectedLossPercent: Int32 = 0) throws -> [[UInt8]] {
    let encoder = try FrameEncoder(codec, sampleRate: codec.workingSampleRate, opus: OpusSettings(expectedLossPercent: expectedLossPercent))
    return try stride(from: 0, to: samples.count, by: encoder.samplesPerFrame).map { start in
        let frame = Array(samples[start..<start + encoder.samplesPerFrame])
        var bytes = [UInt8](repeating: 0, count: encoder.largestPayload)
        var room = bytes.mutableSpan
        let count = try encoder.encode(frame.span, into: &room)
        return Array(bytes[..<count])
    }
}

/// RTP packets as PCM at the codec's own rate.
func decode(_ packets: [[UInt8]], _ codec: AudioCodec) throws -> [Int16] {
    let decoder = try FrameDecoder(codec, sampleRate: codec.workingSampleRate)
    var frame = [Int16](repeating: 0, count: decoder.largestOutput)
    return try packets.flatMap { packet -> [Int16] in
        let sound = try payload(packet)
        var room = frame.mutableSpan
        let count = try decoder.decode(sound.span, into: &room)
        return Array(frame[..<count])
    }
}

func detector(of frequency: Double, in samples: [Int16], _ codec: AudioCodec) -> ToneDetector {
    var detector = ToneDetector(frequency: frequency, sampleRate: codec.workingSampleRate)
    detector.listen(to: samples.span)
    return detector
}
