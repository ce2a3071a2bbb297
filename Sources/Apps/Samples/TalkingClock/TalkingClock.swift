import Audio
import Gateway
import Media
import Primitives
import RTP

/// Says the hour and the minute to whoever calls, and once more for a pressed key.
struct TalkingClock: LineApplication {
    /// The sounds of 0 to 59.
    let numbers: [WAV]
    let time: @Sendable () -> (hour: Int, minute: Int)
    private(set) var source = MediaSource.quiet
    private(set) var isAtMinute = false

    mutating func answered(at now: Instant) -> [ApplicationStep] { say(time().hour, isMinute: false) }

    mutating func heard(_ digit: DTMFDigit, at now: Instant) -> [ApplicationStep] { say(time().hour, isMinute: false) }

    mutating func sourceFinished(at now: Instant) -> [ApplicationStep] {
        isAtMinute ? [.hangUp(.normalClearing)] : say(time().minute, isMinute: true)
    }

    private mutating func say(_ number: Int, isMinute: Bool) -> [ApplicationStep] {
        (source, isAtMinute) = (.samples(numbers[number].samples, sampleRate: numbers[number].sampleRate, loops: false), isMinute)
        return [.restart]
    }
}
