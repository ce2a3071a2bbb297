import Primitives
import SDP
import SIP
import UserAgent

/// The identity of a telephone of ours, and the way by which it reaches the world.
public struct PhoneIdentity: Sendable {
    /// The user part of its address of record.
    public var user: Text
    /// The domain of its address of record, `user@domain`; also of its registration.
    public var domain: Text
    /// The name that the called are shown.
    public var displayName: Text?
    /// For challenges; nil gives up at the first one.
    public var credentials: Credentials?
    /// To the server or the peer: every request outside of a dialog goes this way.
    public var flow: Flow
    /// The address at which its media sockets are bound, and which it tells the other side.
    public var mediaAddress: IPAddress
    /// In order of preference.
    public var codecs: [Codec]
    /// Whether its media is encrypted.
    public var srtp = SRTPPolicy.off
    /// The way in which its own offers agree on keys; offers of others are answered either way.
    public var keying = SRTPKeying.sdes

    /// - Parameters:
    ///   - flow: to the server or the peer.
    ///   - mediaAddress: where media sockets are bound, and what the other side is told.
    ///   - codecs: in order of preference.
    public init(
        user: Text, domain: Text, displayName: Text? = nil, credentials: Credentials? = nil, flow: Flow, mediaAddress: IPAddress,
        codecs: [Codec] = Codec.usual
    ) {
        (self.user, self.domain, self.displayName, self.credentials) = (user, domain, displayName, credentials)
        (self.flow, self.mediaAddress, self.codecs) = (flow, mediaAddress, codecs)
    }

    /// For From, To and registrations; without a tag.
    var address: NameAddress { NameAddress(displayName: displayName, uri: URI(user: user, host: domain)) }
}
