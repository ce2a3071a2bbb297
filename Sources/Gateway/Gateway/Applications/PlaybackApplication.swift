import Audio
import Media
import Primitives

/// Plays a recording: again and again, or once, and then hangs up.
struct PlaybackApplication: LineApplication {
    let source: MediaSource

    init(_ sound: WAV, loops: Bool) { source = .samples(sound.samples, sampleRate: sound.sampleRate, loops: loops) }

    mutating func sourceFinished(at now: Instant) -> [ApplicationStep] { [.hangUp(.normalClearing)] }
}

extension LineEndpoint.Application.Kind {
    static let playback = Self(name: "playback", sound: .required, mayLoop: true, demonstration: 1) { settings, _ in
        PlaybackApplication(settings.sound ?? WAV(sampleRate: 8_000, samples: []), loops: settings.loops)
    }
}

extension LineEndpoint.Application {
    /// Plays a recording: again and again, or once, and then hangs up.
    public static func playback(_ sound: WAV, loops: Bool) -> Self { Self(.playback, sound: sound, loops: loops) }
}
