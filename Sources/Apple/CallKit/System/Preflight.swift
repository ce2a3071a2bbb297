import Foundation

// Whether a transaction is accepted. All or nothing: a refused one leaves no trace.

extension CallSystemState {
    enum Verdict {
        case refused(CXErrorCodeRequestTransactionError.Code)
        /// With what each action does to the planned groups, which have changed already.
        case accepted(ProviderNumber, [Step?])
    }

    /// The effect of an accepted action on the groups; nil where it is on no call.
    struct Step {
        /// The group that it makes, if any.
        let group: Int?
        /// The group that its call was in before.
        let before: Int?
    }

    /// Empty, then no provider, then action by action. Groups are counted as they will be after the whole transaction.
    mutating func preflight(_ transaction: CallTransaction, by app: String?, isFree: Bool) -> Verdict {
        guard !transaction.actions.isEmpty else { return .refused(.emptyTransaction) }
        guard let number = provider(for: transaction, by: app), let provider = providers[number] else {
            return .refused(.unknownCallProvider)
        }
        let before = provider.planned.count
        let steps = transaction.actions.map { action in
            action.call.map { plan(action.kind, of: $0, provider: number, group: nil) }
        }
        var started: [UUID] = [], answered: [UUID] = []
        for action in transaction.actions {
            let code = refusal(of: action, provider: provider, number, groupsBefore: before, started: &started, answered: &answered)
            guard let code = code ?? (isFree ? nil : .invalidAction) else { continue }
            for (action, step) in zip(transaction.actions, steps).reversed() {
                if let call = action.call, let step { provider.planned.move(call, to: step.before) }
            }
            return .refused(code)
        }
        return .accepted(number, steps)
    }

    /// The provider that owns the first known call; for new calls the one of the app that registered last, or of all where no app is named.
    private func provider(for transaction: CallTransaction, by app: String?) -> ProviderNumber? {
        for action in transaction.actions {
            if let call = action.call, let owner = calls[call]?.provider { return owner }
        }
        guard let app else { return providers.numbers.max() }
        return providers.numbers.filter { providers[$0]?.app == app }.max()
    }

    private func refusal(
        of action: CallAction, provider: Provider, _ number: ProviderNumber, groupsBefore: Int, started: inout [UUID],
        answered: inout [UUID]
    ) -> CXErrorCodeRequestTransactionError.Code? {
        guard let uuid = action.call else { return .invalidAction }
        // A transaction may not carry the count beyond the limit; one that adds no group is never refused for it.
        let addsTooMany = provider.planned.count > max(provider.limits.groups, groupsBefore)
        if case .start = action.kind {
            guard calls[uuid] == nil, !started.contains(uuid) else { return .callUUIDAlreadyExists }
            started.append(uuid)
            return addsTooMany ? .maximumCallGroupsReached : nil
        }
        if let code = refusalOfCall(uuid, provider: number, started: started) { return code }
        let call = calls[uuid]
        switch action.kind {
        case .answer:
            // A call is answered once: not when it is connected, nor while an answer is under way.
            guard let call, call.isRinging, !isBeingAnswered(call), !answered.contains(uuid) else { return .invalidAction }
            answered.append(uuid)
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
        _ uuid: UUID, provider: ProviderNumber, started: [UUID]
    ) -> CXErrorCodeRequestTransactionError.Code? {
        guard let call = calls[uuid] else { return started.contains(uuid) ? nil : .unknownCallUUID }
        return call.provider == provider ? nil : .unknownCallProvider
    }

    private func refusalOfGroup(
        _ uuid: UUID, with other: UUID?, provider number: ProviderNumber, started: [UUID]
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
