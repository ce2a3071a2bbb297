import Audio
import Primitives

/// Ten seconds of something like speech: PCM at 8 kHz, and the same as payloads of both codecs. Opus is what a client sends, of 16 kHz.
struct Speech {
    private(set) var samples: [[Int16]] = []
    private(set) var opus: [[UInt8]] = [], pcmu: [[UInt8]] = []

    init(frames: Int, settings: OpusSettings) {
        var random = SeededRandom(seed: 5)
        guard let encoder = try? FrameEncoder(.opus, sampleRate: 16_000, opus: settings) else { fatalError("no memory for an encoder") }
        while samples.count < frames {
            let tone = Tone(.random(in: 120...300, using: &random), .random(in: 500...2_200, using: &random), level: -18)
            var (narrow, wide) = (ToneGenerator(tone, sampleRate: 8_000), ToneGenerator(tone, sampleRate: 16_000))
            for _ in 0..<Int.random(in: 3...12, using: &random) { append(&narrow, &wide, encoder, &random) }
        }
    }

    private mutating func append(
        _ narrow: inout ToneGenerator, _ wide: inout ToneGenerator, _ encoder: FrameEncoder, _ random: inout SeededRandom
    ) {
        var (frame, other) = (Self.frame(&narrow, 160), Self.frame(&wide, 320))
        for index in frame.indices { frame[index] &+= .random(in: -200...200, using: &random) }
        for index in other.indices { other[index] &+= .random(in: -200...200, using: &random) }
        var payload = [UInt8](repeating: 0, count: encoder.largestPayload)
        var room = payload.mutableSpan
        let count = (try? encoder.encode(other.span, into: &room)) ?? 0
        samples.append(frame)
        opus.append(Array(payload[..<count]))
        pcmu.append(frame.map(G711.encodeMu))
    }

    private static func frame(_ generator: inout ToneGenerator, _ count: Int) -> [Int16] {
        var samples = [Int16](repeating: 0, count: count)
        var room = samples.mutableSpan
        generator.fill(&room)
        return samples
    }
}

/// The two states of libopus that one bridged call needs.
final class Codecs {
    private var encoder: OpusEncoder
    private var decoder: OpusDecoder
    private var payload = [UInt8](repeating: 0, count: OpusEncoder.largestPacket)
    private var samples = [Int16](repeating: 0, count: 960)

    init(_ settings: OpusSettings) throws {
        encoder = try OpusEncoder(sampleRate: 8_000, settings: settings)
        decoder = try OpusDecoder(sampleRate: 8_000)
    }

    func pass(_ speech: Speech, _ frame: Int) throws {
        let index = frame % speech.samples.count
        let (spoken, packet) = (speech.samples[index], speech.opus[index])
        try Self.encode(spoken, by: &encoder, into: &payload)
        try Self.decode(packet, by: &decoder, into: &samples)
    }

    private static func encode(_ samples: [Int16], by encoder: inout OpusEncoder, into packet: inout [UInt8]) throws {
        var room = packet.mutableSpan
        _ = try encoder.encode(samples.span, into: &room)
    }

    private static func decode(_ packet: [UInt8], by decoder: inout OpusDecoder, into samples: inout [Int16]) throws {
        var room = samples.mutableSpan
        _ = try decoder.decode(packet.span, into: &room)
    }
}
