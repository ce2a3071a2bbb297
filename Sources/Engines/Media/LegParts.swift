import Primitives
import RTP

/// Answers to questions that each packet asks; set when the state, the plan or the codecs change.
struct MediaGates {
    /// RTP may leave.
    var canSend = false
    /// RTP is expected and used.
    var canReceive = false
    /// The packets that leave are the partner's.
    var isRelaying = false
    /// Some of the partner's packets cannot be passed on as they are.
    var isTranscoding = false
    /// Keys of ours wait or are on their way.
    var hasKeys = false
}

/// Signs of the far end other than its agreed RTP.
struct LegLiveness {
    /// `.silent` was posted since the last packet.
    var isSilent = false
    /// When RTCP came last, or a packet of a payload type that was not agreed on.
    var lastSign: Instant?
    /// Packets that only keep a binding of a NAT open.
    var keepAlives: UInt64 = 0
}

/// Sound that is made or taken in here.
struct LocalSound {
    /// Detects keys in the sound of a far end that cannot send them as events.
    var inbandKeys: InbandDTMF?
    var recorder: Recorder?
    var player: Player?
}

/// The port of RTCP.
struct ControlPort {
    /// Nil when RTCP comes on the RTP port.
    let socket: (any MediaSocket)?
    /// The source of RTCP on its own port.
    var source: SocketAddress?
}

/// Keys that this side sends.
struct OutgoingKeys {
    /// As events (RFC 4733).
    var digits: DigitSender?
    /// As sound, for a far end without telephone-event.
    var player: Player?
}

/// A key of the partner's that leaves on this leg.
struct PassingKey {
    /// Turns the partner's keys from its clock into ours.
    var converter: TelephoneEventConverter?
    /// The timestamp that its packets carry.
    var timestamp: UInt32 = 0
    /// When its last packet came.
    var heardAt = Instant.zero
}

/// Decodes the partner's packets that cannot be passed on, and encodes them for this leg.
struct LegTranscoding {
    var transcoder: Transcoder?
    /// The format of `transcoder`, which is made as soon as it is certain to be needed, else with the first packet that needs it.
    var format: Boxed<Transcoder.Format>?
}

/// The clock of frames that the player or the transcoder makes.
struct FrameClock {
    /// When the next frame is due.
    var next = Instant.zero
    /// Frames that left a frame too late.
    var late: UInt64 = 0
    /// The leg's place in the 20 ms, where its lane spreads them.
    var phase: Int?
}

/// When media was last started, and since when the far end is listened to.
struct MediaRun {
    var began = Instant.zero
    var hearingBegan = Instant.zero
    /// Packets of this run that had come before `hearingBegan`.
    var packetsBefore: UInt64 = 0
}
