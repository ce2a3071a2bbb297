import Foundation
import Testing

extension Strains {
    /// SIGTERM, and a pool without ports.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct DrainTests {
        @Test func `a drain waits for calls and takes no new ones`() async throws {
            let gateway = try await Gateway.start(.init(settings: ["drain: 60"]))
            let caller = try await Self.echoCall(gateway)
            gateway.program.signal(SIGTERM)
            try await gateway.program.line(containing: "draining: 1 calls are up")
            let peer = try UDPPeer()
            Self.expectRefusal(Self.invite(peer, gateway))
            #expect(peer.options(gateway)?.hasPrefix("SIP/2.0 503") == true, "a health check sees it")
            #expect(gateway.program.isRunning && !gateway.mediaSockets.isEmpty, "the call goes on")
            caller.hangUp()
            #expect(try await gateway.program.exitCode(within: .seconds(20)) == 0, "no call is left, so it does not wait for the deadline")
            try await gateway.cleanJournal().expectNothingLeft()
        }

        @Test func `a call that is up gets a BYE when the time is over`() async throws {
            let gateway = try await Gateway.start(.init(settings: ["drain: 1"]))
            let caller = try await Self.echoCall(gateway)
            gateway.program.signal(SIGTERM)
            try await caller.event("CALL_CLOSED")
            #expect(try await gateway.program.exitCode(within: .seconds(20)) == 0)
            let journal = try await gateway.cleanJournal()
            journal.expectNothingLeft()
            #expect(journal.all("sip.tx").count { $0.text("method") == "BYE" } == 1)
        }

        @Test func `without a port a call gets 503 and Retry-After before anything else, and the port comes back`() async throws {
            let gateway = try await Gateway.start(.init(mediaPorts: 2))
            let caller = try await Self.echoCall(gateway)
            Self.expectRefusal(Self.invite(try UDPPeer(), gateway))
            caller.hangUp()
            try await gateway.waitForNoMediaSocket()
            try await Self.callUntilEstablished(caller)
            caller.hangUp()
            let journal = try await gateway.stop()
            #expect(journal.all("media.refused").allSatisfy { $0.text("cause") == "no-port" })
            #expect(journal.count("media.refused") >= 1 && journal.count("media.opened") == 2)
        }

        /// Until the port has rested and the call goes through.
        private static func callUntilEstablished(_ caller: Baresip) async throws {
            for _ in 0..<200 {
                let start = caller.control.events.end
                caller.dial("9196")
                let outcome = await caller.control.events.first(from: start, within: .seconds(10)) {
                    ["CALL_ESTABLISHED", "CALL_CLOSED"].contains($0.type) && !$0.parameter.isEmpty
                }
                if outcome?.type == "CALL_ESTABLISHED" { return }
            }
            throw Unmet("the port did not come back")
        }

        private static func echoCall(_ gateway: Gateway) async throws -> Baresip {
            let caller = try await Baresip.start(
                .init(
                    user: "1001", password: "secret-1001", codecs: ["pcma"], port: gateway.clientPort(0), mediaPort: gateway.clientPort(10),
                    source: try Recordings.tone(in: gateway.folder)), at: gateway)
            try await caller.waitUntilRegistered()
            caller.dial("9196")
            try await caller.event("CALL_ESTABLISHED")
            return caller
        }

        /// The first answer but 100 to a call.
        private static func invite(_ peer: UDPPeer, _ gateway: Gateway) -> String? {
            let invite = peer.request(
                "INVITE", "9196", gateway, callID: UUID().uuidString, headers: ["Content-Type: application/sdp"], body: offer(peer.port))
            peer.send(Array(invite.utf8), to: gateway.sipPort)
            return peer.receive { !$0.hasPrefix("SIP/2.0 100") }
        }

        private static func expectRefusal(_ answer: String?) {
            #expect(answer?.hasPrefix("SIP/2.0 503") == true, "\(answer ?? "nothing")")
            #expect(answer?.contains("\r\nRetry-After: 5\r\n") == true)
        }

        private static func offer(_ port: UInt16) -> String {
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio \(port) RTP/AVP 8\r\na=rtpmap:8 PCMA/8000\r\n"
        }
    }
}
