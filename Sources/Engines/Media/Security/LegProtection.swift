import Primitives
import RTP
import Runtime
import SDP

/// The protection of the packets of one leg, both ways. A leg in the clear has none.
final class LegProtection {
    /// Nil while there are no keys yet: nothing may leave, and nothing that comes can be believed.
    private(set) var sender: SRTPSender?
    private(set) var receiver: SRTPReceiver?
    /// The handshake between the sockets, where keys come from one (RFC 5764).
    private(set) var handshake: DTLSAssociation?
    /// The protection of RTCP between ports of its own, which then has a handshake of its own, too (RFC 5764 §4.1); nil where both have the
    /// same keys.
    private(set) var control: LegProtection?
    private let begins: Bool, peer: [UInt8]
    private var hasBegun = false
    /// It was broken off, and its beginning is to be sent again.
    private var isDue = false
    /// The one that takes part in the handshake, and whether the far end said that it is there; nil before anybody has spoken.
    private var guest: (remote: SocketAddress, isAtHome: Bool)?
    /// The handshake with the one before, who may be the far end for all that we know: each of the two goes on with its own.
    private var other: (handshake: DTLSAssociation, remote: SocketAddress)?

    /// Somewhere else that something came from while our beginning was not answered, and when it was sent there last: a far end behind a
    /// NAT cannot be reached where it said, and shows by what it sends to keep its NAT open where it can.
    private var seen: (remote: SocketAddress, at: Instant)?
    /// Our beginning, as it was sent first.
    private(set) var hello: [[UInt8]] = []

    /// After a stranger broke a handshake off, so long no new one is begun: nobody is to make us send more than what is sent again anyway.
    private static let pause = Duration.milliseconds(50)

    /// Nil for a stream in the clear.
    ///
    /// - Parameters:
    ///   - separatesControl: RTCP goes between other ports than RTP does.
    ///   - old: what protected the leg until now. Where a key is the same its state goes on, and a new key follows the old one.
    init?(_ security: NegotiatedSecurity, separatesControl: Bool, after old: LegProtection? = nil) {
        switch security {
        case .none: return nil
        case .keys(let send, let receive):
            (handshake, control, begins, peer) = (nil, nil, false, [])
            use(send: send, receive: receive, after: old)
        case .dtls(let begins, let peer, _):
            (self.begins, self.peer) = (begins, peer.bytes)
            handshake = DTLSAssociation(.ofThisProcess, begins: begins, peer: peer.bytes)
            control = separatesControl ? LegProtection(security, separatesControl: false) : nil
        }
    }

    /// Begins the handshake with the first flight; later it sends again what was not answered.
    func begin() -> [DTLSAssociation.Output] {
        guard let handshake else { return [] }
        isDue = false
        guard begins, !hasBegun else { return handshake.retransmit() }
        hasBegun = true
        let outputs = handshake.start()
        hello = outputs.compactMap { if case .send(let datagram) = $0 { datagram } else { nil } }
        return outputs
    }

    func receive(_ datagram: UnsafeRawBufferPointer) -> [DTLSAssociation.Output] { handshake?.receive(datagram) ?? [] }

    /// The time until `begin` has something to send; nil when nothing is awaited.
    var retransmissionDelay: Duration? { isDue ? Self.pause : handshake?.retransmissionDelay }

    /// Whether a datagram goes into the handshake, which is not done yet. Who is at the address that the far end has given takes it over
    /// from anybody else, and nobody takes it from there. Elsewhere it is the first that speaks, or who says hello: the far end may be
    /// behind a NAT. While its beginning is due, nobody elsewhere draws that before it goes to the far end.
    func admits(_ datagram: UnsafeRawBufferPointer, from remote: SocketAddress, isAtHome: Bool) -> Bool {
        if !isAtHome, isDue || guest?.isAtHome == true || datagram.first == Self.alert { return false }
        if let guest, guest.remote != remote, !guest.isAtHome {
            guard isAtHome || isHello(datagram) || remote == other?.remote else { return false }
            if !begins { turn(to: remote, from: guest.remote) }
        }
        guest = (remote, isAtHome)
        return true
    }

    /// Whether our beginning, which nobody has answered, goes to an address that it was not sent to, or not lately.
    func greets(_ remote: SocketAddress, isAtHome: Bool, at now: Instant) -> Bool {
        guard begins, hasBegun, !isDue, !isAtHome, guest == nil, !hello.isEmpty else { return false }
        if let seen, now - seen.at < Self.pause { return false }
        seen = (remote, now)
        return true
    }

    /// The address that our beginning goes to beside the one that the far end has given, until somebody answers.
    var seenElsewhere: SocketAddress? { guest == nil ? seen?.remote : nil }

    /// To the handshake that this one has begun already, or a new one.
    private func turn(to remote: SocketAddress, from last: SocketAddress) {
        let known = other.flatMap { $0.remote == remote ? $0.handshake : nil }
        other = handshake.map { ($0, last) }
        if let known { handshake = known } else { beginAnew() }
    }

    /// From here on RTCP has ports of its own, and where keys come from a handshake it has one, too; or it comes and goes with RTP, under
    /// the same keys.
    func separateControl(_ separates: Bool, _ security: NegotiatedSecurity) {
        guard separates, handshake != nil else { return control = nil }
        if control == nil { control = LegProtection(security, separatesControl: false) }
    }

    /// Whoever takes part in the handshake is not where the far end said that it is.
    var isWithStranger: Bool { guest?.isAtHome == false }

    /// As if nobody had spoken yet.
    func beginAnew() {
        handshake = DTLSAssociation(.ofThisProcess, begins: begins, peer: peer)
        (hasBegun, isDue, guest) = (false, begins, nil)
    }

    /// The content type of a record that ends a handshake in the clear, which anybody can write (RFC 6347 §4.1.2.7).
    private static let alert: UInt8 = 21

    /// A ClientHello at the beginning of a handshake that is ours to answer (RFC 6347 §4.2.2): a record of 13 bytes before it.
    private func isHello(_ datagram: UnsafeRawBufferPointer) -> Bool {
        !begins && datagram.count > 13 && datagram[0] == 22 && datagram[13] == 1
    }

    /// The protection of the packets of a kind.
    subscript(_ kind: MediaPacketKind) -> LegProtection { kind == .rtcp ? control ?? self : self }

    func use(send: SRTPKey, receive: SRTPKey, after old: LegProtection? = nil) {
        (other, seen, hello) = (nil, nil, [])
        sender = old?.sender.flatMap { $0.key == send ? $0 : nil } ?? SRTPSender(send, after: old?.sender)
        receiver = old?.receiver.flatMap { $0.key == receive ? $0 : nil } ?? SRTPReceiver(receive, after: old?.receiver)
    }
}

extension NegotiatedSecurity {
    /// Whether what protects a stream can stay after `old`: another part or another name is a new handshake (RFC 8842 §3.1), a first name
    /// is none.
    func isSame(as old: NegotiatedSecurity) -> Bool {
        if case .dtls(let begins, let peer, _) = self, case .dtls(begins, peer, nil) = old { return true }
        return self == old
    }

    /// Whether the indices of the packets that we send begin at 0 once more. Then they must be another source's: under a key that was used
    /// before they would repeat its keystream (RFC 3711 §9.1), and in the middle of a sequence nobody could know how often it has wrapped
    /// (§3.3.1).
    func beginsAnew(after old: NegotiatedSecurity) -> Bool {
        switch (old, self) {
        case (_, .none), (.keys, .keys): false
        case (_, .keys), (_, .dtls): !isSame(as: old)
        }
    }
}
