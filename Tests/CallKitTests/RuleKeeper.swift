import CallKit
import Foundation
import Primitives

/// A journal that checks the rules R4, R5, R9, R10 and M9 as it is written, for calls whose UUIDs are never used again.
final class RuleKeeper: CallSystemJournal {
    private enum Phase { case accepted, performed, complete }

    private(set) var violations: [String] = []
    /// How many events of each kind there were, so that a test knows that something was checked.
    private(set) var seen: [String: Int] = [:]
    private var actions: [UUID: Phase] = [:]
    /// What is still to be performed of a transaction, in list order.
    private var lists: [UUID: [UUID]] = [:]
    private var owners: [UUID: UUID] = [:]
    private var live: Set<UUID> = []
    private var ended: Set<UUID> = []
    private var reportedEnds: Set<UUID> = []
    private var active: Set<AudioSessionName> = []
    private let activation: CallSystemConfiguration.Activation

    init(_ activation: CallSystemConfiguration.Activation) { self.activation = activation }

    /// The calls and actions that were begun and not finished.
    var leftovers: Int { live.count + actions.values.count { $0 != .complete } + active.count }

    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
        switch event {
        case .incomingReported, .incomingRefused, .transactionRequested, .transactionOffered, .transactionHandled, .providerBegan,
            .providerReset:
            note("other")
        case .incomingAdmitted(let call): begin(call)
        case .transactionRefused: note("refused")
        case .updated(let call), .startedConnecting(let call, _), .connected(let call, _): mustLive(call, "report")
        case .endReported(let call, _, _):
            note("endReported")
            mustLive(call, "endReported")
            if !reportedEnds.insert(call).inserted { violate("R9: second end report") }
        case .transactionAccepted(let transaction), .systemTransaction(let transaction, _): accept(transaction)
        case .actionPerformed(let action): perform(action)
        case .actionUnimplemented: violate("unimplemented")
        case .actionFulfilled(let action, _): complete(action, "fulfilled")
        case .actionFailed(let action): complete(action, "failed")
        case .actionVoided(let action): complete(action, "voided")
        case .actionTimedOut(let action):
            complete(action, "timedOut")
            if now < action.created + limit(action.kind) { violate("R5: timed out too early") }
        case .callEnded(let call, _):
            note("ended")
            if live.remove(call) == nil { violate("R10: ended what was not live") }
            if !ended.insert(call).inserted { violate("R10: ended twice") }
            if system.call(call) != nil { violate("R10: ended, but there") }
        case .sessionActivated(let name, let calls):
            note("activated")
            if !active.insert(name).inserted { violate("M9: activated twice") }
            mustHaveAudio(calls, in: name, of: system)
        case .sessionAdmitted(let name, let calls):
            note("admitted")
            if !active.contains(name) { violate("M9: admitted to an inactive session") }
            mustHaveAudio(calls, in: name, of: system)
        case .sessionDeactivated(let name, _):
            note("deactivated")
            if active.remove(name) == nil { violate("M9: deactivated twice") }
            if system.calls.contains(where: { belongs($0, to: name) && hasAudio($0) }) { violate("M9: deactivated in use") }
        }
    }

    private func note(_ kind: String) { seen[kind, default: 0] += 1 }
    private func violate(_ rule: String) { violations.append(rule) }

    private func begin(_ call: UUID) {
        note("begun")
        if !live.insert(call).inserted || ended.contains(call) { violate("R10: begun twice") }
    }

    private func mustLive(_ call: UUID?, _ what: String) {
        if !(call.map(live.contains) ?? false) { violate("R10: \(what) of a call that is not live") }
    }

    private func accept(_ transaction: CallTransaction) {
        note("accepted")
        lists[transaction.uuid] = transaction.actions.map(\.uuid)
        for action in transaction.actions {
            if case .start = action.kind, let call = action.call { begin(call) }
            mustLive(action.call, "acceptance")
            if actions.updateValue(.accepted, forKey: action.uuid) != nil { violate("R4: accepted twice") }
            owners[action.uuid] = transaction.uuid
        }
    }

    private func perform(_ action: CallAction) {
        note("performed")
        mustLive(action.call, "perform")
        if let call = action.call, reportedEnds.contains(call) { violate("R9: performed after a reported end") }
        guard actions[action.uuid] == .accepted, let transaction = owners[action.uuid],
            let index = lists[transaction]?.firstIndex(of: action.uuid)
        else { return violate("R4: performed out of order or unaccepted") }
        lists[transaction]?.removeFirst(index + 1)
        actions[action.uuid] = .performed
    }

    private func complete(_ action: CallAction, _ outcome: String) {
        note(outcome)
        mustLive(action.call, outcome)
        guard let phase = actions[action.uuid], phase != .complete else { return violate("R5: completed twice") }
        actions[action.uuid] = .complete
    }

    private func belongs(_ call: CallSnapshot, to name: AudioSessionName) -> Bool {
        call.provider == name.provider && (name.group == nil || call.group == name.group)
    }

    private func hasAudio(_ call: CallSnapshot) -> Bool {
        let isUp = call.isOutgoing ? call.isVisible && (call.hasConnected || activation == .afterStarted) : call.hasConnected
        return isUp && !call.isOnHold
    }

    private func mustHaveAudio(_ calls: [UUID], in name: AudioSessionName, of system: CallSystem) {
        let good = calls.compactMap { system.call($0) }.filter { belongs($0, to: name) && hasAudio($0) }
        if calls.isEmpty || good.count != calls.count { violate("M9: audio for a call without a right to it") }
    }

    private func limit(_ kind: CallAction.Kind) -> Duration {
        switch kind {
        case .start: .seconds(600)
        case .answer: .seconds(60)
        default: .seconds(5)
        }
    }
}
