import CallKit

/// The end of a leg. Each case says what CallKit and the far end are told.
enum LegEnd {
    /// The network ended it, or a limit of ours: reported to CallKit, and told to the far end where that does not know.
    case reported(CXCallEndedReason, EndCause, tellsPeer: Bool = true)
    /// The provider performs the end action of a user.
    case action
    /// The system has ended the call by itself: an answer or a start failed or was too late.
    case system
    /// The provider was reset.
    case reset

    /// The reason that CallKit is told; nil where it knows.
    var report: CXCallEndedReason? {
        if case .reported(let reason, _, _) = self { reason } else { nil }
    }

    var tellsPeer: Bool {
        if case .reported(_, _, let tellsPeer) = self { tellsPeer } else { true }
    }

    /// The cause is the leg's from here on, unless it has one; that of the system is what the other leg was told before.
    var decidesCause: Bool {
        if case .system = self { false } else { true }
    }

    /// The cause that the far end is told.
    /// - Parameter known: the cause that was set before the end was asked for.
    func cause(isRinging: Bool, known: EndCause?) -> EndCause {
        switch self {
        case .reported(_, let cause, _): cause
        case .action: known ?? (isRinging ? .declined : .normalClearing)
        case .system, .reset: known ?? .failed
        }
    }
}
