import Primitives
import SIP

/// Decides what happens with requests from the network. Called on the lane of the agent, in wire order.
public protocol UserAgentDelegate: AnyObject {
    /// A new INVITE outside of a dialog (`session.request`), for which nothing was sent yet: not even the 100.
    ///
    /// Set `session.delegate` and answer through `session.respond`, now or later. Merged and looping requests, unknown
    /// extensions and body types, and Max-Forwards 0 were refused before. The INVITE itself is not traced: this call is its trace.
    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant)

    /// Whether a new request outside of a dialog is dealt with at all. Asked before anything is kept of it.
    func userAgent(_ agent: UserAgent, admits request: Message, over flow: Flow, at now: Instant) -> UserAgent.Admission

    /// Whether who sent a request that cannot be read is told so.
    func userAgent(_ agent: UserAgent, answersMalformedOver flow: Flow, at now: Instant) -> Bool

    /// Any other request outside of a dialog whose method is allowed: REGISTER, OPTIONS, MESSAGE ...
    ///
    /// - Returns: true when it was answered, or will be, through `agent.respond(to:…)`; false for the default answer:
    ///   200 to OPTIONS, 405 to others. A SUBSCRIBE may be accepted by `EventSubscription.accept`.
    func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool
}

extension UserAgent {
    /// The treatment of a new request when many come.
    public enum Admission: Hashable, Sendable {
        /// It is dealt with.
        case admitted
        /// 503 with this Retry-After in seconds, without a transaction.
        case refused(retryAfter: Int)
        /// Nothing is said.
        case ignored
    }
}

extension UserAgentDelegate {
    public func userAgent(_ agent: UserAgent, admits request: Message, over flow: Flow, at now: Instant) -> UserAgent.Admission {
        .admitted
    }

    public func userAgent(_ agent: UserAgent, answersMalformedOver flow: Flow, at now: Instant) -> Bool { true }

    public func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool { false }
}
