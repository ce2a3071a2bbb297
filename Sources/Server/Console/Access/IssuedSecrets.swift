import Primitives

/// Secrets that are given out for a time in the place of a token: tickets and logins. Kept by their SHA-256.
///
/// A value, bounded: whoever asks for more loses the oldest of its own, and nobody else's.
struct IssuedSecrets {
    /// By what right somebody asked for one: it holds as long as that does.
    enum Holder: Hashable {
        /// The digest of a token.
        case token(String)
        /// Whoever may open the socket in the file system.
        case user
        /// A program of this machine, where there are no tokens.
        case machine
        /// A client of another gateway, which has let it in.
        case node
    }

    private struct Entry {
        var holder: Holder
        var ends: Instant
    }

    let lifetime: Duration
    private let most: Int
    private var entries: [String: Entry] = [:]
    /// The digests of each holder, the oldest first. Some may have been used.
    private var order: [Holder: [String]] = [:]

    /// - Parameters:
    ///   - lifetime: of each.
    ///   - most: that a holder may have at a time.
    init(lifetime: Duration, most: Int) { (self.lifetime, self.most) = (lifetime, most) }

    var count: Int { entries.count }

    /// Draws a secret of 32 random bytes.
    mutating func issue(to holder: Holder, at now: Instant) -> String {
        let secret = AccessToken.draw(), digest = AccessToken.digest(secret)
        var digests = (order[holder] ?? []).filter { entries[$0].map { now < $0.ends } ?? false }
        let kept = digests.suffix(most - 1)
        for old in order[holder] ?? [] where !kept.contains(old) { entries[old] = nil }
        digests = kept + [digest]
        (order[holder], entries[digest]) = (digests, Entry(holder: holder, ends: now + lifetime))
        return secret
    }

    /// Whose the secret is, and when it ends; nil: it is none, or has ended.
    func find(_ secret: some StringProtocol, at now: Instant) -> (holder: Holder, ends: Instant)? {
        // Looked up by its digest: how long that takes tells nothing of the secret.
        guard let entry = entries[AccessToken.digest(secret)], now < entry.ends else { return nil }
        return (entry.holder, entry.ends)
    }

    /// It holds no longer.
    mutating func revoke(_ secret: some StringProtocol) { entries[AccessToken.digest(secret)] = nil }
}
