import CallJournal
import CallKit
import Calls
import Foundation
import Media
import Primitives
import SIP

/// Events of the CallKit system, and their effect on the calls.
extension AppLine {
    /// Before the event is written down: what the app has declared done was asked for and is done, and what has ended is silent.
    func prepare(for event: CallSystemEvent) {
        switch event {
        case .incomingReported(let uuid, let handle): adopt(uuid, reportedFor: handle)
        case .actionFulfilled(let action, _):
            takeUp { $0.uuid == action.uuid }
            if let call = action.call, settings.fillsGaps { complete(action, of: call) }
        case .actionFailed(let action): takeUp { $0.uuid == action.uuid }
        case .actionPerformed(let action): acting.decline(action)
        case .callEnded(let call, _): calls[call]?.stopMedia()
        default: break
        }
    }

    /// The steps of a fulfilled action that the app did not ask for.
    private func complete(_ action: CallAction, of uuid: UUID) {
        let call = calls[uuid]
        switch action.kind {
        case .start(let handle, _): if call?.state ?? .new == .new, !dial(uuid, to: handle.value) { failLater(uuid) }
        case .answer: if let call, call.state == .new || call.state == .ringing, !call.answer() { failLater(uuid) }
        case .end: call?.hangUp()
        case .hold(true): call?.hold()
        case .hold(false): if let call, call.call.isHeld, call.resume == nil { call.takeBack { _ in } }
        case .mute(let muted): call?.setMuted(muted)
        case .group(let other): _ = group(uuid, with: other)
        case .tones(let digits, _): if acting.takeTones(of: action.uuid) { _ = call?.dialKeys(digits) }
        case .translate, .other: break
        }
    }

    /// The app has set about an action of a transaction that it was offered as a whole: it is performed from now on, and so are those
    /// before it.
    func takeUp(where isWanted: (CallAction) -> Bool) {
        for action in acting.offered(upTo: isWanted) { scribe.perform(action) }
    }

    /// The action of a call that CallKit asks for, of some kind.
    func asked(of call: UUID, where isWanted: (CallAction.Kind) -> Bool) -> CallAction? {
        asked { $0.call == call && isWanted($0.kind) }
    }

    func asked(where isWanted: (CallAction) -> Bool) -> CallAction? {
        if acting.first(where: isWanted) == nil { takeUp(where: isWanted) }
        return acting.first(where: isWanted)
    }

    private func failLater(_ call: UUID) {
        later { [unowned self] in system.reportEnded(call, reason: .failed) }
    }

    /// After the event was written down.
    func take(_ event: CallSystemEvent) {
        switch event {
        case .incomingAdmitted(let uuid): admitted(uuid)
        case .incomingReported(let uuid, _): calls[uuid]?.provider = system.call(uuid)?.provider
        case .incomingRefused(let uuid, let error): refused(uuid, error)
        case .transactionAccepted(let transaction), .systemTransaction(let transaction, _): acting.note(transaction)
        case .transactionOffered(let transaction): acting.offer(transaction)
        case .transactionHandled(let transaction): for action in acting.offered(of: transaction) { scribe.perform(action) }
        case .actionPerformed(let action): acting.begin(action)
        case .actionFulfilled(let action, _):
            acting.end(action.uuid)
            if action.kind == .answer, let call = action.call.flatMap({ calls[$0] }) { rise(call) }
        case .actionFailed(let action):
            undone(action)
            if action.kind == .end, let call = action.call { refusedToEnd(call) }
        case .actionTimedOut(let action): undone(action)
        case .actionVoided(let action): acting.end(action.uuid)
        case .connected(let uuid, _): if let call = calls[uuid] { rise(call) }
        case .sessionActivated: activate()
        case .sessionAdmitted(_, let admitted): for uuid in admitted { calls[uuid]?.startMedia() }
        case .sessionDeactivated: deactivate()
        case .callEnded(let uuid, _): ended(uuid)
        default: break
        }
        finishEnded()
    }

    private func admitted(_ uuid: UUID) {
        guard let call = calls[uuid] else {
            tell(.reportedUnknown(uuid))
            return failLater(uuid)
        }
        call.standing = .known
        call.overdueAt = nil
        guard let reason = call.networkEnd else { return ringLater(call) }
        // It was over before the app reported it.
        later { [unowned self] in
            tell(.ended(uuid, reason))
            system.reportEnded(uuid, reason: reason)
        }
    }

    /// An app that has no word for the caller's ring.
    private func ringLater(_ call: AppCall) {
        later { if call.state == .new { _ = call.ring() } }
    }

    private func refused(_ uuid: UUID, _ error: any Error) {
        guard let call = calls[uuid], call.standing == .unreported else { return }
        if call.state != .ended { call.session?.refuse(StatusTable.refusal(of: error), at: now) }
        call.call.enter(.ended)
        call.forget()
    }

    private func activate() {
        audio.isActive = true
        guard settings.startsAudio else { return }
        audio.isStarted = true
        for call in callsInOrder { call.startMedia() }
    }

    private func deactivate() {
        audio = AppAudio(isActive: scribe.hasSession, isStarted: scribe.hasSession && settings.startsAudio)
        guard !audio.isActive else { return }
        for call in callsInOrder { call.stopMedia(holding: true) }
    }

    private func rise(_ call: AppCall) {
        call.standing = .up
        call.startMedia()
    }

    /// Drops an action that CallKit does not take for done. It is not done later, unless it was asked for again.
    private func undone(_ action: CallAction) {
        acting.end(action.uuid)
        guard action.kind == .hold(false), let call = action.call, acting.first(on: call, where: { $0 == .hold(false) }) == nil else {
            return
        }
        calls[call]?.abandonResume()
    }

    /// An end is never refused for good: the app may have lost sight of the call, and nobody may be left in it.
    private func refusedToEnd(_ uuid: UUID) {
        later { [unowned self] in
            guard system.call(uuid) != nil else { return }
            system.reportEnded(uuid, reason: .failed)
        }
    }

    private func ended(_ uuid: UUID) {
        acting.forget(uuid)
        guard let call = calls[uuid] else { return tell(.released(uuid, now)) }
        call.part()
        call.systemEnded()
    }

    /// didDeactivate has come, or the session goes on for another call: close and release.
    func finishEnded() {
        for call in callsInOrder where call.standing == .ended {
            if !scribe.isSessionOn || needsSession { call.forget() }
        }
    }

    /// A call is connected, heard, and not about to end: as the journal has it, and as the system has it now.
    var needsSession: Bool {
        calls.values.contains {
            $0.standing == .up && !$0.call.isHeld && $0.networkEnd == nil && !hasEndUnderWay($0.uuid) && system.call($0.uuid) != nil
        }
    }

    func hasEndUnderWay(_ call: UUID) -> Bool { acting.hasEnd(of: call) }
}
