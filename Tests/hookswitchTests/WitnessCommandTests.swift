import CallJournal
import Dispatch
import Foundation
import Gateway
import Primitives
import Runtime
import Synchronization
import Testing

@testable import hookswitch

/// `hookswitch witness` beside journals of the test's own, with sockets of the kernel's.
@Suite(.timeLimit(.minutes(5))) struct WitnessCommandTests {
    /// The journal of a gateway that runs, and its sockets, each as the test says.
    private final class FakeGateway {
        static let call = CallUUID(high: 0xA, low: 1)
        let folder: SoundFolder, path: String, ports: ClosedRange<UInt16>
        private let file: JournalFile, journal: Journal
        private var socket: FileDescriptorOwner?

        init(namesPorts: Bool = true) throws {
            folder = try SoundFolder()
            path = folder.path + "/journal.jsonl"
            ports = try FreePorts.block(of: 10, .v4)
            file = try JournalFile(path: path, settings: .init(isClaimed: true)) { _ in }
            journal = Journal(
                lane: "s0", clock: .init(instant: MonotonicClock.now, unixNanoseconds: Runtime.WallClock.now), sink: file, audit: nil)
            let range = Text("\(ports.lowerBound)-\(ports.upperBound)")
            write(.gatewayStarted, namesPorts ? [.ports: .init(range)] : [:])
        }

        /// The port of its call.
        var port: UInt16 { ports.lowerBound + 4 }

        func bind() throws { socket = try .udp(bound: SocketAddress(.loopback, port: port)) }

        func write(_ kind: JournalEvent.Kind, _ details: JournalEvent.Details = [:]) {
            journal.record(kind, call: kind == .gatewayStarted ? nil : Self.call, line: "1002", at: MonotonicClock.now, details)
            journal.flush()
            file.synchronize()
        }

        /// A packet of two bytes leaves from its port to nobody.
        func send(_ first: UInt8, _ second: UInt8) {
            SocketAddress(.loopback, port: 9).withSockaddr { address, length in
                _ = sendto(socket?.raw ?? -1, [first, second], 2, 0, address, length)
            }
        }

        func step(_ kinds: JournalEvent.Kind...) {
            let named: Set<JournalEvent.Kind> = [.mediaReserved, .mediaOpened, .mediaReleased]
            for kind in kinds { write(kind, named.contains(kind) ? [.port: .init(port)] : [:]) }
        }

        /// A witness watches it.
        func watched(process: Int32? = nil, for duration: Duration? = nil, _ meanwhile: () throws -> Void = {}) throws
            -> (WitnessReport, [WitnessFinding])
        {
            defer { withExtendedLifetime(self) {} }
            return try WitnessCommandTests.watch(order(process: process, for: duration), meanwhile)
        }

        func order(process: Int32? = nil, for duration: Duration? = nil, packets: Bool? = nil) -> WitnessOrder {
            var order = WitnessOrder(journal: path)
            order.packets = packets
            (order.process, order.duration, order.pause) = (process, duration, .milliseconds(5))
            return order
        }
    }

    /// A witness that runs on a thread of its own, until the first disagreement or the end of its time.
    /// - Parameter again: what is done every millisecond until then.
    private static func watch(
        _ order: WitnessOrder, again: () -> Void = {}, _ meanwhile: () throws -> Void = {}
    ) throws -> (WitnessReport, [WitnessFinding]) {
        let result = Mutex<Result<(WitnessReport, [WitnessFinding]), any Error>?>(nil), done = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let outcome = Result {
                var run = try WitnessRun.begin(order, reporter: ProgressReporter(nil)), found: [WitnessFinding] = []
                begun.signal()
                let end = run.ender
                let report = try run.perform { finding in
                    found.append(finding)
                    end()
                }
                return (report, found)
            }
            result.withLock { $0 = outcome }
            begun.signal()
            done.signal()
        }
        begun.wait()
        try meanwhile()
        let limit = ContinuousClock.now + .seconds(60)
        while done.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
            try #require(ContinuousClock.now < limit)
            again()
        }
        return try #require(result.withLock { $0 }).get()
    }

    @Test func `a socket that is there as long as its call has it open is agreed on`() throws {
        let gateway = try FakeGateway()
        try gateway.bind()
        gateway.step(.mediaReserved, .mediaOpened)
        let (report, found) = try gateway.watched(process: getpid(), for: .seconds(1))
        #expect(report.verdict == .agree && found.isEmpty && report.samples > 0)
        #expect(report.calls == 1 && report.callsWithMedia == 1 && report.sockets == 1 && report.cpuMillisecondsPerSecond > 0)
        #expect(report.text.contains("1 call (1 with media), 1 socket"))
        #expect(report.text.contains(" seen: the kernel and the journal agree; "))
    }

    @Test func `a socket that is there before its call is answered is named with the call and the port`() throws {
        let gateway = try FakeGateway()
        gateway.step(.mediaReserved)
        let (report, found) = try gateway.watched(process: getpid()) { try gateway.bind() }
        #expect(report.verdict == .disagree && report.disagreements == 1)
        #expect(found.map(\.port) == [gateway.port] && found.map(\.call) == [FakeGateway.call.description])
        #expect(found.map(\.journal) == ["reserved"] && found.map(\.kernel) == ["socket"])
        #expect(found.allSatisfy { $0.text.hasSuffix("  the kernel has a socket; the journal: reserved, not open") })
    }

    @Test func `a socket that stays when its call has closed it is named`() throws {
        let gateway = try FakeGateway()
        try gateway.bind()
        gateway.step(.mediaReserved, .mediaOpened)
        let (report, found) = try gateway.watched { gateway.step(.mediaClosed, .mediaReleased) }
        #expect(report.verdict == .disagree && found.map(\.journal) == ["closed"] && found.map(\.port) == [gateway.port])
    }

    @Test func `media that is opened without a socket is named`() throws {
        let gateway = try FakeGateway()
        let (report, found) = try gateway.watched { gateway.step(.mediaReserved, .mediaOpened) }
        #expect(report.verdict == .disagree && found.map(\.journal) == ["open"] && found.map(\.kernel) == ["no socket"])
    }

    @Test(.enabled(if: geteuid() == 0, "packets may be captured")) func `RTP that leaves before media has started is named`() throws {
        let gateway = try FakeGateway()
        try gateway.bind()
        gateway.step(.mediaReserved, .mediaOpened)
        // STUN, which may leave as soon as the port is open, and RTP.
        let again = {
            gateway.send(0, 1)
            gateway.send(0x80, 0)
        }
        let (report, found) = try Self.watch(gateway.order(process: getpid(), packets: true), again: again)
        #expect(report.verdict == .disagree && found.map(\.port) == [gateway.port] && found.map(\.call) == [FakeGateway.call.description])
        #expect(found.map(\.journal) == ["idle"] && found.map(\.kernel) == ["rtp"])
        #expect(found.allSatisfy { $0.text.hasSuffix("  RTP left; the journal: open, media not started") })
        let packets = try #require(report.packets)
        #expect(packets >= 2 && report.text.contains("1 socket and \(packets) packets seen: "))
    }

    @Test(.enabled(if: geteuid() == 0, "packets may be captured")) func `RTP while media runs is agreed on, and packets can be left out`()
        throws
    {
        let gateway = try FakeGateway()
        try gateway.bind()
        gateway.step(.mediaReserved, .mediaOpened, .mediaStarted)
        let (report, found) = try Self.watch(
            gateway.order(process: getpid(), for: .seconds(1), packets: true), again: { gateway.send(0x80, 0) })
        #expect(report.verdict == .agree && found.isEmpty && report.packets ?? 0 > 10)
        gateway.step(.mediaStopped)
        let (less, none) = try Self.watch(gateway.order(for: .milliseconds(300), packets: false), again: { gateway.send(0x80, 0) })
        #expect(less.verdict == .agree && none.isEmpty && less.packets == nil && less.text.contains("1 socket seen: "))
    }

    @Test func `a socket of another process does not count where one is named`() throws {
        let gateway = try FakeGateway()
        try gateway.bind()
        gateway.step(.mediaReserved)
        let (report, found) = try gateway.watched(process: getppid(), for: .seconds(1))
        #expect(report.verdict == .agree && found.isEmpty && report.foreignSockets == 1)
        #expect(report.text.contains("; 1 sockets of other processes; "))
    }

    @Test func `without a call nothing was seen, which is no agreement`() throws {
        let (report, found) = try FakeGateway().watched(for: .milliseconds(100))
        #expect(report.verdict == .nothingSeen && found.isEmpty)
        #expect(report.text.contains("0 calls (0 with media), 0 sockets"))
        #expect(report.text.contains(" seen: nothing was seen: no call had a port; "))
    }

    @Test func `the gateway's end ends it`() throws {
        let gateway = try FakeGateway()
        let (report, _) = try gateway.watched { gateway.write(.gatewayStopped) }
        #expect(report.verdict == .nothingSeen)
    }

    private static func complaint(_ order: WitnessOrder) -> (String, Int32)? {
        do { _ = try watch(order) } catch let failure as Failure { return (failure.message, failure.exitCode) } catch {}
        return nil
    }

    @Test func `a witness without anything to witness is refused in a sentence`() throws {
        let folder = try SoundFolder(), path = folder.path + "/j"
        let absent = try #require(Self.complaint(WitnessOrder(journal: path)))
        #expect(absent.0.contains(path) && absent.1 == 3)
        try Data().write(to: URL(filePath: path))
        let dead = try #require(Self.complaint(WitnessOrder(journal: path)))
        #expect(dead == ("\(path): no gateway writes it: the witness runs beside a gateway, on its machine", 3))
        let gateway = try FakeGateway(namesPorts: false)
        let portless = try #require(Self.complaint(gateway.order()))
        #expect(portless == ("\(gateway.path) does not say which ports media has: add --ports", 2))
        var order = gateway.order(process: Int32.max)
        let gone = try #require(Self.complaint(order))
        #expect(gone == ("--pid 2147483647: there is no such process, or it may not be looked at", 3))
        (order.process, order.ports) = (nil, 1_024...1_030)
        gateway.step(.mediaReserved)
        let stray = try #require(Self.complaint(order))
        #expect(stray == ("the journal has port \(gateway.port), which is none of 1024-1030: see --ports", 2))
    }
}
