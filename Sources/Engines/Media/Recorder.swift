import Audio
import Primitives

/// The received sound of a leg, decoded and put on one line of time: silence where packets are missing, late ones and duplicates left out.
///
/// Never holds or makes more than real time and a second, whatever timestamps a peer sends.
final class Recorder {
    let sampleRate: Int
    /// Samples that were not taken yet.
    private(set) var samples: [Int16] = []
    /// One for each codec that came, the first from the beginning: a peer may change between agreed ones with every packet.
    private var decoders: [FrameDecoder]
    private let decoded: UnsafeMutableBufferPointer<Int16>
    /// The timestamp that would follow without a gap; nil before the first packet and after a pause.
    private var expected: UInt32?
    private var source: UInt32 = 0
    /// When the first packet since a pause came, and what was written since.
    private var began: Instant?
    private var written = 0

    init(codec: AudioCodec) throws(CodecError) {
        sampleRate = codec.workingSampleRate
        let decoder = try FrameDecoder(codec, sampleRate: sampleRate)
        decoders = [decoder]
        decoded = .allocate(capacity: decoder.largestOutput)
        decoded.initialize(repeating: 0)
        samples.reserveCapacity(2 * sampleRate)
    }

    deinit { decoded.deallocate() }

    /// Adds one payload. What cannot be decoded is left out, and so becomes a gap.
    func receive(_ payload: UnsafeRawBufferPointer, codec: AudioCodec, source: UInt32, timestamp: UInt32, at now: Instant) {
        guard let decoder = decoder(for: codec) else { return }
        if began == nil { (began, written) = (now, 0) }
        if source != self.source { (self.source, expected) = (source, nil) }
        let ahead = Int(Int32(bitPattern: timestamp &- (expected ?? timestamp)))
        if ahead < 0, ahead > -codec.clockRate { return }
        let room = sampleRate + Int((now - (began ?? now)).wholeMilliseconds) * sampleRate / 1_000 - written
        let gap = min(max(0, ahead) * sampleRate / codec.clockRate, max(0, room - decoded.count))
        guard room >= decoded.count, let count = decode(payload, by: decoder) else { return }
        samples.append(contentsOf: repeatElement(0, count: gap))
        samples.append(contentsOf: decoded[..<count])
        written += gap + count
        expected = timestamp &+ UInt32(truncatingIfNeeded: count * codec.clockRate / sampleRate)
    }

    /// Begins anew with the next packet: no silence for the time between.
    func pause() { (expected, began) = (nil, nil) }

    /// The samples so far, which then are forgotten; nil when there are none.
    func take() -> [Int16]? {
        guard !samples.isEmpty else { return nil }
        defer { samples.removeAll(keepingCapacity: true) }
        return samples
    }

    private func decoder(for codec: AudioCodec) -> FrameDecoder? {
        if let known = decoders.first(where: { $0.codec == codec }) { return known }
        guard let new = try? FrameDecoder(codec, sampleRate: sampleRate) else { return nil }
        decoders.append(new)
        return new
    }

    private func decode(_ payload: UnsafeRawBufferPointer, by decoder: FrameDecoder) -> Int? {
        let bytes = payload.bindMemory(to: UInt8.self)
        var room = decoded.mutableSpan
        return try? decoder.decode(bytes.span, into: &room)
    }
}
