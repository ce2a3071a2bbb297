import Foundation
import Primitives

// Requests: refused as a whole, or accepted and on their way to the delegate.

extension CallSystemState {
    /// A wish of the local user.
    /// - Parameters:
    ///   - transaction: the wish.
    ///   - app: whose wish it is; nil: that of any.
    ///   - isFree: false when one of its actions is complete, or it or a copy of it is held by another request or twice in this one.
    ///   - now: the time of it.
    mutating func request(_ transaction: CallTransaction, by app: String?, isFree: Bool, at now: Instant) {
        note(.transactionRequested(transaction))
        switch preflight(transaction, by: app, isFree: isFree) {
        case .refused(let code):
            note(.transactionRefused(transaction, code))
            put(.answer(CXErrorCodeRequestTransactionError(code)))
        case .accepted(let provider, let steps):
            note(.transactionAccepted(transaction))
            put(.answer(nil))
            accept(transaction, steps, provider: provider)
            // The others are held before the call is started, answered or resumed.
            holdOthers(for: transaction.actions, at: now)
            put(.deliver(transaction.uuid, provider))
        }
    }

    /// A wish of the system itself, which is not checked.
    mutating func issue(
        _ wishes: [(call: UUID, kind: CallAction.Kind)], cause: SystemCause, provider: ProviderNumber, at now: Instant
    ) {
        let actions = wishes.map { CallAction(uuid: identify(), call: $0.call, kind: $0.kind, created: now) }
        let transaction = CallTransaction(uuid: identify(), actions: actions)
        let steps = actions.map { action in
            action.call.map { plan(action.kind, of: $0, provider: provider, group: nil) }
        }
        note(.systemTransaction(transaction, cause))
        put(.issue(transaction))
        accept(transaction, steps, provider: provider)
        put(.deliver(transaction.uuid, provider))
    }

    private mutating func accept(_ transaction: CallTransaction, _ steps: [Step?], provider: ProviderNumber) {
        transactions[transaction.uuid] = Transaction(
            uuid: transaction.uuid, provider: provider, serial: nextSerial(), actions: transaction.actions)
        for (action, step) in zip(transaction.actions, steps) {
            // Preflight has made sure that every action has a call.
            guard let call = action.call else { continue }
            if case .start(let handle, _) = action.kind {
                create(call, handle: handle, group: step?.group, provider: provider)
            }
            actions[action.uuid] = Action(action, call: call, transaction: transaction.uuid, group: step?.group)
            calls[call]?.outstanding.append(action.uuid)
            clock.set(.action(action.uuid), at: action.created + action.kind.limit)
            if action.kind == .answer || action.kind == .end { clock.cancel(.ring(call)) }
        }
    }

    private mutating func create(_ uuid: UUID, handle: CXHandle, group: Int?, provider: ProviderNumber) {
        let call = Call(uuid: uuid, provider: provider, serial: nextSerial(), isOutgoing: true, isStarted: false)
        call.handle = handle
        calls[uuid] = call
        providers[provider]?.groups.move(uuid, to: group)
    }

    /// Does to the planned groups what an accepted action will do.
    /// - Parameter group: the one that it makes, where that is decided already.
    mutating func plan(_ kind: CallAction.Kind, of call: UUID, provider: ProviderNumber, group: Int?) -> Step {
        guard let provider = providers[provider] else { return Step(group: group, before: nil) }
        let present = provider.planned.group(of: call)
        switch kind {
        case .start where present == nil:
            let fresh = group ?? newGroup()
            provider.planned.move(call, to: fresh)
            return Step(group: fresh, before: present)
        case .group(nil):
            guard let present, provider.planned.size(of: present) > 1 else { return Step(group: group, before: present) }
            let fresh = group ?? newGroup()
            provider.planned.move(call, to: fresh)
            return Step(group: fresh, before: present)
        case .group(let other?):
            if present != nil, let target = provider.planned.group(of: other) { provider.planned.move(call, to: target) }
        case .end:
            provider.planned.move(call, to: nil)
        default: break
        }
        return Step(group: group, before: present)
    }

    func plannedGroup(_ call: UUID, of provider: ProviderNumber) -> Int? { providers[provider]?.planned.group(of: call) }
}

extension CallAction.Kind {
    /// From creation to the deadline.
    var limit: Duration {
        switch self {
        case .start: .seconds(600)
        case .answer: .seconds(60)
        default: .seconds(5)
        }
    }
}
