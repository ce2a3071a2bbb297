import Dispatch
import Glibc
import Primitives
import Runtime
import Synchronization
import Testing

@testable import UserAgent

extension RealTime {
    /// The tap in the transports, and the ring behind it.
    @Suite(.timeLimit(.minutes(5))) struct MessageTraceTests {
        /// Keeps what it gets; holds the first batch up until it is let go on.
        private final class Sink: TraceSink {
            let output: TraceOutput, takesMedia: Bool
            let taken = Mutex<[TracedMessage]>([]), missed = Mutex(0)
            private let gate: DispatchSemaphore?
            let hasBegun = DispatchSemaphore(value: 0)

            init(_ output: TraceOutput = .file, takesMedia: Bool = false, gate: DispatchSemaphore? = nil) {
                (self.output, self.takesMedia, self.gate) = (output, takesMedia, gate)
            }

            func take(_ messages: [TracedMessage], missed: Int) -> Int {
                hasBegun.signal()
                gate?.wait()
                taken.withLock { $0 += messages }
                self.missed.withLock { $0 += missed }
                return 0
            }

            func finish() {}
            var texts: [String] { taken.withLock { $0.map { String(decoding: $0.bytes, as: UTF8.self) } } }
        }

        private static let flow = Flow(transport: .udp, local: SocketAddress("192.0.2.1:5060")!, remote: SocketAddress("192.0.2.2:5060")!)

        @Test func `datagrams and messages of connections are seen, with their ends, both ways`() async throws {
            let station = try Station(), sink = Sink(), trace = MessageTrace(sinks: [sink])
            station.lane.sync { host, _ in host.transports.tap = trace }
            let peer = try PlainPeer(SOCK_DGRAM, to: station.udp), stream = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write("hello")
            let datagram = try #require(await station.next())
            // No message, but a keep-alive.
            station.send("\r\n", over: datagram.flow)
            stream.write(request(1, body: ""))
            let message = try #require(await station.next())
            station.send("answer", over: message.flow)
            trace.finish()
            #expect(sink.texts == ["hello", request(1, body: ""), "answer"])
            let taken = sink.taken.withLock(\.self)
            #expect(taken.map(\.direction) == [.received, .received, .sent] && taken.map(\.transport) == [.udp, .tcp, .tcp])
            #expect(taken.map(\.local) == [station.udp, station.tcp, station.tcp])
            #expect(taken.map(\.remote) == [peer.local, stream.local, stream.local])
            #expect(trace.counts.seen == 3 && trace.counts.passed == [.file: 3] && trace.counts.dropped == [.file: 0])
        }

        @Test func `what a slow sink does not get in time is counted, and the ring stays small`() {
            let gate = DispatchSemaphore(value: 0), slow = Sink(.hep, gate: gate), quick = Sink(.file)
            let trace = MessageTrace(capacity: 100_000, sinks: [slow, quick])
            trace.note(.sent, Array("number 0".utf8), over: Self.flow)
            slow.hasBegun.wait()
            for number in 1...5_000 { trace.note(.sent, Array("number \(number)".utf8), over: Self.flow) }
            for _ in 0..<100 { gate.signal() }
            trace.finish()
            let counts = trace.counts
            #expect(counts.seen == 5_001 && slow.texts.first == "number 0" && slow.texts.last == "number 5000")
            #expect(counts.passed[.hep] == UInt64(slow.texts.count) && counts.dropped[.hep] == 5_001 - UInt64(slow.texts.count))
            #expect(slow.texts.count < 1_000 && slow.missed.withLock(\.self) == 5_001 - slow.texts.count)
            #expect(counts.passed[.file]! + counts.dropped[.file]! == 5_001)
            #expect(slow.texts == slow.texts.sorted { Int($0.dropFirst(7))! < Int($1.dropFirst(7))! })
        }

        @Test func `the messages of one call are found in the ring, without secrets`() {
            let trace = MessageTrace(sinks: [])
            for id in ["a", "b", "a"] {
                trace.note(.sent, Array("BYE sip:a SIP/2.0\r\nCall-ID: \(id)\r\nAuthorization: secret\r\n\r\n".utf8), over: Self.flow)
            }
            let found = trace.messages(of: "a")
            #expect(
                found.count == 2 && found.allSatisfy { String(decoding: $0.bytes, as: UTF8.self).contains("Authorization: ******\r\n") })
            #expect(trace.messages(of: "c").isEmpty)
        }

        @Test func `media goes to the sinks that take it, as it is`() {
            let file = Sink(takesMedia: true), other = Sink(.hep), trace = MessageTrace(sinks: [file, other])
            let packet = Array("\nk=secret".utf8)
            trace.noteMedia(.sent, packet, length: 100, local: Self.flow.local, remote: Self.flow.remote)
            trace.note(.sent, Array("OPTIONS".utf8), over: Self.flow)
            trace.finish()
            #expect(file.taken.withLock { $0.map(\.bytes) } == [packet, Array("OPTIONS".utf8)] && other.texts == ["OPTIONS"])
            #expect(file.taken.withLock { $0.map(\.mediaLength) } == [100, nil] && trace.counts.passed == [.file: 2, .hep: 1])
        }

        @Test func `an address of ours stands for the wildcard`() {
            let sink = Sink(), trace = MessageTrace(sinks: [sink])
            let flow = Flow(transport: .udp, local: SocketAddress(.anyV4, port: 5060), remote: SocketAddress(.loopback, port: 9))
            trace.note(.sent, Array("OPTIONS".utf8), over: flow)
            trace.finish()
            #expect(sink.taken.withLock { $0.map(\.local) } == [SocketAddress(.loopback, port: 5060)])
        }

        @Test func `a file is put aside when it is full, and each says what it lacks`() throws {
            let folder = "/tmp/trace-\(getpid())-\(UInt32.random(in: 0 ... .max))"
            mkdir(folder, 0o700)
            defer { for name in ["t", "t.1", "t.2", ""] { remove("\(folder)/\(name)") } }
            let failures = Mutex<[String]>([])
            let file = try TraceFile(path: folder + "/t", program: "test 1", rotation: 2_000) { cause in
                failures.withLock { $0.append(cause) }
            }
            let message = TracedMessage(
                .sent, .udp, local: Self.flow.local, remote: Self.flow.remote, wall: 1, bytes: [UInt8](repeating: 0x41, count: 1_500))
            for missed in [3, 0, 0, 0] { #expect(file.take([message], missed: missed) == 0) }
            file.finish()
            let kept = try ["t.1", "t"].map { try Self.read(folder + "/" + $0) }
            #expect(kept.map(\.messages) == [2, 2] && kept.map(\.dropped) == [3, 0] && failures.withLock(\.isEmpty))
            // The next run begins anew.
            try TraceFile(path: folder + "/t", program: "test 1") { _ in }.finish()
            #expect(try Self.read(folder + "/t").messages == 0 && Self.read(folder + "/t.1").messages == 2)
        }

        @Test func `a file that cannot be written is refused at the start`() {
            let error = #expect(throws: TraceFile.FileError.self) { try TraceFile(path: "/dev/full", program: "t") { _ in } }
            #expect(error?.description == "cannot write /dev/full: No space left on device")
            #expect(throws: TraceFile.FileError.self) { try TraceFile(path: "/none/t", program: "t") { _ in } }
        }

        @Test func `a file that meets a full disk is tried again, and can be read afterwards`() throws {
            let folder = "/tmp/trace-\(getpid())-\(UInt32.random(in: 0 ... .max))", path = folder + "/t"
            mkdir(folder, 0o700)
            defer { for name in ["t", "t.1", ""] { remove("\(folder)/\(name)") } }
            let failures = Mutex<[String]>([])
            let file = try TraceFile(path: path, program: "test 1", rotation: 1_000) { cause in failures.withLock { $0.append(cause) } }
            let message = TracedMessage(
                .sent, .udp, local: Self.flow.local, remote: Self.flow.remote, wall: 1, bytes: [UInt8](repeating: 0x41, count: 1_500))
            #expect(file.take([message], missed: 0) == 0)
            // The next file is on a disk that is full.
            rename(path, path + ".1")
            symlink("/dev/full", path)
            #expect(file.take([message, message], missed: 0) == 2 && file.take([message], missed: 0) == 1)
            #expect(failures.withLock(\.self) == ["cannot write \(path): No space left on device"], "once")
            unlink(path)
            #expect(file.take([message], missed: 0) == 0)
            file.finish()
            let first = try Self.read(path + ".1"), second = try Self.read(path)
            #expect(first.messages == 1 && first.dropped == 3 && second.messages == 1 && second.dropped == 0)
        }

        private static func read(_ path: String) throws -> (messages: Int, dropped: UInt64) {
            let file = try #require(fopen(path, "re"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 100_000)
            let count = fread(&bytes, 1, bytes.count, file)
            var reader = PcapngReader(), messages = 0
            try reader.feed(Array(bytes[..<count])) { _ in messages += 1 }
            return (messages, reader.dropped)
        }
    }
}
