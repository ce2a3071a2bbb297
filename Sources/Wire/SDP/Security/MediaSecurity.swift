public import Primitives

/// Whether a line encrypts its media.
public enum SRTPPolicy: String, Hashable, Sendable, CaseIterable {
    /// Never: an offer that asks for it is refused.
    case off
    /// Only if the far end can: its offers are answered as they ask, and ours say that we can and go on in the clear where it cannot (RFC
    /// 8643).
    case optional
    /// Always: an offer without is refused, and so is an answer.
    case required
}

/// The way in which our offers agree on keys.
public enum SRTPKeying: String, Hashable, Sendable, CaseIterable {
    /// In the description (RFC 4568).
    case sdes
    /// By a handshake between the media sockets (RFC 5763).
    case dtls
}

/// The means that we can protect a stream with, and whether we want to. Nothing by default.
public struct LocalSecurity: Hashable, Sendable {
    /// Whether a stream is protected, may be, or must be.
    public var policy = SRTPPolicy.off
    /// The keying that our offers propose; the peer's are answered by either.
    public var keying = SRTPKeying.sdes
    /// The keys that we send with, one for each suite that we speak, in order of preference. They stay the same for the whole call.
    public var keys: [SRTPKey] = []
    /// The fingerprint of the certificate that we show in a DTLS handshake; nil where there is none.
    public var fingerprint: Fingerprint?
    /// Whether a peer that leaves us the choice begins the handshake (`passive`): one behind a NAT, which nothing of ours reaches before.
    public var waits = false

    /// No protection.
    public init() {}

    /// With a fresh key for each suite.
    public init(_ policy: SRTPPolicy, using random: inout some RandomNumberGenerator) {
        self.policy = policy
        keys = SRTPSuite.preferred.map { SRTPKey($0, using: &random) }
    }
}

/// The agreed protection of a stream.
public enum NegotiatedSecurity: Hashable, Sendable {
    /// In clear.
    case none
    /// By keys in the descriptions: ours to send with, and the peer's.
    case keys(send: SRTPKey, receive: SRTPKey)
    /// By a handshake, which we begin or wait for, with whoever has this certificate. Where the part or the peer's name for it (`tls-id`,
    /// RFC 8842 §4) is another than before it is a new one; nil: the peer gives it none.
    case dtls(begins: Bool, peer: Fingerprint, tlsID: Text? = nil)
}

/// The statements of the peer's stream about its protection.
struct RemoteSecurity: Sendable {
    /// The transport of the `m=` line.
    enum Profile: Sendable {
        case plain, secure, dtls

        /// Nil for one that we do not speak. RTP/AVPF asks nothing of a peer that sends no feedback (RFC 4585 §3.1 lets timing rules differ
        /// only for who uses it).
        init?(_ proto: Text) {
            guard let known = Self.known.first(where: { $0.name.equalsIgnoringCase(proto) }) else { return nil }
            self = known.profile
        }

        private static let known: [(name: Text, profile: Profile)] = [
            (.plainProfile, .plain), ("RTP/AVPF", .plain), ("RTP/SAVP", .secure), ("RTP/SAVPF", .secure), ("UDP/TLS/RTP/SAVP", .dtls),
            ("UDP/TLS/RTP/SAVPF", .dtls),
        ]
    }

    let profile: Profile
    /// Those that we can use, in the peer's order.
    let crypto: [CryptoAttribute]
    let fingerprint: Fingerprint?
    let setup: DTLSSetup?
    /// The identifier of the handshake that it means; nil where it does not say.
    let tlsID: Text?

    init?(_ media: borrowing SessionDescription.Media, of description: borrowing SessionDescription) {
        guard let profile = Profile(media.proto) else { return nil }
        self.profile = profile
        crypto = media.attributes.lazy.filter { $0.name == .crypto }.compactMap { $0.value.flatMap { CryptoAttribute(parsing: $0) } }
        // Several hashes of one certificate may be given (RFC 8122 §5); the first that we know is checked.
        let attributes = description.attributes
        fingerprint = Self.fingerprint(in: media.attributes) ?? Self.fingerprint(in: attributes)
        setup = description.attribute(.setup, of: media)?.value.flatMap { DTLSSetup(parsing: $0) }
        tlsID = media.attribute(.tlsID)?.value?.trimmed
    }

    private static func fingerprint(in attributes: [SessionDescription.Attribute]) -> Fingerprint? {
        for attribute in attributes where attribute.name == .fingerprint {
            if let print = attribute.value.flatMap({ Fingerprint(parsing: $0) }) { return print }
        }
        return nil
    }

    /// The handshake that was agreed on before, where the peer means no other one: it has the same certificate and the same name (RFC 8842
    /// §3.1). What names none, as who answers an offer of ours, means the one that there is.
    func presentHandshake(_ agreed: NegotiatedSecurity?) -> NegotiatedSecurity? {
        guard let fingerprint, case .dtls(let begins, fingerprint, let name)? = agreed, tlsID == nil || name == nil || tlsID == name else {
            return nil
        }
        return .dtls(begins: begins, peer: fingerprint, tlsID: name ?? tlsID?.detached)
    }
}

/// Our side's statements about protection in one exchange, and the result.
struct SecurityAgreement: Sendable {
    var security = NegotiatedSecurity.none
    /// For our `m=` line.
    var attributes: [SessionDescription.Attribute] = []
}

extension LocalSecurity {
    /// The transport of our first offer.
    var offeredProfile: Text { policy == .required ? secureProfile : .plainProfile }

    var secureProfile: Text { keying == .dtls ? "UDP/TLS/RTP/SAVP" : "RTP/SAVP" }

    /// Our offer: what the profile asks for, and best effort in a plain one (RFC 8643 §3.1), unless plain was agreed on before.
    func offer(over proto: Text, after agreed: NegotiatedSecurity?) -> [SessionDescription.Attribute] {
        switch (agreed, RemoteSecurity.Profile(proto) ?? .plain) {
        case (.some(.none), _): []
        case (.some(.dtls), _), (nil, .dtls): handshake(.actpass)
        case (.some(.keys(let send, _)), _): cryptoOffer(beside: send.suite)
        case (nil, .secure): cryptoOffer(beside: nil)
        case (nil, .plain) where policy == .off: []
        case (nil, .plain): keying == .dtls ? handshake(.actpass) : cryptoOffer(beside: nil)
        }
    }

    /// The answer to the peer's offer, and the agreement that it makes: the peer's own choice where we can, DTLS before keys that everybody
    /// on the way could read.
    ///
    /// - Parameters:
    ///   - agreed: before; who begins a handshake stays as it was unless the peer wants a new one (RFC 8842 §5.3).
    ///   - said: the part that the peer's last description named, which means no other one when it is repeated.
    func answer(_ offer: RemoteSecurity, after agreed: NegotiatedSecurity?, said: DTLSSetup? = nil) throws(NegotiationError)
        -> SecurityAgreement
    {
        guard policy != .off else {
            guard offer.profile == .plain else { throw .unsupportedProfile }
            return SecurityAgreement()
        }
        if offer.profile != .secure || offer.crypto.isEmpty, let agreement = answerHandshake(offer, after: agreed, said: said) {
            return agreement
        }
        if offer.profile != .dtls, let (theirs, ours) = chosen(offer.crypto) {
            let answer = CryptoAttribute(tag: theirs.tag, key: ours)
            return SecurityAgreement(security: .keys(send: ours, receive: theirs.key), attributes: [answer.attribute])
        }
        guard offer.profile == .plain, policy == .optional else { throw offer.profile == .plain ? .securityRequired : .noCommonSecurity }
        return SecurityAgreement()
    }

    /// The agreement that the peer's answer to our offer makes.
    ///
    /// - Parameter agreed: before; some say `active` whenever they answer, whoever began the handshake that there is.
    func agreed(
        by answer: RemoteSecurity, to offered: [SessionDescription.Attribute], after agreed: NegotiatedSecurity?
    ) throws(NegotiationError) -> NegotiatedSecurity {
        if let theirs = answer.crypto.first, offered.contains(where: { $0.name == .crypto }), answer.profile != .dtls {
            // One answer, to an attribute of ours, with its suite (RFC 4568 §5.1.3).
            guard answer.crypto.count == 1, keys.indices.contains(theirs.tag - 1), keys[theirs.tag - 1].suite == theirs.key.suite else {
                throw .noCommonSecurity
            }
            return .keys(send: keys[theirs.tag - 1], receive: theirs.key)
        }
        if let peer = answer.fingerprint, offered.contains(where: { $0.name == .fingerprint }) {
            guard answer.setup != .actpass, answer.setup != .holdconn else { throw .noCommonSecurity }
            // An answer without `setup` is `passive` (RFC 4145 §4).
            return answer.presentHandshake(agreed) ?? .dtls(begins: answer.setup != .active, peer: peer, tlsID: answer.tlsID?.detached)
        }
        guard policy != .required, answer.profile == .plain else { throw policy == .off ? .unsupportedProfile : .noCommonSecurity }
        return .none
    }

    /// The keys in our offer. Where encryption is required: all suites but the one with the short tag, which RFC 4568 does not want to be
    /// preferred. Where it is not: the two that most others speak. An INVITE is still to fit into a datagram.
    ///
    /// - Parameter used: what is in use stays on offer (RFC 3264 §8).
    private func cryptoOffer(beside used: SRTPSuite?) -> [SessionDescription.Attribute] {
        let offered = keys.enumerated().filter { _, key in
            key.suite == used || SRTPSuite.common.contains(key.suite) || policy == .required && key.suite != .aes128CMSHA1_32
        }
        return (offered.isEmpty ? Array(keys.enumerated()) : offered).map { CryptoAttribute(tag: $0 + 1, key: $1).attribute }
    }

    private func handshake(_ setup: DTLSSetup) -> [SessionDescription.Attribute] {
        guard let fingerprint else { return [] }
        return [.init("fingerprint", fingerprint.text), .init("setup", Text(setup.rawValue))]
    }

    /// The first of the peer's that we have a key for.
    private func chosen(_ offered: [CryptoAttribute]) -> (theirs: CryptoAttribute, ours: SRTPKey)? {
        for theirs in offered { if let ours = keys.first(where: { $0.suite == theirs.key.suite }) { return (theirs, ours) } }
        return nil
    }

    private func answerHandshake(_ offer: RemoteSecurity, after agreed: NegotiatedSecurity?, said: DTLSSetup?) -> SecurityAgreement? {
        guard fingerprint != nil, let peer = offer.fingerprint, offer.setup != .holdconn else { return nil }
        // An offer without `setup` is `active` (RFC 4145 §4).
        let setup = offer.setup ?? .active
        var begins = setup != .active && !(setup == .actpass && waits), name = offer.tlsID?.detached
        if case .dtls(let began, _, let known)? = offer.presentHandshake(agreed) {
            name = known
            // Another part is a new handshake; who leaves it open, does not speak of it or says again what he said last, wants none.
            if offer.setup == nil || offer.setup == .actpass || offer.setup == said { begins = began }
        }
        return SecurityAgreement(
            security: .dtls(begins: begins, peer: peer, tlsID: name), attributes: handshake(begins ? .active : .passive))
    }
}
