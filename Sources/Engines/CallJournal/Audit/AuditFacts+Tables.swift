import Primitives

// The audit's knowledge of lines and actions.
extension AuditFacts {
    final class Line {
        private struct Presence {
            var isRunning = false
            var isActive = false

            /// The change of the number of active calls.
            mutating func set(isRunning: Bool, isActive: Bool) -> Int {
                defer { (self.isRunning, self.isActive) = (isRunning, isActive) }
                return (isActive ? 1 : 0) - (self.isActive ? 1 : 0)
            }
        }

        var isConfigured = false
        var sessionPerGroup = false
        /// An app's code decides on it.
        var isOfApp = false
        /// All that happened on it since it was configured is known.
        var isWhole = false
        private var presences = IdentityTable<Presence>()
        /// Calls that are connected and not on hold.
        private(set) var activeCalls = 0

        var calls: [CallUUID] { presences.names.map(CallUUID.init(bits:)) }
        /// Those whose media runs.
        var running: [CallUUID] { calls.filter { presences[$0]?.isRunning ?? false } }

        /// Whether the call is connected and not on hold.
        func isActive(_ call: CallUUID) -> Bool { presences[call]?.isActive ?? false }

        /// Whether another call than this one is.
        func isActive(besides call: CallUUID?) -> Bool { activeCalls > (call.map(isActive) == true ? 1 : 0) }

        func note(_ call: CallUUID, isRunning: Bool, isActive: Bool) {
            activeCalls += presences[call.bits, default: Presence()].set(isRunning: isRunning, isActive: isActive)
        }

        func setInactive(_ call: CallUUID) {
            if isActive(call) { activeCalls -= 1 }
            presences[call]?.isActive = false
        }

        func remove(_ call: CallUUID) {
            if presences.removeValue(forKey: call)?.isActive ?? false { activeCalls -= 1 }
        }
    }

    /// Actions by their identities: a journal that is written has UUIDs alone, one that is read may have anything.
    struct Actions {
        private var named = IdentityTable<Action>()
        private var others: [JournalEvent.Value: Action] = [:]

        subscript(identity: JournalEvent.Value) -> Action? {
            get { if case .uuid(let uuid) = identity { named[uuid] } else { others[identity] } }
            set { if case .uuid(let uuid) = identity { named[uuid] = newValue } else { others[identity] = newValue } }
        }

        mutating func removeValue(forKey identity: JournalEvent.Value) -> Action? {
            if case .uuid(let uuid) = identity { named.removeValue(forKey: uuid) } else { others.removeValue(forKey: identity) }
        }
    }
}
