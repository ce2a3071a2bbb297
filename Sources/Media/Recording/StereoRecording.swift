import Audio
import Primitives
import RTP

/// Both directions of a leg on one line of time: what its far end says is left, what that hears is right. Silence where nothing came, and in a hold.
///
/// Sans-I/O: packets in the order in which they passed, samples out. Each side goes through a jitter buffer of its own, so that order, losses and
/// pauses come out as they would be heard. All memory is taken at `init`, but for a codec that comes later.
final class StereoRecording {
    let sampleRate: Int
    private let began: Instant
    /// Whole frames that were given out.
    private var frames: Int64 = 0
    private var sides: (left: AudioReceiver?, right: AudioReceiver?)
    private let heard: UnsafeMutableBufferPointer<Int16>
    private let stereo: UnsafeMutableBufferPointer<Int16>

    /// - Parameter sampleRate: 8,000, 16,000, 24,000 or 48,000 Hz.
    init(sampleRate: Int, began: Instant) {
        (self.sampleRate, self.began) = (sampleRate, began)
        let count = sampleRate / 1_000 * frameMilliseconds
        heard = .allocate(capacity: count)
        heard.initialize(repeating: 0)
        stereo = .allocate(capacity: 2 * count)
        stereo.initialize(repeating: 0)
    }

    deinit {
        heard.deallocate()
        stereo.deallocate()
    }

    /// Takes a packet; `advance` to its time comes first.
    func take(_ packet: TappedPacket, _ payload: UnsafeRawBufferPointer) {
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
            for (side, receiver) in [sides.left, sides.right].enumerated() {
                let isHeard = receiver?.read(heard, at: end) ?? false
                for index in heard.indices { stereo[2 * index + side] = isHeard ? heard[index] : 0 }
            }
            output(stereo.span)
        }
    }

    /// When the next frame is over.
    private var endOfFrame: Instant { began + .milliseconds((frames + 1) * Int64(frameMilliseconds)) }

    /// With the codec of the packet: a far end may change it with every packet.
    private func receiver(of packet: TappedPacket) -> AudioReceiver? {
        let present = packet.isSent ? sides.right : sides.left
        guard let codec = packet.codec, present?.knows(codec) != true else { return present }
        guard let new = try? AudioReceiver(codecs: (present?.codecs ?? []) + [codec], sampleRate: sampleRate) else { return present }
        if packet.isSent { sides.right = new } else { sides.left = new }
        return new
    }
}
