import Primitives

/// Decides whose packets a media socket takes, for peers whose real address is not the one in their SDP (symmetric RTP,
/// RFC 4961; comedia behind a NAT).
///
/// The first valid packet latches its source. The signalled address itself may take over from another that was
/// faster, once; then the source is locked and packets from elsewhere are refused and counted.
public struct SourceLatch: Sendable {
    /// The verdict on a packet.
    public enum Admission: Hashable, Sendable {
        /// It comes from the peer.
        case accepted
        /// Accepted, and `source` is now this packet's: send there.
        case latched
        /// It comes from somebody else.
        case refused
    }

    // First what each packet touches.
    /// Payload types that are taken as the peer's.
    public var payloadTypes: PayloadTypeSet
    /// The address that sends to us; nil before the first valid packet.
    public private(set) var source: SocketAddress?
    private var isArmed: Bool
    /// For the address of `source` alone, from whatever port.
    private var isForReturn = false
    /// The last address of the peer in its SDP, and whether it has taken that back (hold by `c=0.0.0.0`).
    private var told: SocketAddress?
    private var isTakenBack = false
    /// Packets from elsewhere or that are no media.
    public private(set) var refused: UInt64 = 0
    /// After a change of the signalled address: how many more packets of the old source are taken as late ones.
    private var lateOnes = 0
    private static let greatestLateness = 50

    /// - Parameters:
    ///   - signalled: where the peer's description says that it is; nil where it does not say.
    ///   - payloadTypes: others are not taken as the peer's.
    public init(signalled: SocketAddress?, payloadTypes: PayloadTypeSet) {
        (told, self.payloadTypes, isArmed) = (signalled, payloadTypes, signalled != nil)
    }

    /// The address of the peer by its SDP; nil when not known.
    public var signalled: SocketAddress? { isTakenBack ? nil : told }

    /// The address to send to: the latched source, else the signalled address; the other way round while a new source is waited for that
    /// may be anywhere.
    public var destination: SocketAddress? { isArmed && !isForReturn ? signalled ?? source : source ?? signalled }

    /// The address that sends to us, where no other is waited for; the signalled address may still take over.
    public var settled: SocketAddress? { isArmed ? nil : source }

    /// After a re-INVITE: the next valid packet latches anew; until it comes the signalled address is sent to.
    ///
    /// When the address changed, up to 50 packets of the old source do not count as news. The unspecified address
    /// (hold by `c=0.0.0.0`) is not remembered, and while it is the address nobody new is let in.
    public mutating func rearm(signalled: SocketAddress?) {
        isTakenBack = signalled?.address.isAny ?? true
        (isArmed, isForReturn) = (!isTakenBack, false)
        guard isArmed else { return }
        lateOnes = signalled == told ? 0 : Self.greatestLateness
        told = signalled
    }

    /// After a hold: the peer is where it was, but a NAT may have forgotten it and give it another port (RFC 4787 §4.3). The next
    /// valid packet from its address latches anew; until it comes it is sent to as before. Of a peer that has taken its address back nobody
    /// new is let in.
    public mutating func rearm() {
        guard !isArmed, signalled != nil else { return }
        (isArmed, isForReturn) = (true, true)
    }

    /// Leaves the choice of the source to connectivity checks from here on: packets are taken from this address alone, or, while it is nil,
    /// from nobody.
    public mutating func follow(_ remote: SocketAddress?) {
        (told, isTakenBack, source, isArmed, isForReturn, lateOnes) = (remote, false, remote, false, false, 0)
    }

    /// Judges a datagram: RTP of a known payload type or RTCP, whole enough to be either.
    public mutating func admit(_ packet: UnsafeRawBufferPointer, from sender: SocketAddress) -> Admission {
        admit(sender, isMedia: isMedia(packet))
    }

    /// Judges RTP whose header was read already.
    @inlinable public mutating func admit(_ header: RTPHeader, from sender: SocketAddress) -> Admission {
        admit(sender, isMedia: payloadTypes.contains(header.payloadType))
    }

    @usableFromInline mutating func admit(_ sender: SocketAddress, isMedia: Bool) -> Admission {
        guard isArmed && (!isForReturn || sender.address == source?.address) || sender == source || sender == signalled, isMedia else {
            refused += 1
            return .refused
        }
        if sender == source {
            if !isArmed { return .accepted }
            if lateOnes > 0, sender != signalled {
                lateOnes -= 1
                return .accepted
            }
        }
        (isArmed, isForReturn, lateOnes) = (false, false, 0)
        source = sender
        return .latched
    }

    private func isMedia(_ packet: UnsafeRawBufferPointer) -> Bool {
        switch MediaPacketKind(packet) {
        case .rtp: (try? RTPHeader(parsing: packet)).map { payloadTypes.contains($0.payloadType) } ?? false
        case .rtcp: RTCPPacket.isPlausible(packet)
        case .other: false
        }
    }
}
