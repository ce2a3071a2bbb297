import Foundation
import Primitives

/// Which calls have audio in which session, and what of that the app was told.
///
/// A session is wanted while a call has audio in it. `settle` is asked when the app can be told; what came and went in
/// between is not told, so activation and deactivation alternate and are true when they are told.
struct AudioActivation {
    enum Change: Equatable {
        case activated([UUID]), admitted([UUID])
        /// With the call that had audio last.
        case deactivated(UUID)
    }

    private struct Session {
        var isActive = false
        var calls: Set<UUID> = []
        /// Calls that the app was not told of yet, in order.
        var newcomers: [UUID] = []
        /// The call that left last.
        var last: UUID?
    }

    private var sessions: [AudioSessionName: Session] = [:]
    private var names = IdentityTable<AudioSessionName>()

    /// Sessions that are active or wanted.
    var count: Int { sessions.count }

    /// Gives a call audio in a session, or (nil) none. Returns the sessions to settle, the new one first.
    mutating func set(_ call: UUID, in name: AudioSessionName?) -> [AudioSessionName] {
        let before = names[call]
        guard before != name else { return [] }
        names[call] = name
        if let name {
            sessions[name, default: Session()].calls.insert(call)
            sessions[name]?.newcomers.append(call)
        }
        if let before { leave(call, before) }
        return [name, before].compactMap(\.self)
    }

    private mutating func leave(_ call: UUID, _ name: AudioSessionName) {
        sessions[name]?.calls.remove(call)
        sessions[name]?.last = call
        if let index = sessions[name]?.newcomers.firstIndex(of: call) { sessions[name]?.newcomers.remove(at: index) }
    }

    /// What to tell the app about a session now, if anything; it counts as told.
    mutating func settle(_ name: AudioSessionName) -> Change? {
        guard let session = sessions[name] else { return nil }
        guard !session.calls.isEmpty else {
            sessions[name] = nil
            return session.isActive ? session.last.map(Change.deactivated) : nil
        }
        guard !session.newcomers.isEmpty else { return nil }
        sessions[name]?.isActive = true
        sessions[name]?.newcomers = []
        return session.isActive ? .admitted(session.newcomers) : .activated(session.newcomers)
    }
}
