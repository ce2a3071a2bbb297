import Audio
import Foundation
import Primitives
import Synchronization
import Testing

@testable import Media

extension RealTime {
    /// Messages that are recorded: which leave a file, and when a silence is told.
    @Suite struct MessageTests {
        private let bench = Bench()
        private var far = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xFA2)
        private let folder = Folder()
        private let news = News()

        private func begin(_ rules: MessageRules, create: @escaping RecordingFile.Creator = RecordingFile.create) throws -> Message {
            let writer = RecordingWriter(clock: nil, create: create, onMessage: { [news] in news.note($0) }) { _ in }
            var order = RecordingWriter.Order(path: folder.path + "/message.wav", format: .wav, sampleRate: 8_000, sides: .farEnd)
            order.message = rules
            let tap = writer.begin(order, at: bench.now), leg = try bench.open(1, port: 20_000, far: far.address, source: .silence)
            try bench.update(leg) { $0.recording = tap }
            try bench.start(leg)
            return Message(writer: writer, tap: tap)
        }

        private struct Message {
            let writer: RecordingWriter, tap: RecordingTap

            func end(at now: Instant) {
                writer.end(tap, at: now)
                writer.synchronize()
            }
        }

        private mutating func say(milliseconds: Int, _ tone: Double = 440) throws {
            for sound in try encoded(sine(8_000, frequency: tone, seconds: 1), .pcmu).prefix(milliseconds / 20) {
                bench.arrive(far.packet(0, sound, step: 160), from: far.address, at: 20_000)
                bench.pass(.milliseconds(20))
            }
        }

        private var hasFile: Bool { FileManager.default.fileExists(atPath: folder.path + "/message.wav") }

        @Test(arguments: [(300, 500, false), (800, 500, true), (0, 0, true)])
        mutating func `a message with too little sound leaves no file`(sound: Int, least: Int64, isKept: Bool) throws {
            let message = try begin(MessageRules(leastSound: .milliseconds(least)))
            try say(milliseconds: sound)
            bench.pass(.seconds(2))
            #expect(news.all.isEmpty)
            message.end(at: bench.now)
            let length = Duration.milliseconds(Int64(sound) + 2_000)
            #expect(news.all == [isKept ? .kept(message.tap, path: folder.path + "/message.wav", length: length) : .discarded(message.tap)])
            #expect(hasFile == isKept)
        }

        @Test mutating func `a silence is told when it has lasted, from the beginning on, and again after a sound`() throws {
            let message = try begin(MessageRules(silence: .seconds(1)))
            for seconds in 1...3 {
                bench.pass(.milliseconds(980))
                message.writer.advance(to: bench.now)
                #expect(news.all.count == seconds - 1)
                bench.pass(.milliseconds(200))
                message.writer.advance(to: bench.now)
                #expect(news.all == Array(repeating: .silent(message.tap), count: seconds))
                try say(milliseconds: 400)
            }
            message.end(at: bench.now)
            #expect(news.all.last.map { if case .kept = $0 { true } else { false } } == true)
        }

        @Test(arguments: [true, false]) func `a message that cannot be written is none`(isFull: Bool) throws {
            let message = try begin(MessageRules(leastSound: .zero)) { path throws(RecordingError) in
                isFull ? (open("/dev/full", O_WRONLY), path) : try RecordingFile.create("/dev/full/message.wav")
            }
            bench.pass(.seconds(2))
            message.writer.advance(to: bench.now)
            message.end(at: bench.now)
            #expect(news.all.count == 1 && !hasFile)
        }
    }

    /// The news of messages. Thread-safe.
    private final class News: Sendable {
        private let list = Mutex<[MessageNotice]>([])
        func note(_ notice: MessageNotice) { list.withLock { $0.append(notice) } }
        var all: [MessageNotice] { list.withLock { $0 } }
    }
}
