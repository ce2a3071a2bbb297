import Primitives
import SIP

/// Caller: a dialog that a provisional response made (RFC 3261 §12.1), and what its reliable ones said (RFC 3262 §4).
struct EarlyDialog {
    var dialog: Dialog
    /// The RSeq of the last reliable response that was taken.
    private(set) var lastReliable: UInt32?
    /// Offer and answer are complete: one of the two was in a reliable response, and the other went with the INVITE or the PRACK.
    var isAgreed = false

    init(_ dialog: Dialog) { self.dialog = dialog }

    /// Only the next one in order: what comes again, or too early, is not acknowledged.
    mutating func takes(_ sequence: UInt32) -> Bool {
        if let lastReliable, sequence != lastReliable &+ 1 { return false }
        lastReliable = sequence
        return true
    }
}

/// Callee: a reliable provisional response that is repeated until its PRACK (RFC 3262 §3).
final class UnacknowledgedProvisional {
    let sequence: UInt32
    let bytes: [UInt8]
    /// It holds our offer, and so the PRACK holds the answer; the 2xx waits for that.
    let holdsOffer: Bool
    /// It holds a description, and so the 2xx waits for the PRACK.
    let holdsDescription: Bool
    var interval: Duration
    /// nil when it is not repeated any more.
    var due: Instant?
    let limit: Instant

    init(sequence: UInt32, bytes: [UInt8], holdsOffer: Bool, holdsDescription: Bool, interval: Duration, at now: Instant, limit: Instant) {
        (self.sequence, self.bytes, self.holdsOffer, self.holdsDescription) = (sequence, bytes, holdsOffer, holdsDescription)
        (self.interval, due, self.limit) = (interval, now + interval, limit)
    }
}

/// Callee: a response that waits for the PRACK of the one before.
final class WaitingResponse {
    let status: Int
    let reason: Text?
    let headers: [(HeaderName, Text)]
    let body: [UInt8]

    init(status: Int, reason: Text?, headers: [(HeaderName, Text)], body: [UInt8]) {
        (self.status, self.reason, self.headers, self.body) = (status, reason, headers, body)
    }
}

// Caller.
extension InviteSession {
    /// Whether a provisional response is to be looked at: one that is not reliable, or the next reliable one of its dialog.
    func takesInOrder(_ response: Message) -> Bool {
        guard let sequence = response.reliableSequence else { return true }
        guard let tag = response.to.tag, let index = caller.earlyDialogs.firstIndex(where: { $0.dialog.remoteTag == tag }) else {
            return false
        }
        guard caller.earlyDialogs[index].takes(sequence) else { return false }
        if !response.content.isEmpty { caller.earlyDialogs[index].isAgreed = true }
        caller.provisionalToAcknowledge = Boxed((tag.detached, ResponseAcknowledgement(response: sequence, cseq: response.cseq)))
        return true
    }

    /// Sends the PRACK of the reliable response that was delivered last (`.provisional`), with the answer where that held an offer.
    ///
    /// A response that the delegate does not acknowledge inside of the event is acknowledged below, without a body.
    public func acknowledgeProvisional(body: [UInt8] = [], at now: Instant) {
        guard let (tag, acknowledgement) = caller.provisionalToAcknowledge?.value, state == .inviting else { return }
        caller.provisionalToAcknowledge = nil
        let exchange = makeExchange(.prack, early: tag, at: now) {
            $0.headers.append(.rack, acknowledgement.value)
            $0.setOffer(body)
        }
        // Whatever becomes of it, the INVITE goes on (RFC 3262 §4).
        exchange?.start(at: now) { _, _ in }
    }
}

// Callee.
extension InviteSession {
    /// The INVITE wants its provisional responses acknowledged, or may have them so and we like that: not where the first of them would
    /// have to hold our offer (RFC 3261 §13.2.1).
    public var ringsReliably: Bool {
        if request.headers.lists("100rel", in: .require) { return true }
        return agent.configuration.reliability == .whenSupported && !request.content.isEmpty
            && request.headers.lists("100rel", in: .supported)
    }

    /// RFC 3262 §3: one at a time, repeated with ever longer intervals until the PRACK.
    func sendReliably(_ response: WaitingResponse, over transaction: ServerTransaction, at now: Instant) {
        guard callee.unpracked?.due == nil else { return callee.waitingProvisional = response }
        callee.responseSequence = callee.responseSequence == 0 ? agent.makeSequence() : callee.responseSequence + 1
        let headers: [(HeaderName, Text)] = [(.require, "100rel"), (.rseq, Text(callee.responseSequence))] + response.headers
        send(response.status, response.reason, headers, response.body, over: transaction, at: now)
        let timers = agent.configuration.timers
        callee.unpracked = UnacknowledgedProvisional(
            sequence: callee.responseSequence, bytes: transaction.lastResponse,
            holdsOffer: !response.body.isEmpty && request.content.isEmpty && !callee.isEarlyAgreed,
            holdsDescription: !response.body.isEmpty,
            interval: timers.t1, at: now, limit: now + timers.timeout)
        if !response.body.isEmpty, !request.content.isEmpty { callee.isEarlyAgreed = true }
    }

    func repeatUnpracked(at now: Instant) {
        guard let waiting = callee.unpracked, let due = waiting.due, now >= min(due, waiting.limit), let transaction = callee.transaction
        else {
            return
        }
        guard now < waiting.limit else {
            callee.unpracked = nil
            return emit(.provisionalTimeout, at: now)
        }
        waiting.interval = waiting.interval * 2
        waiting.due = now + waiting.interval
        traceAgain(waiting.bytes, at: now)
        agent.network.send(waiting.bytes, over: transaction.responseFlow)
    }

    /// RFC 3262 §3, §5. A PRACK that acknowledges nothing gets 481; its body is our offer's answer, or an offer.
    func receivePrack(_ prack: Message, _ transaction: ServerTransaction, at now: Instant) {
        guard role == .callee, let waiting = callee.unpracked, let named = prack.responseAcknowledgement,
            named.response == waiting.sequence,
            named.cseq == request.cseq
        else { return agent.respond(transaction, Refusal(481), at: now) }
        callee.unpracked = nil
        if waiting.holdsOffer {
            callee.isEarlyAgreed = !prack.content.isEmpty
            agent.respond(transaction, Refusal(200), at: now)
            emit(.acknowledged(body: prack.content.isEmpty ? nil : prack.body), at: now)
        } else if prack.content.isEmpty {
            agent.respond(transaction, Refusal(200), at: now)
        } else {
            receiveOffer(prack, transaction, at: now)
        }
        sendWaiting(at: now)
        refreshAlarm()
    }

    private func sendWaiting(at now: Instant) {
        if let acceptance = callee.waitingAcceptance {
            callee.waitingAcceptance = nil
            respond(status: acceptance.status, reason: acceptance.reason, headers: acceptance.headers, body: acceptance.body, at: now)
        } else if let provisional = callee.waitingProvisional, state == .inviting, let transaction = callee.transaction {
            callee.waitingProvisional = nil
            sendReliably(provisional, over: transaction, at: now)
        }
    }
}
