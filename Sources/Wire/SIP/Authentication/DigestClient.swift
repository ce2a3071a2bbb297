import Primitives

/// Answers challenges for one account, and goes on using a nonce while the server takes it (RFC 3261 §22.2, RFC 8760 §2.4).
public struct DigestClient: Sendable {
    /// Why a challenge is not answered.
    public enum Refusal: Error, Hashable, Sendable {
        /// No Digest challenge with an algorithm that is spoken here and for which the secret is known.
        case unsupported
        /// The server insists on `auth-int`, which would make every body part of the digest.
        case unsupportedQuality
        /// The server did not take what we answered to this realm, and did not call it stale.
        case rejected
    }

    /// The name that it answers with.
    public let user: Text
    private let secret: DigestSecret
    private let hash: DigestHash
    /// The challenge that is being answered, by realm; a call to one server meets one or two.
    private var sessions: [Session] = []

    private struct Session: Sendable {
        var challenge: DigestChallenge
        var isProxy: Bool
        var count: UInt32 = 0
        /// One for as long as the nonce is used: a `-sess` digest is made of the first (RFC 7616 §3.4.2).
        var clientNonce: Text

        func isSameRealm(as other: Session) -> Bool { isProxy == other.isProxy && challenge.realm == other.challenge.realm }
    }

    private static var sessionLimit: Int { 8 }

    /// - Parameters:
    ///   - secret: the password, or what was hashed of it.
    ///   - hash: made by the Runtime floor.
    public init(user: Text, secret: DigestSecret, hash: @escaping DigestHash) {
        (self.user, self.secret, self.hash) = (user, secret, hash)
    }

    /// The request goes to somebody else, whom no answer to the old challenges concerns.
    public mutating func forgetChallenges() { sessions = [] }

    /// Takes the challenges of a 401 or 407, one for each realm, and puts the credentials into the request that is to be sent again.
    /// The caller gives that a new CSeq and branch (RFC 3261 §22.2, §22.3).
    /// - Parameters:
    ///   - request: as it was sent; its answers to other realms stay.
    ///   - clientNonce: random, new for every call.
    public mutating func answer(_ response: Message, in request: inout Message, clientNonce: Text) throws(Refusal) {
        let open = try best(of: response, clientNonce: clientNonce).filter { $0.challenge.isStale || !hasAnswered($0, in: request) }
        guard !open.isEmpty else { throw .rejected }
        for session in open {
            sessions.removeAll { $0.isSameRealm(as: session) }
            if sessions.count >= Self.sessionLimit { sessions.removeFirst() }
            sessions.append(session)
        }
        authorize(&request, clientNonce: clientNonce)
    }

    /// The best challenge of each realm. Those of several proxies and servers come together where a call was forked.
    private func best(of response: Message, clientNonce: Text) throws(Refusal) -> [Session] {
        let known = [HeaderName.wwwAuthenticate, .proxyAuthenticate].flatMap { name in
            response.headers.all(name).compactMap { try? DigestChallenge(parsing: $0) }.filter { canHash($0.algorithm) }
                .map { Session(challenge: $0, isProxy: name == .proxyAuthenticate, clientNonce: clientNonce) }
        }
        // A session digest needs a client nonce, which comes with a quality only.
        let usable = known.filter {
            $0.challenge.qualities.isEmpty ? !$0.challenge.algorithm.isSession : $0.challenge.qualities.contains("auth")
        }
        guard !usable.isEmpty else { throw known.isEmpty ? .unsupported : .unsupportedQuality }
        var best: [Session] = []
        for session in usable {
            if let index = best.firstIndex(where: session.isSameRealm) {
                if best[index].challenge.algorithm < session.challenge.algorithm { best[index] = session }
            } else if best.count < Self.sessionLimit {
                best.append(session)
            }
        }
        return best
    }

    /// Puts credentials for every realm that was met into a request before it is sent, so that it is not asked for again.
    public mutating func authorize(_ request: inout Message, clientNonce: Text) {
        guard let uri = request.requestURI?.text else { preconditionFailure("only requests carry credentials") }
        guard !sessions.isEmpty else { return }
        request.headers.remove(.authorization)
        request.headers.remove(.proxyAuthorization)
        for index in sessions.indices {
            sessions[index].count += 1
            let session = sessions[index]
            let clientNonce = session.challenge.algorithm.isSession ? session.clientNonce : clientNonce
            let credentials = DigestCredentials(
                answering: session.challenge, user: user, secret: secret, method: request.method, uri: uri, count: session.count,
                clientNonce: session.challenge.qualities.isEmpty ? nil : clientNonce, hash: hash)
            if let credentials { request.headers.append(session.isProxy ? .proxyAuthorization : .authorization, credentials.value) }
        }
    }

    private func canHash(_ algorithm: DigestAlgorithm) -> Bool {
        if case .hashed(let known) = secret { known[algorithm.hash] != nil } else { true }
    }

    /// Whether this realm was answered with a nonce that nobody took before. One that was taken may just have been forgotten.
    private func hasAnswered(_ new: Session, in request: Message) -> Bool {
        guard let session = sessions.first(where: new.isSameRealm), session.count <= 1 else { return false }
        return request.headers.all(session.isProxy ? .proxyAuthorization : .authorization).contains {
            (try? DigestCredentials(parsing: $0))?.nonce == session.challenge.nonce
        }
    }
}
