public import Primitives

/// Our side of connectivity checks and consent (RFC 8445 §2.5, RFC 7675): an agent with an address that everybody reaches answers, and
/// never asks.
///
/// Sans-I/O, one for each component of a stream. What the far end nominates is where media goes.
public struct ICELiteResponder: Sendable {
    /// Tasks of the owner, in this order.
    public enum Output: Hashable, Sendable {
        /// To where the request came from.
        case answer([UInt8])
        /// The far end nominated another address than before: media goes there and comes from there from now on.
        case selected(SocketAddress)
    }

    /// Counts of the messages that came, by what became of them.
    public struct Counts: Hashable, Sendable {
        /// Answered with success, no STUN of ours, with a wrong password, not understood (420), and of another lite agent (487).
        public var answered: UInt64 = 0, malformed: UInt64 = 0, unauthentic: UInt64 = 0, unknownAttributes: UInt64 = 0,
            roleConflicts: UInt64 = 0
        /// Answers and indications, which nobody asked for, and requests that are no checks: they keep a NAT open (RFC 6263 §4.3).
        public var ignored: UInt64 = 0

        /// Nothing has come yet.
        public init() {}

        /// Neither answered well nor harmless.
        public var refused: UInt64 { malformed + unauthentic + unknownAttributes + roleConflicts }
    }

    /// The credentials that checks have to name and to prove themselves with.
    public let local: ICECredentials
    /// The far end's `ice-ufrag`.
    public let remoteUser: Text
    /// Counts of the messages that came.
    public private(set) var counts = Counts()
    /// The address that the far end nominated, how much it likes it, and when it last said so.
    private var selection: (remote: SocketAddress, priority: UInt32, at: Instant)?
    /// The addresses that the first authentic checks came from while nothing was nominated.
    private var checked: [SocketAddress] = []
    private static let mostChecked = 16
    /// The time that the far end's favourite stays, after it was nominated last, against others that it nominates too.
    private static let steadiness = Duration.seconds(3)

    /// - Parameter remoteUser: the far end's `ice-ufrag`.
    public init(local: ICECredentials, remoteUser: Text) { (self.local, self.remoteUser) = (local, remoteUser) }

    /// Takes a datagram whose first byte is 0 to 3 (RFC 7983 §7).
    /// - Parameter hmac: HMAC-SHA1 of a message under a key.
    public mutating func receive(_ datagram: [UInt8], from remote: SocketAddress, at now: Instant, hmac: ([UInt8], [UInt8]) -> [UInt8])
        -> [Output]
    {
        guard let message = try? STUNMessage(parsing: datagram) else {
            counts.malformed += 1
            return []
        }
        // A check always has its checksum (RFC 8445 §7.1.1).
        guard message.messageClass == .request, message.method == STUNMessage.binding, message.hasFingerprint else {
            counts.ignored += 1
            return []
        }
        if let refusal = refusal(of: message, hmac) { return [.answer(refusal)] }
        var answer = STUNAnswer(to: message, .success)
        answer.addMappedAddress(remote)
        counts.answered += 1
        if selection == nil, checked.count < Self.mostChecked, !checked.contains(remote) { checked.append(remote) }
        let outputs = [Output.answer(finished(answer, hmac))]
        return message.usesCandidate && select(remote, message.priority ?? 0, at: now) ? outputs + [.selected(remote)] : outputs
    }

    /// Whether the far end has proved itself at this address and has nominated none yet: what it sends from there is its own (RFC 8445
    /// §12.1).
    public func isProvisional(_ remote: SocketAddress) -> Bool { selection == nil && checked.contains(remote) }

    /// True where it is news. Agents of RFC 5245 nominate every pair that works and then use the one that they like best; one that has
    /// changed its network nominates a worse one, and the old one no more.
    private mutating func select(_ remote: SocketAddress, _ priority: UInt32, at now: Instant) -> Bool {
        let isNews = selection?.remote != remote
        if isNews, let selection, priority < selection.priority, now - selection.at < Self.steadiness { return false }
        selection = (remote, priority, at: now)
        return isNews
    }

    /// RFC 8489 §9.1.3, §6.3.1; RFC 8445 §7.3.1.1.
    private mutating func refusal(of message: STUNMessage, _ hmac: ([UInt8], [UInt8]) -> [UInt8]) -> [UInt8]? {
        guard let username = message.username, message.hasIntegrity else {
            counts.unauthentic += 1
            return error(message, 400, "Bad Request")
        }
        guard Text(username) == local.user + ":" + remoteUser, message.isAuthentic(key: Array(local.password.bytes), hmac: hmac) else {
            counts.unauthentic += 1
            return error(message, 401, "Unauthenticated")
        }
        guard message.unknown.isEmpty else {
            counts.unknownAttributes += 1
            return finished(failure(message, 420, "Unknown Attribute"), hmac)
        }
        guard message.isControlling != false else {
            counts.roleConflicts += 1
            return finished(failure(message, 487, "Role Conflict"), hmac)
        }
        return nil
    }

    /// Without a code, for the one who asks is not known.
    private func error(_ message: STUNMessage, _ code: Int, _ reason: String) -> [UInt8] {
        var answer = failure(message, code, reason)
        answer.addFingerprint()
        return answer.bytes
    }

    private func failure(_ message: STUNMessage, _ code: Int, _ reason: String) -> STUNAnswer {
        var answer = STUNAnswer(to: message, .error)
        answer.addError(code, reason)
        if code == 420 { answer.addUnknown(message.unknown) }
        return answer
    }

    private func finished(_ answer: STUNAnswer, _ hmac: ([UInt8], [UInt8]) -> [UInt8]) -> [UInt8] {
        var answer = answer
        answer.addIntegrity(key: Array(local.password.bytes), hmac: hmac)
        answer.addFingerprint()
        return answer.bytes
    }
}
