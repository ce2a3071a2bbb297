import Primitives

/// Our end of an audio stream: what we can offer and where we listen.
public struct LocalMedia: Hashable, Sendable {
    /// The address that the peer is to send to; its family decides the `c=` line and which peers can be reached.
    public var address: IPAddress
    /// The port that the peer is to send RTP to.
    public var port: UInt16
    /// The port that the peer is to send RTCP to when the two are not multiplexed; nil when there is one socket alone, and then the RTP
    /// port is announced for both (`a=rtcp`, RFC 3605).
    public var rtcpPort: UInt16?
    /// In order of preference, without telephone-event and comfort noise. Format parameters here go into our offers and answers.
    public var codecs: [Codec]
    /// Digits as events (RFC 4733), at the clock of each codec.
    public var telephoneEvents: Bool
    /// Comfort noise (RFC 3389), at the clock of each codec but Opus: offered, and agreed to.
    public var comfortNoise = false
    /// Whether our offers ask for RTP and RTCP on one port (RFC 5761). Where the peer asks, the answer is always yes.
    public var offersMux: Bool
    /// Milliseconds of sound per packet that we like to receive.
    public var ptime: Int
    /// The most that a packet may hold, said in our offers (RFC 8866 §6.4); nil: as much as the peer likes.
    public var maxptime: Int?
    /// The protection of the stream, and whether there is to be one.
    public var security = LocalSecurity()
    /// Whether connectivity checks are answered, and with which credentials.
    public var ice = LocalICE()
    /// Addresses at which the same ports can be reached, too: candidates of checks, the best first.
    public var furtherCandidates: [IPAddress] = []
    /// The addresses that the peer may have us send to.
    public var targets = TargetPolicy()

    /// - Parameters:
    ///   - telephoneEvents: whether keys are offered and taken as events (RFC 4733).
    ///   - offersMux: whether our offers ask for RTCP on the port of RTP (RFC 5761).
    ///   - ptime: milliseconds of sound per packet that we like to receive.
    public init(
        address: IPAddress, port: UInt16, rtcpPort: UInt16? = nil, codecs: [Codec] = Codec.usual,
        telephoneEvents: Bool = true, offersMux: Bool = true, ptime: Int = 20
    ) {
        (self.address, self.port, self.rtcpPort) = (address, port, rtcpPort)
        self.codecs = codecs.allSatisfy(\.isSound) ? codecs : codecs.filter(\.isSound)
        (self.telephoneEvents, self.offersMux, self.ptime) = (telephoneEvents, offersMux, ptime)
    }

    /// Whether an offer of ours is written as browsers want it (RFC 8829 §5.2.1): one bundle, with feedback, keys by a handshake.
    var offersToBrowser: Bool { ice.policy == .lite && security.policy == .required && security.keying == .dtls && offersMux }
}
