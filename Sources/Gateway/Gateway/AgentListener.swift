import Primitives
import SIP
import UserAgent

/// The delegate of the user agent, which passes its events on to the gateway. An agent holds its delegate weakly, and what is held weakly
/// is retained and let go the slow way by everybody.
final class AgentListener: UserAgentDelegate {
    /// The gateway, which keeps this listener.
    private unowned let gateway: Gateway

    init(_ gateway: Gateway) { self.gateway = gateway }

    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        gateway.userAgent(agent, incoming: session, at: now)
    }

    func userAgent(_ agent: UserAgent, admits request: Message, over flow: Flow, at now: Instant) -> UserAgent.Admission {
        gateway.userAgent(agent, admits: request, over: flow, at: now)
    }

    func userAgent(_ agent: UserAgent, answersMalformedOver flow: Flow, at now: Instant) -> Bool {
        gateway.userAgent(agent, answersMalformedOver: flow, at: now)
    }

    func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool {
        gateway.userAgent(agent, handle: request, over: flow, transaction: transaction, at: now)
    }
}
