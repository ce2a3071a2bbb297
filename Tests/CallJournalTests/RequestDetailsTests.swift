import CallJournal
import Primitives
import SIP
import Testing

/// What the journal has of requests from outside.
@Suite struct RequestDetailsTests {
    private static let offer = """
        v=0\r
        o=- 1 1 IN IP4 192.0.2.1\r
        s=-\r
        c=IN IP4 192.0.2.1\r
        t=0 0\r
        m=audio 4000 RTP/SAVP 0 101\r
        a=rtpmap:101 telephone-event/8000\r
        a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj\r
        a=sendonly\r

        """

    private static func request(_ method: String, body: String = "", more: String = "") throws -> Message {
        let head = """
            \(method) sip:777@example.test SIP/2.0\r
            Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1\r
            From: "Zoe \\"Z\\"" <sip:1001@example.test;x=y>;tag=from\r
            To: <sip:1001@example.test>\r
            Call-ID: a1\r
            CSeq: 1 \(method)\r
            User-Agent: Phone 1\r
            Authorization: Digest username="1001", response="0123"\r
            \(more)\(body.isEmpty ? "" : "Content-Type: application/sdp\r\n")Content-Length: \(body.utf8.count)\r
            \r

            """
        return try Message(parsing: Array((head + body).utf8))
    }

    private static func texts(_ details: JournalEvent.Details) -> [String] {
        details.fields.map { "\($0.key.rawValue)=\($0.value.text)" }
    }

    @Test func `an INVITE is told by its addresses, its client and what it offers, without tags, keys and credentials`() throws {
        let details = JournalEvent.Details.invite(try Self.request("INVITE", body: Self.offer), over: "udp", from: "192.0.2.1:5060")
        #expect(
            Self.texts(details) == [
                "callid=a1", #"from="Zoe \"Z\"" <sip:1001@example.test;x=y>"#, "to=sip:1001@example.test", "uri=sip:777@example.test",
                "media=audio 192.0.2.1:4000 PCMU telephone-event sendonly SDES", "agent=Phone 1", "transport=udp", "remote=192.0.2.1:5060",
            ])
    }

    @Test func `an INVITE without an offer has none`() throws {
        let details = JournalEvent.Details.invite(try Self.request("INVITE"), over: "udp", from: "192.0.2.1:5060")
        #expect(details[.media] == nil && details.text(.uri) == "sip:777@example.test")
    }

    @Test func `a refusal has a status, a cause and words`() throws {
        let details = JournalEvent.Details.refusal(of: try Self.request("INVITE"), status: 404, .unknownNumber)
        #expect(Self.texts(details) == ["callid=a1", "status=404", "cause=unknown-number", "reason=no line has this number"])
    }

    @Test func `a registration has its user, contacts and time, and one that was refused its reason`() throws {
        let register = try Self.request("REGISTER")
        #expect(
            Self.texts(.registration(register, contacts: 2, expires: 600, over: "tcp", from: "192.0.2.1:5060")) == [
                "user=1001", "count=2", "expires=600", "agent=Phone 1", "transport=tcp", "remote=192.0.2.1:5060",
            ])
        #expect(
            Self.texts(.registrationRefusal(of: register, status: 401, .wrongPassword, over: "tcp", from: "192.0.2.1:5060")) == [
                "user=1001", "status=401", "cause=wrong-password", "reason=wrong password", "agent=Phone 1", "transport=tcp",
                "remote=192.0.2.1:5060",
            ])
    }

    @Test func `every cause has words of its own`() {
        let words = RequestRefusal.allCases.map(\.words)
        #expect(Set(words).count == words.count && words.allSatisfy { !$0.isEmpty && !$0.description.hasSuffix(".") })
    }

    @Test func `what is written of a request reads back the same`() throws {
        let sink = MemorySink(), journal = Journal(lane: "s0", clock: JournalEncodingTests.clock, sink: sink)
        let details = JournalEvent.Details.invite(try Self.request("INVITE", body: Self.offer), over: "udp", from: "192.0.2.1:5060")
        let call = CallUUID(high: 1, low: 2)
        journal.record(.gatewayStarted, at: .zero, [.version: "1", .run: "r"])
        journal.record(.inviteReceived, call: call, at: .zero, details)
        journal.record(.callRefused, call: call, at: .zero, .refusal(of: try Self.request("INVITE"), status: 404, .unknownNumber))
        journal.record(.gatewayStopped, at: .zero)
        journal.finish(at: .zero)
        let result = JournalReader.parse(sink.bytes, name: "m")
        #expect(result.brokenLines.isEmpty && result.events[1].details == details && journal.violations == 0)
        #expect(result.events.map(\.kind) == [.gatewayStarted, .inviteReceived, .callRefused, .gatewayStopped])
    }
}
