import Foundation
import Primitives

/// Events of a telephone's system, for a journal that must be complete and exact.
public enum CallSystemEvent: Sendable {
    // Reports of the provider that had an effect. Reports on unknown or ended calls have none and are not here.
    /// With the handle that the report gives.
    case incomingReported(UUID, CXHandle?)
    case incomingAdmitted(UUID)
    case incomingRefused(UUID, any Error)
    case updated(UUID)
    /// nil date: now, as in all that follow.
    case startedConnecting(UUID, Date?)
    case connected(UUID, Date?)
    case endReported(UUID, CXCallEndedReason, Date?)

    // Transactions.
    case transactionRequested(CallTransaction)
    case transactionAccepted(CallTransaction)
    case transactionRefused(CallTransaction, CXErrorCodeRequestTransactionError.Code)
    /// The system asks by itself; no request and no acceptance precede it.
    case systemTransaction(CallTransaction, SystemCause)
    /// The delegate is asked whether it takes the whole transaction, by its identity. Written before it is called.
    case transactionOffered(UUID)
    /// The delegate took the whole transaction, by its identity; `actionPerformed` does not appear for its actions.
    case transactionHandled(UUID)

    // Actions. Every performed action gets exactly one of fulfilled, failed, voided and timed out.
    /// Written before the delegate is called.
    case actionPerformed(CallAction)
    /// The delegate has no method for it.
    case actionUnimplemented(CallAction)
    case actionFulfilled(CallAction, Date?)
    case actionFailed(CallAction)
    /// Its call ended: failed without telling anybody.
    case actionVoided(CallAction)
    case actionTimedOut(CallAction)

    /// Exactly once for each call that was admitted or whose start was accepted.
    case callEnded(UUID, CallEnd)

    // Audio sessions. Activated and deactivated alternate for each session; written before the delegate is called.
    case sessionActivated(AudioSessionName, calls: [UUID])
    /// Further calls of a session that is already active.
    case sessionAdmitted(AudioSessionName, calls: [UUID])
    /// With the call that had audio last.
    case sessionDeactivated(AudioSessionName, last: UUID)

    case providerBegan(provider: Int)
    /// All calls of the provider are over; the `callEnded` of each follows.
    case providerReset(provider: Int, invalidated: Bool)
}

/// Why the system asked for something that nobody requested.
public enum SystemCause: Hashable, Sendable {
    case ringTimeout, answerTimeout
    /// Another call becomes the active one.
    case automaticHold
    /// The user ended the active call.
    case automaticResume
}

/// The cause of the end of a call.
public enum CallEnd: Hashable, Sendable {
    case reported(CXCallEndedReason)
    /// A `CXEndCallAction` was fulfilled.
    case action
    /// A `CXEndCallAction` ran into its deadline, which forces the end.
    case endTimedOut
    case startFailed, startTimedOut, answerFailed
    case reset
}

/// A transaction as the journal sees it.
public struct CallTransaction: Hashable, Sendable {
    public let uuid: UUID
    public let actions: [CallAction]
}

/// An action as the journal sees it.
public struct CallAction: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case start(CXHandle, isVideo: Bool)
        case answer, end
        case hold(Bool)
        case mute(Bool)
        case group(with: UUID?)
        case tones(String, CXPlayDTMFCallAction.ActionType)
        case translate(Bool, local: String, remote: String)
        /// A call action of a class that the system does not know, or (call nil) none at all.
        case other
    }

    public let uuid: UUID
    public let call: UUID?
    public let kind: Kind
    /// When it was made, on the system's clock.
    public let created: Instant
}

/// The name of an audio session: one per provider, or one per call group.
public struct AudioSessionName: Hashable, Sendable {
    public let provider: Int
    /// nil: the session of all calls (`.perSystem`).
    public let group: Int?
}

/// One call of a system as it was at one moment.
public struct CallSnapshot: Hashable, Sendable {
    public let uuid: UUID
    public let provider: Int
    /// The call group, which is never nil: a call by itself is a group of one.
    public let group: Int
    public let isOutgoing: Bool
    public let handle: CXHandle?
    public let localizedCallerName: String?
    /// As the app has reported it: video is never sent.
    public let hasVideo: Bool
    /// The identity of the caller by the user's contacts or an enabled call directory.
    public let identification: CallIdentification?
    public let isOnHold: Bool
    public let isMuted: Bool
    /// The engine that translates the call; nil while none does.
    public let translation: CXTranslationEngine?
    public let hasConnected: Bool
    public let hasEnded: Bool
    /// False only while the start action of an outgoing call is not yet fulfilled.
    public let isVisible: Bool
}

/// Writes down what a system did.
///
/// Called once per event, in order, after the system's state changed. On an `InlineHost` before the input that changed it
/// returns, also inside callbacks, so that a line of the journal stands where it happened; on a `QueueHost` on any thread,
/// one at a time, while every other thread that calls in waits: it must not wait for one. It may read the system; it must not
/// report, request or complete anything.
public protocol CallSystemJournal: AnyObject {
    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant)
    /// All that an input has caused so far was told. Called before the input returns or a delegate is called, on their thread;
    /// nobody else waits meanwhile. Does nothing by default.
    func callSystemHasTold(_ system: CallSystem)
}

extension CallSystemJournal {
    public func callSystemHasTold(_ system: CallSystem) {}
}
