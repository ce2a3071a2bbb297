import Audio
import Media
import Primitives
import RTP

/// Takes a message: plays a greeting, where there is one, and a beep, and records the caller until it hangs up, presses #, falls silent or
/// has spoken for long enough.
struct MailboxApplication: LineApplication {
    private(set) var source: MediaSource
    private(set) var message: VoiceMessage? = .later
    private(set) var deadline: Instant?
    private let settings: MailboxSettings
    private var isOver = false

    init(greeting: WAV?, _ settings: MailboxSettings = MailboxSettings()) {
        (source, self.settings) = (Self.beep(after: greeting), settings)
    }

    var messageRules: MessageRules { MessageRules(leastSound: settings.minimum, silence: settings.silenceEnd) }

    /// The caller speaks now, and hears silence: a far end that hears nothing at all may take its call for lost.
    mutating func sourceFinished(at now: Instant) -> [ApplicationStep] {
        guard message == .later else { return [] }
        (source, message, deadline) = (.quiet, .now, settings.maximum.map { now + $0 })
        return [.record, .play]
    }

    mutating func heard(_ digit: DTMFDigit, at now: Instant) -> [ApplicationStep] { digit.character == "#" ? end("key") : [] }

    mutating func fellSilent(at now: Instant) -> [ApplicationStep] { end("silence") }

    mutating func advance(to now: Instant) -> [ApplicationStep] { deadline.map { now >= $0 } ?? false ? end("maximum") : [] }

    private mutating func end(_ cause: Text) -> [ApplicationStep] {
        guard message == .now, !isOver else { return [] }
        (isOver, deadline) = (true, nil)
        return [.note(.mailboxEnded, [.cause: .init(cause)]), .hangUp(.normalClearing)]
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
        MailboxApplication(greeting: settings.sound, settings.mailbox ?? MailboxSettings())
    }
}

extension LineEndpoint.Application {
    /// Takes a message: plays a greeting, where there is one, and a beep, and records the caller until it hangs up, presses # or comes to
    /// a limit. Its line has a `recording`.
    public static func record(greeting: WAV?, _ settings: MailboxSettings? = nil) -> Self {
        var application = Self(.mailbox, sound: greeting)
        application.mailbox = settings
        return application
    }
}
