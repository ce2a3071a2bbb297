import Primitives

/// A codec that both sides know, with the number each wants to see it under.
public struct NegotiatedCodec: Hashable, Sendable {
    /// Its format parameters are the peer's: what the peer wishes to receive.
    public var codec: Codec
    /// The payload type in packets that come to us.
    public var receivePayloadType: UInt8
    /// The payload type to send it with (RFC 3264 §5.1: the two may differ).
    public var sendPayloadType: UInt8

    /// A codec with the numbers of both directions.
    public init(codec: Codec, receivePayloadType: UInt8, sendPayloadType: UInt8) {
        (self.codec, self.receivePayloadType, self.sendPayloadType) = (codec, receivePayloadType, sendPayloadType)
    }
}

/// The way in which the peer says that it does not listen (mapping.md §6). A peer that only listens (`recvonly`) is not holding.
public enum RemoteHold: Hashable, Sendable {
    /// It listens, or only listens.
    case none
    /// The holder may send (music), and we go on playing that.
    case sendonly
    /// Nothing flows, either way.
    case inactive
    /// `c=0.0.0.0` or `c=::`: neither RTP nor RTCP may be sent (RFC 3264 §8.4).
    case zeroAddress

    /// Whether the holder neither hears nor sends.
    public var isSilent: Bool { self == .inactive || self == .zeroAddress }
}

/// The agreement of an offer and its answer for the one audio stream of a session.
///
/// Two that are equal ask nothing new of the media plane.
public struct NegotiatedAudio: Hashable, Sendable {
    /// Codecs for sound in the answer's order, never empty. Send with the first; be ready to receive any (RFC 3264 §7).
    public var codecs: [NegotiatedCodec]
    /// telephone-event, at most one for each clock rate; empty when the peer has none.
    public var telephoneEvents: [NegotiatedCodec]
    /// Comfort noise, at most one for each clock rate; empty unless both sides want it.
    public var comfortNoise: [NegotiatedCodec] = []
    /// The address to send to; the unspecified address while `remoteHold` is `.zeroAddress`.
    public var remoteRTP: SocketAddress
    /// The address to send RTCP to, equal to `remoteRTP` when multiplexed; nil when the peer has no port for it.
    public var remoteRTCP: SocketAddress?
    /// RTP and RTCP share one port, here and there (RFC 5761).
    public var rtcpMux: Bool
    /// RTCP may be sent that is no compound (RFC 5506): agreed where the peer offers it.
    public var reducedSizeRTCP = false
    /// Whether we may send, and whether we are to expect and use what comes.
    public var sends: Bool
    /// Whether what comes is to be used.
    public var receives: Bool
    /// Whether the peer holds us, and how.
    public var remoteHold: RemoteHold
    /// Milliseconds of sound per packet that we are to send: 10 to 120.
    public var ptime: Int
    /// The most that a packet to the peer may hold, 10 or more; nil where it does not say.
    public var maxptime: Int?
    /// The protection of packets both ways.
    public var security = NegotiatedSecurity.none
    /// Connectivity checks say where the peer is, and `remoteRTP` and `remoteRTCP` do not; nil: there are none.
    public var ice: NegotiatedICE?

    /// - Precondition: there is a codec.
    public init(
        codecs: [NegotiatedCodec], telephoneEvents: [NegotiatedCodec] = [], remoteRTP: SocketAddress, remoteRTCP: SocketAddress? = nil,
        rtcpMux: Bool = false, sends: Bool = true, receives: Bool = true, remoteHold: RemoteHold = .none, ptime: Int = 20
    ) {
        precondition(!codecs.isEmpty, "an agreement without a codec")
        (self.codecs, self.telephoneEvents) = (codecs, telephoneEvents)
        (self.remoteRTP, self.remoteRTCP, self.rtcpMux) = (remoteRTP, remoteRTCP, rtcpMux)
        (self.sends, self.receives, self.remoteHold, self.ptime) = (sends, receives, remoteHold, ptime)
    }

    /// The codec to send with.
    public var primary: NegotiatedCodec { codecs[0] }

    /// RTCP flows also while held, except to a peer without an address.
    public var sendsRTCP: Bool { remoteRTCP != nil && remoteHold != .zeroAddress }

    /// The comfort noise that goes with a codec: at its own clock alone (RFC 3389 §4). Opus has its own.
    public func comfortNoise(for codec: Codec) -> NegotiatedCodec? {
        codec.isOpus ? nil : comfortNoise.first { $0.codec.clockRate == codec.clockRate }
    }

    /// The events that go with a codec: at its own clock where that was agreed, else at any.
    public func telephoneEvent(for codec: Codec) -> NegotiatedCodec? {
        telephoneEvents.first { $0.codec.clockRate == codec.clockRate } ?? telephoneEvents.first
    }
}
