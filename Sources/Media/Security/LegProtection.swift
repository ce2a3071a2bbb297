import Primitives
import RTP
import Runtime
import SDP

/// How the packets of one leg are protected, both ways. A leg in the clear has none.
final class LegProtection {
    /// Nil while there are no keys yet: nothing may leave, and nothing that comes can be believed.
    private(set) var sender: SRTPSender?
    private(set) var receiver: SRTPReceiver?
    /// Where keys come from a handshake between the sockets.
    let handshake: DTLSAssociation?
    /// What protects RTCP on a port of its own, which then has a handshake of its own, too (RFC 5764 §4.1); nil where both have the same keys.
    let control: LegProtection?
    private var hasBegun = false

    /// Nil for a stream in the clear.
    ///
    /// - Parameters:
    ///   - separatesControl: RTCP comes and goes on a port of its own.
    ///   - old: what protected the leg until now. Where a key is the same its state goes on, and a new key follows the old one.
    init?(_ security: NegotiatedSecurity, separatesControl: Bool, after old: LegProtection? = nil) {
        switch security {
        case .none: return nil
        case .keys(let send, let receive):
            (handshake, control) = (nil, nil)
            use(send: send, receive: receive, after: old)
        case .dtls(let begins, let peer):
            handshake = DTLSAssociation(.ofThisProcess, begins: begins, peer: peer.bytes)
            control = separatesControl ? LegProtection(security, separatesControl: false) : nil
        }
    }

    /// What goes out first; again after a stop it is what was not answered.
    func begin() -> [DTLSAssociation.Output] {
        guard let handshake else { return [] }
        defer { hasBegun = true }
        return hasBegun ? handshake.retransmit() : handshake.start()
    }

    /// What the packets of a kind are protected with.
    subscript(_ kind: MediaPacketKind) -> LegProtection { kind == .rtcp ? control ?? self : self }

    func use(send: SRTPKey, receive: SRTPKey, after old: LegProtection? = nil) {
        sender = old?.sender.flatMap { $0.key == send ? $0 : nil } ?? SRTPSender(send, after: old?.sender)
        receiver = old?.receiver.flatMap { $0.key == receive ? $0 : nil } ?? SRTPReceiver(receive, after: old?.receiver)
    }
}

extension NegotiatedSecurity {
    /// Whether what protects a stream can stay. Who began a handshake that is done does not matter any more (RFC 8842 §5).
    func isSame(as other: NegotiatedSecurity) -> Bool {
        if case .dtls(_, let peer) = self, case .dtls(_, let old) = other { return peer == old }
        return self == other
    }
}
