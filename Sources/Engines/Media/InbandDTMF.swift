import Audio
import RTP

/// Hears keys in the sound of a far end that has no telephone-event. Holds all its memory from `init` on.
final class InbandDTMF {
    private let decoders: [FrameDecoder]
    private var detector: DTMFDetector
    private let samples: UnsafeMutableBufferPointer<Int16>

    /// - Parameter old: what heard the same far end until now, in other codecs: a key that is down stays so.
    init(_ codecs: [AudioCodec], after old: InbandDTMF? = nil) throws(CodecError) {
        var decoders: [FrameDecoder] = []
        for codec in codecs { decoders.append(try FrameDecoder(codec, sampleRate: DTMFDetector.sampleRate)) }
        self.decoders = decoders
        detector = old?.detector ?? DTMFDetector()
        samples = .allocate(capacity: decoders.map(\.largestOutput).max() ?? 0)
        samples.initialize(repeating: 0)
    }

    deinit { samples.deallocate() }

    /// A key is down, or what came last sounds like one.
    var isSuspected: Bool { detector.isSuspected }
    var isDown: Bool { detector.key != nil }

    func knows(_ codec: AudioCodec) -> Bool { decoders.contains { $0.codec == codec } }

    /// Hears one payload.
    func receive(_ payload: UnsafeRawBufferPointer, codec: AudioCodec, _ output: (DTMFDetector.Output) -> Void) {
        guard let decoder = decoders.first(where: { $0.codec == codec }) else { return }
        var room = samples.mutableSpan
        guard let count = try? decoder.decode(payload.bindMemory(to: UInt8.self).span, into: &room) else { return }
        detector.listen(to: room.span.extracting(0..<count), output)
    }

    /// Begins anew with the next sound.
    func reset() { detector = DTMFDetector() }
}
