import Foundation
import Testing

extension Calls {
    /// SIP over WebSocket (RFC 7118): telephones of ours on both ends, through a real gateway.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct WebSocketTests {
        @Test(arguments: ["ws", "wss"]) func `a line that registered over a WebSocket is called over one, with sound both ways`(
            transport: String
        ) async throws {
            let gateway = try await Gateway.start(.init(tls: [], usesWebSockets: true))
            let port = transport == "ws" ? gateway.webSocketPort : gateway.secureWebSocketPort
            let way =
                ["--server", "127.0.0.1:\(port)", "--transport", transport]
                + (transport == "ws" ? [] : ["--ca", Place.certificate("ca.pem"), "--tls-name", "gateway.example.test"])
            let callee = try Program(
                Place.hookswitch, ["answer", "--register", "1002", "--password", "secret-1002", "--calls", "1"] + way)
            try await gateway.program.line(containing: "registration of 1002", within: .seconds(20))
            let caller = try Program(
                Place.hookswitch, ["call", "1002", "--from", "1001", "--password", "secret-1001", "--duration", "2"] + way)
            for phone in [caller, callee] {
                #expect(try await phone.exitCode(within: .seconds(40)) == 0, "\(phone.transcript)")
                #expect(phone.lines.all.contains { $0.contains("verdict") && $0.contains("audio both ways") }, "\(phone.transcript)")
            }
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(Set(journal.all("sip.rx").compactMap { $0.text("transport") }) == [transport])
        }

        @Test func `a browser that is gone is not called`() async throws {
            let gateway = try await Gateway.start(.init(usesWebSockets: true))
            let way = ["--server", "127.0.0.1:\(gateway.webSocketPort)", "--transport", "ws"]
            let callee = try Program(Place.hookswitch, ["answer", "--register", "1002", "--password", "secret-1002"] + way)
            try await gateway.program.line(containing: "registration of 1002", within: .seconds(20))
            callee.signal(SIGKILL)
            try await gateway.program.line(
                containing: "registration of 1002: ended with its connection, 0 contacts left", within: .seconds(20))
            let caller = try Program(Place.hookswitch, ["call", "1002", "--from", "1001", "--password", "secret-1001"] + way)
            #expect(try await caller.exitCode(within: .seconds(20)) == 1)
            #expect(caller.transcript.contains("480"), "\(caller.transcript)")
            let journal = try await gateway.stop()
            #expect(journal.all("register.expired").first?.text("reason") == "the connection ended")
        }

        @Test(arguments: ["calls", "called", "reloaded"]) func `a page with SIP.js as it comes has its calls`(scene: String) async throws {
            var setup = Gateway.Setup()
            (setup.usesWebSockets, setup.lines) = (
                true,
                ["1001", "1002"].map {
                    "{ number: \"\($0)\", password: secret-\($0), srtp: required, srtp-keying: dtls, ice: lite, media-timeout: 5 }"
                } + [#"{ number: "1003", password: secret-1003 }"#, #"{ number: "9196", application: echo, srtp: optional }"#]
            )
            let gateway = try await Gateway.start(setup)
            let page = try Program(
                Place.python,
                [
                    Place.scenario("sipjs.py"), scene, "ws://127.0.0.1:\(gateway.webSocketPort)", gateway.address, Place.hookswitch,
                    Place.screenshots,
                ])
            defer { page.kill() }
            #expect(try await page.exitCode(within: .seconds(120)) == 0 && page.lines.all.last == "DONE", "\(page.transcript)")
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            if scene == "reloaded" { #expect(journal.count("media.opened") == 2 && journal.count("media.closed") == 2) }
            if scene == "calls" { #expect(journal.all("dtmf.received").compactMap { $0.text("digits") } == ["5", "7"]) }
        }
    }
}
