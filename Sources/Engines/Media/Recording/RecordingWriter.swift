import Audio
import Dispatch
import Glibc
import Primitives
import Synchronization

/// Writes the recordings of a server: fetches what media lanes have laid down, decodes it, and writes it to files, all on one queue of its
/// own.
///
/// Thread-safe; nothing but `synchronize` and `advance` waits for the disk. A file that cannot be written ends its recording and is
/// reported once.
public final class RecordingWriter: Sendable {
    /// One recording.
    public struct Order: Hashable, Sendable {
        /// Folders that are missing are made; a file that is there is never overwritten.
        public var path: String
        /// The format of the file, whatever its name says.
        public var format: RecordingFormat
        /// 8,000, 16,000, 24,000 or 48,000 Hz.
        public var sampleRate: Int
        /// The recorded side, or both.
        public var sides: RecordedSides
        /// The recording is a message, of the far end alone, with these rules; nil: it is none.
        public var message: MessageRules?

        /// A recording to be begun.
        public init(path: String, format: RecordingFormat, sampleRate: Int, sides: RecordedSides = .both) {
            (self.path, self.format, self.sampleRate, self.sides) = (path, format, sampleRate, sides)
        }
    }

    /// A recording that has ended for want of room, rights or the like.
    public struct Failure: Hashable, Sendable {
        /// The recording.
        public var tap: RecordingTap
        /// The file that it ended in.
        public var path: String
        /// Why it ended.
        public var error: RecordingError
    }

    /// The interval at which files are written.
    static let interval = Duration.milliseconds(250)
    /// A lane that is late has laid its packets down by then.
    private static let timeout = Duration.milliseconds(100)

    private let queue = DispatchQueue(label: "recordings", qos: .utility)
    private let state: State
    private let clock: (@Sendable () -> Instant)?
    private let onMessage: @Sendable (MessageNotice) -> Void
    private let report: @Sendable (Failure) -> Void
    private let create: RecordingFile.Creator
    private let delay: Delay

    /// Has the writer's queue do something after an interval.
    typealias Delay = @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - clock: that of the media lanes; nil: the caller drives it by `advance`.
    ///   - onMessage: called on the writer's queue with the news of messages; the last of each is `kept` or `discarded`.
    ///   - report: called on the writer's queue.
    public convenience init(
        clock: (@Sendable () -> Instant)?, onMessage: @escaping @Sendable (MessageNotice) -> Void = { _ in },
        report: @escaping @Sendable (Failure) -> Void
    ) {
        self.init(clock: clock, create: RecordingFile.create, onMessage: onMessage, report: report)
    }

    init(
        clock: (@Sendable () -> Instant)?, create: @escaping RecordingFile.Creator, delay: @escaping Delay = RecordingWriter.delay,
        onMessage: @escaping @Sendable (MessageNotice) -> Void = { _ in }, report: @escaping @Sendable (Failure) -> Void
    ) {
        (self.clock, self.create, self.delay, self.onMessage, self.report) = (clock, create, delay, onMessage, report)
        state = State()
    }

    /// Begins a recording of what will be laid down there.
    public func begin(_ order: Order, at now: Instant) -> RecordingTap {
        let tap = RecordingTap()
        queue.async { self.open(order, tap, at: now) }
        return tap
    }

    /// Nothing more is laid down there: writes the rest and closes the file.
    public func end(_ tap: RecordingTap, at now: Instant) {
        queue.async { self.close(tap, at: now) }
    }

    /// Removes a file that was written.
    public func remove(_ path: String) { queue.async { unlink(path) } }

    /// Writes all that was before that time.
    public func advance(to now: Instant) {
        queue.sync { for recording in state.recordings.values { write(recording, until: now) } }
    }

    /// Returns when all that was asked for is in the files.
    public func synchronize() { queue.sync {} }

    /// Ends every recording that is left.
    public func finish(at now: Instant) {
        queue.sync { for tap in state.recordings.keys { close(tap, at: now) } }
    }

    /// Touched on the queue alone.
    private final class State: @unchecked Sendable {
        var recordings: [RecordingTap: Recording] = [:]
        var begun: UInt32 = 0
        var isScheduled = false
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)

        deinit { room.deallocate() }
    }

    private final class Recording {
        let tap: RecordingTap
        let sound: RecordedSound
        var file: RecordingFile
        var error: RecordingError?
        /// nil: it is no message.
        private let rules: MessageRules?
        private var detector: SilenceDetector?
        /// The caller fell silent since it was asked last.
        private var fellSilent = false

        init(_ tap: RecordingTap, _ sound: RecordedSound, _ rules: MessageRules?, _ file: consuming RecordingFile) {
            (self.tap, self.sound, self.rules) = (tap, sound, rules)
            detector = rules?.detector(sampleRate: sound.sampleRate)
            self.file = file
        }

        func takeSilence() -> Bool {
            defer { fellSilent = false }
            return fellSilent
        }

        /// nil for what is no message.
        var holdsEnough: Bool? {
            guard let rules, let detector else { return nil }
            return detector.soundSamples >= Int(rules.leastSound.wholeMilliseconds) * sound.sampleRate / 1_000
        }

        func append(_ samples: Span<Int16>) {
            if detector?.listen(to: samples) == .silent { fellSilent = true }
            guard error == nil else { return }
            do throws(RecordingError) { try file.append(samples) } catch { self.error = error }
        }

        func settle(_ step: (inout RecordingFile) throws(RecordingError) -> Void) {
            guard error == nil else { return }
            do throws(RecordingError) { try step(&file) } catch { self.error = error }
        }
    }

    private func open(_ order: Order, _ tap: RecordingTap, at now: Instant) {
        state.begun &+= 1
        do throws(RecordingError) {
            let file = try RecordingFile.begin(
                order.path, order.format, order.sides, sampleRate: order.sampleRate, serial: state.begun, create: create)
            tap.path = file.path
            state.recordings[tap] = Recording(
                tap, RecordedSound(order.sides, sampleRate: order.sampleRate, began: now), order.message, file)
            if !state.isScheduled { schedule() }
        } catch {
            if order.message != nil { onMessage(.discarded(tap)) }
            report(Failure(tap: tap, path: order.path, error: error))
        }
    }

    private func close(_ tap: RecordingTap, at now: Instant) {
        guard let recording = state.recordings[tap] else { return }
        write(recording, until: now)
        recording.settle { (file: inout RecordingFile) throws(RecordingError) in try file.finish() }
        drop(recording)
    }

    private func drop(_ recording: Recording) {
        guard state.recordings.removeValue(forKey: recording.tap) != nil else { return }
        judge(recording)
        guard let error = recording.error else { return }
        report(Failure(tap: recording.tap, path: recording.file.path, error: error))
    }

    /// A message that holds too little leaves no file.
    private func judge(_ recording: Recording) {
        guard let holdsEnough = recording.holdsEnough else { return }
        guard holdsEnough else {
            recording.file.remove()
            return onMessage(.discarded(recording.tap))
        }
        onMessage(.kept(recording.tap, path: recording.file.path, length: recording.sound.length))
    }

    private func write(_ recording: Recording, until now: Instant) {
        while let packet = recording.tap.take(into: state.room) {
            recording.sound.advance(to: packet.at) { recording.append($0) }
            recording.sound.take(packet, UnsafeRawBufferPointer(rebasing: state.room[..<Int(packet.count)]))
        }
        recording.sound.advance(to: now) { recording.append($0) }
        recording.settle { (file: inout RecordingFile) throws(RecordingError) in try file.flush() }
        if recording.takeSilence() { onMessage(.silent(recording.tap)) }
        if recording.error != nil { drop(recording) }
    }

    private func schedule() {
        guard let clock else { return }
        state.isScheduled = true
        delay(queue) { [self] in
            state.isScheduled = false
            for recording in state.recordings.values { write(recording, until: clock() + (.zero - Self.timeout)) }
            if !state.recordings.isEmpty { schedule() }
        }
    }

    private static let delay: Delay = { queue, work in
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(interval.wholeMilliseconds)), execute: work)
    }
}
