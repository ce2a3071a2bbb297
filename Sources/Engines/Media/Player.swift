import Audio
import RTP

/// The sound that a leg makes itself, as payloads of one frame. Holds all its memory from `init` on.
final class Player {
    let codec: AudioCodec
    /// The sound goes on, and silence is sent in its place.
    var isSilenced = false
    private let encoder: FrameEncoder
    private var sound: Sound
    private let frame: UnsafeMutableBufferPointer<Int16>

    private enum Sound {
        case tone(ToneGenerator)
        case samples([Int16], next: Int, loops: Bool)
        case keys(DTMFTones)
        case stream(StreamPort)
    }

    /// Nil when this source makes no sound of its own.
    init?(
        _ source: MediaSource, codec: AudioCodec, milliseconds: Int = frameMilliseconds, opus: OpusSettings = OpusSettings()
    ) throws(CodecError) {
        switch source {
        case .relay, .echo, .silence, .conference: return nil
        case .tone(let tone):
            encoder = try FrameEncoder(codec, sampleRate: codec.workingSampleRate, milliseconds: milliseconds, opus: opus)
            sound = .tone(ToneGenerator(tone, sampleRate: codec.workingSampleRate))
        case .samples(let samples, let sampleRate, let loops):
            encoder = try FrameEncoder(codec, sampleRate: sampleRate, milliseconds: milliseconds, opus: opus)
            sound = .samples(samples, next: 0, loops: loops && !samples.isEmpty)
        case .stream(let port):
            encoder = try FrameEncoder(codec, sampleRate: port.sampleRate, milliseconds: milliseconds, opus: opus)
            sound = .stream(port)
        }
        self.codec = codec
        frame = .allocate(capacity: encoder.samplesPerFrame)
        frame.initialize(repeating: 0)
    }

    /// Keys as sound, none yet.
    init(keysIn codec: AudioCodec, milliseconds: Int = frameMilliseconds, opus: OpusSettings = OpusSettings()) throws(CodecError) {
        encoder = try FrameEncoder(codec, sampleRate: DTMFDetector.sampleRate, milliseconds: milliseconds, opus: opus)
        (sound, self.codec) = (.keys(DTMFTones()), codec)
        frame = .allocate(capacity: encoder.samplesPerFrame)
        frame.initialize(repeating: 0)
    }

    deinit { frame.deallocate() }

    var milliseconds: Int { encoder.milliseconds }
    /// RTP timestamp units in one frame.
    var timestampStep: UInt32 { encoder.timestampStep }

    func expect(lossPercent: Int) { encoder.expect(lossPercent: lossPercent) }

    /// Writes the next frame. Nil when the samples have been played to their end; the last frame is filled up with silence.
    func next(into payload: UnsafeMutableRawBufferPointer) -> Int? {
        guard fillFrame() else { return nil }
        if isSilenced { frame.update(repeating: 0) }
        let bytes = payload.bindMemory(to: UInt8.self)
        var room = bytes.mutableSpan
        return try? encoder.encode(frame.span, into: &room)
    }

    /// Plays all of these keys behind those that wait; false, and then none, when there is no room. Without a length the last is held until
    /// `release`.
    func press(_ digits: [DTMFDigit], lasting length: Duration?) -> Bool {
        guard case .keys(var tones) = sound else { return false }
        for digit in digits where !tones.press(digit, lasting: length) { return false }
        sound = .keys(tones)
        return true
    }

    func release(lasting length: Duration) {
        guard case .keys(var tones) = sound else { return }
        tones.release(lasting: length)
        sound = .keys(tones)
    }

    private func fillFrame() -> Bool {
        switch sound {
        case .tone(var generator):
            var room = frame.mutableSpan
            generator.fill(&room)
            sound = .tone(generator)
            return true
        case .keys(var tones):
            defer { sound = .keys(tones) }
            return tones.fill(frame)
        case .stream(let port):
            port.read(into: frame)
            return true
        case .samples(let samples, var next, let loops):
            guard loops || next < samples.count else { return false }
            for index in frame.indices {
                if loops, next == samples.count { next = 0 }
                frame[index] = next < samples.count ? samples[next] : 0
                next = min(next + 1, samples.count)
            }
            sound = .samples(samples, next: next, loops: loops)
            return true
        }
    }
}
