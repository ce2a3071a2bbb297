import Audio
import Primitives

/// Rules of a recording that is a message, judged by the level of its sound: a frame of 20 ms below -50 dBFS is silence.
public struct MessageRules: Hashable, Sendable {
    /// The least sound of a message that leaves a file; zero keeps every one.
    public var leastSound: Duration
    /// The length of a silence that is told, from the beginning on; nil: none is.
    public var silence: Duration?

    /// - Parameter silence: nil: none is told.
    public init(leastSound: Duration = .seconds(1), silence: Duration? = nil) { (self.leastSound, self.silence) = (leastSound, silence) }

    func detector(sampleRate: Int) -> SilenceDetector {
        SilenceDetector(after: silence.map { Int($0.wholeMilliseconds) }, sampleRate: sampleRate, beginsSilent: false)
    }
}

/// News of a message that is being written.
public enum MessageNotice: Hashable, Sendable {
    /// The caller has been silent for as long as the rules say.
    case silent(RecordingTap)
    /// The file is complete, or ends early; so long.
    case kept(RecordingTap, path: String, length: Duration)
    /// There was too little sound, or no place for a file: there is none.
    case discarded(RecordingTap)
}
