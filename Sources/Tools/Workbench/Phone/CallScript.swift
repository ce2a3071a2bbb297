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

    /// How often it makes what is played wait: each key does, and a hold.
    fileprivate var interruptions: Int { self == .hold ? 1 : keys.count }

    /// Those that it presses.
    var keys: [DTMFDigit] {
        if case .press(let digits) = self { digits } else { [] }
    }
}

/// What a telephone of ours does with one call once it is connected, and what it hopes to hear.
public struct CallScript: Sendable {
    /// What should arrive, for the verdict.
    public enum Expectation: Sendable {
        /// Any sound, to the end of the call.
        case sound
        /// Any sound, which may end before the call does: an announcement.
        case prompt
        /// What we play, back again.
        case echo
        /// One frequency in Hz.
        case tone(Double)
        /// This recording: one channel of PCM.
        case recording([Int16], sampleRate: Int)
        /// Nothing; silence is as good.
        case nothing
    }

    /// What is sent.
    public var source = MediaSource.silence
    /// What should arrive, for the verdict.
    public var expectation = Expectation.sound
    /// Keys to press after the connection, and how long after it.
    public var digits: [DTMFDigit] = []
    /// How long after the connection the keys are pressed.
    public var digitsAfter = Duration.milliseconds(500)
    /// Hang up so long after the connection; nil leaves it to the other side.
    public var duration: Duration?
    /// Hang up so long after the last packet of `.samples`; nil goes on.
    public var hangUpAfterPlaying: Duration?
    /// What else is done after the connection, one after the other.
    public var steps: [CallStep] = []
    /// Whether what comes is decoded and kept for the verdict; without it only packets are counted.
    public var listens = true
    /// Whether `.recorded` is told while the call lasts.
    public var tellsRecording = false

    /// Silence is sent, and any sound is expected.
    public init() {}

    /// How often its steps make what is played wait.
    var interruptions: Int { steps.reduce(0) { $0 + $1.interruptions } }
}
