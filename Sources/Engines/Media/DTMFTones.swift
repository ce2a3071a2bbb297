import Audio
import Primitives
import RTP

/// Keys on their way out as sound at 8 kHz, one after the other: each as long as it is held, and 80 ms of silence behind it.
struct DTMFTones {
    /// The length of a key of which nobody says how long it is held.
    static let usualLength = TelephoneEventSender.usualPress
    /// One that nobody releases is over by then.
    static let greatestLength = Duration.seconds(5)
    private static let leastLength = Duration.milliseconds(80)
    private static let pause = samples(TelephoneEventSender.usualPause)
    /// Keys that may wait.
    static let capacity = 64

    private struct Press {
        var tone: ToneGenerator
        /// Samples; nil while it is held.
        var length: Int?
        var played = 0
    }

    /// The first one sounds.
    private var presses: [Press] = []
    private var silence = 0

    init() {}

    /// Plays a key behind those that wait; nil for one that is held until `release`. False when there is no room.
    mutating func press(_ digit: DTMFDigit, lasting length: Duration?) -> Bool {
        guard presses.count < Self.capacity, let tone = Tone.key(digit.character) else { return false }
        presses.append(Press(tone: ToneGenerator(tone, sampleRate: DTMFDetector.sampleRate), length: length.map(Self.samples)))
        return true
    }

    /// The key that is held was down for so long.
    mutating func release(lasting length: Duration) {
        guard let index = presses.firstIndex(where: { $0.length == nil }) else { return }
        presses[index].length = Self.samples(min(max(length, Self.leastLength), Self.greatestLength))
    }

    /// Writes the next samples; false when all has been played.
    mutating func fill(_ samples: UnsafeMutableBufferPointer<Int16>) -> Bool {
        guard silence > 0 || !presses.isEmpty else { return false }
        var place = 0
        while place < samples.count {
            let rest = UnsafeMutableBufferPointer(rebasing: samples[place...])
            place += silence > 0 || presses.isEmpty ? fillSilence(rest) : fillTone(rest)
        }
        return true
    }

    private mutating func fillSilence(_ room: UnsafeMutableBufferPointer<Int16>) -> Int {
        let count = presses.isEmpty ? room.count : min(silence, room.count)
        for index in 0..<count { room[index] = 0 }
        silence = max(0, silence - count)
        return count
    }

    private mutating func fillTone(_ room: UnsafeMutableBufferPointer<Int16>) -> Int {
        let left = (presses[0].length ?? Self.samples(Self.greatestLength)) - presses[0].played
        guard left > 0 else {
            presses.removeFirst()
            silence = Self.pause
            return 0
        }
        let count = min(left, room.count)
        var span = UnsafeMutableBufferPointer(rebasing: room[..<count]).mutableSpan
        presses[0].tone.fill(&span)
        presses[0].played += count
        return count
    }

    private static func samples(_ length: Duration) -> Int { Int(length.wholeMilliseconds) * DTMFDetector.sampleRate / 1_000 }
}
