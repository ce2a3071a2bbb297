import Media
import Primitives
import SDP
import UserAgent

/// The settings of an app's line, and of its way to the server.
public struct AppLineSettings: Sendable {
    /// The user part of its address of record.
    public var number: Text
    /// The domain of the address of record.
    public var domain: Text
    /// The name that the called are shown.
    public var displayName: Text?
    /// For challenges; nil gives up at the first one.
    public var credentials: Credentials?
    /// The way to the server: every request outside of a dialog goes there.
    public var flow: Flow
    /// The address at which media sockets are bound, and which the other side is told.
    public var mediaAddress: IPAddress
    /// In order of preference.
    public var codecs = Codec.usual
    /// Whether sound is encrypted, and how our offers agree on keys.
    public var srtp = SRTPPolicy.off, keying = SRTPKeying.sdes
    /// The sound of the app's user.
    public var microphone = MediaSource.silence
    /// Whether sound begins by itself when the audio session is activated, as for an app that has no media library to start. An app that
    /// has one calls `startAudio`.
    public var startsAudio = false
    /// Whether the line registers with its server.
    public var registers = true
    /// The status that answers a declined call: 486 where the server has other devices to try, 603 where it has not (mapping I17).
    public var declineStatus = 486
    /// Whether the far end of a call may hand it on to somebody else (REFER). False: 603.
    public var acceptsTransfers = true
    /// Which INVITE a report means that comes under a UUID of the app's own.
    public var adoption = Adoption.oldest
    /// A call that the app has not reported by then is answered 480 (mapping §10).
    public var reportLimit = Duration.seconds(7)
    /// The time that an end may be on its way through the app before the line takes the call down by itself.
    public var endLimit = Duration.seconds(5)
    /// The time that the app has to report an end of the network's by itself; zero: until its event returns. One whose server tells the end
    /// by a push, or whose code hops to another queue first, needs more.
    public var endReportLimit = Duration.zero
    /// Whether the line makes the steps that the app leaves out: it sends what a fulfilled action stands for, and reports a call connected.
    /// False for an app whose SDK does all that: then nothing is sent that the app did not ask for, and the audit says what is missing.
    public var fillsGaps = true
    /// `User-Agent` of what it sends.
    public var product: Text = "Hookswitch"

    /// How sure a report under a UUID of the app's own must be of its INVITE.
    public enum Adoption: Hashable, Sendable {
        /// One of the waiting INVITEs whose caller the report's handle names; of several, or where it names none, the oldest that is not
        /// over yet. `report.ambiguous` in the journal where several were left.
        case oldest
        /// The same, but only where one is left: the only one that waits, or the only one whose caller the handle names.
        case certain
        /// None: only the UUID of its `.incoming` names a call.
        case never
    }

    /// - Parameters:
    ///   - number: of the line, as the server knows it.
    ///   - domain: of the server.
    ///   - flow: the way to the server.
    ///   - mediaAddress: where media sockets are bound.
    public init(number: Text, domain: Text, flow: Flow, mediaAddress: IPAddress) {
        (self.number, self.domain, self.flow, self.mediaAddress) = (number, domain, flow, mediaAddress)
    }
}
