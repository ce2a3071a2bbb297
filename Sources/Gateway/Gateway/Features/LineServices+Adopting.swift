import Foundation
import Primitives
import UserAgent

// State that the store has read again.
extension LineServices {
    /// Takes a part of the kept state in the place of what was there. It is not kept once more, and no event.
    /// - Returns: false where the line is not configured.
    func adopt(_ update: KeptUpdate, mailboxes: Mailboxes) -> Bool {
        switch update {
        case .doNotDisturb(let number, let state): change(number) { $0.features.adopt(state) }
        case .blocked(let number, let callers): change(number) { $0.features.adopt(blocked: callers) }
        case .pushBindings(let number, let bindings): change(number) { $0.features.pushBindings = PushBindings(bindings) }
        case .recents(let number, let calls): change(number) { $0.features.recents.adopt(calls.filter { !isUp($0) }) }
        case .recent(let call): change(call.line) { $0.features.recents.adopt([call]) }
        case .messages(let number, let messages): change(number) { _ in mailboxes.adopt(messages, ofLine: number) }
        case .registrations(let user, let saved): adopt(saved, of: Text(user))
        }
    }

    private func change(_ number: String, _ body: (Line) -> Void) -> Bool {
        guard let line = lines.line(numbered: Text(number)) else { return false }
        body(line)
        return true
    }

    /// A call that goes on here is kept as one that a kill has ended, and comes to the recents at its end.
    private func isUp(_ call: RecentCall) -> Bool {
        guard call.reason == RecentCall.gatewayKilled else { return false }
        return table.recentLeg(call.id) != nil || dialogs.takeovers?.recentIDs.contains(call.id) == true
    }

    private func adopt(_ saved: [SavedRegistration], of user: Text) -> Bool {
        registrar.adopt(saved.compactMap { $0.contact(epoch: epoch, at: context.now) }, of: user, at: context.now)
        return true
    }
}
