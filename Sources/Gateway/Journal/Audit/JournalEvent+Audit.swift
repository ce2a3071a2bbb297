import Primitives

/// How long an action may take before the system calls it failed (mapping §10).
enum ActionLimits {
    static let longest = Duration.seconds(600)

    static func limit(of kind: Text) -> Duration {
        switch kind {
        case "start": longest
        case "answer": .seconds(60)
        default: .seconds(5)
        }
    }
}

extension JournalEvent {
    /// The actions of a transaction, in order.
    var listedActions: [(kind: Text, action: Value)] {
        guard let list = details.text(.actions) else { return [] }
        return list.bytes.split(separator: 0x20).map { item in
            let parts = item.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
            return (Text(parts[0]), Value.identity(Text(parts.count == 2 ? parts[1] : [])))
        }
    }

    /// The identity of the event's action.
    var action: Value? { details[.action].map { .identity($0.text) } }

    /// When the event's action was made, where the event says so.
    var createdAt: Instant? { details.number(.created).flatMap(UInt64.init(exactly:)).map(Instant.init(nanoseconds:)) }

    /// Whether the audit begins to remember a call with this event: late echoes of a call that was forgotten do not revive it.
    func beginsFacts(_ message: AuditMessage?) -> Bool {
        switch kind {
        case .sipReceived, .sipSent: message?.isRequest("INVITE") ?? false
        case .reportIncoming, .mediaReserved: true
        default: kind.isPerform
        }
    }
}

extension JournalEvent.Kind {
    var isPerform: Bool {
        switch self {
        case .performStart, .performAnswer, .performEnd, .performHeld, .performGroup, .performMuted, .performDTMF: true
        default: false
        }
    }
}

extension JournalEvent.Value {
    /// Identities are compared whether they were written as text or as a number.
    static func identity(_ text: Text) -> Self { text.integer(Int64.self).map(Self.number) ?? .text(text) }
}
