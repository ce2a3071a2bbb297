import CallKit
import Foundation

/// What the app was asked to do and has not declared done.
struct ActionsUnderWay {
    private var performing: [CallAction] = []
    private var unsentTones: Set<UUID> = []
    /// Calls whose end was asked for.
    private var ends: Set<UUID> = []

    /// The system has accepted it, or asks for it itself.
    mutating func note(_ transaction: CallTransaction) {
        for action in transaction.actions where action.kind == .end { if let call = action.call { ends.insert(call) } }
    }

    mutating func begin(_ action: CallAction) {
        performing.append(action)
        if case .tones = action.kind { unsentTones.insert(action.uuid) }
    }

    mutating func end(_ action: UUID) {
        performing.removeAll { $0.uuid == action }
        unsentTones.remove(action)
    }

    /// The call is gone.
    mutating func forget(_ call: UUID) {
        performing.removeAll { $0.call == call }
        ends.remove(call)
    }

    func hasEnd(of call: UUID) -> Bool { ends.contains(call) }

    /// The action of a call that is being performed, of some kind.
    func first(on call: UUID, where isWanted: (CallAction.Kind) -> Bool) -> CallAction? { performing.first { $0.call == call && isWanted($0.kind) } }

    func first(where isWanted: (CallAction.Kind) -> Bool) -> CallAction? { performing.first { isWanted($0.kind) } }

    /// What the app is busy with now: its sound concerns that call.
    var latest: CallAction? { performing.last }

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
