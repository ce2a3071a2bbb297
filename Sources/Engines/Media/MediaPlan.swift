import Audio
import Primitives
import SDP

/// The source of the audio that a leg sends.
public enum MediaSource: Hashable, Sendable {
    /// The leg that this one is linked to. Packets pass without being decoded.
    case relay
    /// The far end gets its own packets back, without being decoded.
    case echo
    /// A tone made here, encoded with the first agreed codec.
    case tone(Tone)
    /// PCM of one channel, played once or in a loop. `.sourceFinished` comes when its last packet has left.
    case samples([Int16], sampleRate: Int, loops: Bool)
    /// The sound of the other legs that name the same conference, mixed; that of this one goes to them. Legs of one conference come to one
    /// lane.
    case conference(UInt64)
    /// The sound of a program, with silence where it says nothing.
    case stream(StreamPort)
    /// Nothing is sent but RTCP and digits.
    case silence

    /// Silence that is sent: a far end that hears nothing at all may take its call for lost.
    public static let quiet = MediaSource.samples([Int16](repeating: 0, count: 8_000), sampleRate: 8_000, loops: true)
}

/// The use of the audio that a leg receives, besides that of its source.
public enum MediaSink: Hashable, Sendable {
    /// It is only counted.
    case none
    /// Decoded and posted as `.recorded`, one second at a time, with silence where packets are missing.
    case record
}

/// All that media must know of a leg: made from offer and answer by signalling, replaced as a whole by `update`.
public struct MediaPlan: Hashable, Sendable {
    /// The address that the sockets are bound to.
    public var localAddress: IPAddress
    /// The agreement with the far end.
    public var audio: NegotiatedAudio
    /// The source of the sound that is sent.
    public var source: MediaSource
    /// The use of the sound that is received.
    public var sink: MediaSink
    /// After so long without a packet, of RTP or RTCP, where sound is due, `.silent` is posted once; nil for never.
    public var silenceLimit: Duration?
    /// In a conference: the far end listens, and is not heard.
    public var isMuted = false
    /// A tone, samples or a conference go on unheard: silence is sent in their place.
    public var sendsSilence = false
    /// Takes the packets of both directions to be recorded; from `RecordingWriter.begin`.
    public var recording: RecordingTap?
    /// Takes the packets from the far end for a program; nil: none listens.
    public var listener: RecordingTap?
    /// Takes the packets to the far end for a program; nil: none listens.
    public var sentListener: RecordingTap?
    /// Keys of a far end without telephone-event are sought in its sound, which then is decoded.
    public var detectsDTMF = false
    /// Keys of the partner's are told to the far end by signalling (INFO), and not by events or as sound.
    public var keysBySignalling = false

    /// - Parameter silenceLimit: nil for never.
    public init(
        localAddress: IPAddress, audio: NegotiatedAudio, source: MediaSource, sink: MediaSink = .none, silenceLimit: Duration? = nil
    ) {
        self.localAddress = localAddress
        self.audio = audio
        self.source = source
        self.sink = sink
        self.silenceLimit = silenceLimit
    }
}
