import Primitives
import SDP
import SIP
import UserAgent

/// Who a telephone of ours is, and by what way it reaches the world.
public struct PhoneIdentity: Sendable {
    /// The user part of its address of record.
    public var user: Text
    /// Of its address of record, `user@domain`; also what it registers with.
    public var domain: Text
    /// The name that the called are shown.
    public var displayName: Text?
    /// For challenges; nil gives up at the first one.
    public var credentials: Credentials?
    /// To the server or the peer: every request outside of a dialog goes this way.
    public var flow: Flow
    /// Where its media sockets are bound, and what it tells the other side.
    public var mediaAddress: IPAddress
    /// In order of preference.
    public var codecs: [Codec]
    /// Whether its media is encrypted.
    public var srtp = SRTPPolicy.off
    /// How its own offers agree on keys; those of others are answered either way.
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
