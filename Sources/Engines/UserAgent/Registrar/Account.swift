import Primitives
import SIP

/// The permission to register for, and to call as, a user.
public enum Account: Hashable, Sendable {
    /// Anybody, without a password.
    case open
    /// Whoever has this password.
    case password(Text)
    /// `H(user:realm:password)` for each hash, so that no password is kept.
    case hashed([DigestAlgorithm.Hash: Text])

    /// Nil for an open account.
    var secret: DigestSecret? {
        switch self {
        case .open: nil
        case .password(let password): .password(password)
        case .hashed(let hashes): .hashed(hashes)
        }
    }
}

/// Knows the accounts. Asked on the signalling lane, for every request that must prove who sent it: it answers at once.
public protocol AccountDirectory: AnyObject {
    /// - Parameter user: without %-escapes.
    /// - Returns: nil when there is no such user.
    func account(of user: Text) -> Account?
}
