import Foundation
import Primitives

// Actions on their way: performed, completed, timed out, and what that does to their calls.

extension CallSystemState {
    /// The next action of a transaction that the delegate is to perform, in list order; void and completed ones are skipped.
    mutating func performNext(of transaction: UUID) -> UUID? {
        guard let record = transactions[transaction] else { return nil }
        while record.next < record.actions.count {
            record.next += 1
            guard let action = actions[record.actions[record.next - 1].uuid]?.action else { continue }
            note(.actionPerformed(action))
            return action.uuid
        }
        return nil
    }

    /// The delegate has completed an action. One that is complete already is left alone.
    mutating func complete(_ uuid: UUID, _ completion: ActionCompletion, at now: Instant) {
        guard let record = actions[uuid] else { return }
        note(completion.isFulfilled ? .actionFulfilled(record.action, completion.date) : .actionFailed(record.action))
        finish(uuid)
        if completion.isFulfilled {
            applyEffect(of: record, completion, at: now)
        } else {
            applyFailure(of: record, at: now)
        }
        replan(record)
    }

    mutating func timeOut(_ uuid: UUID, at now: Instant) {
        guard let record = actions[uuid], let provider = transactions[record.transaction]?.provider else { return }
        note(.actionTimedOut(record.action))
        put(.timedOut(uuid, provider))
        finish(uuid)
        switch record.action.kind {
        case .start: end(record.call, .startTimedOut)
        case .answer: issue([(record.call, .end)], cause: .answerTimeout, provider: provider, at: now)
        case .end: end(record.call, .endTimedOut)
        case .hold, .mute, .group, .tones, .translate, .other: break
        }
        replan(record)
    }

    private mutating func applyEffect(of record: Action, _ completion: ActionCompletion, at now: Instant) {
        let uuid = record.call
        switch record.action.kind {
        case .start: calls[uuid]?.isStarted = true
        case .answer: calls[uuid]?.isConnected = true
        case .end: return endByUser(uuid, at: now)
        case .hold(let onHold): calls[uuid]?.isOnHold = onHold
        case .mute(let muted): calls[uuid]?.isMuted = muted
        case .group(let other): regroup(record, with: other)
        case .translate(let on, _, _): calls[uuid]?.translation = on ? completion.engine : nil
        case .tones, .other: return
        }
        change(uuid)
        refreshAudio(uuid)
    }

    private mutating func applyFailure(of record: Action, at now: Instant) {
        switch record.action.kind {
        case .start: end(record.call, .startFailed)
        case .answer: end(record.call, .answerFailed)
        case .end: if let call = calls[record.call] { armRinging(call, at: now) }
        case .hold, .mute, .group, .tones, .translate, .other: break
        }
    }

    private mutating func regroup(_ record: Action, with other: UUID?) {
        guard let number = calls[record.call]?.provider, let provider = providers[number],
            let present = provider.groups.group(of: record.call)
        else { return }
        if let other {
            // The other call may have ended since; then nothing is left to join.
            if let group = provider.groups.group(of: other) { provider.groups.move(record.call, to: group) }
        } else if provider.groups.size(of: present) > 1 {
            provider.groups.move(record.call, to: record.group ?? newGroup())
        }
    }

    /// The action is complete: nobody waits for it any more.
    mutating func finish(_ uuid: UUID) {
        guard let record = actions.removeValue(forKey: uuid) else { return }
        clock.cancel(.action(uuid))
        if let call = calls[record.call], let index = call.outstanding.firstIndex(of: uuid) { call.outstanding.remove(at: index) }
        put(.finished(uuid))
        guard let transaction = transactions[record.transaction] else { return }
        transaction.incomplete -= 1
        guard transaction.incomplete == 0 else { return }
        transactions.removeValue(forKey: record.transaction)
        put(.closed(record.transaction))
    }

    /// Plans the group of a completed action's call: its present group, changed by what is still outstanding on it.
    private mutating func replan(_ record: Action) {
        switch record.action.kind {
        case .end, .group: break
        default: return
        }
        guard let call = calls[record.call], let provider = providers[call.provider], let present = provider.groups.group(of: call.uuid)
        else { return }
        provider.planned.move(call.uuid, to: present)
        for uuid in call.outstanding {
            guard let outstanding = actions[uuid] else { continue }
            _ = plan(outstanding.action.kind, of: call.uuid, provider: call.provider, group: outstanding.group)
        }
    }
}

// MARK: - What the user of a telephone gets without asking

extension CallSystemState {
    private var managesHolding: Bool { configuration.holdsAutomatically && configuration.audioScope == .perSystem }

    private mutating func endByUser(_ uuid: UUID, at now: Instant) {
        let resumes = managesHolding && calls[uuid].map { $0.isActive || isToBeActive($0) } ?? false
        end(uuid, .action)
        if resumes { resumeHeld(at: now) }
    }

    /// The user ended the active call: the held one comes back, if there is just one (or one group) and nothing else is under way.
    private mutating func resumeHeld(at now: Instant) {
        guard !calls.values.contains(where: \.isActive), !actions.values.contains(where: { $0.action.kind.makesActive }) else { return }
        let held = calls.values.filter { $0.isOnHold && $0.isTakenUp }.sorted { $0.serial < $1.serial }
        guard let first = held.first, let group = providers[first.provider]?.groups.group(of: first.uuid),
            held.allSatisfy({ providers[$0.provider]?.groups.group(of: $0.uuid) == group })
        else { return }
        let actions = held.map { ($0.uuid, CallAction.Kind.hold(false)) }
        issue(actions, cause: .automaticResume, provider: first.provider, at: now)
    }

    /// Before a call becomes active, the active ones outside its group are held; those that cannot be held are ended.
    mutating func holdOthers(for accepted: [CallAction], at now: Instant) {
        guard managesHolding else { return }
        let rising = accepted.filter(\.kind.makesActive).compactMap(\.call)
        guard !rising.isEmpty else { return }
        let groups = Set(rising.compactMap(plannedGroup))
        // A call without a planned group is about to end anyway.
        let others = calls.values.filter { call in isToBeActive(call) && plannedGroup(call.uuid).map { !groups.contains($0) } ?? false }
        for (provider, calls) in Dictionary(grouping: others, by: \.provider).sorted(by: { $0.key < $1.key }) {
            let actions = calls.sorted { $0.serial < $1.serial }.map {
                ($0.uuid, $0.supportsHolding ? CallAction.Kind.hold(true) : .end)
            }
            issue(actions, cause: .automaticHold, provider: provider, at: now)
        }
    }

    /// Whether the call is active when all that is outstanding on it has been fulfilled: an app may take its time with that.
    private func isToBeActive(_ call: Call) -> Bool {
        let kinds = call.outstanding.compactMap { actions[$0]?.action.kind }
        return kinds.last { $0.makesActive || $0.makesInactive }?.makesActive ?? call.isActive
    }

    private func plannedGroup(_ uuid: UUID) -> Int? { calls[uuid].flatMap { plannedGroup(uuid, of: $0.provider) } }
}

extension CallAction.Kind {
    var makesActive: Bool {
        switch self {
        case .start, .answer, .hold(false): true
        default: false
        }
    }

    var makesInactive: Bool { self == .end || self == .hold(true) }
}
