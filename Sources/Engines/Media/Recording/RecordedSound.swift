import Audio
import Primitives
import RTP

/// The recorded sound of a leg, on one line of time. Silence where nothing came, and in a hold.
///
/// Sans-I/O: packets in the order in which they passed, samples out. Each side goes through a jitter buffer of its own, so that order,
/// losses and pauses come out as they would be heard. All memory is taken at `init`, but for a codec that comes later.
final class RecordedSound {
    let sampleRate: Int
    private let sides: RecordedSides
    private let began: Instant
    /// Whole frames that were given out.
    private var frames: Int64 = 0
    private var receivers: (farEnd: AudioReceiver?, sent: AudioReceiver?)
    private let heard: UnsafeMutableBufferPointer<Int16>
    private let interleaved: UnsafeMutableBufferPointer<Int16>

    /// - Parameter sampleRate: 8,000, 16,000, 24,000 or 48,000 Hz.
    init(_ sides: RecordedSides, sampleRate: Int, began: Instant) {
        (self.sides, self.sampleRate, self.began) = (sides, sampleRate, began)
        let count = sampleRate / 1_000 * frameMilliseconds
        heard = .allocate(capacity: count)
        heard.initialize(repeating: 0)
        interleaved = .allocate(capacity: sides.channels * count)
        interleaved.initialize(repeating: 0)
    }

    deinit {
        heard.deallocate()
        interleaved.deallocate()
    }

    /// Takes a packet; `advance` to its time comes first.
    func take(_ packet: TappedPacket, _ payload: UnsafeRawBufferPointer) {
        if packet.isSent, sides == .farEnd { return }
        let receiver = receiver(of: packet)
        if let codec = packet.codec {
            receiver?.receive(payload, codec: codec, header: packet.header, at: packet.at)
        } else if packet.isNoise {
            receiver?.receiveNoise(payload, header: packet.header, at: packet.at)
        } else {
            receiver?.pass(packet.header, at: packet.at)
        }
    }

    /// Gives out what is over by then: interleaved samples, a frame at a time.
    func advance(to now: Instant, _ output: (Span<Int16>) -> Void) {
        while endOfFrame <= now {
            let end = endOfFrame
            frames += 1
            read(receivers.farEnd, to: 0, at: end)
            if sides == .both { read(receivers.sent, to: 1, at: end) }
            output(interleaved.span)
        }
    }

    private func read(_ receiver: AudioReceiver?, to channel: Int, at end: Instant) {
        let isHeard = receiver?.read(heard, at: end) ?? false
        for index in heard.indices { interleaved[sides.channels * index + channel] = isHeard ? heard[index] : 0 }
    }

    /// The sound that was given out.
    var length: Duration { .milliseconds(frames * Int64(frameMilliseconds)) }

    /// When the next frame is over.
    private var endOfFrame: Instant { began + .milliseconds((frames + 1) * Int64(frameMilliseconds)) }

    /// With the codec of the packet: a far end may change it with every packet.
    private func receiver(of packet: TappedPacket) -> AudioReceiver? {
        let present = packet.isSent ? receivers.sent : receivers.farEnd
        guard let codec = packet.codec, present?.knows(codec) != true else { return present }
        guard let new = try? AudioReceiver(codecs: (present?.codecs ?? []) + [codec], sampleRate: sampleRate) else { return present }
        if packet.isSent { receivers.sent = new } else { receivers.farEnd = new }
        return new
    }
}
