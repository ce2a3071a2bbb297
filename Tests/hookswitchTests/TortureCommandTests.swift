import ArgumentParser
import Foundation
import Gateway
import Media
import Primitives
import Runtime
import Testing
import UserAgent
import Workbench

@testable import hookswitch

/// `torture` over the sockets of this machine, on a gateway of ours and on peers with faults.
@Suite(.serialized, .timeLimit(.minutes(30))) struct TortureCommandTests {
    private func command(_ arguments: String) throws -> Torture {
        try #require(try Hookswitch.parseAsRoot(["torture"] + arguments.split(separator: " ").map(String.init)) as? Torture)
    }

    private func report(_ arguments: String) throws -> TortureReport {
        try TortureRun(try command(arguments).order(), reporter: ProgressReporter(nil)).perform()
    }

    /// A gateway on free ports of loopback, with an echo and a line that has a password.
    private func gateway() throws -> GatewayServer {
        var configuration = GatewayConfiguration()
        configuration.domain = "127.0.0.1"
        // Two for each case, and those of the last second rest.
        configuration.media.ports = try FreePorts.block(of: 600, .v4, in: 12_000...19_999)
        var echo = LineConfiguration(number: "9196"), line = LineConfiguration(number: "1001")
        echo.endpoint = .application(.echo)
        line.password = "secret-1001"
        configuration.lines = [echo, line]
        let address = SocketAddress(.loopback, port: 0)
        var settings = GatewayServer.Settings(gateway: configuration, listeners: [.init(.udp, address), .init(.tcp, address)])
        (settings.mediaLanes, settings.violationsAreFatal) = (1, true)
        return try GatewayServer(settings) { _ in }
    }

    @Test func `our own gateway passes over UDP, with a line of its own`() throws {
        let server = try gateway()
        defer { _ = server.stop() }
        let quick = TortureCase.all.filter { !$0.isSlow }.map(\.name).joined(separator: ",")
        let report = try report("sip:9196@\(server.listeners[0].address) --register 1001 --password secret-1001 --only \(quick)")
        #expect(report.counts.failed == 0 && report.exitCode == 0, "\(report.cases.filter { $0.verdict == .failed }.map(TortureText.line))")
        let unjudged = report.cases.filter { $0.verdict == .notJudged }
        #expect(unjudged.map(\.name) == ["badinv01"], "\(unjudged.map(TortureText.line))")
        #expect(report.counts.passed == report.cases.count - unjudged.count && report.cases.count > 100)
    }

    @Test func `our own gateway passes over TCP, and slow cases are played beside the others`() throws {
        let server = try gateway()
        defer { _ = server.stop() }
        let report = try report("sip:9196@\(server.listeners[1].address) --transport tcp --only rfc4475,rfc5118,offer-answer")
        #expect(report.counts.failed == 0, "\(report.cases.filter { $0.verdict == .failed }.map(TortureText.line))")
        #expect(Set(report.cases.filter { $0.verdict == .notJudged }.map(\.name)) == ["dblreq", "clerr", "baddn"])
    }

    @Test func `messages go byte for byte from port 5060, and their answers come there`() throws {
        let server = try gateway()
        defer { _ = server.stop() }
        let report = try report("sip:9196@\(server.listeners[0].address) --exact --local 127.0.0.47:5060 --only badinv01,wsinv,bigcode")
        #expect(report.cases.map(\.verdict) == [.passed, .passed, .passed], "\(report.cases)")
        #expect(report.cases.first { $0.name == "badinv01" }?.came?.hasPrefix("400") == true)
    }

    @Test func `a peer that knows no calls fails where it must, and both reports say so`() throws {
        let target = try FaultyTarget { _, call in call.refusal = 480 }
        defer { target.phone.close() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "hookswitch-torture-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let order = try command(
            "sip:9196@\(target.address) --only call,late-offer,second-bye,wsinv --timeout 1 --junit \(folder.path)/torture.xml"
        ).order()
        let report = try TortureRun(order, reporter: ProgressReporter(nil)).perform()
        #expect(
            report.exitCode == 1 && [report.counts.passed, report.counts.failed, report.counts.notJudged] == [1, 2, 1], "\(report.cases)")
        let call = try #require(report.cases.first { $0.name == "call" })
        #expect(call.expected == "200 to INVITE" && call.came == "480 Temporarily Unavailable")
        #expect(report.cases.first { $0.name == "second-bye" }?.reason == "the call was not answered: 480 Temporarily Unavailable")
        try order.junit?.write(TortureJUnit.text(report))
        let junit = try String(contentsOf: folder.appending(path: "torture.xml"), encoding: .utf8)
        #expect(junit.contains("tests=\"4\" failures=\"2\" skipped=\"1\"") && junit.contains("expected 200 to INVITE, and there came 480"))
        #expect(TortureText.summary(report).last == "failed: call, late-offer")
    }

    /// A case of 34 seconds is under way: it is left.
    @Test func `a torture that is stopped leaves what it plays, and is exit code 3`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let tests = TortureCommandTests(), server = try tests.gateway(), said = Pipe(), begin = MonotonicClock.now
            Thread.detachNewThread {
                var text = ""
                while !text.contains("passed") { text += String(decoding: said.fileHandleForReading.availableData, as: UTF8.self) }
                kill(getpid(), SIGTERM)
            }
            let order = try tests.command("sip:9196@\(server.listeners[0].address) --only no-ack,wsinv").order()
            let report = try TortureRun(order, reporter: ProgressReporter(said.fileHandleForWriting)).perform(),
                isQuick = MonotonicClock.now - begin < .seconds(20)
            let left = report.cases.first { $0.name == "no-ack" }
            let isTold = left?.reason == "stopped before its end" && TortureText.summary(report)[0].hasSuffix("; stopped early")
            exit(isQuick && isTold && report.counts.passed == 1 && report.counts.notJudged == 1 && report.exitCode == 3 ? 42 : 1)
        }
    }

    @Test func `nobody there is exit code 3`() throws {
        let port = try FreePorts.block(of: 2, .v4).lowerBound, target = "127.0.0.1:\(port)"
        let nobody = try #require(throws: Failure.self) { try report("sip:9196@\(target) --timeout 0.5") }
        #expect(nobody.exitCode == 3 && nobody.message == "\(target) cannot be reached")
        let silent = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: port))
        let silence = try #require(throws: Failure.self) { try report("sip:9196@\(target) --timeout 0.5") }
        #expect(silence.exitCode == 3 && silence.message == "\(target) does not answer OPTIONS")
        withExtendedLifetime(silent) {}
    }

    @Test(arguments: [
        ("", "whom to torture? 'hookswitch torture sip:9196@ADDRESS', a number that answers by itself"),
        ("127.0.0.1", "'127.0.0.1' names nobody to call: write sip:9196@ADDRESS, a number that answers by itself"),
        ("sip:1@127.0.0.1 --only wsinw", "--only knows no 'wsinw' (did you mean 'wsinv'?); --list names all"),
        ("sip:1@127.0.0.1 --transport tpc", "--transport is udp or tcp, got 'tpc'"),
        ("sip:1@127.0.0.1 --password x", "--password needs --register: whose password is it?"),
        ("sip:1@127.0.0.1 --exact", "--exact needs --local ADDRESS:5060: that is where the answers to messages without rport go"),
        ("sip:1@127.0.0.1 --local 0.0.0.0", "--local takes one address of this machine, as 127.0.0.2:5060, got '0.0.0.0'"),
        ("--list --junit x.xml", "--list and --junit exclude each other: what is not played has no verdict"),
        ("sip:1@127.0.0.1 --timeout 90", "--timeout takes seconds from 0.5 to 30, got 90"),
    ])
    func `a mistake gets one line, and exit code 2`(arguments: String, line: String) throws {
        let failure = try #require(throws: Failure.self) { try command(arguments).order() }
        #expect(failure.message == line && failure.exitCode == 2)
    }

    @Test(arguments: [("", Transport.tcp), (" --transport udp", .udp), (" --transport tcp", .tcp)])
    func `what is typed goes before the transport of the URI`(option: String, transport: Transport) throws {
        #expect(try command("sip:9196@127.0.0.1;transport=tcp" + option).order().plan?.flow.transport == transport)
    }

    @Test func `the list needs no target, and names groups and cases in their order`() throws {
        #expect(try command("--list").order().cases.count == TortureCase.all.count)
        #expect(try command("--list --only rfc5118").order().cases.allSatisfy { $0.group == .rfc5118 })
    }
}
