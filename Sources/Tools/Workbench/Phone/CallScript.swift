import Media
import Primitives
import RTP

/// One thing that a telephone of ours does while it is connected.
public enum CallStep: Hashable, Sendable {
    /// Nothing is done for so long.
    case wait(Duration)
    /// The next step waits until they are sent.
    case press([DTMFDigit])
    /// By re-INVITE; the next step waits for the answer.
    case hold, resume
    /// A re-INVITE that changes nothing; the next step waits for the answer.
    case reinvite
    /// The last step: what stands behind it is not done.
    case hangUp

    /// Number of times that it makes the sound that is played wait: once for each key, and once for a hold.
    fileprivate var interruptions: Int { self == .hold ? 1 : keys.count }

    /// Those that it presses.
    var keys: [DTMFDigit] {
        if case .press(let digits) = self { digits } else { [] }
    }
}

/// The actions of a telephone of ours in one call once it is connected, and the sound that it expects.
public struct CallScript: Sendable {
    /// The sound that should arrive, for the verdict.
    public enum Expectation: Sendable {
        /// Any sound, to the end of the call.
        case sound
        /// Any sound, which may end before the call does: an announcement.
        case prompt
        /// The sound that we play, back again.
        case echo
        /// One frequency in Hz.
        case tone(Double)
        /// This recording: one channel of PCM.
        case recording([Int16], sampleRate: Int)
        /// Nothing; silence is as good.
        case nothing
    }

    /// The sound that is sent.
    public var source = MediaSource.silence
    /// The sound that should arrive, for the verdict.
    public var expectation = Expectation.sound
    /// Keys to press after the connection, and how long after it.
    public var digits: [DTMFDigit] = []
    /// The time from the connection until the keys are pressed.
    public var digitsAfter = Duration.milliseconds(500)
    /// Hang up so long after the connection; nil leaves it to the other side.
    public var duration: Duration?
    /// Hang up so long after the last packet of `.samples`; nil goes on.
    public var hangUpAfterPlaying: Duration?
    /// Further steps after the connection, one after the other.
    public var steps: [CallStep] = []
    /// Whether what comes is decoded and kept for the verdict; without it only packets are counted.
    public var listens = true
    /// Whether `.recorded` is told while the call lasts.
    public var tellsRecording = false

    /// Silence is sent, and any sound is expected.
    public init() {}

    /// Number of times that its steps make the sound that is played wait.
    var interruptions: Int { steps.reduce(0) { $0 + $1.interruptions } }
}
