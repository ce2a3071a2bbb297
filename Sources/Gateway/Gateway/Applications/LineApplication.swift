import Media
import Primitives
import RTP

/// Answers the calls of a line that has no devices: one value for each call.
///
/// Without I/O: told what happens and when, it says what is to be done. Every requirement but `source` has a default.
protocol LineApplication: Sendable {
    /// The sound that the caller hears from the answer on, and after each `.play`.
    var source: MediaSource { get }
    /// The message of the caller that it takes; nil: it takes none, and the call is recorded as any other.
    var message: VoiceMessage? { get }
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
    mutating func advance(to now: Instant) -> [ApplicationStep]
}

extension LineApplication {
    var message: VoiceMessage? { nil }
    var deadline: Instant? { nil }

    mutating func start(at now: Instant) -> [ApplicationStep] { [.answer] }
    mutating func answered(at now: Instant) -> [ApplicationStep] { [] }
    mutating func heard(_ digit: DTMFDigit, at now: Instant) -> [ApplicationStep] { [] }
    mutating func sourceFinished(at now: Instant) -> [ApplicationStep] { [] }
    mutating func advance(to now: Instant) -> [ApplicationStep] { [] }
}

/// A step that an application wants done: in order, and only for a call that is still there.
enum ApplicationStep: Equatable {
    case answer
    /// 300–699, before the answer.
    case reject(status: Int)
    /// The source has changed, and begins now.
    case play
    /// The message begins.
    case record
    /// The program of its stream is called.
    case stream
    case hangUp(EndCause)
}

/// A message that an application takes: the caller's side of the call.
enum VoiceMessage {
    /// After a greeting.
    case later
    case now
}

/// The call that an application is made for.
struct ApplicationCall {
    /// The index of the line, which names its conference.
    let line: Int
    /// 1 for the first call of the line.
    let number: Int
}
