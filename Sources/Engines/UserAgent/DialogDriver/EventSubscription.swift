import Primitives
import SIP

/// A subscription of a peer to an event of ours: its dialog, the SUBSCRIBEs that refresh it, and the NOTIFYs (RFC 6665 §4.2).
///
/// The agent keeps it until it has ended. Lives on the lane of its agent.
public final class EventSubscription {
    /// The content of a NOTIFY.
    public struct Content {
        /// The media type.
        public var type: Text
        /// The body, as the type says.
        public var body: [UInt8]

        public init(type: Text, body: [UInt8]) { (self.type, self.body) = (type, body) }
    }

    /// The state that is subscribed to; asked when a NOTIFY is sent.
    public var content: (() -> Content)?
    /// Whether a refresh is granted; nil: each one. One that is not is answered 403, and ends the subscription.
    public var admitsRefresh: (() -> Bool)?
    /// Told when it has ended, whoever ended it.
    public var onEnd: (() -> Void)?
    private let event: Text
    private let user: Text?
    private var dialog: Dialog
    private var flow: Flow
    private var machine: Subscription
    private let alarm = Alarm()
    private unowned let agent: UserAgent

    private init(_ event: Text, user: Text?, _ dialog: Dialog, over flow: Flow, agent: UserAgent, at now: Instant) {
        (self.event, self.user, self.dialog, self.flow, self.agent) = (event, user, dialog, flow, agent)
        machine = Subscription(at: now)
        alarm.ring = { [unowned self] now in perform(machine.advance(to: now), at: now) }
    }

    /// Accepts a SUBSCRIBE outside of dialogs that the agent's delegate was given: 200, and a NOTIFY at once.
    /// - Parameters:
    ///   - prepare: sets what the subscription needs, before its first NOTIFY.
    /// - Returns: nil where it cannot be accepted, and was refused: no usable Contact (400), too short (423), no room (503).
    @discardableResult
    public static func accept(
        _ request: Message, over flow: Flow, _ id: ServerTransactionID, by agent: UserAgent, at now: Instant,
        prepare: (EventSubscription) -> Void
    ) -> EventSubscription? {
        guard let transaction = agent.serverTransactions[id], let event = request.headers[.event]?.detached else { return nil }
        guard agent.subscriptions.count < agent.configuration.maximumSubscriptions else {
            agent.refusals.subscriptions += 1
            agent.respond(transaction, Refusal(503, headers: [(.retryAfter, agent.makeRetryAfter())]), at: now)
            return nil
        }
        guard let seconds = Subscription.granted(request.headers[.expires]?.integer()) else {
            agent.respond(transaction, tooBrief, at: now)
            return nil
        }
        let isSecure = flow.transport.isSecure, tag = transaction.toTag
        guard var dialog = Dialog(callee: request, localTag: tag, sequence: agent.makeSequence(), overTLS: isSecure) else {
            agent.respond(transaction, Refusal(400, reason: "Missing Contact Or Unusable Record-Route"), at: now)
            return nil
        }
        dialog.confirm()
        let user = request.to.uri.user?.detached
        let subscription = EventSubscription(event, user: user, dialog, over: flow, agent: agent, at: now)
        agent.subscriptions[tag] = subscription
        prepare(subscription)
        subscription.renew(seconds, transaction, at: now)
        return subscription
    }

    /// There is something new to tell.
    public func changed(at now: Instant) { perform(machine.changed(at: now), at: now) }

    /// Ends it, with a last NOTIFY.
    public func end(_ reason: Subscription.Reason, at now: Instant) { perform(machine.end(reason, at: now), at: now) }

    /// Whether a request is of its dialog.
    func matches(_ request: Message) -> Bool { machine.isActive && dialog.matches(request) }

    /// A request of its dialog that nothing general is wrong with.
    func receive(_ request: Message, _ transaction: ServerTransaction, over flow: Flow, at now: Instant) {
        guard dialog.admit(request) else { return agent.respond(transaction, Refusal(500, reason: "Out Of Order"), at: now) }
        guard request.method == .subscribe else { return agent.respond(transaction, Refusal(481), at: now) }
        guard let seconds = Subscription.granted(request.headers[.expires]?.integer()) else {
            return agent.respond(transaction, Self.tooBrief, at: now)
        }
        guard seconds == 0 || admitsRefresh?() != false else {
            agent.respond(transaction, Refusal(403), at: now)
            return end(.rejected, at: now)
        }
        dialog.refreshTarget(by: request)
        self.flow = flow
        renew(seconds, transaction, at: now)
    }

    private static let tooBrief = Refusal(423, headers: [(.minExpires, Text(Subscription.shortest))])

    private func renew(_ seconds: Int, _ transaction: ServerTransaction, at now: Instant) {
        agent.respond(transaction, Refusal(200, headers: [(.expires, Text(seconds)), (.contact, contact(over: flow).text)]), at: now)
        perform(machine.renew(seconds: seconds, at: now), at: now)
    }

    private func contact(over flow: Flow) -> NameAddress {
        agent.makeContact(user: user, over: flow, isSecure: dialog.isSecure)
    }

    private func perform(_ outputs: [Subscription.Output], at now: Instant) {
        agent.alarms.set(alarm, to: machine.deadline)
        for output in outputs {
            switch output {
            case .notify(let state): notify(state, at: now)
            case .ended:
                agent.subscriptions[dialog.localTag] = nil
                onEnd?()
            }
        }
    }

    private func notify(_ state: Subscription.State, at now: Instant) {
        let way = agent.way(over: agent.living(flow), to: dialog.nextHop), via = agent.makeVia(for: dialog.nextHop, over: way)
        var request = dialog.request(.notify, sequence: dialog.takeSequence(), via: via, contact: contact(over: way))
        agent.addProduct(to: &request)
        let content = content?() ?? Content(type: "text/plain", body: [])
        request.notify(event, state, contentType: content.type, body: content.body)
        let exchange = ClientRequest(request, over: way, authentication: nil, session: nil, agent: agent) { [self] in dialog.takeSequence()
        }
        exchange.start(at: now) { [self] outcome, now in
            switch outcome {
            case .response(let response, _):
                guard let status = response.status, status >= 200 else { return }
                perform(machine.completed(succeeded: status < 300, at: now), at: now)
            case .timedOut, .transportFailed: perform(machine.completed(succeeded: false, at: now), at: now)
            case .terminated: break
            }
        }
    }
}
