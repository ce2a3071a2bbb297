import Audio
import RTP

/// Hears keys in the sound of a far end that has no telephone-event. Holds all its memory from `init` on.
final class InbandKeys {
    private let decoders: [FrameDecoder]
    private var detector = KeyDetector()
    private let samples: UnsafeMutableBufferPointer<Int16>

    init(_ codecs: [AudioCodec]) throws(CodecError) {
        var decoders: [FrameDecoder] = []
        for codec in codecs { decoders.append(try FrameDecoder(codec, sampleRate: KeyDetector.sampleRate)) }
        self.decoders = decoders
        samples = .allocate(capacity: decoders.first?.largestOutput ?? 0)
        samples.initialize(repeating: 0)
    }

    deinit { samples.deallocate() }

    /// The key that begins within this payload; nil for none.
    func receive(_ payload: UnsafeRawBufferPointer, codec: AudioCodec) -> DTMFDigit? {
        guard let decoder = decoders.first(where: { $0.codec == codec }) else { return nil }
        var room = samples.mutableSpan
        guard let count = try? decoder.decode(payload.bindMemory(to: UInt8.self).span, into: &room) else { return nil }
        var digit: DTMFDigit?
        detector.listen(to: room.span.extracting(0..<count)) { if case .began(let key) = $0 { digit = DTMFDigit(key) } }
        return digit
    }
}

extension Tone {
    static let samplesOfKey = 1_920

    /// Keys as sound at 8 kHz: 160 ms each, and 80 ms of silence behind it.
    static func samples(of digits: [DTMFDigit]) -> [Int16] {
        var samples: [Int16] = []
        samples.reserveCapacity(digits.count * samplesOfKey)
        for digit in digits {
            guard let tone = Tone.key(digit.character) else { continue }
            var generator = ToneGenerator(tone, sampleRate: KeyDetector.sampleRate)
            var press = [Int16](repeating: 0, count: 1_280), room = press.mutableSpan
            generator.fill(&room)
            samples += press + [Int16](repeating: 0, count: 640)
        }
        return samples
    }
}
