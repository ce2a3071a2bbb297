import Audio
import Primitives
import RTP

/// The received sound of a leg as an even stream of PCM: packets in order through a jitter buffer, losses concealed, silences filled.
///
/// Whoever plays it asks every so often for the next samples. Holds all its memory from `init` on. Belongs to one lane.
final class AudioReceiver {
    let sampleRate: Int
    private var jitter: JitterBuffer
    private let decoders: [FrameDecoder]
    /// The decoder that was used last.
    private var present = 0
    private let samples: UnsafeMutableBufferPointer<Int16>
    private var count = 0
    /// Times in a row that nothing was there to play.
    private var emptyReads = 0
    private var hasBegun = false
    /// Milliseconds that were made up.
    private(set) var concealed: UInt64 = 0
    /// Packets that were decoded since the last pause, and whether one of them was louder than about -50 dB.
    private(set) var decodedPackets = 0
    private(set) var hasSound = false
    /// Mean square of the loudest packet lately; it fades to half in less than a second.
    private var loudest: Int64 = 0
    /// Samples since the last loud packet.
    private var quiet = 0
    /// Comfort noise while the sender is silent, where it says so; nil while it speaks.
    private var noise: ComfortNoise?
    private var noises = NoiseGenerator()

    /// After so long without a packet the sender is silent, or gone; in milliseconds.
    private var timeout: Int { noise == nil ? 2_000 : 30_000 }
    /// Stands for comfort noise in the place of a decoder's number.
    private static let noiseType: UInt8 = 127

    /// - Parameters:
    ///   - codecs: those that may come, at least one.
    ///   - longest: of the pieces that are read, in milliseconds.
    init(codecs: [AudioCodec], sampleRate: Int, longest: Int = frameMilliseconds) throws(CodecError) {
        var decoders: [FrameDecoder] = []
        for codec in codecs { decoders.append(try FrameDecoder(codec, sampleRate: sampleRate)) }
        guard let first = decoders.first else { throw .unsupported }
        self.decoders = decoders
        self.sampleRate = sampleRate
        jitter = JitterBuffer(clockRate: UInt32(first.codec.clockRate))
        samples = .allocate(capacity: first.largestOutput + sampleRate / 1_000 * (longest + TimeStretch.greatestMilliseconds))
        samples.initialize(repeating: 0)
    }

    deinit { samples.deallocate() }

    /// Nobody speaks: nothing came yet, or not for two seconds.
    var isIdle: Bool { jitter.isIdle }
    var counters: JitterBuffer.Counters { jitter.counters }
    /// Milliseconds that sound waits at present.
    var wait: Int { jitter.wait * 1_000 / Int(jitter.clockRate) }

    /// Takes the payload of one packet; one that is none of the codecs', or none at all, is left out and becomes a loss.
    func receive(_ payload: UnsafeRawBufferPointer, codec: AudioCodec, header: RTPHeader, at now: Instant) {
        guard let index = decoders.firstIndex(where: { $0.codec == codec }),
            let ticks = codec.duration(of: payload.bindMemory(to: UInt8.self).span)
        else { return }
        if UInt32(codec.clockRate) != jitter.clockRate { jitter.change(clockRate: UInt32(codec.clockRate)) }
        var tagged = header
        tagged.payloadType = UInt8(index)
        _ = jitter.insert(tagged, payload, ticks: ticks, at: now)
    }

    /// The codecs that can be decoded.
    var codecs: [AudioCodec] { decoders.map(\.codec) }

    func knows(_ codec: AudioCodec) -> Bool { decoders.contains { $0.codec == codec } }

    /// Takes the payload of a packet of comfort noise (RFC 3389): the sender is silent until sound follows.
    func receiveNoise(_ payload: UnsafeRawBufferPointer, header: RTPHeader, at now: Instant) {
        var tagged = header
        tagged.payloadType = Self.noiseType
        _ = jitter.insert(tagged, payload, ticks: Int(jitter.clockRate) * frameMilliseconds / 1_000, at: now)
    }

    /// Notes a packet of the same stream that is no sound, so that it is not missed.
    func pass(_ header: RTPHeader, at now: Instant) {
        _ = jitter.insert(header, UnsafeRawBufferPointer(start: nil, count: 0), ticks: 0, at: now)
    }

    /// Begins anew with the next packet.
    func pause() {
        jitter.pause()
        (count, emptyReads, hasBegun, noise) = (0, 0, false, nil)
        (decodedPackets, hasSound) = (0, false)
    }

    /// Fills all of `frame`. False when nobody speaks: nothing came yet, or not for two seconds; `frame` then is as it was.
    func read(_ frame: UnsafeMutableBufferPointer<Int16>, at now: Instant) -> Bool {
        while count < frame.count {
            guard produce(frame.count - count, at: now) else { return false }
        }
        frame.baseAddress?.update(from: samples.baseAddress!, count: frame.count)
        count -= frame.count
        if count > 0 { samples.baseAddress?.update(from: samples.baseAddress! + frame.count, count: count) }
        return true
    }

    /// Adds samples to those that wait, at least one; false when there is nothing to add.
    private func produce(_ wanted: Int, at now: Instant) -> Bool {
        let before = count
        switch jitter.next(buffered: count * Int(jitter.clockRate) / sampleRate, at: now) {
        case .audio(let payload, let stretch):
            (hasBegun, emptyReads) = (true, 0)
            if payload.payloadType == Self.noiseType { return takeNoise(payload) }
            noise = nil
            present = Int(payload.payloadType)
            if !decode(payload, stretch) { conceal(payload.ticks * sampleRate / Int(jitter.clockRate)) }
        case .lost(let ticks, _) where noise != nil: fillNoise(ticks * sampleRate / Int(jitter.clockRate))
        case .lost(let ticks, let following): recover(ticks * sampleRate / Int(jitter.clockRate), from: following)
        case .gap: conceal(wanted, counts: false)
        case .nothing:
            guard hasBegun, emptyReads * wanted * 1_000 < timeout * sampleRate else {
                if hasBegun { pause() }
                return false
            }
            emptyReads += 1
            conceal(wanted)
        }
        if count == before { silence(wanted) }
        return true
    }

    private func takeNoise(_ payload: JitterBuffer.Payload) -> Bool {
        noise = jitter.read(payload) { ComfortNoise(parsing: $0.bindMemory(to: UInt8.self).span) } ?? noise ?? ComfortNoise(level: 127)
        fillNoise(payload.ticks * sampleRate / Int(jitter.clockRate))
        return true
    }

    private func fillNoise(_ length: Int) {
        guard let noise else { return }
        let length = min(length, free.count)
        var room = UnsafeMutableBufferPointer(rebasing: free[..<length]).mutableSpan
        noises.fill(&room, noise)
        count += length
    }

    private func decode(_ payload: JitterBuffer.Payload, _ stretch: JitterBuffer.Stretch) -> Bool {
        var room = free.mutableSpan
        let decoder = decoders[present]
        guard let decoded = jitter.read(payload, { try? decoder.decode($0.bindMemory(to: UInt8.self).span, into: &room) }) else {
            return false
        }
        decodedPackets += 1
        let isPause = isPause(free[..<decoded])
        switch stretch {
        case .shorter(let atOnce) where atOnce || isPause: count += TimeStretch.shorten(&room, count: decoded, sampleRate: sampleRate)
        case .longer(let atOnce) where atOnce || isPause: count += TimeStretch.lengthen(&room, count: decoded, sampleRate: sampleRate)
        case .none, .shorter, .longer: count += decoded
        }
        return true
    }

    /// Whether what was decoded lies between phrases: for a fifth of a second all was below -50 dB, or 18 dB below the loudest of the last
    /// second. A gap within a word is shorter, and a change of its length is heard.
    private func isPause(_ samples: Slice<UnsafeMutableBufferPointer<Int16>>) -> Bool {
        var energy: Int64 = 0
        for sample in samples { energy &+= Int64(Int32(sample) &* Int32(sample)) }
        let level = energy / Int64(max(1, samples.count))
        loudest = max(level, loudest - loudest / 64)
        if level > 100 * 100 { hasSound = true }
        quiet = level <= max(100 * 100, loudest / 64) ? quiet + samples.count : 0
        return quiet > sampleRate / 5
    }

    /// A lost packet, out of the one after it where that can be.
    private func recover(_ length: Int, from following: JitterBuffer.Payload?) {
        guard let following, Int(following.payloadType) == present else { return conceal(length) }
        var room = free.mutableSpan
        let decoder = decoders[present]
        guard let made = jitter.read(following, { try? decoder.recover(length, from: $0.bindMemory(to: UInt8.self).span, into: &room) })
        else {
            return conceal(length)
        }
        note(made)
    }

    private func conceal(_ length: Int, counts: Bool = true) {
        if noise != nil { return fillNoise(length) }
        var room = free.mutableSpan
        guard let made = try? decoders[present].conceal(length, into: &room) else { return }
        if counts { note(made) } else { count += made }
    }

    private func note(_ made: Int) {
        count += made
        concealed += UInt64(made * 1_000 / sampleRate)
    }

    private func silence(_ length: Int) {
        for index in count..<min(count + length, samples.count) { samples[index] = 0 }
        count = min(count + length, samples.count)
    }

    private var free: UnsafeMutableBufferPointer<Int16> { UnsafeMutableBufferPointer(rebasing: samples[count...]) }
}
