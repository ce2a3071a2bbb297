import Primitives
import SIP

/// One request of ours, sent again with credentials when it is challenged: RFC 3261 §22.2, §22.3.
///
/// A challenge is answered once, and once more when it only says that the nonce is stale. The user sees neither the challenge nor
/// the end of the transaction that it answered.
final class Exchange {
    /// The request that is on its way now.
    private(set) var request: Message
    private(set) var transaction: ClientTransaction?
    /// Cleared when the user has lost interest: a challenge is final then.
    var mayRetry = true
    /// How long an INVITE waits for its final response; nil waits as long as there are provisional ones.
    var patience: Duration?
    private let flow: Flow
    private let credentials: Credentials?
    private let session: InviteSession?
    private unowned let agent: UserAgent
    private let takeSequence: () -> UInt32
    private var attempts = 0
    private var handler: ((ClientOutcome, Instant) -> Void)?

    init(
        _ request: Message, over flow: Flow, credentials: Credentials?, session: InviteSession?, agent: UserAgent,
        takeSequence: @escaping () -> UInt32
    ) {
        (self.request, self.flow, self.credentials, self.session, self.agent) = (request, flow, credentials, session, agent)
        self.takeSequence = takeSequence
    }

    /// Sends the request. Every outcome but those of answered challenges goes to the handler, the last one is `.terminated`.
    func start(at now: Instant, handler: @escaping (ClientOutcome, Instant) -> Void) {
        self.handler = handler
        send(at: now)
    }

    private func send(at now: Instant) {
        attempts += 1
        let attempt = attempts
        let transaction = agent.transact(request, over: flow, session: session, at: now) { outcome, now in
            if attempt == self.attempts { self.receive(outcome, at: now) }
        }
        self.transaction = transaction
        if let patience { agent.limit(transaction, to: now + patience) }
    }

    private func receive(_ outcome: ClientOutcome, at now: Instant) {
        if case .response(let response, _) = outcome, retry(after: response, at: now) { return }
        let handler = handler
        if case .terminated = outcome { (self.handler, transaction) = (nil, nil) }
        handler?(outcome, now)
    }

    private func retry(after response: Message, at now: Instant) -> Bool { false }
}
