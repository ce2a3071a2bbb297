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
    }

    private static var sessionLimit: Int { 8 }

    public init(user: Text, secret: DigestSecret, hash: @escaping DigestHash) {
        (self.user, self.secret, self.hash) = (user, secret, hash)
    }

    /// Takes the challenges of a 401 or 407 and puts the credentials into the request that is to be sent again. The caller gives
    /// that a new CSeq and branch (RFC 3261 §22.2).
    /// - Parameters:
    ///   - request: as it was sent; its answers to other realms stay.
    ///   - clientNonce: random, new for every call.
    public mutating func answer(_ response: Message, in request: inout Message, clientNonce: Text) throws(Refusal) {
        let isProxy = response.status == 407
        let values = response.headers.all(isProxy ? .proxyAuthenticate : .wwwAuthenticate)
        let known = values.compactMap { try? DigestChallenge(parsing: $0) }.filter { canHash($0.algorithm) }
        // A session digest needs a client nonce, which comes with a quality only.
        let usable = known.filter { $0.qualities.isEmpty ? !$0.algorithm.isSession : $0.qualities.contains("auth") }
        guard let best = usable.max(by: { $0.algorithm < $1.algorithm }) else { throw known.isEmpty ? .unsupported : .unsupportedQuality }
        if hasAnswered(best, isProxy: isProxy, in: request), !best.isStale { throw .rejected }
        sessions.removeAll { $0.isProxy == isProxy && $0.challenge.realm == best.realm }
        if sessions.count >= Self.sessionLimit { sessions.removeFirst() }
        sessions.append(Session(challenge: best, isProxy: isProxy, clientNonce: clientNonce))
        authorize(&request, clientNonce: clientNonce)
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
    private func hasAnswered(_ challenge: DigestChallenge, isProxy: Bool, in request: Message) -> Bool {
        guard let session = sessions.first(where: { $0.isProxy == isProxy && $0.challenge.realm == challenge.realm }), session.count <= 1 else { return false }
        return request.headers.all(isProxy ? .proxyAuthorization : .authorization).contains {
            (try? DigestCredentials(parsing: $0))?.nonce == session.challenge.nonce
        }
    }
}
