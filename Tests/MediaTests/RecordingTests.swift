import Audio
import Dispatch
import Foundation
import Glibc
import Primitives
import RTP
import SDP
import Synchronization
import Testing

@testable import Media

extension RealTime {
    /// What a leg says and hears, as a file has it: left and right, each at its time.
    @Suite struct RecordingTests {
        private let bench = Bench()
        private var far = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xFA2)
        private var other = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)
        private let folder = Folder()

        private func begin(_ format: RecordingFormat = .wav, rate: Int = 8_000) -> (RecordingWriter, RecordingTap, String, Failures) {
            let failures = Failures(), path = folder.path + "/deep/er/call." + format.rawValue
            let writer = RecordingWriter(clock: nil) { failures.note($0) }
            return (writer, writer.begin(.init(path: path, format: format, sampleRate: rate), at: bench.now), path, failures)
        }

        private mutating func say(_ tone: Double, milliseconds: Int, _ codec: AudioCodec = .pcmu, to port: UInt16 = 20_000) throws {
            let samples = sine(codec.nativeSampleRate, frequency: tone, seconds: 1)
            for sound in try encoded(samples, codec).prefix(milliseconds / 20) {
                bench.arrive(
                    far.packet(codec == .pcmu ? 0 : 111, sound, step: codec.timestampStep(milliseconds: 20)), from: far.address, at: port)
                bench.pass(.milliseconds(20))
            }
        }

        @Test(arguments: RecordingFormat.allCases)
        mutating func `what is said is left, what is heard is right, and a hold is silence as long as it lasted`(format: RecordingFormat)
            throws
        {
            let (writer, tap, path, failures) = begin(format, rate: 16_000)
            let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(Tone(700)))
            try bench.update(leg) { $0.recording = tap }
            let began = bench.now
            bench.pass(.milliseconds(500))
            try bench.start(leg)
            try say(440, milliseconds: 1_000)
            try bench.engine.stop(leg, at: bench.now)
            bench.pass(.seconds(2))
            far.timestamp &+= 16_000
            try bench.start(leg)
            try say(440, milliseconds: 1_000)
            try bench.engine.stop(leg, ending: true, at: bench.now)
            writer.end(tap, at: bench.now)
            writer.synchronize()
            #expect(bench.now - began == .milliseconds(4_500))
            let (left, right, rate) = try Folder.stereo(path)
            #expect(rate == (format == .wav ? 16_000 : 48_000) && abs(left.count - rate * 9 / 2) <= rate / 50)
            for (samples, frequency) in [(left, 440.0), (right, 700)] {
                func presence(_ from: Double, _ to: Double) -> Double {
                    var detector = ToneDetector(frequency: frequency, sampleRate: rate)
                    detector.listen(to: samples[Int(from * Double(rate))..<Int(to * Double(rate))].span)
                    return detector.presence
                }
                #expect(presence(0.6, 1.45) > 0.9 && presence(3.6, 4.45) > 0.9, "\(frequency)")
                for silence in [0..<Int(0.5 * Double(rate)), Int(1.8 * Double(rate))..<Int(3.5 * Double(rate))] {
                    #expect(LevelMeter.level(of: samples[silence].span) < -60, "\(frequency)")
                }
            }
            #expect(failures.all.isEmpty && tap.lost == 0)
        }

        /// An encoder for speech takes out what lies below it.
        @Test(arguments: RecordingFormat.allCases) mutating func `a recording has all that is heard, deep tones, too`(
            format: RecordingFormat
        ) throws {
            let (writer, tap, path, _) = begin(format), leg = try bench.open(1, port: 20_000, far: far.address, source: .silence)
            try bench.update(leg) { $0.recording = tap }
            try bench.start(leg)
            try say(50, milliseconds: 1_000)
            writer.end(tap, at: bench.now)
            writer.synchronize()
            let (left, _, rate) = try Folder.stereo(path), level = LevelMeter.level(of: left[(rate * 2 / 5)..<(rate * 4 / 5)].span)
            #expect(abs(level + 10) < 1, "\(level) dB of a tone at -10 dB")
        }

        @Test(arguments: RecordingFormat.allCases) mutating func `of a message only the far end is in the file`(format: RecordingFormat)
            throws
        {
            let path = folder.path + "/message." + format.rawValue, writer = RecordingWriter(clock: nil) { _ in }
            let tap = writer.begin(.init(path: path, format: format, sampleRate: 8_000, sides: .farEnd), at: bench.now)
            let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(Tone(700)))
            try bench.update(leg) { $0.recording = tap }
            try bench.start(leg)
            try say(440, milliseconds: 1_000)
            writer.end(tap, at: bench.now)
            writer.synchronize()
            let message = try WAV(parsingSoundFile: Array(Data(contentsOf: URL(filePath: path)))),
                seconds = Double(message.samples.count) / Double(message.sampleRate)
            #expect(abs(seconds - 1) < 0.03, "one channel: \(seconds) s")
            var own = ToneDetector(frequency: 440, sampleRate: message.sampleRate),
                sent = ToneDetector(frequency: 700, sampleRate: message.sampleRate)
            own.listen(to: message.samples.span)
            sent.listen(to: message.samples.span)
            #expect(own.presence > 0.85 && sent.presence == 0)
        }

        @Test mutating func `a bridge that relays is recorded at one leg, and relays all the same`() throws {
            let (writer, tap, path, _) = begin()
            let a = try bench.open(1, port: 20_000, far: far.address), b = try bench.open(2, port: 20_002, far: other.address)
            try bench.engine.link(a, b, at: bench.now)
            try bench.update(a) { $0.recording = tap }
            try bench.start(a, b)
            let mine = try encoded(sine(8_000, frequency: 440, seconds: 1), .pcmu),
                theirs = try encoded(sine(8_000, frequency: 700, seconds: 1), .pcmu)
            for (left, right) in zip(mine, theirs) {
                bench.arrive(far.packet(0, left), from: far.address, at: 20_000)
                bench.arrive(other.packet(0, right), from: other.address, at: 20_002)
                bench.pass(.milliseconds(20))
            }
            #expect(
                try bench.heard(by: other.address).map(payload) == mine && bench.heard(by: far.address).map(payload) == theirs,
                "nothing was decoded between")
            writer.end(tap, at: bench.now)
            writer.synchronize()
            let (left, right, _) = try Folder.stereo(path)
            #expect(detector(of: 440, in: left, .pcmu).presence > 0.85 && detector(of: 700, in: right, .pcmu).presence > 0.85)
            #expect(detector(of: 700, in: left, .pcmu).presence == 0 && detector(of: 440, in: right, .pcmu).presence == 0)
        }

        @Test mutating func `losses, another order and a change of codec are heard as they should be`() throws {
            let (writer, tap, path, _) = begin(rate: 16_000)
            let leg = try bench.open(1, port: 20_000, far: far.address, codecs: [.pcmu(), .opus()], source: .silence)
            try bench.update(leg) { $0.recording = tap }
            try bench.start(leg)
            let sounds = try encoded(sine(8_000, frequency: 440, seconds: 1), .pcmu)
            var packets = sounds.map { far.packet(0, $0) }
            packets.swapAt(20, 21)
            for (number, packet) in packets.enumerated() {
                if number != 30 { bench.arrive(packet, from: far.address, at: 20_000) }
                bench.pass(.milliseconds(20))
            }
            far.timestamp = far.timestamp &* 6
            try say(440, milliseconds: 1_000, .opus)
            writer.end(tap, at: bench.now)
            writer.synchronize()
            let (left, _, _) = try Folder.stereo(path)
            var heard = ToneDetector(frequency: 440, sampleRate: 16_000)
            heard.listen(to: left.span)
            #expect(heard.presence > 0.85 && heard.longestGapMilliseconds <= 100, "\(heard.presence) \(heard.longestGapMilliseconds)")
        }

        @Test(arguments: RecordingFormat.allCases) mutating func `a file is readable while it is written`(format: RecordingFormat) throws {
            let (writer, tap, path, _) = begin(format)
            let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(Tone(700)))
            try bench.update(leg) { $0.recording = tap }
            try bench.start(leg)
            for second in 1...3 {
                bench.pass(.seconds(1))
                writer.advance(to: bench.now)
                let (left, _, rate) = try Folder.stereo(path)
                #expect(left.count >= (second - 1) * rate && left.count <= second * rate)
                if format == .wav { #expect(left.count == second * rate) }
            }
            _ = tap
        }

        @Test mutating func `a lane that nobody reads drops packets and counts them, and goes on`() throws {
            let (writer, tap, path, _) = begin()
            let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(Tone(700)))
            try bench.update(leg) { $0.recording = tap }
            try bench.start(leg)
            bench.pass(.seconds(40))
            #expect(tap.lost > 200 && tap.lost < 2_000, "\(tap.lost)")
            #expect(bench.heard(by: far.address).count > 1_990)
            writer.advance(to: bench.now)
            let lost = tap.lost
            bench.pass(.seconds(1))
            #expect(tap.lost == lost, "there is room again")
            writer.end(tap, at: bench.now)
            writer.synchronize()
            #expect(try Folder.stereo(path).left.count == 41 * 8_000)
        }

        @Test(arguments: [true, false]) mutating func `a full disk, or no place at all, ends the recording with one word, and not the leg`(
            isFull: Bool
        ) throws {
            let failures = Failures(), place = folder.path + "/call.wav"
            let writer = RecordingWriter(
                clock: nil,
                create: { path throws(RecordingError) in
                    isFull ? (open("/dev/full", O_WRONLY), path) : try RecordingFile.create("/dev/full/call.wav")
                }
            ) { failures.note($0) }
            let tap = writer.begin(.init(path: place, format: .wav, sampleRate: 8_000), at: bench.now)
            let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(Tone(700)))
            try bench.update(leg) { $0.recording = tap }
            try bench.start(leg)
            bench.pass(.seconds(1))
            writer.advance(to: bench.now)
            writer.end(tap, at: bench.now)
            writer.finish(at: bench.now)
            #expect(failures.all.map(\.tap) == [tap] && failures.all.map(\.error) == [.system(isFull ? ENOSPC : ENOTDIR)])
            #expect(bench.heard(by: far.address).count == 51)
        }

        @Test func `however many recordings come and go, one at a time or together, the writer comes by once in its interval`() {
            let visits = PlannedVisits(), now = bench.now
            let writer = RecordingWriter(
                clock: { now }, create: RecordingFile.create, delay: { queue, work in visits.plan { queue.sync(execute: work) } }
            ) { _ in }
            func begin(_ name: String) -> RecordingTap {
                writer.begin(.init(path: folder.path + "/" + name, format: .wav, sampleRate: 8_000), at: now)
            }
            for number in 0..<3 { writer.end(begin("\(number).wav"), at: now) }
            let last = begin("last.wav")
            writer.synchronize()
            #expect(visits.planned == 1)
            visits.next()
            #expect(visits.planned == 1, "while something is recorded")
            writer.end(last, at: now)
            writer.synchronize()
            visits.next()
            #expect(visits.planned == 0)
            writer.end(begin("again.wav"), at: now)
            writer.synchronize()
            #expect(visits.planned == 1)
        }

        @Test func `a file that is there is never overwritten`() throws {
            var names: [String] = []
            for _ in 0..<3 {
                var file = try RecordingFile.begin(folder.path + "/a.b/same.wav", .wav, sampleRate: 8_000, serial: 1)
                try file.finish()
                names.append(String(file.path.dropFirst(folder.path.count)))
            }
            #expect(names == ["/a.b/same.wav", "/a.b/same-2.wav", "/a.b/same-3.wav"])
        }

        @Test func `what does not fit a ring is not taken, and the rest comes out in order over its edge`() {
            let ring = ByteRing(capacity: 10)
            func put(_ head: [UInt8], _ body: [UInt8]) -> Bool {
                head.withUnsafeBytes { head in body.withUnsafeBytes { ring.put(head, $0) } }
            }
            func take(_ count: Int) -> [UInt8]? {
                var room = [UInt8](repeating: 0, count: count)
                return room.withUnsafeMutableBytes { ring.take(into: $0) } ? room : nil
            }
            var next: UInt8 = 0, expected: UInt8 = 0
            for _ in 0..<20 {
                #expect(put([next, next &+ 1], [next &+ 2, next &+ 3, next &+ 4]))
                next &+= 5
                #expect(put([next], [next &+ 1]))
                next &+= 2
                #expect(!put([0, 0], [0, 0]) && take(8) == nil)
                #expect(take(7) == (0..<7).map { expected &+ $0 })
                expected &+= 7
            }
        }
    }
}

/// When a writer will come by next, as often as it asked for it. Thread-safe.
final class PlannedVisits: Sendable {
    private let list = Mutex<[@Sendable () -> Void]>([])
    func plan(_ visit: @escaping @Sendable () -> Void) { list.withLock { $0.append(visit) } }
    var planned: Int { list.withLock { $0.count } }
    func next() { list.withLock { $0.isEmpty ? nil : $0.removeFirst() }?() }
}

/// What a writer reported. Thread-safe.
final class Failures: Sendable {
    private let list = Mutex<[RecordingWriter.Failure]>([])
    func note(_ failure: RecordingWriter.Failure) { list.withLock { $0.append(failure) } }
    var all: [RecordingWriter.Failure] { list.withLock { $0 } }
}
