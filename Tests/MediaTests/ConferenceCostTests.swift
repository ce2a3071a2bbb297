import Audio
import Primitives
import RTP
import SDP
import Testing

@testable import Media

/// What a conference costs, counted and not timed: decodes and encodes for each frame.
@Suite struct ConferenceCostTests {
    private let bench = Bench()

    @Test func `fifty members cost a decode each, and an encode for each who speaks and for each format of the listeners`() throws {
        let codecs: [(NegotiatedCodec, AudioCodec)] = [(.pcmu(), .pcmu), (.pcma(), .pcma), (.opus(), .opus)]
        var fars = (0..<50).map { FarEnd("198.51.100.\($0 + 1)", port: 4_000, ssrc: UInt32($0 + 100)) }
        let silence = try codecs.map { try encoded([Int16](repeating: 0, count: $0.1.nativeSampleRate / 50), $0.1)[0] }
        let voice = try codecs.map { try encoded(sine($0.1.nativeSampleRate, frequency: 440, seconds: 1), $0.1) }
        for member in 0..<50 {
            try bench.start(
                bench.open(
                    UInt64(member + 1), port: UInt16(20_000 + 2 * member), far: fars[member].address, codecs: [codecs[member % 3].0],
                    source: .conference(1)))
        }
        func talk(frames: Int, speakers: Set<Int>) {
            for frame in 0..<frames {
                for member in 0..<50 {
                    let kind = member % 3, sound = speakers.contains(member) ? voice[kind][frame % voice[kind].count] : silence[kind]
                    let packet = fars[member].packet(
                        codecs[kind].0.receivePayloadType, sound, step: codecs[kind].1.timestampStep(milliseconds: 20))
                    bench.arrive(packet, from: fars[member].address, at: UInt16(20_000 + 2 * member))
                }
                bench.pass(.milliseconds(20))
            }
        }
        let mixer = try #require(bench.engine.mixers[1])
        func played() throws -> UInt64 {
            try (1...50).reduce(0) { try $0 + (bench.statistics(MediaLegID(UInt64($1))).playout?.packets.played ?? 0) }
        }
        // Two speakers of two formats; every format has listeners.
        talk(frames: 50, speakers: [0, 1])
        let (encodes, decodes) = (mixer.encodes, try played())
        talk(frames: 100, speakers: [0, 1])
        #expect(mixer.encodes - encodes == 100 * (2 + 3), "two who speak, three formats of listeners")
        #expect(try (4_900...5_100).contains(played() - decodes), "one decode for each member")
        // All speak: each hears something else, and none costs more than one encode.
        talk(frames: 50, speakers: Set(0..<50))
        let loud = mixer.encodes
        talk(frames: 20, speakers: Set(0..<50))
        #expect(mixer.encodes - loud == 20 * 50)
    }
}
