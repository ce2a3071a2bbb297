import Audio
import Media

extension MediaSource {
    /// Says that it is the caller's turn: a greeting, and half a second of 1,000 Hz.
    static func beep(after greeting: WAV?) -> MediaSource {
        let rate = greeting?.sampleRate ?? 8_000
        var generator = ToneGenerator(.beep, sampleRate: rate)
        var beep = [Int16](repeating: 0, count: rate / 2), room = beep.mutableSpan
        generator.fill(&room)
        return .samples((greeting?.samples ?? []) + beep, sampleRate: rate, loops: false)
    }
}
