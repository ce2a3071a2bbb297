import CallJournal

extension EventType {
    /// The kinds of the journal's events that it may be told of, in the order of the journal's table.
    var kinds: [JournalEvent.Kind] {
        JournalEvent.Kind.allCases.filter { kind in
            switch (kind, self) {
            case (.actionFulfilled, .callConnected), (.actionFulfilled, .callHeld), (.actionFulfilled, .callResumed),
                (.actionFulfilled, .callMuted), (.actionFulfilled, .callUnmuted), (.actionFulfilled, .callGrouped),
                (.actionFulfilled, .actionFulfilled), (.registerAccepted, .lineRegistered), (.registerAccepted, .lineUnregistered):
                true
            default: Self.byKind[kind] == self
            }
        }
    }

    /// Details that are told besides those of the journal (``PublicEvent/add(_:)``).
    var additions: [JournalEvent.Kind.Detail] {
        switch self {
        case .callEnded: [Self.status]
        case .callGrouped: [Self.with]
        default: []
        }
    }

    private static let with = JournalEvent.Kind.Detail(
        key: .with, isOptional: true, meaning: "a call of the group that is joined; absent: it waits alone")

    private static let status = JournalEvent.Kind.Detail(
        key: .status, isOptional: true, meaning: "of the final response that decided; absent where there was none")

    /// A sentence; that of the journal's table where one kind is told as it is.
    var meaning: String {
        switch self {
        case .callConnected: "The call was answered."
        case .callHeld: "The call was put on hold."
        case .callResumed: "The call was taken off hold."
        case .callMuted: "The far end hears silence from here on."
        case .callUnmuted: "The far end hears sound again."
        case .callGrouped: "The call moved to another group."
        case .actionFulfilled: "Another action was done: a start, an end, keys."
        case .lineRegistered: "A device registered."
        case .lineUnregistered: "A device took its registration back, or did not register again in time."
        default: kinds.first?.explanation.help ?? ""
        }
    }
}
