import ArgumentParser
import Foundation
import Primitives
import Synchronization
import Testing
import Workbench

@testable import hookswitch

/// What is told of a load while it runs.
@Suite(.serialized, .timeLimit(.minutes(30))) struct LoadWatchTests {
    @Test func `a run is told line by line and at an address, and its last line is the verdict`() throws {
        let target = try FaultyEcho { $0 == 2 ? .refuses(486) : .none }
        defer { target.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-stream-\(UUID()).ndjson")
        defer { try? FileManager.default.removeItem(at: file) }
        let port = try FreePorts.block(of: 1, .v4).lowerBound
        let arguments = "load sip:a@\(target.address) --rate 10 --calls 8 --talk-time 2.5 --stream \(file.path) --metrics 127.0.0.1:\(port)"
        let load = try #require(try Hookswitch.parseAsRoot(arguments.split(separator: " ").map(String.init)) as? Load)
        let order = try load.options.order(), answer = Mutex(""), isTold = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // The first second has no figures yet.
            let text = Self.get("/metrics", port: port) { $0.contains("state=\"begun\"} 8") }
            answer.withLock { $0 = text }
            isTold.signal()
        }
        let report = try LoadRun(order, reporter: ProgressReporter(nil)).perform()
        isTold.wait()
        let metrics = answer.withLock { $0 }
        for line in [
            "hookswitch_load_calls_total{state=\"begun\"} 8", "hookswitch_load_calls_total{state=\"bad\"} 1", "hookswitch_load_calls_up 7",
        ] {
            #expect(metrics.contains(line), "\(line): \(metrics)")
        }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(
            lines.count >= 3 && lines.dropLast().allSatisfy { $0.contains(#""event":"progress""#) && $0.contains(#""setup_p95":null"#) })
        #expect(lines.contains { $0.contains(#""active":7"#) && $0.contains(#""begun":8"#) }, "\(lines)")
        // Other tests of this process have descriptors.
        let last = try #require(lines.last)
        let verdict = report.verdict
        #expect(last.hasPrefix(#"{"event":"verdict","exitCode":\#(verdict.exitCode),"reasons":["#), "\(last)")
        #expect(last.contains("refused: 1 call") && last.hasSuffix(#","verdict":"\#(verdict.word.rawValue)"}"#), "\(last)")
        expectFault(report)
    }

    @Test func `an address for metrics that is in use is exit code 3`() throws {
        let taken = try TakenPort(), outputs = try LoadOutputs(json: nil, csv: nil, junit: nil, html: nil)
        let failure = try #require(throws: Failure.self) { try LoadWatch(outputs, metrics: SocketAddress(.loopback, port: taken.port)) }
        #expect(failure.exitCode == 3 && failure.message.hasPrefix("--metrics: "), "\(failure)")
    }

    /// A report that was sent into a file has no line of progress in it.
    @Test func `where there is no terminal nothing is told of progress, and the line names its figures`() throws {
        let target = try FaultyEcho { _ in .none }
        defer { target.stop() }
        let words = "load sip:a@\(target.address) --rate 10 --calls 20 --talk-time 1".split(separator: " ").map(String.init)
        let order = try #require(try Hookswitch.parseAsRoot(words) as? Load).options.order(), pipe = Pipe()
        let reporter = ProgressReporter(pipe.fileHandleForWriting), texts = Mutex<[String]>([])
        let load = try LiveLoad(order.plan, settings: order.settings), progress = LoadProgressReporter(order.plan, reporter)
        _ = load.run(every: .milliseconds(200)) { snapshot in
            progress.tell(snapshot)
            texts.withLock { $0.append(progress.text(snapshot)) }
        }
        reporter.finish()
        try pipe.fileHandleForWriting.close()
        #expect(pipe.fileHandleForReading.readDataToEndOfFile().isEmpty)
        let told = texts.withLock { $0 }, form = /\/20 calls .*set-up p50 \d+\.\d ms  own packets p99 \d+\.\d ms late/
        #expect(told.contains { $0.contains(form) }, "\(told)")
    }

    /// Asks until the answer is as it should be.
    private static func get(_ path: String, port: UInt16, until isRight: (String) -> Bool) -> String {
        var last = ""
        let end = Date(timeIntervalSinceNow: 3)
        while Date() < end, !isRight(last) { last = answer(to: path, port: port) }
        return last
    }

    private static func answer(to path: String, port: UInt16) -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var place = sockaddr_in(
            sin_family: sa_family_t(AF_INET), sin_port: port.bigEndian, sin_addr: in_addr(s_addr: UInt32(0x7F00_0001).bigEndian),
            sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
        let isConnected = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return "" }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard write(descriptor, request, request.count) == request.count else { return "" }
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A TCP port that somebody listens at.
    private final class TakenPort {
        let port: UInt16
        private let descriptor: Int32

        init() throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var place = sockaddr_in(
                sin_family: sa_family_t(AF_INET), sin_port: 0, sin_addr: in_addr(s_addr: UInt32(0x7F00_0001).bigEndian),
                sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = descriptor
            let isBound = withUnsafeMutablePointer(to: &place) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &size) == 0
                }
            }
            try #require(isBound)
            port = UInt16(bigEndian: place.sin_port)
        }

        deinit { close(descriptor) }
    }
}
