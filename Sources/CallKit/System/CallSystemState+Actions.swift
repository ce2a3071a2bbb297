import Foundation
import Primitives

// Actions on their way: performed, completed, timed out, and what that does to their calls.

extension CallSystemState {
    /// The next action of a transaction that the delegate is to perform, in list order; void and completed ones are skipped.
    mutating func performNext(of transaction: UUID) -> CallAction? {
        while let record = transactions[transaction], record.next < record.actions.count {
            transactions[transaction]?.next += 1
            if let action = actions[record.actions[record.next]]?.action { return action }
        }
        return nil
    }

    /// The delegate has completed an action. One that is complete already is left alone.
    mutating func complete(_ uuid: UUID, _ completion: ActionCompletion, at now: Instant) -> [Output] {
        guard let record = actions[uuid] else { return [] }
        var outputs: [Output] = [
            .event(completion.isFulfilled ? .actionFulfilled(record.action, completion.date) : .actionFailed(record.action))
        ]
        finish(uuid, into: &outputs)
        if completion.isFulfilled {
            applyEffect(of: record, completion, at: now, into: &outputs)
        } else {
            applyFailure(of: record, at: now, into: &outputs)
        }
        replan(record)
        return outputs
    }

    mutating func timeOut(_ uuid: UUID, at now: Instant, into outputs: inout [Output]) {
        guard let record = actions[uuid], let provider = transactions[record.transaction]?.provider else { return }
        outputs += [.event(.actionTimedOut(record.action)), .timedOut(uuid, provider)]
        finish(uuid, into: &outputs)
        switch record.action.kind {
        case .start: end(record.call, .startTimedOut, into: &outputs)
        case .answer: issue([(record.call, .end)], cause: .answerTimeout, provider: provider, at: now, into: &outputs)
        case .end: end(record.call, .endTimedOut, into: &outputs)
        case .hold, .mute, .group, .tones, .translate, .other: break
        }
        replan(record)
    }

    private mutating func applyEffect(
        of record: Action, _ completion: ActionCompletion, at now: Instant, into outputs: inout [Output]
    ) {
        let uuid = record.call
        switch record.action.kind {
        case .start: calls[uuid]?.isStarted = true
        case .answer: calls[uuid]?.isConnected = true
        case .end: return endByUser(uuid, at: now, into: &outputs)
        case .hold(let onHold): calls[uuid]?.isOnHold = onHold
        case .mute(let muted): calls[uuid]?.isMuted = muted
        case .group(let other): regroup(record, with: other)
        case .translate(let on, _, _): calls[uuid]?.translation = on ? completion.engine : nil
        case .tones, .other: return
        }
        change(uuid, into: &outputs)
        refreshAudio(uuid, into: &outputs)
    }

    private mutating func applyFailure(of record: Action, at now: Instant, into outputs: inout [Output]) {
        switch record.action.kind {
        case .start: end(record.call, .startFailed, into: &outputs)
        case .answer: end(record.call, .answerFailed, into: &outputs)
        case .end: if let call = calls[record.call] { armRinging(call, at: now) }
        case .hold, .mute, .group, .tones, .translate, .other: break
        }
    }

    private mutating func regroup(_ record: Action, with other: UUID?) {
        guard let number = calls[record.call]?.provider, let present = providers[number]?.groups.group(of: record.call) else { return }
        if let other {
            // The other call may have ended since; then nothing is left to join.
            if let group = providers[number]?.groups.group(of: other) { providers[number]?.groups.move(record.call, to: group) }
        } else if providers[number]?.groups.size(of: present) ?? 0 > 1 {
            let fresh = record.group ?? newGroup()
            providers[number]?.groups.move(record.call, to: fresh)
        }
    }

    /// The action is complete: nobody waits for it any more.
    mutating func finish(_ uuid: UUID, into outputs: inout [Output]) {
        guard let record = actions.removeValue(forKey: uuid) else { return }
        clock.cancel(.action(uuid))
        if let index = calls[record.call]?.outstanding.firstIndex(of: uuid) { calls[record.call]?.outstanding.remove(at: index) }
        outputs.append(.finished(uuid))
        transactions[record.transaction]?.incomplete -= 1
        guard transactions[record.transaction]?.incomplete == 0 else { return }
        transactions[record.transaction] = nil
        outputs.append(.closed(record.transaction))
    }

    /// Where the call of a completed action will be: where it is, changed by what is still outstanding on it.
    private mutating func replan(_ record: Action) {
        guard let call = calls[record.call], let present = providers[call.provider]?.groups.group(of: call.uuid) else { return }
        switch record.action.kind {
        case .end, .group: break
        default: return
        }
        providers[call.provider]?.planned.move(call.uuid, to: present)
        for uuid in call.outstanding {
            guard let outstanding = actions[uuid] else { continue }
            _ = plan(outstanding.action.kind, of: call.uuid, provider: call.provider, group: outstanding.group)
        }
    }
}

// MARK: - What the user of a telephone gets without asking

extension CallSystemState {
    private var managesHolding: Bool { configuration.holdsAutomatically && configuration.audioScope == .perSystem }

    private mutating func endByUser(_ uuid: UUID, at now: Instant, into outputs: inout [Output]) {
        let wasActive = calls[uuid].map { $0.isActive || isToBeActive($0) } ?? false
        end(uuid, .action, into: &outputs)
        if managesHolding, wasActive { resumeHeld(at: now, into: &outputs) }
    }

    /// The user ended the active call: the held one comes back, if there is just one (or one group) and nothing else is under way.
    private mutating func resumeHeld(at now: Instant, into outputs: inout [Output]) {
        guard !calls.values.contains(where: \.isActive), !actions.values.contains(where: { $0.action.kind.makesActive }) else { return }
        let held = calls.values.filter { $0.isOnHold && $0.isTakenUp }.sorted { $0.serial < $1.serial }
        guard let first = held.first, let group = providers[first.provider]?.groups.group(of: first.uuid),
            held.allSatisfy({ providers[$0.provider]?.groups.group(of: $0.uuid) == group })
        else { return }
        let actions = held.map { ($0.uuid, CallAction.Kind.hold(false)) }
        issue(actions, cause: .automaticResume, provider: first.provider, at: now, into: &outputs)
    }

    /// Before a call becomes active, the active ones outside its group are held; those that cannot be held are ended.
    mutating func holdOthers(for accepted: [CallAction], at now: Instant, into outputs: inout [Output]) {
        let rising = accepted.filter(\.kind.makesActive).compactMap(\.call)
        guard managesHolding, !rising.isEmpty else { return }
        let groups = Set(rising.compactMap(plannedGroup))
        // A call without a planned group is about to end anyway.
        let others = calls.values.filter { call in isToBeActive(call) && plannedGroup(call.uuid).map { !groups.contains($0) } ?? false }
        for (provider, calls) in Dictionary(grouping: others, by: \.provider).sorted(by: { $0.key < $1.key }) {
            let actions = calls.sorted { $0.serial < $1.serial }.map {
                ($0.uuid, $0.supportsHolding ? CallAction.Kind.hold(true) : .end)
            }
            issue(actions, cause: .automaticHold, provider: provider, at: now, into: &outputs)
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
