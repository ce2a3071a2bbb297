import Audio
import Media
import Primitives

/// A sound of ours that a feature code is answered with: it plays for its length, and the call ends.
struct AnnouncementApplication: LineApplication {
    let source: MediaSource
    let length: Duration
    private(set) var deadline: Instant?

    init(_ tone: Tone, length: Duration) { (source, self.length) = (.tone(tone), length) }

    /// Something is on now, or off.
    static func confirmation(_ isOn: Bool) -> Self {
        Self(Tone(isOn ? 620 : 350, cadence: isOn ? [200, 100] : []), length: .milliseconds(1_200))
    }

    mutating func answered(at now: Instant) -> [ApplicationStep] {
        deadline = now + length
        return []
    }

    mutating func advance(to now: Instant) -> [ApplicationStep] {
        deadline = nil
        return [.hangUp(.normalClearing)]
    }
}
