import CallJournal
import Foundation
import Gateway
import HTTP
import Primitives

/// Transactions that were asked for by HTTP: what became of each, and who waits for it. A request that comes again gets the same outcome.
///
/// Lane-confined. Outcomes are kept for an hour, of the last ten thousand.
final class TransactionDesk {
    static let keepTime = Duration.seconds(3_600), most = 10_000
    /// Outcomes of actions whose receipt has not come yet.
    private static let mostEarly = 1_000
    /// Until the gateway has said whether it takes a transaction: it does not run where it has not said so by then.
    static let answerTime = Duration.seconds(5)

    enum ActionState: String, Encodable, CaseIterable { case accepted, fulfilled, failed, timedOut }

    private struct Waiter {
        let level: WaitLevel
        let due: Instant
        let responder: HTTPResponder
    }

    private struct Entry {
        let order: TransactionOrder
        let since: Instant
        var result: Result<TransactionReceipt, TransactionOrderError>?
        var states: [UUID: ActionState] = [:]
        var waiters: [Waiter] = []

        /// When a waiter is answered at the latest: not before the gateway has said whether it takes the transaction.
        func due(_ waiter: Waiter) -> Instant {
            result == nil ? max(waiter.due, since + TransactionDesk.answerTime) : waiter.due
        }
    }

    struct Body: Encodable {
        struct Action: Encodable {
            var id: UUID, type: String, call: UUID, state: ActionState
        }

        /// `accepted`, `performed`, or `failed` where an action was not fulfilled.
        var state: String
        var id: UUID, line: String, position: String?
        var actions: [Action]
    }

    private let hub: EventHub
    private var entries: [String: Entry] = [:]
    private var order = FIFO<(key: String, since: Instant)>()
    private var early: [UUID: ActionState] = [:]
    /// Keys of the transactions of actions that are not done, by action.
    private var keys: [UUID: String] = [:]
    /// Transactions that somebody waits for.
    private var waiting: Set<String> = []
    /// Transactions whose receipt has not come.
    private var unanswered = 0

    init(_ hub: EventHub) { self.hub = hub }

    /// When a waiter's patience ends next.
    var deadline: Instant? { waiting.lazy.compactMap { self.entries[$0] }.flatMap { $0.waiters.map($0.due) }.min() }

    /// Asks for a transaction, or joins those who wait for the same.
    ///
    /// - Parameters:
    ///   - key: what makes it the same.
    ///   - send: hands it to the gateway; its completion comes by `note(_:of:at:)`.
    func request(
        _ order: TransactionOrder, key: String, wait level: WaitLevel, within patience: Duration, _ responder: HTTPResponder,
        at now: Instant,
        send: () -> Void
    ) {
        forgetOld(at: now)
        let waiter = Waiter(level: level, due: now + patience, responder: responder)
        if let entry = entries[key] {
            guard entry.order == order else {
                let problem = Problem(.conflict, "idempotencyConflict", "another transaction was asked for under this identifier")
                return responder.reply(problem.reply, at: now)
            }
            entries[key]?.waiters.append(waiter)
            waiting.insert(key)
            return settle(key, at: now)
        }
        entries[key] = Entry(order: order, since: now, waiters: [waiter])
        self.order.append((key, now))
        waiting.insert(key)
        unanswered += 1
        send()
    }

    /// The gateway took a transaction, or did not.
    func note(_ result: Result<TransactionReceipt, TransactionOrderError>, of key: String, at now: Instant) {
        unanswered -= 1
        if case .success(let receipt) = result {
            for action in receipt.actions {
                let state = early.removeValue(forKey: action.id) ?? .accepted
                entries[key]?.states[action.id] = state
                if state == .accepted { keys[action.id] = key }
            }
        }
        entries[key]?.result = result
        if unanswered == 0 { early = [:] }
        settle(key, at: now)
    }

    /// An action was done. It may be one of a transaction whose receipt is still on its way.
    func note(_ event: borrowing JournalEvent) {
        let state: ActionState
        switch event.kind {
        case .actionFulfilled: state = .fulfilled
        case .actionFailed: state = .failed
        case .actionTimedOut: state = .timedOut
        default: return
        }
        guard let action = event.details.uuid(.action)?.uuid else { return }
        if let key = keys.removeValue(forKey: action) {
            entries[key]?.states[action] = state
        } else if unanswered > 0, early.count < Self.mostEarly {
            early[action] = state
        }
    }

    /// Something has happened that somebody may wait for, or it is late.
    func advance(to now: Instant) { for key in waiting { settle(key, at: now) } }

    /// The outcome of a transaction; nil where it is not known, or not any more.
    func outcome(of key: String, _ grant: AccessGrant) -> HTTPReply? {
        guard let entry = entries[key] else { return nil }
        if case .success(let receipt) = entry.result, !grant.covers(receipt.line) { return nil }
        return reply(to: entry, .accepted)
    }

    /// Answers those who have waited long enough.
    private func settle(_ key: String, at now: Instant) {
        guard let entry = entries[key], !entry.waiters.isEmpty else { return }
        var left: [Waiter] = []
        for waiter in entry.waiters {
            let reply = reply(to: entry, waiter.level) ?? (entry.due(waiter) <= now ? late(entry) : nil)
            if let reply { waiter.responder.reply(reply, at: now) } else { left.append(waiter) }
        }
        entries[key]?.waiters = left
        if left.isEmpty { waiting.remove(key) }
    }

    /// nil: what is waited for has not happened.
    private func reply(to entry: Entry, _ level: WaitLevel) -> HTTPReply? {
        switch entry.result {
        case nil: return nil
        case .failure(let error): return Problem(error).reply
        case .success(let receipt):
            let states = receipt.actions.map { entry.states[$0.id] ?? .accepted }
            let isPerformed = !states.contains(.accepted)
            switch level {
            case .accepted: break
            case .performed: guard isPerformed, zip(receipt.actions, states).allSatisfy(isTold) else { return nil }
            case .connected:
                // A start that failed has no call to wait for.
                guard isPerformed, states.contains(where: { $0 != .fulfilled }) || receipt.actions.allSatisfy({ isDecided($0.call) }) else {
                    return nil
                }
            }
            return JSONBody.reply(isPerformed ? .ok : .accepted, body(receipt, states))
        }
    }

    /// A read that follows sees what the action did: a call's end is an event of its own, after the fulfilment.
    private func isTold(_ action: TransactionReceipt.Action, _ state: ActionState) -> Bool {
        guard state == .fulfilled, action.name == TransactionOrder.Action.end(action.call).name else { return true }
        return hub.view.calls[CallUUID(action.call)].map { $0.phase == .ended } ?? true
    }

    /// The call is connected, or over.
    private func isDecided(_ call: UUID) -> Bool {
        guard let phase = hub.view.calls[CallUUID(call)]?.phase else { return true }
        return phase == .connected || phase == .ended
    }

    private func late(_ entry: Entry) -> HTTPReply {
        guard case .success(let receipt) = entry.result else { return Problem.notRunning.reply }
        return JSONBody.reply(.accepted, body(receipt, receipt.actions.map { entry.states[$0.id] ?? .accepted }))
    }

    private func body(_ receipt: TransactionReceipt, _ states: [ActionState]) -> Body {
        let state = states.contains(.accepted) ? "accepted" : states.allSatisfy { $0 == .fulfilled } ? "performed" : "failed"
        return Body(
            state: state, id: receipt.id, line: receipt.line.description, position: hub.position?.description,
            actions: zip(receipt.actions, states).map { .init(id: $0.id, type: $0.name, call: $0.call, state: $1) })
    }

    private func forgetOld(at now: Instant) {
        while let oldest = order.first, order.count >= Self.most || oldest.since + Self.keepTime <= now {
            _ = order.popFirst()
            waiting.remove(oldest.key)
            let entry = entries.removeValue(forKey: oldest.key)
            for action in entry?.states.keys.map(\.self) ?? [] { keys[action] = nil }
            for waiter in entry?.waiters ?? [] { waiter.responder.reply(Problem.notRunning.reply, at: now) }
        }
    }
}
