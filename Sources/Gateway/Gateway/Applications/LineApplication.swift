import CallJournal
import Media
import Primitives
import RTP

/// Answers the calls of a line that has no devices: one value for each call.
///
/// Without I/O: told what happens and when, it says what is to be done. Every requirement but `source` has a default. Inputs come one after
/// the other on the signalling lane, so that none may block. A gateway's line has one by ``LineEndpoint/Application/custom(_:_:)``.
public protocol LineApplication: Sendable {
    /// The sound that the caller hears from the answer on, and after each `.play`.
    var source: MediaSource { get }
    /// The message of the caller that it takes; nil: it takes none, and the call is recorded as any other.
    var message: VoiceMessage? { get }
    /// The rules of that message.
    var messageRules: MessageRules { get }
    /// Keys of a far end without telephone-event are sought in its sound, whatever the setting for all calls is.
    var takesDigits: Bool { get }
    /// When `advance` has something to do; nil: never.
    var deadline: Instant? { get }

    /// The caller hears ringing. Answers at once by default.
    mutating func start(at now: Instant) -> [ApplicationStep]
    /// The call is answered.
    mutating func answered(at now: Instant) -> [ApplicationStep]
    /// The caller pressed a key: as a telephone event, by INFO, or heard in the sound.
    mutating func heard(_ digit: DTMFDigit, at now: Instant) -> [ApplicationStep]
    /// All of the source has been played; not called for sources that have no end.
    mutating func sourceFinished(at now: Instant) -> [ApplicationStep]
    /// The deadline has come.
    mutating func advance(to now: Instant) -> [ApplicationStep]
    /// The caller has been silent for as long as the rules of its message say.
    mutating func fellSilent(at now: Instant) -> [ApplicationStep]
    /// The call for the caller has reached nobody. Hangs up by default.
    mutating func callFailed(_ cause: EndCause, at now: Instant) -> [ApplicationStep]
    /// The decision hook's answer to a question of `.ask`.
    mutating func decided(_ decision: CallDecision, at now: Instant) -> [ApplicationStep]
    /// The queue that the caller waits in says something.
    mutating func told(_ event: QueueEvent, at now: Instant) -> [ApplicationStep]
}

extension LineApplication {
    public var message: VoiceMessage? { nil }
    public var messageRules: MessageRules { MessageRules() }
    public var takesDigits: Bool { false }
    public var deadline: Instant? { nil }

    public mutating func start(at now: Instant) -> [ApplicationStep] { [.answer] }
    public mutating func answered(at now: Instant) -> [ApplicationStep] { [] }
    public mutating func heard(_ digit: DTMFDigit, at now: Instant) -> [ApplicationStep] { [] }
    public mutating func sourceFinished(at now: Instant) -> [ApplicationStep] { [] }
    public mutating func advance(to now: Instant) -> [ApplicationStep] { [] }
    public mutating func fellSilent(at now: Instant) -> [ApplicationStep] { [] }
    public mutating func callFailed(_ cause: EndCause, at now: Instant) -> [ApplicationStep] { [.hangUp(cause)] }
    public mutating func decided(_ decision: CallDecision, at now: Instant) -> [ApplicationStep] { [] }
    public mutating func told(_ event: QueueEvent, at now: Instant) -> [ApplicationStep] { [] }
}

/// A step that an application wants done: in order, and only for a call that is still there.
public enum ApplicationStep: Equatable, Sendable {
    /// The call is answered; once, while it rings.
    case answer
    /// 300–699, before the answer.
    case reject(status: Int)
    /// The source has changed, and begins now.
    case play
    /// The source begins, also where it is the one that plays.
    case restart
    /// The message begins.
    case record
    /// The program of its stream is called.
    case stream
    /// The call ends, for this cause.
    case hangUp(EndCause)
    /// A party is called for the caller, who hears the source meanwhile. Who answers first talks with the caller, and the application is
    /// over; `callFailed` says that nobody did.
    case call(ApplicationCallee)
    /// Those who are called for the caller are called no more; `callFailed` follows.
    case cancelCall
    /// The caller waits in the queue of the line.
    case enqueue
    /// A free member is looked for again.
    case lookForMembers
    /// None of the members that rang took the call.
    case unanswered
    /// The caller waits in the queue no more, for a limit of it.
    case leaveQueue(cause: Text)
    /// The decision hook is asked what follows; `decided` has its answer.
    case ask(digits: Text)
    /// Another application goes on with the caller.
    case become(LineEndpoint.Application)
    /// An event of the caller's call for the journal.
    case note(JournalEvent.Kind, JournalEvent.Details)
}

/// The party that an application has called for its caller.
public enum ApplicationCallee: Equatable, Sendable {
    /// The line that the number reaches, as if the caller had dialled it.
    case number(Text)
    /// A number over the trunk of a line; nil: the line's own.
    case trunk(Text, number: Text?)
    /// The lines of a group, by its strategy.
    case group(RingGroup)
}

/// A message that an application takes: the caller's side of the call.
public enum VoiceMessage: Sendable {
    /// The message is taken after a greeting.
    case later
    /// The message is being taken.
    case now
}

/// The call that an application is made for.
public struct ApplicationCall: Sendable {
    /// The index of the line, which names its conference.
    public let line: Int
    /// 1 for the first call of the line.
    public let number: Int
}
