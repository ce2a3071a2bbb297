import Audio
import Media
import Primitives
import RTP
import SDP
import Testing

@Suite struct InbandKeyTests {
    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private let bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    private func bridge(_ first: NegotiatedCodec, _ second: NegotiatedCodec, keys: ([NegotiatedCodec], [NegotiatedCodec])) throws -> (
        MediaLegID, MediaLegID
    ) {
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: [first], keys: keys.0)
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: [second], keys: keys.1)
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        return (a, b)
    }

    /// The keys in sound.
    private func keys(in packets: [[UInt8]], _ codec: AudioCodec) throws -> String {
        let samples = try WAV(sampleRate: codec.nativeSampleRate, samples: decode(packets, codec)).resampled(to: 8_000).samples
        var detector = DTMFDetector(), keys = ""
        detector.listen(to: samples.span) { if case .began(let key) = $0 { keys.append(key) } }
        return keys
    }

    private mutating func press(_ key: Character, type: UInt8) {
        let start = alice.timestamp
        for packet in 1...10 {
            var bytes = [UInt8](repeating: 0, count: 4)
            let event = TelephoneEvent(event: DTMFDigit(key)!.event, isEnd: packet >= 8, duration: UInt16(160 * min(packet, 8)))
            bytes.withUnsafeMutableBytes { event.write(to: $0) }
            alice.timestamp = start
            bench.arrive(alice.packet(type, bytes, step: 0, marker: packet == 1), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        alice.timestamp = start &+ 1_600
    }

    @Test(arguments: [(NegotiatedCodec.pcmu(), AudioCodec.pcmu), (.g722(), .g722), (.opus(), .opus)])
    mutating func `keys become sound for a far end without telephone-event`(codec: NegotiatedCodec, audio: AudioCodec) throws {
        _ = try bridge(.pcmu(), codec, keys: ([.keys()], []))
        for key in "159#" { press(key, type: 101) }
        bench.pass(.seconds(1))
        #expect(try keys(in: bench.heard(by: bob.address), audio) == "159#")
        #expect(bench.digits[MediaLegID(1)] == "159#", "and are told once")
    }

    @Test(arguments: [(NegotiatedCodec.pcmu(), AudioCodec.pcmu), (.opus(), .opus)])
    mutating func `keys in the sound of such a far end are told, and become events for one that has them`(
        codec: NegotiatedCodec, audio: AudioCodec
    ) throws {
        let (a, _) = try bridge(codec, .pcma(), keys: ([], [.keys()]))
        try bench.update(a) { $0.detectsDTMF = true }
        var samples: [Int16] = []
        for key in "73*" {
            var generator = ToneGenerator(Tone.key(key)!, sampleRate: audio.nativeSampleRate)
            var press = [Int16](repeating: 0, count: audio.nativeSampleRate / 10), room = press.mutableSpan
            generator.fill(&room)
            samples += press + [Int16](repeating: 0, count: audio.nativeSampleRate / 5)
        }
        for sound in try encoded(samples, audio) {
            bench.arrive(
                alice.packet(codec.receivePayloadType, sound, step: audio.timestampStep(milliseconds: 20)), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        bench.pass(.seconds(1))
        #expect(bench.digits[a] == "73*")
        let events = try bench.heard(by: bob.address).filter { try header($0).payloadType == 101 }
        let timestamps = try events.map { try header($0).timestamp }
        #expect(Set(timestamps).count == 3, "three presses")
        #expect(Set(try events.map { try payload($0)[0] }) == [7, 3, 10])
    }

    @Test mutating func `keys are heard in a codec that was agreed on later, and one that is down stays so`() throws {
        let (a, _) = try bridge(.pcmu(), .pcma(), keys: ([], [.keys()]))
        try bench.update(a) { $0.detectsDTMF = true }
        var sound: [Int16] = []
        for key in "73" {
            var generator = ToneGenerator(Tone.key(key)!, sampleRate: 8_000), press = [Int16](repeating: 0, count: 3_200),
                room = press.mutableSpan
            generator.fill(&room)
            sound += press + [Int16](repeating: 0, count: 1_600)
        }
        for (number, (early, late)) in zip(try encoded(sound, .pcmu), try encoded(sound, .pcma)).enumerated() {
            if number == 10 { try bench.update(a) { $0.audio.codecs = [.pcmu(), .pcma()] } }
            bench.arrive(number < 10 ? alice.packet(0, early) : alice.packet(8, late), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        #expect(bench.digits[a] == "73")
    }

    @Test(arguments: [60, 100, 400, 1_500])
    mutating func `a key is heard for as long as it was held`(milliseconds: Int) throws {
        _ = try bridge(.pcmu(), .pcma(), keys: ([.keys()], []))
        let start = alice.timestamp
        for packet in 1...(milliseconds / 20 + 2) {
            let ends = packet >= milliseconds / 20
            var bytes = [UInt8](repeating: 0, count: 4)
            let event = TelephoneEvent(event: 5, isEnd: ends, duration: UInt16(160 * min(packet, milliseconds / 20)))
            bytes.withUnsafeMutableBytes { event.write(to: $0) }
            alice.timestamp = start
            bench.arrive(alice.packet(101, bytes, step: 0, marker: packet == 1), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        bench.pass(.seconds(1))
        let samples = try decode(bench.heard(by: bob.address), .pcma)
        let loud = samples.count { abs(Int($0)) > 1_000 } * 1_000 / 8_000
        #expect(abs(loud - max(milliseconds, 80)) <= max(20, milliseconds / 4), "\(loud) ms")
    }

    @Test mutating func `a key whose end is lost is over half a second after its last packet`() throws {
        _ = try bridge(.pcmu(), .pcma(), keys: ([.keys()], []))
        var bytes = [UInt8](repeating: 0, count: 4)
        bytes.withUnsafeMutableBytes { TelephoneEvent(event: 5, isEnd: false, duration: 160).write(to: $0) }
        bench.arrive(alice.packet(101, bytes, step: 0, marker: true), from: alice.address, at: 20_000)
        bench.pass(.seconds(3))
        #expect(bench.heard(by: bob.address).count < 40)
    }

    @Test(arguments: [NegotiatedCodec.pcmu(), .pcma()])
    mutating func `a key whose ends were all lost is over when sound comes from behind it`(codec: NegotiatedCodec) throws {
        _ = try bridge(.pcmu(), codec, keys: ([.keys()], []))
        let start = alice.timestamp
        for packet in 1...50 {
            var bytes = [UInt8](repeating: 0, count: 4)
            bytes.withUnsafeMutableBytes {
                TelephoneEvent(event: 5, isEnd: false, duration: UInt16(truncatingIfNeeded: 160 * packet)).write(to: $0)
            }
            let sent =
                packet <= 5 ? alice.packet(101, bytes, step: 0, marker: packet == 1) : alice.packet(0, Array(repeating: 0xFF, count: 160))
            if packet == 5 { alice.timestamp = start &+ 800 }
            if !(6...8).contains(packet) { bench.arrive(sent, from: alice.address, at: 20_000) }
            bench.pass(.milliseconds(20))
        }
        let samples = try decode(bench.heard(by: bob.address), codec.codec.matches(.pcma) ? .pcma : .pcmu)
        let loud = samples.count { abs(Int($0)) > 1_000 } * 1_000 / 8_000
        #expect((60...200).contains(loud), "\(loud) ms")
    }

    @Test(arguments: [
        (NegotiatedCodec.pcmu(), AudioCodec.pcmu, NegotiatedCodec.pcmu()), (.pcmu(), .pcmu, .pcma()), (.opus(), .opus, .pcma()),
        (.g722(), .g722, .g722()),
    ])
    mutating func `of a key in sound nothing passes on as sound, and its event is as long as it was`(
        codec: NegotiatedCodec, audio: AudioCodec, other: NegotiatedCodec
    ) throws {
        let (a, _) = try bridge(codec, other, keys: ([], [.keys()]))
        try bench.update(a) { $0.detectsDTMF = true }
        let rate = audio.nativeSampleRate
        func tone(_ tone: Tone, _ milliseconds: Int) -> [Int16] {
            var generator = ToneGenerator(tone, sampleRate: rate), samples = [Int16](repeating: 0, count: rate * milliseconds / 1_000),
                room = samples.mutableSpan
            generator.fill(&room)
            return samples
        }
        let speech = tone(Tone(300, level: -20), 400)
        for sound in try encoded(speech + tone(Tone.key("8")!, 600) + speech, audio) {
            bench.arrive(
                alice.packet(codec.receivePayloadType, sound, step: audio.timestampStep(milliseconds: 20)), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        bench.pass(.milliseconds(300))
        let packets = bench.heard(by: bob.address)
        let events = try packets.filter { try header($0).payloadType == 101 }.map { packet in
            try payload(packet).withUnsafeBytes { TelephoneEvent(parsing: $0)! }
        }
        let length = events.map(\.duration).max() ?? 0
        #expect(events.count(where: \.isEnd) == 3 && abs(Int(length) / 8 - 600) <= 60, "\(length / 8) ms")
        let outgoing = other.codec.matches(.pcma) ? AudioCodec.pcma : other.codec.matches(.g722) ? .g722 : .pcmu
        let sound = try decode(packets.filter { try header($0).payloadType != 101 }, outgoing)
        for frequency in [852.0, 1_336] {
            var detector = ToneDetector(frequency: frequency, sampleRate: outgoing.nativeSampleRate)
            detector.listen(to: sound.span)
            #expect(detector.toneBlocks <= 1, "\(frequency): \(detector.toneBlocks) of \(detector.blocks)")
        }
        var speechHeard = ToneDetector(frequency: 300, sampleRate: outgoing.nativeSampleRate)
        speechHeard.listen(to: sound.span)
        #expect(speechHeard.toneBlocks > 30, "speech passes before and after: \(speechHeard.toneBlocks)")
    }

    @Test mutating func `sound is not searched for keys unless that was asked for`() throws {
        let (a, _) = try bridge(.pcmu(), .pcmu(), keys: ([], [.keys()]))
        var generator = ToneGenerator(Tone.key("7")!, sampleRate: 8_000)
        var press = [Int16](repeating: 0, count: 8_000), room = press.mutableSpan
        generator.fill(&room)
        for sound in try encoded(press, .pcmu) { bench.arrive(alice.packet(0, sound), from: alice.address, at: 20_000) }
        #expect(bench.digits[a] == nil)
    }

    @Test func `keys that are asked for are played where the far end has no events`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, codecs: [.pcma()], source: .silence)
        try bench.start(leg)
        try bench.engine.send([DTMFDigit("1")!, DTMFDigit("2")!], on: leg, at: bench.now)
        try bench.engine.send([DTMFDigit("3")!], on: leg, at: bench.now)
        bench.pass(.seconds(2))
        #expect(try keys(in: bench.heard(by: alice.address), .pcma) == "123")
        #expect(bench.events[leg]?.contains(.digitsSent) == true)
        #expect(throws: MediaError.tooManyDigits) {
            try bench.engine.send(Array(repeating: DTMFDigit("1")!, count: 65), on: leg, at: bench.now)
        }
    }
}
