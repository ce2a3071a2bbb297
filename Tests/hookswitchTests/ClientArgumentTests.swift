import ArgumentParser
import Foundation
import Primitives
import Testing
import UserAgent
import Workbench

@testable import hookswitch

/// What is typed at `call`, `answer` and `demo`.
@Suite struct ClientArgumentTests {
    /// The line that a person gets and the exit code; nil when the arguments are good.
    private func complaint(_ line: String) -> (line: String, exitCode: Int32)? {
        do {
            switch try Hookswitch.parseAsRoot(line.split(separator: " ").map { $0 == "''" ? "" : String($0) }) {
            case let call as Call: _ = try call.plan()
            case let answer as Answer: _ = try answer.plan()
            case let demo as Demo: _ = try demo.settings()
            case let probe as Probe: _ = try probe.examine()
            case let ping as Ping: try ping.run()
            case let witness as WitnessCommand: _ = try witness.order()
            default: Issue.record("'\(line)' is none of the clients' commands")
            }
            return nil
        } catch let failure as Failure {
            return (failure.message, failure.exitCode)
        } catch { return (Hookswitch.message(for: error), 2) }
    }

    @Test(arguments: [
        ("call", "Missing expected argument '<target>'"),
        ("witness --data d --journal j", "--journal names the file already: leave --data out"),
        ("witness --journal ''", "--journal takes a file, got ''"),
        ("witness --ports 5-4", "--ports takes a range from 1024 on as 20000-20199, got '5-4'"),
        ("witness --pid 0", "--pid takes numbers from 1 to 2147483647, got 0"),
        ("witness --every 0", "--every takes milliseconds from 1 to 10000, got 0"),
        ("witness --for 0", "--for takes seconds from 0.1 to 1000000, got 0"),
        ("call tel:9196", "'tel:9196' names no server: write sip:9196@ADDRESS, or add --server ADDRESS"),
        ("call 9196", "'9196' names no server: write sip:9196@ADDRESS, or add --server ADDRESS"),
        ("call sip:", "'sip:' is no SIP URI as sip:9196@127.0.0.1:5060"),
        (
            "call sip:9196@exa!mple.test", "'sip:9196@exa!mple.test' is no SIP URI as sip:9196@127.0.0.1:5060"
        ),
        ("call sips:9196@127.0.0.1 --tcp", "'sips:9196@127.0.0.1' asks for TLS: leave --transport out, or write sip:"),
        (
            "call sip:9196@127.0.0.1;transport=foo",
            "'sip:9196@127.0.0.1;transport=foo': there is no transport 'foo' here; write udp, tcp, tls or ws"
        ),
        ("ping 127.0.0.1;transport=foo", "'sip:127.0.0.1;transport=foo': there is no transport 'foo' here; write udp, tcp, tls or ws"),
        ("ping 127.0.0.1;transport=ws", "'127.0.0.1;transport=ws': ping speaks UDP and TCP, not WebSocket"),
        ("call 9196 --server 127.0.0.1 --ws-path /x", "--ws-path needs a WebSocket: --transport ws or wss"),
        (
            "answer --server 127.0.0.1 --transport ws",
            "over a WebSocket only who registers is called: add --register, or --accounts for load"
        ),
        ("call 9196 --server 127.0.0.1 --transport tsl", "--transport is udp, tcp, tls, ws or wss, got 'tsl' (did you mean 'tls'?)"),
        ("call 9196 --server 127.0.0.1 --transport tls --tcp", "--tcp and --transport tls exclude each other"),
        ("call 9196 --server 127.0.0.1 --ca x.pem", "--ca needs TLS: --transport tls or wss, or a sips: URI"),
        ("call sips:9196@127.0.0.1 --certificate x.pem", "--certificate and --certificate-key belong together"),
        ("call 9196 --server 127.0.0.1 --srtp sdse", "--srtp is sdes, dtls, optional or off, got 'sdse' (did you mean 'sdes'?)"),
        ("answer --transport tls", "to be called over TLS needs --certificate and --certificate-key: what is shown to who connects?"),
        ("call sip:9196@127.0.0.1:0", "'sip:9196@127.0.0.1:0': a port is a number from 1 to 65535"),
        ("call a@b@c --server 127.0.0.1", "'a@b@c' is neither a number as 9196 nor a SIP URI as sip:9196@example.test"),
        (
            "call 9196 --server exam!ple.test",
            "--server takes an address or a name as 127.0.0.1, [::1]:5062 or sip.example.test, got 'exam!ple.test'"
        ),
        (
            "call 9196 --server 0.0.0.0",
            "--server takes an address or a name as 127.0.0.1, [::1]:5062 or sip.example.test, got '0.0.0.0'"
        ),
        ("call 9196 --server 127.0.0.1 --register @x", "--register takes a line as 1001 or 1001@example.test, got '@x'"),
        ("call 9196 --server 127.0.0.1 --from 1001:x", "--from takes a line as 1001 or 1001@example.test, got '1001:x'"),
        (
            "call 9196 --server 127.0.0.1 --from 1 --register 2",
            "--from and --register exclude each other: a registered line calls as itself"
        ),
        ("call 9196 --server 127.0.0.1 --password x", "--password needs --register or --from: whose password is it?"),
        (
            "call 9196 --server 127.0.0.1 --codec pcmx",
            "--codec knows no codec 'pcmx'; there are opus, g722, pcmu, pcma, l16/48000, l16/44100, l16/16000, l16/8000"
        ),
        ("call 9196 --server 127.0.0.1 --codec opus,opus", "--codec names a codec twice: 'opus,opus'"),
        ("call 9196 --server 127.0.0.1 --duration 0", "--duration takes seconds from 0.1 to 86400, got 0"),
        ("call 9196 --server 127.0.0.1 --duration long", "The value 'long' is invalid for '--duration <s>'"),
        ("call 9196 --server 127.0.0.1 --timeout 0.5", "--timeout takes seconds from 1 to 3600, got 0.5"),
        ("call 9196 --server 127.0.0.1 --dtmf 12x", "--dtmf takes up to 100 keys of 0-9, *, # and A-D, got '12x'"),
        ("call 9196 --server 127.0.0.1 --tone 20", "--tone takes a frequency from 100 to 3800 Hz, got 20"),
        ("call 9196 --server 127.0.0.1 --tone 440 --play x.wav", "--play and --tone exclude each other"),
        ("answer --manual", "--manual needs --json-lines: who would answer?"),
        ("answer --register 1002", "--register needs --server: where to register?"),
        ("answer --password x", "--password needs --register: whose password is it?"),
        ("answer --listen 127.0.0.1:5070 --local 127.0.0.1:5071", "--local and --listen exclude each other: both name the place"),
        (
            "answer --server 127.0.0.1 --from 1 --register 2",
            "--from and --register exclude each other: a registered line answers as itself"
        ),
        ("answer --listen here", "--listen takes one address of this machine, as callers are told it: 127.0.0.1:5070; got 'here'"),
        ("answer --local here", "--local takes one address of this machine, as callers are told it: 127.0.0.1:5070; got 'here'"),
        (
            "answer --listen 0.0.0.0:5070",
            "--listen takes one address of this machine, as callers are told it: 127.0.0.1:5070; got '0.0.0.0:5070'"
        ),
        (
            "answer --listen [::1]:5070 --server 127.0.0.1",
            "--listen and the server are of different families: '[::1]:5070', '127.0.0.1:5060'"
        ),
        ("answer --after=-1", "--after takes milliseconds from 0 to 3600000, got -1"),
        ("answer --reject 200", "--reject takes a status from 300 to 699, got 200"),
        ("answer --busy-every 0", "--busy-every takes a number of calls from 1 to 1000000, got 0"),
        ("answer --calls 0", "--calls takes a number of calls from 1 to 1000000000, got 0"),
        ("answer --echo --tone 440", "--echo excludes --play and --tone"),
        ("probe 9196", "probe takes an address or a name as 127.0.0.1, [::1]:5062 or sip.example.test, got '9196'"),
        ("probe foo:0", "probe takes an address or a name as 127.0.0.1, [::1]:5062 or sip.example.test, got 'foo:0'"),
        ("ping 127.0.0.1 --timeout 0", "--timeout takes seconds from 0.1 to 60, got 0"),
        ("call 9196 --server ::1:5060", "--server is [::1:5060] or [::1]:5060: write the brackets, got '::1:5060'"),
        ("answer --listen fe80::1:5070", "--listen is [fe80::1:5070] or [fe80::1]:5070: write the brackets, got 'fe80::1:5070'"),
        ("call 9196 --server 127.0.0.1 --record ''", "--record takes a file, got ''"),
        ("answer --play ''", "--play takes a file, got ''"),
        ("probe 127.0.0.1 --echo ''", "--echo takes a number of the gateway as 9197, got ''"),
        ("probe 127.0.0.1 --tone 9197@example.test", "--tone takes a number of the gateway as 9197, got '9197@example.test'"),
        ("demo --codec mp3", "--codec knows no codec 'mp3'; there are opus, g722, pcmu, pcma, l16/48000, l16/44100, l16/16000, l16/8000"),
        ("demo --duration 100", "--duration takes seconds from 2 to 60, got 100"),
    ])
    func `a mistake gets one line, and exit code 2`(arguments: String, line: String) throws {
        let complaint = try #require(self.complaint(arguments))
        #expect(complaint.line == line)
        #expect(complaint.exitCode == 2)
    }

    @Test(arguments: ["a b", "a<b", "a:b", "9196;x=y@z"]) func `a number that no URI can have is a mistake`(number: String) throws {
        let probe = try #require(try Hookswitch.parseAsRoot(["probe", "127.0.0.1", "--echo", number]) as? Probe)
        let failure = try #require(throws: Failure.self) { try probe.examine() }
        #expect(failure.message == "--echo takes a number of the gateway as 9197, got '\(number)'" && failure.exitCode == 2)
    }

    @Test(arguments: [
        "::1", "fd00::5054:ff:fe12:3456", "2001:db8::5060", "2001:db8::1:53", "::1:f00d", "127.0.0.1:5060", "[::1]:5060", "[::1:5060]",
    ])
    func `an address that can only be read one way is taken`(text: String) { #expect(SocketAddress.readings(of: text) == nil) }

    @Test(
        arguments: [
            (["help", "serv"], "serv"), (["serv"], "serv"), (["help", "serve"], nil), (["help"], nil), (["serve"], nil),
            (["--version"], nil),
        ] as [([String], String?)])
    func `a mistyped command is named, after help too`(arguments: [String], word: String?) {
        let failure = Result { try Hookswitch.checkCommand(arguments) }
        var complaint: Failure?
        if case .failure(let error) = failure { complaint = error as? Failure }
        #expect(
            complaint?.message == word.map { "there is no command '\($0)' (did you mean 'serve'?) (see 'hookswitch --help')" }
                && complaint?.exitCode ?? 2 == 2)
    }

    @Test func `a negative number is a value, and not an option`() throws {
        let words = NegativeValues.joined(["call", "sip:1@127.0.0.1", "--duration", "-1", "--json", "-h"])
        #expect(words == ["call", "sip:1@127.0.0.1", "--duration=-1", "--json", "-h"])
        let complaint = try #require(self.complaint(words.dropLast().joined(separator: " ")))
        #expect(complaint.line == "--duration takes seconds from 0.1 to 86400, got -1")
    }

    @Test func `a mistyped command gets the one that was meant`() throws {
        let failure = try #require(throws: Failure.self) { try Hookswitch.checkCommand(["cal", "x"]) }
        #expect(failure.exitCode == 2 && failure.message == "there is no command 'cal' (did you mean 'call'?) (see 'hookswitch --help')")
        for words in [[], ["call", "x"], ["help"], ["--version"]] { try Hookswitch.checkCommand(words) }
    }

    @Test(arguments: [
        ("call sip:9196@127.0.0.1 --play /nowhere.wav", "/nowhere.wav cannot be read"),
        ("call sip:9196@127.0.0.1 --play /dev/null", "/dev/null cannot be played: neither WAV nor Ogg Opus"),
        ("call sip:9196@127.0.0.1 --record /nowhere/heard.wav", "/nowhere/heard.wav cannot be written: the place is not writable"),
        ("call sips:9196@127.0.0.1 --ca /nowhere.pem", "'/nowhere.pem' cannot be read"),
        ("answer --transport tls --certificate /nowhere.pem --certificate-key /nowhere.key", "'/nowhere.pem' cannot be read"),
        ("answer --record /tmp", "/tmp cannot be written: the place is not writable"),
    ])
    func `a file that is not to be had is exit code 3`(arguments: String, line: String) throws {
        let complaint = try #require(self.complaint(arguments))
        #expect(complaint.line == line)
        #expect(complaint.exitCode == 3)
    }

    @Test(arguments: [
        ("call sip:9196@127.0.0.1", "sip:9196@127.0.0.1", "127.0.0.1:5060", Transport.udp),
        ("call 9196 --server localhost:5062", "sip:9196@127.0.0.1:5062", "127.0.0.1:5062", .udp),
        ("call sip:9196@example.test --server [::1]", "sip:9196@example.test", "[::1]:5060", .udp),
        ("call sip:9196@127.0.0.1;transport=tcp", "sip:9196@127.0.0.1;transport=tcp", "127.0.0.1:5060", .tcp),
        ("call sips:9196@127.0.0.1", "sips:9196@127.0.0.1", "127.0.0.1:5061", .tls),
        ("call 9196 --server 127.0.0.1 --transport tls", "sip:9196@127.0.0.1:5061", "127.0.0.1:5061", .tls),
        ("call 9196@127.0.0.1:5070 --tcp", "sip:9196@127.0.0.1:5070", "127.0.0.1:5070", .tcp),
    ])
    func `a target leads to a URI, a server and a transport`(arguments: String, uri: String, server: String, transport: Transport) throws {
        let call = try #require(try Hookswitch.parseAsRoot(arguments.split(separator: " ").map(String.init)) as? Call),
            plan = try call.plan()
        #expect("\(plan.target)" == uri && "\(plan.settings.server)" == server && plan.settings.transport == transport)
    }

    @Test func `a file is played once and ends the call, or again and again for the time that was asked for`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-\(UUID()).wav")
        try Data(WAVBytes.oneSecond).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let once = try #require(try Hookswitch.parseAsRoot(["call", "sip:1@127.0.0.1", "--play", file.path]) as? Call).plan().script
        #expect(once.duration == nil && once.hangUpAfterPlaying != nil)
        let timed = try #require(try Hookswitch.parseAsRoot(["call", "sip:1@127.0.0.1", "--duration", "7", "--play", file.path]) as? Call)
            .plan().script
        #expect(timed.duration == .seconds(7) && timed.hangUpAfterPlaying == nil)
    }

    @Test func `further calls are recorded into files of their own`() throws {
        let recordings = try CallRecordings(path: "/tmp/heard.wav"), paths = [1, 2, 11].map { recordings.path(of: $0) }
        #expect(paths == ["/tmp/heard.wav", "/tmp/heard-2.wav", "/tmp/heard-11.wav"])
    }
}
