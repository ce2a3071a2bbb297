import Audio
import Foundation
import Testing

extension Strains {
    /// The telephone of the web console in Debian's Chromium (`Scenarios/phone.py`). Its screenshots stay in `.build/screenshots`.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct PhoneTests {
        private struct Stage {
            let gateway: Gateway, port: UInt16

            /// The page and its WebSocket go over TLS.
            var isSecure = false

            /// - Parameters:
            ///   - other: of line 1002; a browser's unless given.
            ///   - further: lines for browsers, from 1101 on.
            ///   - proxy: the SIP server of the page; nil: the gateway.
            ///   - certificate: of secure WebSockets, with its key; nil: none are listened for.
            static func start(
                other: String? = nil, further: Int = 0, certificate: (file: String, key: String)? = nil, proxy: String? = nil
            ) async throws -> Stage {
                let ports = try await Ports.take(1), browser = "srtp: required, srtp-keying: dtls, ice: lite"
                var setup = Gateway.Setup()
                (setup.others, setup.usesWebSockets) = (ports, true)
                setup.settings = ["api: { listen: [\"127.0.0.1:\(ports[0])\"]\(proxy.map { ", phone-server: \"\($0)\"" } ?? "") }"]
                setup.lines = [
                    "{ number: \"1001\", password: secret-1001, name: Alice, \(browser) }",
                    "{ number: \"1002\", password: secret-1002, name: Bob, \(other ?? browser) }",
                    "{ number: \"1003\", password: secret-1003, name: Carol }",
                    "{ number: \"9196\", application: echo, srtp: optional }", "{ number: \"9197\", application: tone, srtp: optional }",
                ]
                setup.lines += (0..<further).map { "{ number: \"\(1_101 + $0)\", password: secret-\(1_101 + $0), \(browser) }" }
                if let certificate {
                    setup.tls = []
                    setup.settings += ["api.tls: true", "sip.wss.certificate: \(certificate.file)", "sip.wss.key: \(certificate.key)"]
                }
                return Stage(gateway: try await Gateway.start(setup), port: ports[0], isSecure: certificate != nil)
            }

            func visit(_ scene: String, _ values: [String: String] = [:]) throws -> Program {
                try Program(
                    Place.python,
                    [Place.scenario("phone.py"), scene, "http\(isSecure ? "s" : "")://127.0.0.1:\(port)/phone", Place.screenshots]
                        + values.map { "\($0.key)=\($0.value)" })
            }

            func expectDone(_ person: Program) async throws {
                let code = try await person.exitCode(within: .seconds(180))
                #expect(code == 0 && person.lines.all.last == "DONE", "\(person.transcript)")
            }

            @discardableResult
            func play(_ scene: String, _ values: [String: String] = [:]) async throws -> Journal {
                let person = try visit(scene, values)
                defer { person.kill() }
                try await expectDone(person)
                let journal = try await gateway.stop()
                journal.expectNothingLeft()
                return journal
            }
        }

        @Test func `the client reads and writes SIP, and knows the digests of the RFCs`() async throws {
            let stage = try await Stage.start(), person = try stage.visit("units")
            defer { person.kill() }
            try await stage.expectDone(person)
            try await stage.gateway.stop()
        }

        @Test func `two pages talk with each other, and each hears the other`() async throws {
            let stage = try await Stage.start(), folder = stage.gateway.folder
            let (first, second) = try await stage.gateway.speech(repeating: true)
            let journal = try await stage.play(
                "pair", ["first": folder.file("first.wav"), "second": folder.file("second.wav"), "out": folder.path])
            try Recordings.expect(endOf: try Recordings.read(folder.file("heard-1001.wav")), isOf: second, isNotOf: first)
            try Recordings.expect(endOf: try Recordings.read(folder.file("heard-1002.wav")), isOf: first, isNotOf: second)
            #expect(Set(journal.all("sip.rx").compactMap { $0.text("transport") }) == ["ws"])
            #expect(journal.count("media.opened") == 2)
        }

        /// The configuration is the one of `docs/guides/webrtc-telephone.md`, with addresses of the test.
        @Test func `two pages talk with each other through Kamailio`() async throws {
            let ports = try await Ports.take(2), stage = try await Stage.start(proxy: "ws://127.0.0.1:\(ports[1])"),
                folder = stage.gateway.folder
            let shipped = Place.tests.appending(path: "../../Configs/kamailio/websocket.cfg")
            var settings = try String(contentsOf: shipped, encoding: .utf8)
            for (from, to) in [
                ("192.0.2.20!", "127.0.0.1!"), ("GATEWAY_PORT!5060!", "GATEWAY_PORT!\(stage.gateway.sipPort)!"),
                ("https://pbx.example.test!", "http://127.0.0.1:\(stage.port)!"), ("udp:192.0.2.10:5060", "udp:127.0.0.1:\(ports[0])"),
                ("tcp:127.0.0.1:8088", "tcp:127.0.0.1:\(ports[1])"),
            ] {
                try #require(settings.contains(from), "\(from)")
                settings = settings.replacing(from, with: to)
            }
            let file = folder.file("kamailio.cfg")
            try Data(settings.utf8).write(to: URL(filePath: file))
            // Its children end with it: they are in a namespace of processes of their own.
            let kamailio = try Program(
                "/usr/bin/unshare", ["--fork", "--pid", "--kill-child", "kamailio", "-f", file, "-DD", "-E", "-Y", folder.path])
            defer { kamailio.kill() }
            try await kamailio.line(containing: "processes (at least)")
            let (first, second) = try await stage.gateway.speech(repeating: true)
            let journal = try await stage.play(
                "pair",
                ["first": folder.file("first.wav"), "second": folder.file("second.wav"), "out": folder.path])
            try Recordings.expect(endOf: try Recordings.read(folder.file("heard-1001.wav")), isOf: second, isNotOf: first)
            try Recordings.expect(endOf: try Recordings.read(folder.file("heard-1002.wav")), isOf: first, isNotOf: second)
            #expect(Set(journal.all("sip.rx").compactMap { $0.text("transport") }) == ["udp"])
            #expect(journal.count("media.opened") == 2)
        }

        @Test func `a page mutes, sends digits, holds for a second call, and leaves its line`() async throws {
            let journal = try await Stage.start().play("acts")
            let digits = journal.all("dtmf.received").compactMap { $0.text("digits") }
            #expect(digits == ["5", "#"], "\(journal.events.map(\.kind))")
        }

        @Test func `a page transfers to a number, and joins two that it talks with`() async throws {
            let stage = try await Stage.start()
            let carol = try Program(
                Place.hookswitch,
                ["answer", "--register", "1003", "--password", "secret-1003", "--calls", "1", "--server", stage.gateway.address])
            defer { carol.kill() }
            try await stage.gateway.program.line(containing: "registration of 1003", within: .seconds(20))
            try await stage.play("transfer")
            #expect(try await carol.exitCode(within: .seconds(20)) == 0, "\(carol.transcript)")
            #expect(carol.transcript.contains("audio both ways"), "\(carol.transcript)")
        }

        @Test(arguments: [true, false]) func `a page and a telephone in the clear talk, whoever calls`(calls: Bool) async throws {
            let stage = try await Stage.start(other: "srtp: off"), gateway = stage.gateway
            let said = try await gateway.speech(repeating: true), other = try await gateway.baresip()
            let person = try stage.visit(
                "called", ["first": gateway.folder.file("first.wav"), "out": gateway.folder.path, "number": calls ? "1002" : ""])
            defer { person.kill() }
            try await person.line(containing: "REGISTERED", within: .seconds(60))
            if calls {
                try await other.event("CALL_INCOMING")
                other.accept()
            } else {
                other.dial("1001")
            }
            try await other.event("CALL_ESTABLISHED")
            try await person.line(containing: "HEARD", within: .seconds(60))
            try await other.waitForRecording(of: 7)
            other.hangUp()
            try await stage.expectDone(person)
            try Recordings.expect(endOf: try Recordings.read(gateway.folder.file("heard.wav")), isOf: said.baresip, isNotOf: said.client)
            try Recordings.expect(endOf: try other.recording(), isOf: said.client, isNotOf: said.baresip)
            try await gateway.stop().expectNothingLeft()
        }

        @Test func `a tab that is closed hangs up, and is not called`() async throws { try await Stage.start().play("closed") }

        @Test func `a call goes on over another connection, with new checks of connectivity`() async throws {
            let journal = try await Stage.start().play("moved")
            #expect(journal.count("media.opened") == 1, "one call, and one socket for it")
        }

        @Test func `fifty tabs of a browser are fifty lines, until they are closed`() async throws {
            let stage = try await Stage.start(further: 50), journal = try await stage.play("tabs")
            let lines = stage.gateway.program.lines.all.filter { $0.contains("registration of 11") }
            let came = Set(lines.filter { $0.contains(" 1 contact") }.compactMap(Self.line)),
                went = Set(lines.filter { $0.contains("ended with its connection") }.compactMap(Self.line))
            #expect(came.count == 50 && went.isSuperset(of: came.subtracting(["1101"])), "\(came.count), \(went.count)")
            #expect(journal.count("media.opened") == 2, "one call has sound")
        }

        /// The line that a registration of the log is of.
        private static func line(_ text: String) -> String? {
            text.components(separatedBy: "registration of ").last.map { String($0.prefix(4)) }
        }

        @Test func `a page over TLS talks over a secure WebSocket, whose certificate it was told to believe`() async throws {
            let folder = try Folder()
            let made = try await Program.run(
                Place.python, [Place.scenario("certificate.py"), folder.path, Place.certificate("server.pem")])
            #expect(made.code == 0 && made.lines.count == 2, "\(made.lines)")
            let stage = try await Stage.start(certificate: (folder.file("own.pem"), folder.file("own.key")))
            let journal = try await stage.play("secure", ["trusts": made.lines.joined(separator: ",")])
            #expect(Set(journal.all("sip.rx").compactMap { $0.text("transport") }) == ["wss"])
        }

        @Test func `a page comes back when the gateway does`() async throws {
            let stage = try await Stage.start(), person = try stage.visit("restart")
            defer { person.kill() }
            try await person.line(containing: "RESTART", within: .seconds(60))
            stage.gateway.program.kill()
            _ = try await stage.gateway.program.exitCode(within: .seconds(10))
            try await stage.gateway.startAgain()
            try await stage.expectDone(person)
            try await stage.gateway.stop()
        }

        @Test(arguments: ["refused", "accessible", "german"]) func `the page holds`(scene: String) async throws {
            let stage = try await Stage.start(), person = try stage.visit(scene)
            defer { person.kill() }
            try await stage.expectDone(person)
            try await stage.gateway.stop()
        }
    }
}
