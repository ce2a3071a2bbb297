import Primitives
import RTP
import Runtime
import SDP

/// The connectivity checks of one leg, one responder for each of its sockets.
final class LegConnectivity {
    private var media: ICELiteResponder
    private var control: ICELiteResponder
    /// Refusals of responders that a restart has replaced.
    private let earlierRefusals: UInt64

    init(_ agreed: NegotiatedICE, after old: LegConnectivity? = nil) {
        media = ICELiteResponder(local: agreed.local, remoteUser: agreed.remoteUser)
        control = media
        earlierRefusals = old?.refused ?? 0
    }

    /// Checks that were refused, and noise that looked like one.
    var refused: UInt64 { earlierRefusals + media.counts.refused + control.counts.refused }

    /// Whether the far end has proved itself there, and has nominated no address for that channel yet.
    func isProvisional(_ remote: SocketAddress, on channel: MediaSlot.Channel) -> Bool {
        (channel == .rtp ? media : control).isProvisional(remote)
    }

    func receive(_ datagram: [UInt8], on channel: MediaSlot.Channel, from remote: SocketAddress, at now: Instant) -> [ICELiteResponder
        .Output]
    {
        func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] { OpenSSLDigest.hmac(.sha1, key: key, message) }
        return channel == .rtp
            ? media.receive(datagram, from: remote, at: now, hmac: hmac) : control.receive(datagram, from: remote, at: now, hmac: hmac)
    }
}
