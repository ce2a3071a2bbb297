import Foundation

// Whether a transaction is accepted. All or nothing: a refused one leaves no trace.

extension CallSystemState {
    enum Verdict {
        case refused(CXErrorCodeRequestTransactionError.Code)
        /// With the group that each action makes, if any. The planned groups have changed already.
        case accepted(ProviderNumber, groups: [Int?])
    }

    /// Empty, then no provider, then action by action. Groups are counted as they will be after the whole transaction.
    mutating func preflight(_ transaction: CallTransaction, isFree: Bool) -> Verdict {
        guard !transaction.actions.isEmpty else { return .refused(.emptyTransaction) }
        guard let number = provider(for: transaction), let before = providers[number]?.planned.count else {
            return .refused(.unknownCallProvider)
        }
        let steps = transaction.actions.map { action in
            action.call.map { (call: $0, plan(action.kind, of: $0, provider: number, group: nil)) }
        }
        var started: Set<UUID> = [], answered: Set<UUID> = []
        for action in transaction.actions {
            let code = refusal(
                of: action, provider: number, groupsBefore: before, started: &started, answered: &answered)
            guard let code = code ?? (isFree ? nil : .invalidAction) else { continue }
            for case let step? in steps.reversed() { providers[number]?.planned.move(step.call, to: step.1.before) }
            return .refused(code)
        }
        return .accepted(number, groups: steps.map { $0?.1.group })
    }

    /// The provider that owns the first known call; for new calls the one that registered last.
    private func provider(for transaction: CallTransaction) -> ProviderNumber? {
        let owner = transaction.actions.lazy.compactMap { $0.call.flatMap { self.calls[$0]?.provider } }.first
        guard let number = owner ?? providers.numbers.max(), providers[number] != nil else { return nil }
        return number
    }

    private func refusal(
        of action: CallAction, provider number: ProviderNumber, groupsBefore: Int, started: inout Set<UUID>,
        answered: inout Set<UUID>
    ) -> CXErrorCodeRequestTransactionError.Code? {
        guard let uuid = action.call, let provider = providers[number] else { return .invalidAction }
        // A transaction may not carry the count beyond the limit; one that adds no group is never refused for it.
        let addsTooMany = provider.planned.count > max(provider.limits.groups, groupsBefore)
        if case .start = action.kind {
            guard calls[uuid] == nil, started.insert(uuid).inserted else { return .callUUIDAlreadyExists }
            return addsTooMany ? .maximumCallGroupsReached : nil
        }
        if let code = refusalOfCall(uuid, provider: number, started: started) { return code }
        let call = calls[uuid]
        switch action.kind {
        case .answer:
            // A call is answered once: not when it is connected, nor while an answer is under way.
            guard let call, call.isRinging, !isBeingAnswered(call), answered.insert(uuid).inserted else { return .invalidAction }
        case .hold(let onHold):
            // A held call may always come back.
            guard call.map({ $0.supportsHolding || !onHold && $0.isOnHold }) ?? true else { return .invalidAction }
        case .tones: guard call?.supportsDTMF ?? true else { return .invalidAction }
        case .group(let other):
            if let code = refusalOfGroup(uuid, with: other, provider: number, started: started) { return code }
            return addsTooMany ? .maximumCallGroupsReached : nil
        case .translate:
            guard provider.limits.translation, call?.isConnected ?? false else { return .invalidAction }
        case .start, .end, .mute, .other: break
        }
        return nil
    }

    private func refusalOfCall(
        _ uuid: UUID, provider: ProviderNumber, started: Set<UUID>
    ) -> CXErrorCodeRequestTransactionError.Code? {
        guard let call = calls[uuid] else { return started.contains(uuid) ? nil : .unknownCallUUID }
        return call.provider == provider ? nil : .unknownCallProvider
    }

    private func refusalOfGroup(
        _ uuid: UUID, with other: UUID?, provider number: ProviderNumber, started: Set<UUID>
    ) -> CXErrorCodeRequestTransactionError.Code? {
        guard let provider = providers[number] else { return .unknownCallProvider }
        let target = provider.planned.group(of: uuid)
        if let other {
            if let code = refusalOfCall(other, provider: number, started: started) { return code }
            guard other != uuid, calls[uuid]?.supportsGrouping ?? true, calls[other]?.supportsGrouping ?? true,
                target.map({ provider.planned.size(of: $0) <= provider.limits.callsPerGroup }) ?? true
            else { return .invalidAction }
        }
        let present = provider.groups.group(of: uuid)
        let leaves = present.map { $0 != target && provider.groups.size(of: $0) > 1 } ?? false
        return !leaves || calls[uuid]?.supportsUngrouping ?? true ? nil : .invalidAction
    }

    private func isBeingAnswered(_ call: Call) -> Bool {
        call.outstanding.contains { actions[$0]?.action.kind == .answer }
    }
}
