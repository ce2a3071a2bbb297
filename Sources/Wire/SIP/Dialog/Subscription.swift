import Primitives

/// The notifier's side of a subscription: when a NOTIFY is due, and the state that it tells (RFC 6665 §4.2).
///
/// One NOTIFY at a time is on its way; what changes meanwhile is told by one more behind it. A value without clock and transactions.
public struct Subscription: Sendable {
    /// The value of Subscription-State (RFC 6665 §4.1.3).
    public enum State: Hashable, Sendable {
        /// It lasts so many seconds more, unless it is refreshed.
        case active(seconds: Int)
        /// It is over with this NOTIFY.
        case terminated(Reason)

        /// As the header has it.
        public var text: Text {
            switch self {
            case .active(let seconds): "active;expires=" + Text(seconds)
            case .terminated(let reason): "terminated;reason=" + reason.text
            }
        }
    }

    /// The cause of an end, which tells the subscriber whether to come again (RFC 6665 §4.1.3).
    public enum Reason: Hashable, Sendable {
        /// It expired, or the subscriber ended it.
        case timeout
        /// The subscriber may come again later.
        case probation
        /// The subscriber is not to come again.
        case rejected
        /// Nothing is left to be told of.
        case noresource

        var text: Text {
            switch self {
            case .timeout: "timeout"
            case .probation: "probation"
            case .rejected: "rejected"
            case .noresource: "noresource"
            }
        }
    }

    /// The next thing to be done by the owner.
    public enum Output: Hashable, Sendable {
        /// A NOTIFY with this state is to be sent; its end goes to ``completed(succeeded:at:)``.
        case notify(State)
        /// Nothing of it is left.
        case ended
    }

    /// Seconds of a subscription whose SUBSCRIBE names none, and of the longest (RFC 3842 §3.4).
    public static let longest = 3_600
    /// Seconds of the shortest, but for one that ends at once.
    public static let shortest = 60

    private var expiry: Instant
    private var isOwed = false, isAwaitingResponse = false
    private var reason: Reason?
    private var hasToldEnd = false, isOver = false

    /// A subscription of which nothing was told yet.
    public init(at now: Instant) { expiry = now }

    /// Whether it can be refreshed.
    public var isActive: Bool { reason == nil && !isOver }

    /// The moment of its expiry; nil once it has ended.
    public var deadline: Instant? { isActive ? expiry : nil }

    /// The seconds that a SUBSCRIBE is given which asks for so many; nil: too few, which a 423 says (RFC 6665 §4.2.1.1).
    public static func granted(_ asked: Int?) -> Int? {
        guard let asked, asked != 0 else { return asked ?? longest }
        return asked < shortest ? nil : min(asked, longest)
    }

    /// A SUBSCRIBE came, the first one or a refresh, and was given so many seconds; 0 ends it.
    public mutating func renew(seconds: Int, at now: Instant) -> [Output] {
        guard isActive else { return [] }
        guard seconds > 0 else { return end(.timeout, at: now) }
        expiry = now + .seconds(seconds)
        return changed(at: now)
    }

    /// There is something new to tell.
    public mutating func changed(at now: Instant) -> [Output] {
        guard isActive else { return [] }
        isOwed = true
        return next(at: now)
    }

    /// Ends it from our side, with a last NOTIFY.
    public mutating func end(_ reason: Reason, at now: Instant) -> [Output] {
        guard isActive else { return [] }
        (self.reason, isOwed) = (reason, true)
        return next(at: now)
    }

    /// The NOTIFY on its way was answered, or never will be. A failure ends the subscription (RFC 6665 §4.2.2).
    public mutating func completed(succeeded: Bool, at now: Instant) -> [Output] {
        guard isAwaitingResponse else { return [] }
        isAwaitingResponse = false
        guard succeeded, !hasToldEnd else {
            isOver = true
            return [.ended]
        }
        return next(at: now)
    }

    /// Ends it where it is due.
    public mutating func advance(to now: Instant) -> [Output] {
        guard let deadline, now >= deadline else { return [] }
        return end(.timeout, at: now)
    }

    private mutating func next(at now: Instant) -> [Output] {
        guard isOwed, !isAwaitingResponse else { return [] }
        (isOwed, isAwaitingResponse, hasToldEnd) = (false, true, reason != nil)
        return [.notify(reason.map(State.terminated) ?? .active(seconds: Int((expiry - now).wholeMilliseconds / 1_000)))]
    }
}
