import Audio
import Primitives
import RTP

/// The sound of one direction of a call for a program, as soon as it comes: packets decoded in the order of their arrival, silence for what
/// does not come.
///
/// There is no jitter buffer, whose delay would be the program's: late packets are left out, lost ones are concealed. Belongs to one lane.
public final class StreamEar {
    /// After so long without a packet silence is given out, in real time.
    private static let timeout = Duration.milliseconds(60)
    /// The longest gap that is filled at once, in milliseconds.
    private static let longestGap = 1_000

    private let tap: RecordingTap
    private let sampleRate: Int
    private var decoders: [FrameDecoder] = []
    private let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
    private var samples: UnsafeMutableBufferPointer<Int16>
    /// The timestamp that would follow without a gap; nil before the first packet.
    private var expected: UInt32?
    private var source: UInt32 = 0
    /// Silence that was given out since the last packet, in samples.
    private var filled = 0
    /// Until when sound was given out, in the time of arrivals.
    private var end: Instant

    /// - Parameters:
    ///   - sampleRate: 8,000, 16,000, 24,000 or 48,000 Hz.
    ///   - now: from when on the silence of a far end is given out.
    public init(_ tap: RecordingTap, sampleRate: Int, at now: Instant) {
        (self.tap, self.sampleRate, end) = (tap, sampleRate, now)
        samples = .allocate(capacity: sampleRate / 1_000 * 120 + 64)
        samples.initialize(repeating: 0)
    }

    deinit {
        packet.deallocate()
        samples.deallocate()
    }

    /// Nothing is heard until then, and that is no silence of the far end's: the call is held.
    public func rest(until now: Instant) {
        (end, expected, filled) = (now, nil, 0)
        while tap.take(into: packet) != nil {}
    }

    /// Gives out what has come until now.
    public func read(at now: Instant, _ output: (Span<Int16>) -> Void) {
        while let next = tap.take(into: packet) {
            guard let codec = next.codec, let decoder = decoder(for: codec) else { continue }
            take(next, UnsafeRawBufferPointer(rebasing: packet[..<Int(next.count)]), codec, decoder, output)
        }
        let frame = sampleRate / 1_000 * frameMilliseconds
        while now - end >= Self.timeout + .milliseconds(Int64(frameMilliseconds)) {
            silence(frame, output)
            filled += frame
            end = end + .milliseconds(Int64(frameMilliseconds))
        }
    }

    private func take(
        _ next: TappedPacket, _ payload: UnsafeRawBufferPointer, _ codec: AudioCodec, _ decoder: FrameDecoder,
        _ output: (Span<Int16>) -> Void
    ) {
        let header = next.header
        if header.ssrc != source { (source, expected) = (header.ssrc, nil) }
        let ahead = Int(Int32(bitPattern: header.timestamp &- (expected ?? header.timestamp)))
        if ahead < 0, ahead > -codec.clockRate { return }
        let missing = min(max(0, ahead) * sampleRate / codec.clockRate, Self.longestGap * sampleRate / 1_000) - filled
        if missing > 0 { conceal(missing, decoder, output) }
        filled = 0
        let bytes = payload.bindMemory(to: UInt8.self)
        let ticks = codec.duration(of: bytes.span) ?? 0
        var room = samples.mutableSpan
        guard let count = try? decoder.decode(bytes.span, into: &room), count > 0 else { return }
        output(UnsafeBufferPointer(rebasing: samples[..<count]).span)
        expected = header.timestamp &+ UInt32(truncatingIfNeeded: ticks)
        end = next.at
    }

    /// Up to 60 ms are made up, the rest is silent.
    private func conceal(_ missing: Int, _ decoder: FrameDecoder, _ output: (Span<Int16>) -> Void) {
        var left = missing
        if missing <= sampleRate / 1_000 * 60 {
            var room = samples.mutableSpan
            let count = (try? decoder.conceal(missing, into: &room)) ?? 0
            if count > 0 { output(UnsafeBufferPointer(rebasing: samples[..<min(count, missing)]).span) }
            left -= count
        }
        while left > 0 {
            silence(min(left, samples.count), output)
            left -= samples.count
        }
    }

    private func silence(_ count: Int, _ output: (Span<Int16>) -> Void) {
        for index in 0..<count { samples[index] = 0 }
        output(UnsafeBufferPointer(rebasing: samples[..<count]).span)
    }

    private func decoder(for codec: AudioCodec) -> FrameDecoder? {
        if let known = decoders.first(where: { $0.codec == codec }) { return known }
        guard let new = try? FrameDecoder(codec, sampleRate: sampleRate) else { return nil }
        decoders.append(new)
        if new.largestOutput > samples.count {
            samples.deallocate()
            samples = .allocate(capacity: new.largestOutput)
            samples.initialize(repeating: 0)
        }
        return new
    }
}
