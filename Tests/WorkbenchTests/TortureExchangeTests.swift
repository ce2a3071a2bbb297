import Primitives
import SIP
import Testing

@testable import Workbench

@Suite struct TortureExchangeTests {
    private static func request(_ method: String = "INVITE", callID: String = "c1", branch: String = "z9hG4bKa") throws -> Message {
        try Message(
            parsing: Array(
                "\(method) sip:b@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=\(branch)\r\nFrom: <sip:a@h>;tag=1\r\nTo: <sip:b@h>\r\nCall-ID: \(callID)\r\nCSeq: 1 \(method)\r\n\r\n"
                    .utf8))
    }
    private static func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    /// RFC 3261 §17.1.2.2: T1, doubled up to T2.
    @Test func `over a datagram it is sent again until something comes`() throws {
        let exchange = TortureExchange(try Self.request("OPTIONS"))
        exchange.sent(at: .zero, isReliable: false)
        var times: [Int64] = []
        while let due = exchange.resend?.due, times.count < 6 {
            times.append((due - .zero).wholeMilliseconds)
            exchange.resent(at: due)
        }
        #expect(times == [500, 1_500, 3_500, 7_500, 11_500, 15_500] && exchange.isSent)
        exchange.note(100, nil)
        #expect(exchange.resend != nil, "a 100 is none of the answers that count")
        exchange.note(180, nil)
        #expect(exchange.resend == nil && exchange.isProvisional && exchange.provisionals == [180])
    }

    @Test func `over a stream, and of an ACK, nothing is sent again`() throws {
        for (method, isReliable) in [("INVITE", true), ("ACK", false)] {
            let exchange = TortureExchange(try Self.request(method))
            exchange.sent(at: .zero, isReliable: isReliable)
            exchange.resent(at: Self.at(500))
            #expect(exchange.isSent && exchange.resend == nil)
        }
    }

    @Test func `finals are kept in their order, and the first counts`() throws {
        let request = try Self.request(), exchange = TortureExchange(request)
        let accepted = Message.response(to: request, status: 200, toTag: "t")
        exchange.note(486, nil)
        exchange.note(200, accepted)
        #expect(
            exchange.finals.map(\.status) == [486, 200] && exchange.final?.status == 486 && exchange.acceptance == nil
                && !exchange.isProvisional)
        #expect(exchange.final?.text == "486 Busy Here")
        let other = TortureExchange(request)
        other.note(200, accepted)
        #expect(other.acceptance?.status == 200)
    }

    @Test func `an answer belongs to the request of its branch, its CSeq and its Call-ID`() throws {
        let request = try Self.request(), exchange = TortureExchange(request)
        let answer = Message.response(to: request, status: 200, toTag: "t")
        #expect(exchange.takes(answer, answer.serialized()))
        for other in [try Self.request(callID: "c2"), try Self.request(branch: "z9hG4bKb"), try Self.request("BYE")] {
            let answer = Message.response(to: other, status: 200, toTag: "t")
            #expect(!exchange.takes(answer, answer.serialized()))
        }
    }

    @Test func `an answer that cannot be read is known by its Call-ID`() throws {
        let exchange = TortureExchange(try Self.request())
        #expect(
            exchange.takes(nil, Array("SIP/2.0 400 Bad\r\nCall-ID: c1\r\n\r\n".utf8))
                && !exchange.takes(nil, Array("SIP/2.0 400 Bad\r\nCall-ID: c2\r\n".utf8)))
        let garbage = TortureExchange(bytes: Array("garbage".utf8), callID: "c9")
        #expect(garbage.request == nil && garbage.takes(nil, Array("Call-ID: c9".utf8)) && !garbage.takes(nil, Array("c8".utf8)))
        let nameless = TortureExchange(bytes: Array("garbage".utf8), callID: nil)
        #expect(
            nameless.takes(nil, Array("SIP/2.0 400 Bad\r\n\r\n".utf8))
                && !nameless.takes(nil, Array("SIP/2.0 400 Bad\r\ncall-ID: c1\r\n".utf8)))
    }

    @Test func `with new credentials it begins anew`() throws {
        let exchange = TortureExchange(try Self.request())
        exchange.sent(at: .zero, isReliable: false)
        exchange.note(401, nil)
        let next = try Self.request(branch: "z9hG4bKnext")
        exchange.replace(by: next)
        #expect(exchange.finals.isEmpty && exchange.resend == nil && exchange.wasChallenged && exchange.bytes == next.serialized())
    }

    @Test(
        arguments: [
            ("SIP/2.0 200 OK\r\n", 200), ("SIP/2.0 404", 404), ("SIP/2.0 99", 99), ("SIP/2.0 2x0 OK", nil), ("SIP/2.0 ", nil),
            ("SIP/2.1 200 OK", nil),
            ("INVITE sip:a@b SIP/2.0", nil), ("", nil),
        ] as [(String, Int?)])
    func `the status of what looks like a response can be read`(text: String, status: Int?) {
        #expect(Array(text.utf8).statusOfResponse == status)
    }
}

@Suite struct TortureDressingTests {
    private static func dressing(_ via: String, asksForPort: Bool = true, _ rest: String = "Call-ID: c1") -> TortureDressing {
        TortureDressing(Array("OPTIONS sip:a@b SIP/2.0\r\n\(via)\r\n\(rest)\r\n\r\n".utf8), mark: "x7", asksForPort: asksForPort)
    }

    @Test(arguments: [
        ("Via: SIP/2.0/UDP h;branch=z9hG4bKa", "Via: SIP/2.0/UDP h;branch=z9hG4bKax7;rport"),
        ("v:SIP/2.0/UDP h;branch=z9hG4bKa;rport", "v:SIP/2.0/UDP h;branch=z9hG4bKax7;rport"),
        (
            "VIA : SIP/2.0/UDP h;branch = z9hG4bKa , SIP/2.0/UDP g;branch=z9hG4bKb",
            "VIA : SIP/2.0/UDP h;branch = z9hG4bKax7;rport , SIP/2.0/UDP g;branch=z9hG4bKb"
        ),
        ("Via: SIP/2.0/UDP h;branch=z9hG4bK", "Via: SIP/2.0/UDP h;branch=z9hG4bK;rport"),
        ("Via: SIP/2.0/UDP h", "Via: SIP/2.0/UDP h;rport"),
        ("Via: SIP/2.0/UDP h\r\n ;branch=z9hG4bKa", "Via: SIP/2.0/UDP h\r\n ;branch=z9hG4bKax7;rport"),
    ])
    func `the first Via asks for the port and has a branch of its own`(via: String, dressed: String) {
        let bytes = Self.dressing(via).bytes
        #expect(String(decoding: bytes, as: UTF8.self) == "OPTIONS sip:a@b SIP/2.0\r\n\(dressed)\r\nCall-ID: c1x7\r\n\r\n")
        #expect(
            Self.dressing(via).callID == "c1x7" && Self.dressing(via, "i: c2").callID == "c2x7"
                && Self.dressing(via, "Subject: s").callID == nil)
    }

    @Test(
        arguments: [
            ("Via: SIP/2.0/UDP h:5070;branch=z9hG4bKa", 5_070), ("Via: SIP/2.0/UDP h;branch=z9hG4bKa", 5_060),
            ("Via: SIP/2.0/UDP h;rport;branch=z9hG4bKa", nil),
            ("Via: nonsense", nil), ("Subject: none", nil),
        ] as [(String, UInt16?)])
    func `an answer goes to the port of the Via, unless that asks for another`(via: String, port: UInt16?) {
        #expect(Self.dressing(via, asksForPort: false).answerPort == port)
    }

    @Test(
        arguments: [
            ("Via: SIP/2.0/UDP h;branch=z9hG4bKa", "z9hG4bKax7 h OPTIONS"), ("Via: SIP/2.0/UDP h;branch=z9hG4bK", nil),
            ("Via: SIP/2.0/UDP h", nil),
            ("Via: SIP/2.0/UDP h;branch=z9hG4bKa, SIP/2.0/UDP g;branch=z9hG4bKb", "z9hG4bKax7 h OPTIONS"), ("Via: nonsense", nil),
            ("Subject: none", nil),
        ] as [(String, Text?)])
    func `a transaction is a branch, a host and a method`(via: String, transaction: Text?) {
        #expect(Self.dressing(via).transaction == transaction)
    }
}
