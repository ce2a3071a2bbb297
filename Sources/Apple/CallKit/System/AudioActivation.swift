import Foundation
import Primitives

/// The calls that have audio in each session, and the part of this that the app was told.
///
/// A session is wanted while a call has audio in it. `settle` is asked when the app can be told; what came and went in
/// between is not told, so activation and deactivation alternate and are true when they are told.
struct AudioActivation {
    enum Change: Equatable {
        case activated([UUID]), admitted([UUID])
        /// With the call that had audio last.
        case deactivated(UUID)
    }

    /// An object: in a table a value would be copied to be changed.
    private final class Session {
        var isActive = false
        /// Number of calls that have audio in it.
        var calls = 0
        /// Calls that the app was not told of yet, in order.
        var newcomers: [UUID] = []
        /// The call that left last.
        var last: UUID?

        func join(_ call: UUID) {
            calls += 1
            newcomers.append(call)
        }

        func leave(_ call: UUID) {
            calls -= 1
            last = call
            if let index = newcomers.firstIndex(of: call) { newcomers.remove(at: index) }
        }

        /// Gives the change to tell the app now, if there is any.
        func settle() -> Change? {
            guard calls > 0 else { return isActive ? last.map(Change.deactivated) : nil }
            guard !newcomers.isEmpty else { return nil }
            defer { (isActive, newcomers) = (true, []) }
            return isActive ? .admitted(newcomers) : .activated(newcomers)
        }
    }

    private var sessions = IdentityTable<Session>()
    private var names = IdentityTable<AudioSessionName>()

    /// Sessions that are active or wanted.
    var count: Int { sessions.count }

    /// Gives a call audio in a session, or (nil) none. Returns where it had audio before; where that is another, both are to be settled.
    mutating func set(_ call: UUID, in name: AudioSessionName?) -> AudioSessionName? {
        let before = names[call]
        guard before != name else { return before }
        names[call] = name
        if let name { session(name).join(call) }
        if let before { sessions[before]?.leave(call) }
        return before
    }

    /// Gives the change of a session to tell the app now, if there is any; it counts as told.
    mutating func settle(_ name: AudioSessionName) -> Change? {
        guard let session = sessions[name] else { return nil }
        if session.calls == 0 { sessions[name] = nil }
        return session.settle()
    }

    private mutating func session(_ name: AudioSessionName) -> Session {
        if let session = sessions[name] { return session }
        let session = Session()
        sessions[name] = session
        return session
    }
}
