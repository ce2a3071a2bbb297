import Audio
import Media

/// Plays 440 Hz.
struct ToneApplication: LineApplication {
    let source = MediaSource.tone(Tone(440))
}

extension LineEndpoint.Application.Kind {
    static let tone = Self(name: "tone", demonstration: 1) { _, _ in ToneApplication() }
}

extension LineEndpoint.Application {
    /// Plays 440 Hz.
    public static let tone = Self(.tone)
}
