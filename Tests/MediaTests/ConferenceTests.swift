import Audio
import Media
import Primitives
import RTP
import SDP
import Testing

@Suite struct ConferenceTests {
    /// A caller of the conference: its address and codec, and the payloads of what it says.
    private final class Caller {
        let leg: MediaLegID
        let port: UInt16
        let audio: AudioCodec
        private let codec: NegotiatedCodec
        var far: FarEnd
        private var voice: [[UInt8]] = []
        private var spoken = 0

        init(_ number: Int, _ audio: AudioCodec, on bench: Bench, conference: UInt64 = 1) throws {
            (self.audio, port, codec) = (audio, UInt16(20_000 + 2 * number), Self.codec(of: audio))
            far = FarEnd("198.51.100.\(number + 1)", port: 4_000, ssrc: UInt32(number + 100))
            leg = try bench.open(
                UInt64(number + 1), port: port, far: far.address, codecs: [codec], keys: [.keys()], source: .conference(conference))
        }

        private static func codec(of audio: AudioCodec) -> NegotiatedCodec {
            switch audio {
            case .opus: .opus()
            case .g722: .g722()
            case .pcmu: .pcmu()
            case .pcma: .pcma()
            case .linear8, .linear16, .linear44, .linear48: .l16(UInt32(audio.clockRate), 96)
            }
        }

        /// From now on a tone; nil for silence.
        func says(_ frequency: Double?, level: Double = -12) throws {
            let rate = audio.workingSampleRate
            var samples = [Int16](repeating: 0, count: 4 * rate), room = samples.mutableSpan
            if let frequency {
                var generator = ToneGenerator(Tone(frequency, level: level), sampleRate: rate)
                generator.fill(&room)
            }
            (voice, spoken) = (try encoded(samples, audio), 0)
        }

        func packet() -> [UInt8] {
            defer { spoken += 1 }
            return far.packet(codec.receivePayloadType, voice[spoken % voice.count], step: audio.timestampStep(milliseconds: 20))
        }
    }

    private let bench = Bench()

    private func callers(_ codecs: [AudioCodec]) throws -> [Caller] {
        let callers = try codecs.enumerated().map { try Caller($0.offset, $0.element, on: bench) }
        for caller in callers {
            try caller.says(nil)
            try bench.start(caller.leg)
        }
        return callers
    }

    /// Lets all talk for that long; what each was sent is forgotten before.
    private func talk(_ callers: [Caller], milliseconds: Int) {
        bench.network.sent = []
        for _ in 0..<milliseconds / 20 {
            for caller in callers { bench.arrive(caller.packet(), from: caller.far.address, at: caller.port) }
            bench.pass(.milliseconds(20))
        }
    }

    /// The part of what a caller was sent that holds a tone.
    private func hears(_ caller: Caller, _ frequency: Double) throws -> Double {
        let packets = bench.network.sent.filter { $0.to == caller.far.address && isRTP($0.bytes) }.map(\.bytes)
        return detector(of: frequency, in: try decode(packets, caller.audio), caller.audio).presence
    }

    @Test func `each hears all others and not itself, whatever codecs they have`() throws {
        let callers = try callers([.opus, .pcmu, .g722])
        try callers[0].says(440, level: -10)
        try callers[1].says(1_000, level: -18)
        talk(callers, milliseconds: 3_000)
        #expect(try hears(callers[0], 1_000) > 0.9 && hears(callers[0], 440) < 0.05)
        #expect(try hears(callers[1], 440) > 0.9 && hears(callers[1], 1_000) < 0.05)
        #expect(try hears(callers[2], 440) > 0.9, "the louder one stands out")
        try callers[0].says(nil)
        talk(callers, milliseconds: 1_000)
        talk(callers, milliseconds: 1_000)
        #expect(try hears(callers[2], 1_000) > 0.95)
        let headers = try bench.heard(by: callers[2].far.address).map(header)
        #expect(headers.count == 50 && zip(headers, headers.dropFirst()).allSatisfy { $1.timestamp &- $0.timestamp == 160 })
    }

    @Test func `who may send in another codec from now on is heard in that, too`() throws {
        let callers = try callers([.pcmu, .pcmu])
        try bench.update(callers[0].leg) { $0.audio.codecs = [.pcmu(), .pcma()] }
        let sound = try encoded(sine(8_000, frequency: 440, seconds: 2), .pcma)
        bench.network.sent = []
        for payload in sound {
            bench.arrive(callers[0].far.packet(8, payload), from: callers[0].far.address, at: callers[0].port)
            bench.pass(.milliseconds(20))
        }
        #expect(try hears(callers[1], 440) > 0.8)
    }

    @Test func `who joins is heard, who leaves, holds or is muted is not, and the others go on`() throws {
        var callers = try callers([.pcmu, .pcmu])
        try callers[0].says(440)
        let late = try Caller(2, .opus, on: bench)
        try late.says(1_000)
        try bench.start(late.leg)
        callers.append(late)
        try callers[0].says(nil)
        talk(callers, milliseconds: 1_000)
        talk(callers, milliseconds: 1_000)
        #expect(try hears(callers[1], 1_000) > 0.95)
        try bench.update(late.leg) { $0.isMuted = true }
        talk(callers, milliseconds: 200)
        talk(callers, milliseconds: 1_000)
        #expect(try hears(callers[1], 1_000) == 0)
        try bench.update(late.leg) { $0.isMuted = false }
        talk(callers, milliseconds: 200)
        talk(callers, milliseconds: 1_000)
        #expect(try hears(callers[1], 1_000) > 0.95)
        try bench.engine.stop(late.leg, at: bench.now)
        talk(callers, milliseconds: 1_000)
        #expect(try hears(callers[1], 1_000) == 0)
        #expect(bench.network.sent.allSatisfy { $0.to != late.far.address })
        try bench.start(late.leg)
        try late.says(1_000)
        talk(callers, milliseconds: 400)
        talk(callers, milliseconds: 1_000)
        #expect(try hears(callers[1], 1_000) > 0.95)
        try bench.engine.stop(late.leg, at: bench.now)
        try bench.engine.close(late.leg)
        callers.removeLast()
        try callers[0].says(600)
        talk(callers, milliseconds: 400)
        talk(callers, milliseconds: 1_000)
        #expect(try hears(callers[1], 600) > 0.95 && hears(callers[1], 1_000) == 0)
        for caller in callers {
            try bench.engine.stop(caller.leg, at: bench.now)
            try bench.engine.close(caller.leg)
        }
        #expect(bench.engine.deadline == nil, "nothing is left to mix")
    }

    @Test func `listeners of one format get the very same payloads, encoded once`() throws {
        let callers = try callers([.opus, .g722, .g722, .g722])
        try callers[0].says(440)
        talk(callers, milliseconds: 1_000)
        let heard = try callers.dropFirst().map { try bench.heard(by: $0.far.address).map(payload) }
        #expect(heard[0] == heard[1] && heard[1] == heard[2] && (50...51).contains(heard[0].count))
    }

    @Test func `many loud voices are cut off and do not turn over`() throws {
        let callers = try callers([.pcmu, .pcmu, .pcmu, .pcmu])
        for caller in callers.dropLast() { try caller.says(440, level: 0) }
        talk(callers, milliseconds: 1_000)
        let samples = try decode(bench.heard(by: callers[3].far.address), .pcmu)
        let loud = samples.dropFirst(4_000)
        #expect(loud.max()! > 31_000 && loud.min()! < -31_000)
        let steps = zip(loud, loud.dropFirst()).map { abs(Int($0) - Int($1)) }
        #expect(steps.max()! < 60_000, "a turn-over would jump by 65,000")
        #expect(try hears(callers[3], 440) >= 0)
    }

    @Test func `two conferences do not hear each other`() throws {
        let callers = try callers([.pcmu, .pcmu])
        let other = try Caller(5, .pcmu, on: bench, conference: 2)
        try other.says(1_000)
        try bench.start(other.leg)
        talk(callers + [other], milliseconds: 1_000)
        #expect(try hears(callers[0], 1_000) == 0)
    }
}
