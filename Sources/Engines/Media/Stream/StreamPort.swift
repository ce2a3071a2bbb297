import Audio
import Primitives
import Synchronization

/// The place between the media lane of a leg and the program of its stream: samples of the program for the far end, and copies of the far
/// end's packets for the program.
///
/// One side is the leg's lane, the other a lane of streams, one thread at a time each; neither waits for the other. Two are equal when they
/// are the same.
public final class StreamPort: Hashable, Sendable {
    /// The time for which samples lie here at most: the lane of streams may be late for so long before silence is put in.
    public static let depth = Duration.milliseconds(100)
    /// A pause that is longer is one of the program's own, and no lateness.
    private static let longestUnderrun = 500

    /// In Hz, of the program's samples.
    public let sampleRate: Int
    /// Copies of the packets of the leg's far end.
    public let heard = RecordingTap(capacity: 65_536)
    /// Copies of the packets to it; nil where nobody listens to them.
    public let said: RecordingTap?
    private let ring: ByteRing
    /// Bytes that were put in; bytes before which all is forgotten.
    private let put = Atomic<Int>(0), forgotten = Atomic<Int>(0)
    private let paused = Atomic<Bool>(false), interrupted = Atomic<Bool>(false)
    private let underrunCount = Atomic<Int>(0), missingCount = Atomic<Int>(0), playedCount = Atomic<Int>(0)
    private let playing = Playing()

    /// The reader's own. Unchecked: only the leg's lane touches it.
    private final class Playing: @unchecked Sendable {
        /// Less than a frame was there in the last turn: it waits for the rest once.
        var isHeldBack = false
        /// Samples of silence since the last sound; nil before the first, and behind what was forgotten.
        var silence: Int?
    }

    /// - Parameters:
    ///   - sampleRate: 8,000, 16,000, 24,000 or 48,000 Hz.
    ///   - hearsBoth: the program listens to what the far end is sent, too.
    public init(sampleRate: Int, hearsBoth: Bool = false) {
        self.sampleRate = sampleRate
        said = hearsBoth ? RecordingTap(capacity: 65_536) : nil
        ring = ByteRing(capacity: 2 * capacity(sampleRate))
    }

    // MARK: Of the lane of streams

    /// Samples that there is room for.
    public var room: Int { capacity(sampleRate) - (put.load(ordering: .relaxed) - ring.taken) / 2 }

    /// Puts samples in, for which there is room.
    public func put(_ samples: UnsafeBufferPointer<Int16>) {
        guard ring.put(UnsafeRawBufferPointer(samples), UnsafeRawBufferPointer(start: nil, count: 0)) else { return }
        put.add(2 * samples.count, ordering: .relaxed)
    }

    /// Nothing that was put in until now is played any more, from the next frame on.
    public func forget() { forgotten.store(put.load(ordering: .relaxed), ordering: .releasing) }

    /// Silence is played, and the samples wait; or no more.
    public func pause(_ isPaused: Bool) { paused.store(isPaused, ordering: .relaxed) }

    /// The call was held, or goes on: the silence before the next sound is no lateness of the program's.
    public func interrupt() { interrupted.store(true, ordering: .relaxed) }

    /// Samples that were played or forgotten, since the beginning.
    public var played: Int { playedCount.load(ordering: .acquiring) }

    /// Pauses within the program's sound that came of its lateness, and their samples.
    public var underruns: (count: Int, missing: Int) {
        (underrunCount.load(ordering: .relaxed), missingCount.load(ordering: .relaxed))
    }

    // MARK: Of the leg's lane

    /// Fills the frame with what is there, and with silence. Less than a frame waits for the rest, for the time of one frame.
    func read(into frame: UnsafeMutableBufferPointer<Int16>) {
        let end = forgotten.load(ordering: .acquiring)
        if ring.skip(to: end) { (playing.isHeldBack, playing.silence) = (false, nil) }
        defer { playedCount.store(ring.taken / 2, ordering: .releasing) }
        guard !paused.load(ordering: .relaxed) else {
            playing.silence = nil
            return frame.update(repeating: 0)
        }
        let available = ring.count / 2
        guard available >= frame.count || available > 0 && playing.isHeldBack else {
            playing.isHeldBack = available > 0
            if let silence = playing.silence { playing.silence = silence + frame.count }
            return frame.update(repeating: 0)
        }
        noteSound()
        let count = min(available, frame.count)
        _ = ring.take(into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: frame[..<count])))
        for index in count..<frame.count { frame[index] = 0 }
        playing.isHeldBack = false
    }

    private func noteSound() {
        if interrupted.load(ordering: .relaxed) {
            interrupted.store(false, ordering: .relaxed)
            playing.silence = nil
        }
        if let silence = playing.silence, silence > 0, silence * 1_000 <= Self.longestUnderrun * sampleRate {
            underrunCount.add(1, ordering: .relaxed)
            missingCount.add(silence, ordering: .relaxed)
        }
        playing.silence = 0
    }

    public static func == (left: StreamPort, right: StreamPort) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// In samples.
private func capacity(_ sampleRate: Int) -> Int { sampleRate / 1_000 * Int(StreamPort.depth.wholeMilliseconds) }
