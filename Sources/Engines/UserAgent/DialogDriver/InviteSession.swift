import Primitives
import SIP

/// One call: an INVITE, the dialog that it makes, and everything in it until the end, on either side (RFC 3261 §12–§15).
///
/// The session sends what the protocol dictates (retransmissions, ACKs of refusals, 487, 491, answers to BYE and INFO); what is a
/// decision it leaves to its delegate. Ended is absorbing: its methods do nothing then, and what still comes is answered 481.
public final class InviteSession {
    /// The side that we are: the caller sent the INVITE, the callee received it.
    public enum Role: Hashable, Sendable { case caller, callee }

    /// The progress of the session.
    public enum State: Hashable, Sendable {
        /// No final response yet.
        case inviting
        /// 2xx sent or received; the ACK has not come or not been sent.
        case answered
        /// The ACK has come, or was sent.
        case confirmed
        /// Our BYE is on its way.
        case ending
        /// Absorbing.
        case ended
    }

    /// Hears of everything, and decides. Held weakly.
    public weak var delegate: (any InviteSessionDelegate)?
    /// Our side: the caller sent the INVITE, the callee received it.
    public let role: Role
    /// The Call-ID of the INVITE, and of all requests in its dialogs.
    public let callID: Text
    /// Our tag: From of a caller, To of a callee.
    public let localTag: Text
    /// The progress of the session.
    public internal(set) var state = State.inviting
    /// As received, or as it was last sent.
    var invite: Boxed<Message>
    /// The way of messages to the peer, as far as the dialog's route set and target do not say otherwise.
    public internal(set) var flow: Flow { didSet { agent.noteUse(of: flow, by: self) } }
    /// The dialog. A caller has none until the first 2xx.
    public internal(set) var dialog: Dialog?

    unowned let agent: UserAgent
    /// For challenges; a caller has what came with its INVITE.
    var authentication: ClientAuthentication?
    var contact: NameAddress
    var caller = CallerSide()
    var callee = CalleeSide()
    /// nil: the session needs no refresh.
    var timer: SessionTimer?
    var peerAllowsUpdate = false, peerAllowsInfo = false
    /// Keys that wait to be told by INFO; the first one is on its way.
    var keysToTell: [(key: DTMFPress, completion: ((Instant) -> Void)?)] = []
    /// The peer sent a REFER before.
    var wasReferred = false
    /// REFERs of the peer, by their CSeq numbers, whose subscriptions it has forgotten.
    var forgottenReferrals: Set<UInt32> = []
    /// A REFER of ours has not come to its end, and is not waited for any longer than this.
    var transferLimit: Instant?
    /// Our 2xx that wait for their ACK; more than one only while a re-INVITE overtook an ACK.
    var unacknowledged: [UnacknowledgedResponse] = []
    /// The ACKs that we sent, as long as their 2xx may come again.
    var acknowledgements: [SentAcknowledgement] = []
    /// The CSeq number of a 2xx that the delegate has to acknowledge.
    var awaitedSequence: UInt32?
    /// Our re-INVITE or UPDATE.
    var offer: OutgoingOffer?
    /// Theirs.
    var incomingOffer: ServerTransaction?
    var queuedBye: [Reason]?
    /// Further headers of our BYE.
    var byeHeaders: [(HeaderName, Text)] = []
    /// Caller: the INVITE comes back to its own user agent, as it is meant to.
    public var isToOurselves = false
    private let alarm = Alarm()

    init(
        role: Role, invite: Boxed<Message>, localTag: Text, flow: Flow, contact: NameAddress, authentication: ClientAuthentication?,
        agent: UserAgent
    ) {
        (self.role, self.invite, self.localTag, self.flow, self.contact) = (role, invite, localTag, flow, contact)
        (self.authentication, self.agent, callID) = (authentication, agent, invite.value.callID.detached)
        timer = agent.configuration.sessionTimer.map(SessionTimer.init(policy:))
        alarm.ring = { [unowned self] now in self.ring(at: now) }
        if role == .callee { noteAllowed(in: invite.value) }
    }

    /// The INVITE: as received, or as it was last sent; of a caller's that was accepted without its body.
    public var request: Message { invite.value }

    /// The peer's tag; nil for a caller without an answer.
    public var remoteTag: Text? { dialog?.remoteTag }

    /// Forgets the call without a word, as a peer does whose process died: what comes for it gets 481. For rehearsals.
    package func vanish(at now: Instant) {
        (delegate, callee.unpracked) = (nil, nil)
        // Its 200 may still wait for a PRACK: nobody will answer the INVITE.
        if let transaction = callee.transaction.take() { agent.remove(transaction) }
        finish(at: now)
    }

    /// Lets a callee answer challenges of its requests in the dialog, which a caller does with what came with its INVITE. Not those of a
    /// BYE to who never acknowledged the 2xx.
    public func authenticate(as credentials: Credentials) { authentication = agent.makeAuthentication(credentials) }

    /// Ends the call: BYE.
    ///
    /// A callee whose 2xx has not been acknowledged sends it after the ACK or 64·T1 (§15). Before the answer a caller cancels and a
    /// callee refuses with 480. A caller's 2xx is acknowledged first if it was not yet.
    public func bye(reasons: [Reason] = [], headers: [(HeaderName, Text)] = [], at now: Instant) {
        if !headers.isEmpty { byeHeaders = headers }
        switch (state, role) {
        case (.inviting, .caller): cancel(reasons: reasons, at: now)
        case (.inviting, .callee): respond(status: 480, at: now)
        case (.answered, .callee) where !callee.acknowledgementIsOverdue:
            if queuedBye == nil { queuedBye = reasons }
        case (.answered, .callee), (.confirmed, _): sendBye(reasons, at: now)
        case (.answered, .caller):
            acknowledge(at: now)
            sendBye(reasons, at: now)
        case (.ending, _), (.ended, _): break
        }
    }
}

extension InviteSession {
    /// The message that would end the call now; nil once it was answered or has ended.
    /// - Parameter reasons: its Reason headers (RFC 3326).
    public func lastWord(reasons: [Reason]) -> LastWord? {
        guard state == .inviting else { return nil }
        switch role {
        case .caller:
            guard let transaction = caller.invitation?.transaction else { return nil }
            return LastWord(message: transaction.cancellation(reasons).serialized(), flow: transaction.flow)
        case .callee:
            guard let transaction = callee.transaction, let request = transaction.request else { return nil }
            var refusal = Message.response(to: request, status: 503, reason: nil, toTag: transaction.toTag, contact: nil)
            refusal.add(reasons)
            return LastWord(message: refusal.serialized(), flow: transaction.responseFlow)
        }
    }
}

extension InviteSession {
    func emit(_ event: SessionEvent, at now: Instant) { delegate?.session(self, did: event, at: now) }

    func trace(_ direction: SessionEvent.Direction, _ message: Message, retransmission: Bool, at now: Instant) {
        delegate?.session(self, did: .traced(direction, message, retransmission: retransmission), at: now)
    }

    /// Traces bytes of ours that are sent again.
    func traceAgain(_ bytes: [UInt8], at now: Instant) {
        guard let delegate, let message = try? Message(parsing: bytes) else { return }
        delegate.session(self, did: .traced(.sent, message, retransmission: true), at: now)
    }

    /// The way of a request in this dialog.
    func nextHop(of dialog: Dialog) -> Flow { nextHop(of: dialog, over: flow) }

    /// The way of a request in a dialog that was made over another flow than ours.
    func nextHop(of dialog: Dialog, over flow: Flow) -> Flow { agent.way(over: agent.living(flow), to: dialog.nextHop) }

    /// The session is over: it leaves the agent, and nothing of it waits any more but transactions that end by themselves.
    func finish(at now: Instant) {
        guard state != .ended else { return }
        state = .ended
        agent.endedSessions += 1
        if let unpracked = callee.unpracked {
            agent.latePracks.expect(unpracked.sequence, of: self, until: now + agent.configuration.timers.timeout, at: now)
        }
        (callee.ringing, unacknowledged, queuedBye, awaitedSequence, transferLimit) = (nil, [], nil, nil, nil)
        (callee.unpracked, callee.waitingProvisional, callee.waitingAcceptance, timer) = (nil, nil, nil, nil)
        withdrawOffers(at: now)
        refreshAlarm()
        if agent.sessions[localTag] === self { agent.sessions[localTag] = nil }
    }

    /// Neither side's re-INVITE survives the end: theirs gets 487 (§15.1.2), ours is not waited for longer than 64·T1.
    func withdrawOffers(at now: Instant) {
        if let offer {
            self.offer = nil
            offer.exchange?.mayRetry = false
            if let transaction = offer.exchange?.transaction { agent.limit(transaction, to: now + agent.configuration.timers.timeout) }
        }
        if let transaction = incomingOffer, let request = transaction.request {
            incomingOffer = nil
            agent.respond(transaction, Refusal(487), at: now)
            emit(.offerWithdrawn(OfferRequest(message: request, transaction: transaction.id)), at: now)
        }
    }

    func refreshAlarm() {
        // Whoever has ended is not kept alive for its alarm.
        guard state != .ended else { return agent.alarms.set(alarm, to: nil) }
        var due = callee.ringing?.due
        for response in unacknowledged { due = sooner(due, min(response.due, response.limit)) }
        if case .waiting(let retry) = offer?.state { due = sooner(due, retry) }
        if let waiting = callee.unpracked, let next = waiting.due { due = sooner(due, min(next, waiting.limit)) }
        if let timerDeadline { due = sooner(due, timerDeadline) }
        if let transferLimit { due = sooner(due, transferLimit) }
        if let expiry = callee.expiry, state == .inviting { due = sooner(due, expiry) }
        agent.alarms.set(alarm, to: due)
    }

    private func sooner(_ due: Instant?, _ other: Instant) -> Instant { due.map { min($0, other) } ?? other }

    private func ring(at now: Instant) {
        repeatProvisional(at: now)
        repeatUnacknowledged(at: now)
        repeatUnpracked(at: now)
        retryOffer(at: now)
        expire(at: now)
        giveUpTransfer(at: now)
        advanceTimer(to: now)
        refreshAlarm()
    }
}

/// The state of a session that only a caller has.
struct CallerSide {
    /// Dialogs made by provisional responses.
    var earlyDialogs: [EarlyDialog] = []
    /// The reliable response that waits for its PRACK to be sent.
    var provisionalToAcknowledge: Boxed<(tag: Text, ResponseAcknowledgement)>?
    /// Our INVITE.
    var invitation: ClientRequest?
    var cancellation: Cancellation?
}

/// The state of a session that only a callee has.
struct CalleeSide {
    /// The INVITE, until its final response.
    var transaction: ServerTransaction?
    /// When the INVITE came.
    var arrival = Instant.zero
    /// When the caller does not wait any longer, where its INVITE says so.
    var expiry: Instant?
    var ringing: RepeatedProvisional?
    /// The reliable response that waits for its PRACK, and what waits behind it.
    var unpracked: UnacknowledgedProvisional?
    var waitingProvisional: WaitingResponse?
    var waitingAcceptance: WaitingResponse?
    /// The RSeq of the last reliable response.
    var responseSequence: UInt32 = 0
    /// Offer and answer were exchanged in reliable responses, and a new offer may come before the 2xx.
    var isEarlyAgreed = false
    /// Forks that the caller has early dialogs with.
    var forkCount = 0
    /// 64·T1 went by without the ACK of the first 2xx.
    var acknowledgementIsOverdue = false
}
