import ArgumentParser
import Audio
import CallJournal
import Console
import Dispatch
import Foundation
import Gateway
import Media
import Primitives
import Runtime
import Synchronization
import Testing
import UserAgent

@testable import hookswitch

/// A folder of a test's own, which goes with it.
final class SoundFolder: Sendable {
    let path = NSTemporaryDirectory() + "hookswitch-sound-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A file that sounds so long, and then is silent.
    func write(tone: Double, seconds: Double, silence: Double = 0, to name: String) throws {
        var generator = ToneGenerator(Tone(tone), sampleRate: 16_000), samples = [Int16](repeating: 0, count: Int(seconds * 16_000)),
            room = samples.mutableSpan
        generator.fill(&room)
        samples += [Int16](repeating: 0, count: Int(silence * 16_000))
        var bytes = WAV(sampleRate: 16_000, samples: samples).serialized()
        if name.hasSuffix(".opus") {
            var writer = try OggOpusWriter(sampleRate: 16_000, serial: 1)
            bytes = writer.header
            try writer.append(samples.span, to: &bytes)
            try writer.finish(to: &bytes)
        }
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
    }
}

/// A gateway of one line, made from a configuration file, on free ports of loopback.
final class SoundGateway {
    final class Failures: Sendable {
        private let list = Mutex<[RecordingWriter.Failure]>([])
        func note(_ failure: RecordingWriter.Failure) { list.withLock { $0.append(failure) } }
        var all: [RecordingWriter.Failure] { list.withLock { $0 } }
    }

    let folder: SoundFolder
    let address: SocketAddress
    let failures = Failures()
    private let server: GatewayServer
    private let journal: String
    private let control: ControlServer
    private let told: Told

    /// The calls that events were of, in order.
    private final class Told: Sendable {
        private let list = Mutex<[(kind: JournalEvent.Kind, call: UUID)]>([])

        func note(_ event: borrowing JournalEvent) {
            let kind = event.kind
            guard let call = event.call?.uuid else { return }
            list.withLock { $0.append((kind, call)) }
        }

        func calls(_ kind: JournalEvent.Kind) -> [UUID] { list.withLock { $0.filter { $0.kind == kind }.map(\.call) } }
    }

    /// - Parameter sip: further settings of `sip`, as `tls: { ca: FILE }`.
    init(sip: String = "", _ line: (SoundFolder) throws -> String) throws {
        folder = try SoundFolder()
        address = SocketAddress(.loopback, port: try FreePorts.block(of: 2, .v4).lowerBound)
        journal = folder.path + "/journal.jsonl"
        let ports = try FreePorts.block(of: 20, .v4, in: 12_000...19_999), file = folder.path + "/hookswitch.yaml"
        let yaml = """
            domain: sound.test
            sip: { udp: ["\(address)"]\(sip.isEmpty ? "" : ", " + sip) }
            media: { ports: \(ports.lowerBound)-\(ports.upperBound), codecs: [opus, g722, pcmu, pcma, l16/16000, l16/48000] }
            lines:
              - \(try line(folder))
            """
        try Data(yaml.utf8).write(to: URL(filePath: file))
        let configuration = try ConfigurationFile.load(file, environment: [:], flags: [])
        var settings = configuration.server
        (settings.mediaLanes, settings.journalFile) = (1, journal)
        let failures = failures, control = try ControlServer(path: nil, addresses: [SocketAddress(.loopback, port: 0)], version: "test")
        let told = Told()
        (self.control, self.told) = (control, told)
        settings.onEvent = {
            told.note($0)
            control.note($0)
        }
        server = try GatewayServer(settings) { notice in
            switch notice {
            case .violation(let violation): Issue.record("\(violation)")
            case .recording(let failure): failures.note(failure)
            default: break
            }
        }
        control.begin(server) {}
    }

    /// The address of its control interface.
    var api: SocketAddress { control.addresses[0] }

    /// Waits until the journal has an event of a kind, and tells its call.
    func call(with kind: JournalEvent.Kind, _ number: Int = 0) -> UUID? {
        waits(20) { told.calls(kind).count > number }
        return told.calls(kind).dropFirst(number).first
    }

    /// The figures of its streams.
    var streams: StreamTotals { server.figures?.streams ?? StreamTotals() }

    /// Asks the control interface.
    /// - Returns: the status of its answer.
    func ask(_ method: String, _ target: String, _ body: String = "") throws -> Int {
        let socket = try BlockingSocket(to: api)
        socket.send(
            "\(method) \(target) HTTP/1.1\r\nHost: \(api)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try #require(Int(socket.readAll().split(separator: " ").dropFirst().first ?? ""))
    }

    func plan(_ arguments: String) throws -> CallPlan {
        let words = "call \(arguments) --server \(address)".split(separator: " ").map(String.init)
        return try #require(try Hookswitch.parseAsRoot(words) as? Call).plan()
    }

    func call(_ arguments: String) throws -> CallRun { CallRun(try plan(arguments), reporter: ProgressReporter(nil)) }

    /// The mailboxes, as the control interface asks for them.
    func mailboxes() -> [MailboxSummary] {
        let answer = Mutex<[MailboxSummary]>([]), done = DispatchSemaphore(value: 0)
        server.mailboxSummaries { summaries in
            answer.withLock { $0 = summaries }
            done.signal()
        }
        done.wait()
        return answer.withLock { $0 }
    }

    /// Looks again and again until the condition holds; false when the time is over.
    @discardableResult
    func waits(_ seconds: TimeInterval, until condition: () -> Bool) -> Bool {
        let end = Date() + seconds
        while !condition() {
            guard Date() < end else { return false }
            usleep(10_000)
        }
        return true
    }

    /// Stops it, with all that it writes; the journal breaks no rule.
    @discardableResult
    func expectCleanEnd(_ location: SourceLocation = #_sourceLocation) throws -> [JournalEvent] {
        waits(5) { server.legs == 0 }
        return try expectCleanStop(location)
    }

    /// Stops it at once, its calls with it.
    func expectCleanStop(_ location: SourceLocation = #_sourceLocation) throws -> [JournalEvent] {
        server.endAll()
        #expect(server.stop() == 0, sourceLocation: location)
        let read = try JournalReader.read(path: journal)
        let audit = Audit()
        let violations = read.events.flatMap { audit.observe($0) } + audit.finish()
        #expect(violations.isEmpty, sourceLocation: location)
        return read.events
    }
}

/// A TCP connection that waits for the other end.
struct BlockingSocket {
    let raw: Int32

    init(to address: SocketAddress) throws {
        raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var place = sockaddr_in()
        (place.sin_family, place.sin_port) = (sa_family_t(AF_INET), address.port.bigEndian)
        place.sin_addr.s_addr = inet_addr("\(address.address)")
        let code = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        try #require(code == 0)
    }

    func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Until the other end closes; then it is closed.
    func readAll() -> String {
        defer { close(raw) }
        var bytes: [UInt8] = [], piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(raw, &piece, piece.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}

/// A free port for a telephone that answers.
struct SIPPort {
    let address: SocketAddress

    init() throws { address = SocketAddress(.loopback, port: try FreePorts.block(of: 2, .v4).lowerBound) }

    /// `hookswitch answer` on a thread of its own; returns when the port is bound.
    func answer(_ arguments: String) throws -> Answerer {
        let words = "answer --listen \(address) \(arguments)".split(separator: " ").map(String.init)
        return Answerer(try #require(try Hookswitch.parseAsRoot(words) as? Answer).plan())
    }

    final class Answerer: Sendable {
        private let begun = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
        private let failure = Mutex<(any Error)?>(nil)

        fileprivate init(_ plan: AnswerPlan) {
            Thread.detachNewThread {
                do { try AnswerRun(plan, reporter: ProgressReporter(nil)) { _, _, _ in }.perform(onStart: { self.begun.signal() }) } catch {
                    self.failure.withLock { $0 = error }
                }
                self.begun.signal()
                self.done.signal()
            }
            begun.wait()
        }

        /// Until all its calls are over.
        func wait() throws {
            #expect(done.wait(timeout: .now() + 60) == .success)
            if let failure = failure.withLock({ $0 }) { throw failure }
        }
    }
}

/// The two channels of a WAV of 16 bits.
enum Stereo {
    /// As the head of a file of ours says, WAV or Ogg Opus.
    static func channels(_ path: String) throws -> Int {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        try #require(bytes.count > 44)
        return Int(bytes.starts(with: "OggS".utf8) ? bytes[28 + 9] : bytes[22])
    }

    static func read(_ path: String) throws -> (left: [Int16], right: [Int16], rate: Int) {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        try #require(bytes.count > 44 && bytes[22] == 2)
        func sample(_ index: Int, _ channel: Int) -> Int16 {
            let place = 44 + 4 * index + 2 * channel
            return Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)
        }
        let count = (bytes.count - 44) / 4
        return ((0..<count).map { sample($0, 0) }, (0..<count).map { sample($0, 1) }, Int(bytes[24]) | Int(bytes[25]) << 8)
    }
}
