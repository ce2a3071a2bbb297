public import Primitives

/// Whether a line takes part in connectivity checks (RFC 8445), always as a lite agent: it answers them and asks none.
public enum ICEPolicy: String, Hashable, Sendable, CaseIterable {
    /// Never: what offers say about it is passed over.
    case off
    /// Only if the far end offers it.
    case auto
    /// Our own offers have it too.
    case lite
}

/// Our side of connectivity checks. Off by default.
public struct LocalICE: Hashable, Sendable {
    /// Whether checks are answered, and whether our offers ask for them.
    public var policy = ICEPolicy.off
    /// Needed for an answer to an offer that `startsICE`, and for offers where the policy is `.lite`; without them the exchange is done as
    /// if there were no checks.
    public var credentials: ICECredentials?

    /// No checks.
    public init() {}
}

/// Connectivity checks that were agreed on: the peer makes them and nominates where media goes, we answer.
public struct NegotiatedICE: Hashable, Sendable {
    /// The credentials that the peer's checks name and prove themselves with.
    public var local: ICECredentials
    /// The peer's `ice-ufrag`.
    public var remoteUser: Text

    /// - Parameter remoteUser: the peer's `ice-ufrag`.
    public init(local: ICECredentials, remoteUser: Text) { (self.local, self.remoteUser) = (local, remoteUser) }
}

/// The statements of the peer's stream about connectivity checks.
enum RemoteICE: Hashable, Sendable {
    /// Nothing that we can use.
    case none
    /// The address of media without checks is not among its candidates: somebody on the way has put other addresses there, and checks would
    /// go wrong.
    case mismatch
    /// It makes checks.
    case full(ICECredentials)
    /// It only answers them, and so nobody makes any (RFC 8445 §6.1.1).
    case lite(ICECredentials)

    var credentials: ICECredentials? {
        switch self {
        case .none, .mismatch: nil
        case .full(let credentials), .lite(let credentials): credentials
        }
    }

    /// The address of its lines means nothing, for checks will say where it is.
    var findsAddress: Bool { if case .full = self { true } else { false } }

    init(_ media: borrowing SessionDescription.Media, of description: borrowing SessionDescription) {
        let user = description.attribute(.iceUser, of: media)?.value?.trimmed
        guard let user, let password = description.attribute("ice-pwd", of: media)?.value?.trimmed,
            let credentials = ICECredentials(user: Text(Array(user.bytes)), password: Text(Array(password.bytes)))
        else {
            self = .none
            return
        }
        guard media.attribute("ice-mismatch") == nil else {
            self = .none
            return
        }
        guard Self.hasDefaultAmongCandidates(media, of: description) else {
            self = .mismatch
            return
        }
        self = description.attribute("ice-lite", of: media) == nil ? .full(credentials) : .lite(credentials)
    }

    /// RFC 8839 §4.2.5, with its exceptions: a name, and `0.0.0.0` with port 9, of which candidates may come later or are hidden.
    private static func hasDefaultAmongCandidates(_ media: SessionDescription.Media, of description: SessionDescription) -> Bool {
        guard let address = description.connection(of: media)?.address else { return true }
        if address.isAny, media.port == 9 { return true }
        return media.attributes.contains { $0.name == "candidate" && $0.isCandidate(at: SocketAddress(address, port: media.port)) }
    }
}

extension SessionDescription.Attribute {
    /// `candidate:FOUNDATION COMPONENT UDP PRIORITY ADDRESS PORT typ …` of the first component (RFC 8839 §5.1).
    fileprivate func isCandidate(at place: SocketAddress) -> Bool {
        guard let fields = value?.fields, fields.count >= 6, fields[1] == "1", fields[2].equalsIgnoringCase("udp") else { return false }
        return IPAddress(fields[4]) == place.address && fields[5].integer(UInt16.self) == place.port
    }
}

/// Our side's statements about checks in one exchange, and the result.
struct ICEAgreement: Sendable {
    var ice: NegotiatedICE?
    /// For our `m=` line.
    var attributes: [SessionDescription.Attribute] = []
}

extension LocalICE {
    /// The attributes of our offer, where it is to have checks.
    func offer(from local: LocalMedia) -> [SessionDescription.Attribute] { credentials.map { attributes($0, local, mux: false) } ?? [] }

    /// The answer to the peer's offer, and the agreement that it makes.
    func answer(_ offer: RemoteICE, from local: LocalMedia, mux: Bool) -> ICEAgreement {
        switch offer {
        case .none: return ICEAgreement()
        case .mismatch: return ICEAgreement(attributes: [.init("ice-mismatch")])
        case .full, .lite:
            guard let credentials else { return ICEAgreement() }
            return ICEAgreement(ice: agreed(with: offer), attributes: attributes(credentials, local, mux: mux))
        }
    }

    /// Nil where nobody makes checks.
    func agreed(with remote: RemoteICE) -> NegotiatedICE? {
        guard let credentials, case .full(let theirs) = remote else { return nil }
        return NegotiatedICE(local: credentials, remoteUser: theirs.user)
    }

    /// One host candidate for each address and port (RFC 8445 §5.2), with the priorities of §5.1.2.1: the first address is preferred.
    private func attributes(_ credentials: ICECredentials, _ local: LocalMedia, mux: Bool) -> [SessionDescription.Attribute] {
        let ports = [local.port] + (mux ? [] : local.rtcpPort.map { [$0] } ?? [])
        let candidates = ([local.address] + local.furtherCandidates).enumerated().flatMap { rank, address in
            ports.enumerated().map { index, port in
                let priority = 126 << 24 | (65_535 - rank) << 8 | (256 - (index + 1))
                return SessionDescription.Attribute(
                    "candidate", Text("\(rank + 1) \(index + 1) UDP \(priority) \(address) \(port) typ host"))
            }
        }
        return [.init(.iceUser, credentials.user), .init("ice-pwd", credentials.password)] + candidates
    }
}
