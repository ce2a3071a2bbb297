import Foundation
import Primitives

// Requests: refused as a whole, or accepted and on their way to the delegate.

extension CallSystemState {
    /// A wish of the local user.
    /// - Parameter isFree: false when one of its actions is complete, or it or a copy of it is held by another request or twice in this one.
    mutating func request(_ transaction: CallTransaction, isFree: Bool, at now: Instant) -> [Output] {
        var outputs: [Output] = [.event(.transactionRequested(transaction))]
        switch preflight(transaction, isFree: isFree) {
        case .refused(let code):
            outputs += [
                .event(.transactionRefused(transaction, code)), .answer(CXErrorCodeRequestTransactionError(code)),
            ]
        case .accepted(let provider, let groups):
            outputs += [.event(.transactionAccepted(transaction)), .answer(nil)]
            accept(transaction, groups: groups, provider: provider)
            // The others are held before the call is started, answered or resumed.
            holdOthers(for: transaction.actions, at: now, into: &outputs)
            outputs.append(.deliver(transaction.uuid, provider))
        }
        return outputs
    }

    /// A wish of the system itself, which is not checked.
    mutating func issue(
        _ wishes: [(call: UUID, kind: CallAction.Kind)], cause: SystemCause, provider: ProviderNumber, at now: Instant,
        into outputs: inout [Output]
    ) {
        let actions = wishes.map { CallAction(uuid: identify(), call: $0.call, kind: $0.kind, created: now) }
        let transaction = CallTransaction(uuid: identify(), actions: actions)
        let groups = actions.map { action in
            action.call.flatMap { plan(action.kind, of: $0, provider: provider, group: nil).group }
        }
        outputs += [.event(.systemTransaction(transaction, cause)), .issue(transaction)]
        accept(transaction, groups: groups, provider: provider)
        outputs.append(.deliver(transaction.uuid, provider))
    }

    private mutating func accept(_ transaction: CallTransaction, groups: [Int?], provider: ProviderNumber) {
        transactions[transaction.uuid] = Transaction(
            uuid: transaction.uuid, provider: provider, serial: nextSerial(), actions: transaction.actions.map(\.uuid), incomplete: transaction.actions.count)
        for (action, group) in zip(transaction.actions, groups) {
            // Preflight has made sure that every action has a call.
            guard let call = action.call else { continue }
            if case .start(let handle, _) = action.kind {
                create(call, handle: handle, group: group, provider: provider)
            }
            actions[action.uuid] = Action(action: action, call: call, transaction: transaction.uuid, group: group)
            calls[call]?.outstanding.append(action.uuid)
            clock.set(.action(action.uuid), at: action.created + action.kind.limit)
            if action.kind == .answer || action.kind == .end { clock.cancel(.ring(call)) }
        }
    }

    private mutating func create(_ uuid: UUID, handle: CXHandle, group: Int?, provider: ProviderNumber) {
        var call = Call(uuid: uuid, provider: provider, serial: nextSerial(), isOutgoing: true, isStarted: false)
        call.handle = handle
        calls[uuid] = call
        providers[provider]?.groups.move(uuid, to: group)
    }

    /// What an accepted action will do to the groups. Returns the group that it made, and where the call was before.
    mutating func plan(
        _ kind: CallAction.Kind, of call: UUID, provider: ProviderNumber, group: Int?
    ) -> (group: Int?, before: Int?) {
        // No copy of the groups may live on here: they would be copied for good when they change.
        let present = plannedGroup(call, of: provider)
        switch kind {
        case .start where present == nil:
            let fresh = group ?? newGroup()
            providers[provider]?.planned.move(call, to: fresh)
            return (fresh, present)
        case .group(nil):
            guard let present, providers[provider]?.planned.size(of: present) ?? 0 > 1 else { return (group, present) }
            let fresh = group ?? newGroup()
            providers[provider]?.planned.move(call, to: fresh)
            return (fresh, present)
        case .group(let other?):
            if present != nil, let target = plannedGroup(other, of: provider) { providers[provider]?.planned.move(call, to: target) }
        case .end:
            providers[provider]?.planned.move(call, to: nil)
        default: break
        }
        return (group, present)
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
