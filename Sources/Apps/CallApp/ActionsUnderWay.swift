import CallKit
import Foundation

/// Actions that the app was asked to do and has not declared done.
struct ActionsUnderWay {
    private struct Entry {
        let action: CallAction
        /// nil: it was accepted before anybody listened.
        let transaction: UUID?
        /// The app was asked to execute the whole transaction.
        var isOffered = false
    }

    /// Accepted, and not performed.
    private var waiting: [Entry] = []
    private var performing: [Entry] = []
    private var unsentTones: Set<UUID> = []
    /// Calls whose end was asked for.
    private var ends: Set<UUID> = []

    /// The system has accepted it, or asks for it itself.
    mutating func note(_ transaction: CallTransaction) {
        waiting += transaction.actions.map { Entry(action: $0, transaction: transaction.uuid) }
        for action in transaction.actions where action.kind == .end { if let call = action.call { ends.insert(call) } }
    }

    mutating func offer(_ transaction: UUID) {
        for index in waiting.indices where waiting[index].transaction == transaction { waiting[index].isOffered = true }
    }

    /// The app did not take the transaction of an action: it is asked for one after the other.
    mutating func decline(_ action: CallAction) {
        guard let transaction = (waiting + performing).first(where: { $0.action.uuid == action.uuid })?.transaction else { return }
        for index in waiting.indices where waiting[index].transaction == transaction { waiting[index].isOffered = false }
    }

    /// Gives the rest of a transaction that the app was offered, in its order.
    func offered(of transaction: UUID) -> [CallAction] { waiting.filter { $0.isOffered && $0.transaction == transaction }.map(\.action) }

    /// The same, up to the action that is wanted; none where it is not among them.
    func offered(upTo isWanted: (CallAction) -> Bool) -> [CallAction] {
        guard let wanted = waiting.first(where: { $0.isOffered && isWanted($0.action) }) else { return [] }
        let earlier = waiting.prefix { $0.action.uuid != wanted.action.uuid }.filter { $0.transaction == wanted.transaction }
        return earlier.map(\.action) + [wanted.action]
    }

    func isPerforming(_ action: UUID) -> Bool { performing.contains { $0.action.uuid == action } }

    mutating func begin(_ action: CallAction) {
        let known = waiting.first { $0.action.uuid == action.uuid }
        waiting.removeAll { $0.action.uuid == action.uuid }
        performing.append(known ?? Entry(action: action, transaction: nil))
        if case .tones = action.kind { unsentTones.insert(action.uuid) }
    }

    mutating func end(_ action: UUID) {
        waiting.removeAll { $0.action.uuid == action }
        performing.removeAll { $0.action.uuid == action }
        unsentTones.remove(action)
    }

    /// The call is gone.
    mutating func forget(_ call: UUID) {
        waiting.removeAll { $0.action.call == call }
        performing.removeAll { $0.action.call == call }
        ends.remove(call)
    }

    func hasEnd(of call: UUID) -> Bool { ends.contains(call) }

    /// The action of a call that is being performed, of some kind.
    func first(on call: UUID, where isWanted: (CallAction.Kind) -> Bool) -> CallAction? { first { $0.call == call && isWanted($0.kind) } }

    func first(where isWanted: (CallAction) -> Bool) -> CallAction? { performing.first { isWanted($0.action) }?.action }

    /// The action that the app is busy with now: its sound concerns that call.
    var latest: CallAction? { performing.last?.action }

    /// True once for each action that plays tones.
    mutating func takeTones(of action: UUID) -> Bool { unsentTones.remove(action) != nil }
}

/// The sound of the app's one audio session.
struct AppAudio {
    /// didActivate has come, and didDeactivate has not.
    var isActive = false
    /// The app has started its sound since.
    var isStarted = false
    var isOn: Bool { isActive && isStarted }
}

extension CallAction.Kind {
    var isStart: Bool { if case .start = self { true } else { false } }
    var makesMedia: Bool { isStart || self == .answer }
    var takesMedia: Bool { self == .end || self == .hold(true) }
}
