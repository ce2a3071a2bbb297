import Audio
import Primitives
import RTP
import Synchronization

/// The place where a media lane lays the packets of a leg that is recorded, for `RecordingWriter` to fetch.
///
/// The lane only copies the packet; decoding, mixing and files are the writer's, or those of a stream. When that is behind, packets are
/// dropped here and counted, and the lane goes on. Two are equal when they are the same.
public final class RecordingTap: Hashable, Sendable {
    /// Seconds of anything but L16 at 48 kHz, and one of that.
    private static let usualCapacity = 262_144

    private let ring: ByteRing
    private let dropped = Atomic<Int>(0)
    private let file = Mutex<String?>(nil)

    init(capacity: Int = RecordingTap.usualCapacity) { ring = ByteRing(capacity: capacity) }

    /// The path of the recording: not always as it was ordered, for no file is overwritten. Nil before there is one.
    public internal(set) var path: String? {
        get { file.withLock { $0 } }
        set { file.withLock { $0 = newValue } }
    }

    /// Packets that there was no room for.
    public var lost: Int { dropped.load(ordering: .relaxed) }

    /// Called on the media lane.
    func note(_ packet: TappedPacket, _ payload: UnsafeRawBufferPointer) {
        var packet = packet
        packet.count = UInt16(clamping: payload.count)
        let payload = UnsafeRawBufferPointer(rebasing: payload.prefix(Int(packet.count)))
        if !withUnsafeBytes(of: packet, { ring.put($0, payload) }) { dropped.add(1, ordering: .relaxed) }
    }

    /// Takes the next packet for the writer, its payload at the beginning of `room`, which holds 64 kB; nil when there is none.
    func take(into room: UnsafeMutableRawBufferPointer) -> TappedPacket? {
        var packet = TappedPacket()
        guard withUnsafeMutableBytes(of: &packet, { ring.take(into: $0) }) else { return nil }
        _ = ring.take(into: UnsafeMutableRawBufferPointer(rebasing: room[..<Int(packet.count)]))
        return packet
    }

    public static func == (left: RecordingTap, right: RecordingTap) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The fields of a packet that are kept beside its payload. Trivial: it crosses the ring as bytes.
struct TappedPacket {
    /// To the leg's far end, instead of from it.
    var isSent = false
    private var content = Content.other
    private var sequence: UInt16 = 0
    fileprivate(set) var count: UInt16 = 0
    private var timestamp: UInt32 = 0, ssrc: UInt32 = 0
    private var time: UInt64 = 0

    private enum Content {
        case sound(AudioCodec), noise
        /// Only holds its place in the sequence.
        case other
    }

    init() {}

    init(isSent: Bool, _ role: PayloadRole, _ header: RTPHeader, at now: Instant) {
        self.isSent = isSent
        (sequence, timestamp, ssrc, time) = (header.sequence.rawValue, header.timestamp, header.ssrc, now.nanoseconds)
        switch role {
        case .audio(let codec): content = .sound(codec)
        case .noise: content = .noise
        case .keys, .otherAudio, .unknown: content = .other
        }
    }

    var codec: AudioCodec? { if case .sound(let codec) = content { codec } else { nil } }
    var isNoise: Bool { if case .noise = content { true } else { false } }
    var at: Instant { Instant(nanoseconds: time) }
    var header: RTPHeader {
        RTPHeader(payloadType: 0, sequence: SequenceNumber(sequence), timestamp: timestamp, ssrc: ssrc, payloadCount: Int(count))
    }
}
