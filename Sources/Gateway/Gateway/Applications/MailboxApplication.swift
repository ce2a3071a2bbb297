import Audio
import Media
import Primitives
import RTP

/// Takes a message: plays a greeting, where there is one, and a beep, and records the caller until it hangs up or presses #.
struct MailboxApplication: LineApplication {
    private(set) var source: MediaSource
    private(set) var message: VoiceMessage? = .later

    init(greeting: WAV?) { source = Self.beep(after: greeting) }

    /// The caller speaks now, and hears silence: a far end that hears nothing at all may take its call for lost.
    mutating func sourceFinished(at now: Instant) -> [ApplicationStep] {
        guard message == .later else { return [] }
        (source, message) = (.quiet, .now)
        return [.record, .play]
    }

    mutating func heard(_ digit: DTMFDigit, at now: Instant) -> [ApplicationStep] {
        message == .now && digit.character == "#" ? [.hangUp(.normalClearing)] : []
    }

    /// The greeting, and half a second of 1,000 Hz: it is the caller's turn.
    private static func beep(after greeting: WAV?) -> MediaSource {
        let rate = greeting?.sampleRate ?? 8_000
        var generator = ToneGenerator(.beep, sampleRate: rate)
        var beep = [Int16](repeating: 0, count: rate / 2), room = beep.mutableSpan
        generator.fill(&room)
        return .samples((greeting?.samples ?? []) + beep, sampleRate: rate, loops: false)
    }
}

extension LineEndpoint.Application.Kind {
    static let mailbox = Self(name: "record", sound: .optional, takesMessages: true, demonstration: 1) { settings, _ in
        MailboxApplication(greeting: settings.sound)
    }
}

extension LineEndpoint.Application {
    /// Takes a message: plays a greeting, where there is one, and a beep, and records the caller until it hangs up or presses #. Its line
    /// has a `recording`.
    public static func record(greeting: WAV?) -> Self { Self(.mailbox, sound: greeting) }
}
