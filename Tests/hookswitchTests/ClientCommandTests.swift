import ArgumentParser
import Audio
import Dispatch
import Foundation
import Gateway
import Media
import Primitives
import Runtime
import SDP
import Synchronization
import Testing
import UserAgent
import Workbench

@testable import hookswitch

/// `call`, `answer` and `demo` over the sockets of this machine, in real time.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ClientCommandTests {
    @Test func `a call to an echo hears itself, and is good`() throws {
        let gateway = try EchoGateway()
        defer { gateway.server.stop() }
        let outcome = try call("9196 --server \(gateway.address) --duration 2")
        #expect(outcome.result.verdict == .bothWays && outcome.result.isGood)
        #expect(outcome.complaint == nil)
        let correlation = try #require(outcome.result.audio?.correlation), packets = try #require(outcome.result.packets)
        #expect(correlation > SignalCorrelation.threshold)
        #expect(packets.received > 40)
    }

    @Test func `keys are pressed, and the echo presses them back`() throws {
        let gateway = try EchoGateway()
        defer { gateway.server.stop() }
        let outcome = try call("9196 --server \(gateway.address) --dtmf 12# --codec g722")
        #expect(outcome.result.digitsReceived == "12#")
        #expect(outcome.result.isGood)
        #expect(outcome.complaint == nil)
        #expect(outcome.result.codec == "G722")
    }

    @Test func `a registered line calls over TCP, and the tone that it hears is in the file`() throws {
        let gateway = try EchoGateway()
        defer { gateway.server.stop() }
        let file = NSTemporaryDirectory() + "hookswitch-\(gateway.address.port).wav"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let outcome = try call(
            "9197 --server \(gateway.address) --tcp --register 1001 --password secret-1001 --duration 1.5 --codec pcma --record \(file)")
        #expect(outcome.result.isGood)
        #expect(outcome.result.codec == "PCMA")
        #expect(outcome.recordedIn == file)
        var detector = ToneDetector(frequency: 440, sampleRate: 8_000)
        let heard = try WAV(contentsOf: file).resampled(to: 8_000).samples
        detector.listen(to: heard.span)
        #expect(detector.presence > 0.8)
    }

    /// A disk that is full is told with the result, by either side, and nowhere as a recording.
    @Test func `a recording that cannot be written is no recording`() throws {
        let port = try FreePorts.block(of: 2, .v4).lowerBound
        let arguments = "answer --listen 127.0.0.1:\(port) --calls 1 --after 0 --record /dev/full".split(separator: " ").map(String.init)
        let answerer = BackgroundAnswer(try #require(try Hookswitch.parseAsRoot(arguments) as? Answer).plan())
        let outcome = try call("sip:a@127.0.0.1:\(port) --duration 0.5 --record /dev/full"),
            line = "/dev/full cannot be written: No space left on device"
        #expect(outcome.recordedIn == nil && outcome.complaint?.exitCode == 3 && outcome.complaint?.message == line)
        #expect(outcome.result.failure == line && !outcome.result.isGood && CallText.result(outcome.result).contains(line))
        #expect(throws: Failure.self) { try answerer.results() }
        #expect(answerer.known.map(\.result.failure) == [line] && answerer.known.map(\.file) == [nil])
    }

    @Test func `of a recording that took nothing no empty file is left`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let path = NSTemporaryDirectory() + "hookswitch-\(UUID()).wav", file = try WAVFile(path: path)
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            signal(SIGXFSZ, SIG_IGN)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
            file.append([1, 2, 3], sampleRate: 8_000)
            file.finish()
            exit(file.failure == .cannotWrite(path, "File too large") && !FileManager.default.fileExists(atPath: path) ? 42 : 1)
        }
    }

    @Test(
        arguments: [
            ("4444", 404, "404 Not Found, ended by the other side"),
            ("9196 --register 1001 --password wrong", nil, "no call: the registration of 1001 failed with 401"),
        ] as [(String, Int?, String)])
    func `a call that fails is exit code 1, and says why`(arguments: String, status: Int?, line: String) throws {
        let gateway = try EchoGateway()
        defer { gateway.server.stop() }
        let result = try call("\(arguments) --server \(gateway.address)").result
        #expect(result.status == status && !result.isGood)
        #expect(CallText.status(result) == line)
        let command = try #require(
            try Hookswitch.parseAsRoot(("call --json --server \(gateway.address) " + arguments).split(separator: " ").map(String.init))
                as? Call)
        #expect(throws: ExitCode(1)) { try command.run() }
    }

    /// A signal that came before the trap would end the process, and leave the other side ringing.
    @Test func `a call is hung up by a signal of before its INVITE`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let said = Pipe(), port = try FreePorts.block(of: 1, .v4).lowerBound,
                mute = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: port))
            Thread.detachNewThread {
                var text = ""
                while !text.contains("calling") { text += String(decoding: said.fileHandleForReading.availableData, as: UTF8.self) }
                kill(getpid(), SIGTERM)
            }
            let command = try #require(try Hookswitch.parseAsRoot(["call", "sip:a@127.0.0.1:\(port)"]) as? Call)
            let outcome = try CallRun(command.plan(), reporter: ProgressReporter(said.fileHandleForWriting)).perform()
            withExtendedLifetime(mute) {}
            exit(outcome.result.endedBy == .us ? 42 : 1)
        }
    }

    @Test func `what is asked for before there is a call is done when there is one`() {
        let reporter = ProgressReporter(nil), hung = DispatchSemaphore(value: 0)
        reporter.readerHasGone()
        let signals = HangupSignals(reporter)
        signals.whenAsked { hung.signal() }
        #expect(hung.wait(timeout: .now()) == .success)
    }

    /// Without what the network says it would be 408 after `--timeout`.
    @Test(arguments: [("", "udp", ""), (" --tcp", "tcp", ", or no way leads there")])
    func `a call to where nobody is fails soon, and has no status that nobody sent`(option: String, transport: String, end: String) throws {
        let port = try FreePorts.block(of: 1, .v4).lowerBound
        let result = try call("sip:9196@127.0.0.1:\(port)\(option)").result
        #expect(CallText.status(result) == "no call: nobody listens at \(transport) 127.0.0.1:\(port)\(end)")
        #expect(String(decoding: try JSONEncoder().encode(result), as: UTF8.self).contains(#""status":null"#) && !result.isGood)
    }

    @Test func `a ping that fails says why, in its JSON too`() throws {
        let port = try FreePorts.block(of: 1, .v4).lowerBound, text = "sip:127.0.0.1:\(port)", overTCP = text + ";transport=tcp"
        func ping(_ target: String) throws -> Ping.Report {
            try #require(try Hookswitch.parseAsRoot(["ping", target, "--timeout", "0.5"]) as? Ping).report()
        }
        let nobody = try ping(overTCP), mute = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: port)),
            silence = try ping(text)
        withExtendedLifetime(mute) {}
        #expect(
            nobody.failure == "cannot be reached: nobody takes messages there"
                && nobody.text == "\(overTCP) cannot be reached: nobody takes messages there")
        #expect(silence.failure == "did not answer within 0.5 s" && !silence.isGood)
        #expect(String(decoding: try JSONEncoder().encode(silence), as: UTF8.self).contains("did not answer within"))
    }

    @Test func `a port in use is one line, and exit code 3`() throws {
        let gateway = try EchoGateway()
        defer { gateway.server.stop() }
        let command = try #require(try Hookswitch.parseAsRoot(["answer", "--listen", "\(gateway.address)"]) as? Answer)
        let failure = try #require(throws: Failure.self) { try command.run() }
        #expect(failure.exitCode == 3 && failure.message.contains("\(gateway.address.port)") && !failure.message.contains("\n"))
    }

    @Test(arguments: [true, false]) func `media ports that cannot be had are exit code 3`(areTaken: Bool) throws {
        let gateway = try EchoGateway()
        defer { gateway.server.stop() }
        let first = (try FreePorts.block(of: 6, .v4).lowerBound + 1) & ~1
        let socket = try areTaken ? FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: first)) : nil
        let range = areTaken ? "\(first)-\(first + 1)" : "\(first + 1)-\(first + 2)"
        let outcome = try call("sip:9196@\(gateway.address) --ports \(range)")
        #expect(outcome.complaint?.exitCode == 3 && outcome.complaint?.message.isEmpty == false, "\(outcome)")
        withExtendedLifetime(socket) {}
    }

    @Test func `a refused registration ends the answerer with exit code 1`() throws {
        let gateway = try EchoGateway()
        defer { gateway.server.stop() }
        let command = try #require(
            try Hookswitch.parseAsRoot(["answer", "--server", "\(gateway.address)", "--register", "1002", "--password", "x"]) as? Answer)
        let failure = try #require(throws: Failure.self) { try command.run() }
        #expect(failure.exitCode == 1 && failure.message == "the registration was refused with 401")
    }

    @Test func `an answerer takes one call, is busy for the next, and ends by itself`() throws {
        let port = try FreePorts.block(of: 2, .v4).lowerBound
        let arguments = "answer --listen 127.0.0.1:\(port) --busy-every 2 --calls 2 --after 0".split(separator: " ").map(String.init)
        let answerer = BackgroundAnswer(try #require(try Hookswitch.parseAsRoot(arguments) as? Answer).plan())
        let first = try call("sip:a@127.0.0.1:\(port) --duration 1.5").result, second = try call("sip:a@127.0.0.1:\(port)").result
        #expect(first.isGood && first.verdict == .bothWays && second.status == 486)
        let results = try answerer.results()
        #expect(results.map(\.status) == [200, 486])
        let packets = try #require(results[0].packets), audio = try #require(results[0].audio)
        #expect(packets.received > 40)
        #expect(audio.level != nil)
    }

    @Test func `the demo's speech arrives both ways, its journal is clean, and nothing is left`() throws {
        let report = try DemoRun(DemoSettings(duration: .seconds(2)), reporter: ProgressReporter(nil)).perform()
        #expect(report.isGood, "\(report.text)")
        #expect(try #require(report.callerHeard) > 0.7 && #require(report.calleeHeard) > 0.7 && report.events > 40)
        #expect(report.ladder.contains("media started") && report.ladder.contains("║ ║"))
        #expect(report.text.contains("audio both ways"))
        let witness = try #require(report.witness)
        #expect(witness.verdict == .agree && witness.callsWithMedia == 2 && witness.sockets >= 2 && witness.foreignSockets == 0)
        #expect(report.text.contains("kernel    \(witness.samples) samples, 2 calls (2 with media), "))
    }

    @Test func `a demo that is stopped leaves nothing`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let folder = FileManager.default.temporaryDirectory.appending(path: "hookswitch-stopped-\(UUID())"), said = Pipe()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            setenv("TMPDIR", folder.path, 1)
            Thread.detachNewThread {
                var text = ""
                while !text.contains("is connected") { text += String(decoding: said.fileHandleForReading.availableData, as: UTF8.self) }
                kill(getpid(), SIGTERM)
            }
            let report = try DemoRun(DemoSettings(duration: .seconds(60)), reporter: ProgressReporter(said.fileHandleForWriting)).perform()
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            try FileManager.default.removeItem(at: folder)
            exit(left.isEmpty && report.failures == ["the demo was stopped"] && report.leftovers.isEmpty && report.isClean ? 42 : 1)
        }
    }

    /// Nobody has spoken: a figure of nought would say that nothing was heard of what was said.
    @Test func `a demo that is stopped while it rings has no figures`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let said = Pipe()
            Thread.detachNewThread {
                var text = ""
                while !text.contains("Bob rings") { text += String(decoding: said.fileHandleForReading.availableData, as: UTF8.self) }
                kill(getpid(), SIGTERM)
            }
            let settings = DemoSettings(answersAfter: .seconds(3_600), duration: .seconds(2))
            let report = try DemoRun(settings, reporter: ProgressReporter(said.fileHandleForWriting)).perform()
            let json = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
            let hasFigures =
                report.callerHeard != nil || report.calleeHeard != nil || json.contains("erHeard") || json.contains("eeHeard")
                || report.text.contains("speech    ")
            exit(
                report.caller != nil && report.callee != nil && !hasFigures && !report.isGood
                    && report.failures.contains("the demo was stopped") && report.leftovers.isEmpty && report.isClean ? 42 : 1)
        }
    }

    @Test(arguments: [true, false])
    func `the demo fails when one microphone is unplugged, and all is ended as well`(isCallersUnplugged: Bool) throws {
        var settings = DemoSettings(codecs: [.pcmu], duration: .seconds(2))
        if isCallersUnplugged { settings.caller = .silence } else { settings.callee = .silence }
        let report = try DemoRun(settings, reporter: ProgressReporter(nil)).perform()
        #expect(!report.isGood && !report.isSpeechBothWays)
        let heard = try #require(isCallersUnplugged ? report.callerHeard : report.calleeHeard)
        #expect(heard > 0.7, "\(report.text)")
        #expect(report.isClean && report.leftovers.isEmpty && report.failures.isEmpty)
        #expect(report.text.contains("verdict   speech did not arrive both ways"))
    }

    private func call(_ arguments: String) throws -> CallOutcome {
        let command = try #require(try Hookswitch.parseAsRoot(("call " + arguments).split(separator: " ").map(String.init)) as? Call)
        return try CallRun(command.plan(), reporter: ProgressReporter(nil)).perform()
    }
}

/// A gateway with an echo, a tone and two lines, on free ports of loopback.
private struct EchoGateway {
    let server: GatewayServer
    let address: SocketAddress

    init() throws {
        var configuration = GatewayConfiguration()
        configuration.media.ports = try FreePorts.block(of: 20, .v4, in: 12_000...19_999)
        configuration.lines = ["1001", "1002", "9196", "9197"].map { LineConfiguration(number: $0) }
        for index in 0..<2 { configuration.lines[index].password = "secret-" + configuration.lines[index].number }
        configuration.lines[2].endpoint = .application(.echo)
        configuration.lines[3].endpoint = .application(.tone)
        let place = SocketAddress(.loopback, port: try FreePorts.block(of: 2, .v4).lowerBound)
        var settings = GatewayServer.Settings(gateway: configuration, listeners: [.init(.udp, place), .init(.tcp, place)])
        settings.mediaLanes = 1
        server = try GatewayServer(settings) { notice in
            if case .violation(let violation) = notice { Issue.record("\(violation)") }
        }
        address = place
    }
}

/// `hookswitch answer` on a thread of its own.
private final class BackgroundAnswer: Sendable {
    private struct Outcome {
        var results: [(result: CallResult, file: String?)] = []
        var failure: (any Error)?
    }

    private let outcome = Mutex(Outcome())
    private let begun = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)

    /// Returns when the port is bound.
    init(_ plan: AnswerPlan) {
        Thread.detachNewThread { self.perform(plan) }
        begun.wait()
    }

    private func perform(_ plan: AnswerPlan) {
        let run = AnswerRun(plan, reporter: ProgressReporter(nil)) { _, result, file in
            self.outcome.withLock { $0.results.append((result, file)) }
        }
        do { try run.perform(onStart: { begun.signal() }) } catch { outcome.withLock { $0.failure = error } }
        begun.signal()
        done.signal()
    }

    /// Of all calls; waits for the end.
    func results() throws -> [CallResult] {
        #expect(done.wait(timeout: .now() + 60) == .success)
        let outcome = outcome.withLock { $0 }
        if let failure = outcome.failure { throw failure }
        return outcome.results.map(\.result)
    }

    /// What was told so far, with the files.
    var known: [(result: CallResult, file: String?)] { outcome.withLock { $0.results } }
}

enum WAVBytes {
    static let oneSecond = WAV(sampleRate: 8_000, samples: [Int16](repeating: 1_000, count: 8_000)).serialized()
}
