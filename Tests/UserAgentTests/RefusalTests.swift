import Primitives
import SIP
import Testing
import UserAgent

@Suite struct RefusalTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (inout RawRequest) -> Void
        let status: Int
        var header: HeaderName?
        var value: Text?
        var testDescription: String { name }

        init(
            _ name: String, _ status: Int, _ header: HeaderName? = nil, _ value: Text? = nil,
            _ change: @escaping @Sendable (inout RawRequest) -> Void
        ) {
            (self.name, self.status, self.header, self.value, self.change) = (name, status, header, value, change)
        }
    }

    static let rows: [Row] = [
        Row("unknown method", 405, .allow, "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK") { $0.method = "FROBNICATE" },
        Row("PRACK without a dialog", 481) { $0.method = "PRACK" },
        Row("REGISTER without a registrar", 405) { $0.method = "REGISTER" },
        Row("unknown body", 415, .accept, "application/sdp, multipart/mixed, multipart/alternative, multipart/related") {
            ($0.body, $0.type) = ("<x/>", "application/xml")
        },
        Row("packed body", 415, "Accept-Encoding", "identity") { ($0.body, $0.headers) = ("zip", ["Content-Encoding: gzip"]) },
        Row("part that must be understood", 415) {
            ($0.body, $0.type) = (
                "--x\r\nContent-Type: a/b\r\nContent-Disposition: render;handling=required\r\n\r\n?\r\n--x--\r\n",
                "multipart/mixed;boundary=x"
            )
        },
        Row("early session without a session", 415, .accept, "application/sdp, multipart/mixed, multipart/alternative, multipart/related") {
            ($0.body, $0.type, $0.headers) = ("v=0", "application/sdp", ["Content-Disposition: early-session"])
        },
        Row("body without a type", 415) { ($0.body, $0.type) = ("v=0", "") },
        Row("unknown scheme", 416) { $0.uri = "nobody:knows" },
        Row("sips where we have no TLS", 416) { $0.uri = "sips:phone@192.0.2.2" },
        Row("OPTIONS to sips without TLS", 416) { ($0.method, $0.uri) = ("OPTIONS", "sips:192.0.2.2") },
        Row("unknown extensions", 420, .unsupported, "frob") { $0.headers = ["Require: 100rel, frob"] },
        Row("in-dialog INVITE without dialog", 481) { $0.to += ";tag=nobody" },
        Row("in-dialog BYE without dialog", 481) { ($0.method, $0.to) = ("BYE", "<sip:phone@192.0.2.2>;tag=nobody") },
        Row("BYE without any tag", 481) { $0.method = "BYE" },
        Row("CANCEL without transaction", 481) { $0.method = "CANCEL" },
        Row("no taste for SDP", 406) { $0.headers = ["Accept: text/nobodyKnowsThis"] },
        Row("no taste at all", 406) { $0.headers = ["Accept:"] },
        Row("SDP last of all", 406) { $0.headers = ["Accept: text/plain, application/sdp;q=0.0"] },
        Row("Replaces outside of INVITE", 400) { ($0.method, $0.headers) = ("OPTIONS", ["Replaces: a;to-tag=b;from-tag=c"]) },
        Row("no hop left", 483) { $0.maxForwards = "0" },
        Row("other version", 505) { $0.version = "SIP/3.0" },
        Row("no Contact", 400) { $0.contact = nil },
        Row("broken header", 400) { $0.maxForwards = "many" },
        Row("OPTIONS", 200, .accept, "application/sdp, multipart/mixed, multipart/alternative, multipart/related") {
            $0.method = "OPTIONS"
        },
        Row("OPTIONS at the last hop", 200, .allow, "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK") {
            ($0.method, $0.maxForwards) = ("OPTIONS", "0")
        },
    ]

    @Test(arguments: rows)
    func `what cannot be dealt with is refused with the status and header that RFC 3261 names`(row: Row) {
        let bench = Bench()
        var request = RawRequest()
        row.change(&request)
        bench.send(request.text)
        #expect(bench.statuses == [row.status])
        if let header = row.header { #expect(bench.answers.first?.headers[header] == row.value) }
        #expect(bench.answers.first?.to.tag != nil)
        #expect(!bench.phone.events.contains("incoming"))
        bench.link.run()
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test func `a sips URI over UDP is not to be had that way, where we have TLS`() {
        let bench = Bench { $0.hasTLS = true }
        bench.send(RawRequest(uri: "sips:phone@192.0.2.2").text)
        #expect(bench.statuses == [480] && bench.answers.first?.headers[.warning] == "380 192.0.2.2 \"SIPS Not Allowed\"")
        var flow = bench.flow
        (flow.transport, flow.connection) = (.tls, 1)
        bench.phone.agent.receive(
            Array(
                RawRequest(uri: "sips:phone@192.0.2.2", via: "SIP/2.0/TLS 198.51.100.7;branch=z9hG4bKtls;rport", callID: "tls").text.utf8),
            over: flow, at: bench.link.now)
        #expect(bench.phone.events == ["incoming"])
    }

    @Test func `every unknown extension is named`() {
        let bench = Bench()
        bench.send(RawRequest(headers: ["Require: gruu, 100rel, frob"]).text)
        #expect(bench.answers.first?.headers.elements(.unsupported) == ["gruu", "frob"])
    }

    @Test func `an unknown body that is optional is passed on`() {
        let bench = Bench()
        bench.send(RawRequest(headers: ["Content-Disposition: render;handling=optional"], body: "<x/>", type: "application/xml").text)
        #expect(bench.phone.events == ["incoming"])
    }

    @Test func `a request that comes by two ways is dealt with once`() {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 180, at: now) }
        bench.send(RawRequest().text)
        bench.send(RawRequest(via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKother;rport").text)
        #expect(bench.statuses == [180, 482])
        #expect(bench.phone.events == ["incoming"])
    }

    @Test func `a proxy that was refused may come back for another target`() {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 486, at: now) }
        bench.send(RawRequest().text)
        bench.send(RawRequest(uri: "sip:mailbox@192.0.2.2", via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKother;rport").text)
        #expect(bench.statuses == [486, 486])
        #expect(bench.phone.events == ["incoming", "incoming"])
    }

    @Test func `an INVITE that comes again after its ACK is answered again, and not once the call is over`() {
        let bench = Bench()
        bench.send(RawRequest().text)
        let tag = bench.phone.sessions[0].localTag,
            ack = RawRequest(
                method: "ACK", via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKack;rport", to: "<sip:phone@192.0.2.2>;tag=\(tag)"
            ).text
        bench.send(ack)
        let before = bench.statuses
        bench.send(RawRequest().text)
        #expect(bench.statuses == before + [200] && bench.phone.sessions.count == 1)
        bench.send(ack)
        var bye = RawRequest(
            method: "BYE", via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKbye;rport", to: "<sip:phone@192.0.2.2>;tag=\(tag)")
        bye.sequence = 2
        bench.send(bye.text)
        bench.send(RawRequest().text)
        #expect(bench.statuses == before + [200, 200])
        bench.link.run()
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test func `requests that share a branch are told apart by Call-ID and CSeq number, and so are their ACKs`() throws {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 486, at: now) }
        for (callID, sequence) in [("one", 1), ("other", 1), ("other", 2)] {
            let invite = RawRequest(callID: callID, sequence: sequence)
            bench.send(invite.text)
            let answer = try #require(bench.answers.last)
            #expect(answer.callID.description == callID && answer.cseq.number == sequence)
            bench.send(RawRequest(method: "ACK", to: answer.to.description, callID: callID, sequence: sequence).text)
            bench.send(invite.text)
        }
        bench.link.run()
        #expect(bench.statuses == [486, 486, 486] && bench.phone.sessions.count == 3)
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test func `a CANCEL ends the call whose branch, Call-ID and CSeq number it has`() {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 180, at: now) }
        for callID in ["one", "other"] { bench.send(RawRequest(callID: callID).text) }
        bench.send(RawRequest(method: "CANCEL", callID: "third").text)
        bench.send(RawRequest(method: "CANCEL", callID: "other").text)
        #expect(bench.answers.filter { $0.cseq.method == .cancel }.map(\.status) == [481, 200])
        #expect(bench.phone.sessions.map { $0.state == .ended } == [false, true])
    }

    @Test func `our own request that comes back unchanged is a loop, and one with another Request-URI is not`() throws {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 180, at: now) }
        var sent: Message?
        bench.link.drops = { packet in
            if summary(packet.bytes) == "INVITE" { sent = try? Message(parsing: packet.bytes) }
            return summary(packet.bytes) == "INVITE"
        }
        var invite = OutgoingInvite(
            target: bench.phone.uri("9196"), flow: bench.flow, from: NameAddress(uri: bench.phone.uri("1001")),
            to: NameAddress(uri: bench.phone.uri("9196")))
        invite.callID = "outgoing"
        _ = bench.phone.agent.invite(invite, at: bench.link.now)
        let own = try #require(sent).via.text
        let proxy = "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKproxy"
        bench.send(RawRequest(uri: "sip:9196@192.0.2.2:5060", via: "\(proxy)1;rport\r\nVia: \(own)").text)
        #expect(bench.statuses == [482])
        bench.send(RawRequest(uri: "sip:1002@192.0.2.2:5060", via: "\(proxy)2;rport\r\nVia: \(own)", callID: "spiral").text)
        #expect(bench.statuses.contains(180))
    }

    @Test func `a message beyond the limit is refused and nothing is kept of it`() {
        let bench = Bench()
        bench.send(RawRequest(headers: ["Subject: " + String(repeating: "x", count: 70_000)]).text)
        #expect(bench.statuses == [513])
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test(arguments: ["", "\r\n\r\n", "INVITE", "SIP/2.0 200 OK\r\n\r\n", "\u{0}\u{1}\u{2}", "ACK sip:x SIP/2.0\r\n\r\n"])
    func `what is no message is not answered`(text: String) {
        let bench = Bench()
        bench.send(text)
        #expect(bench.answers.isEmpty)
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test(
        arguments: [("", 0), ("\r\n\r\n", 0), ("\u{0}\u{0}\u{0}\u{0}", 0), (" \t\r\n", 0), ("\u{0}\u{1}", 1), ("INVITE", 1)]
            as [(String, UInt64)])
    func `what keeps a way open is not counted as unreadable`(text: String, count: UInt64) {
        let bench = Bench()
        bench.send(text)
        #expect(bench.phone.agent.refusals.unreadable == count)
    }

    @Test func `an ACK that acknowledges nothing is dropped`() {
        let bench = Bench()
        bench.send(RawRequest(method: "ACK").text)
        bench.send(RawRequest(method: "ACK", to: "<sip:phone@192.0.2.2>;tag=nobody").text)
        #expect(bench.answers.isEmpty && bench.phone.events.isEmpty)
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test func `a response that nobody waits for is dropped`() {
        let bench = Bench()
        bench.send(
            "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 192.0.2.2:5060;branch=z9hG4bKnobody\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\n\r\n"
        )
        #expect(bench.answers.isEmpty)
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test func `the delegate may answer OPTIONS itself`() {
        let bench = Bench()
        bench.phone.onRequest = { [agent = bench.phone.agent] _, transaction, now in
            agent.respond(to: transaction, status: 503, headers: [(.retryAfter, "30")], at: now)
        }
        bench.send(RawRequest(method: "OPTIONS").text)
        #expect(bench.statuses == [503])
        #expect(bench.answers.first?.headers[.retryAfter] == "30")
    }

    @Test func `what is only answered is not kept, and a copy hears the same`() {
        let bench = Bench()
        for method in ["OPTIONS", "BYE", "REFER", "FROBNICATE"] {
            let request = RawRequest(method: method, callID: method)
            bench.send(request.text)
            bench.send(request.text)
            #expect(bench.phone.agent.counts == nothingLeft)
        }
        #expect(bench.statuses == [200, 200, 481, 481, 405, 405, 405, 405])
        #expect(
            zip(bench.answers, bench.answers.dropFirst()).enumerated().allSatisfy {
                $0.offset % 2 == 1 || $0.element.0.to == $0.element.1.to
            })
    }

    @Test func `of what strangers say of calls that are not here nothing is kept`() {
        let bench = Bench()
        for method in ["BYE", "INVITE", "INFO", "CANCEL"] {
            let request = RawRequest(method: method, to: "<sip:phone@192.0.2.2>;tag=nobody", callID: method)
            bench.send(request.text)
            bench.send(request.text)
            #expect(bench.phone.agent.counts == nothingLeft)
        }
        #expect(bench.statuses == Array(repeating: 481, count: 8) && bench.answers.allSatisfy { $0.to.tag == "nobody" })
    }

    @Test(arguments: ["INFO", "MESSAGE", "INVITE"]) func `what is encoded is refused, for nobody here can read it`(method: String) {
        let bench = Bench { $0.allowedMethods.append(.message) }
        var request = RawRequest(method: method)
        request.headers = ["Content-Type: text/plain", "Content-Encoding: gzip"]
        request.body = "hello"
        bench.send(request.text)
        #expect(bench.statuses == [415] && bench.answers[0].headers["Accept-Encoding"] == "identity")
    }

    @Test func `a flood of strangers keeps no call from ending`() throws {
        let bench = Bench {
            $0.maximumTransactions = 2
            $0.allowedMethods.append(.message)
        }
        bench.phone.onIncoming = { session, now in session.respond(status: 180, at: now) }
        bench.phone.onRequest = { _, _, _ in true }
        bench.send(RawRequest().text)
        bench.send(RawRequest(method: "MESSAGE", via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKraw2;rport", callID: "kept").text)
        bench.send(RawRequest(method: "OPTIONS", via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKraw3;rport", callID: "third").text)
        #expect(bench.statuses.last == 503)
        bench.send(RawRequest(method: "CANCEL", via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKother;rport", callID: "fourth").text)
        #expect(bench.statuses.last == 503)
        bench.send(RawRequest(method: "CANCEL").text)
        #expect(bench.phone.events.contains { $0.hasPrefix("cancelled") })
    }

    @Test func `beyond the bounds an INVITE is refused with 503 and Retry-After`() {
        let bench = Bench {
            $0.maximumSessions = 1
            $0.maximumTransactions = 2
        }
        bench.phone.onIncoming = { session, now in session.respond(status: 180, at: now) }
        bench.send(RawRequest().text)
        bench.send(RawRequest(via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKraw2;rport", callID: "second").text)
        bench.send(RawRequest(via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKraw3;rport", callID: "third").text)
        #expect(bench.statuses == [180, 503, 503])
        #expect(bench.answers[1].headers.contains(.retryAfter) && bench.answers[2].headers.contains(.retryAfter))
        #expect(bench.phone.agent.counts.serverTransactions == 2)
    }

    @Test(arguments: [
        ("198.51.100.7:5070;branch=z9hG4bKa;rport", 5070 as UInt16, "198.51.100.7" as Text?, 5070 as UInt16?),
        ("10.0.0.1:4444;branch=z9hG4bKb;rport", 5070, "198.51.100.7", 5070),
        ("198.51.100.7:4444;branch=z9hG4bKc", 4444, nil, nil),
        ("10.0.0.1:4444;branch=z9hG4bKd", 4444, "198.51.100.7", nil),
        ("peer.example;branch=z9hG4bKe", 5060, "198.51.100.7", nil),
    ])
    func `responses go where RFC 3261 §18.2.2 and RFC 3581 send them`(via: String, port: UInt16, received: Text?, rport: UInt16?) {
        let bench = Bench()
        var destination: SocketAddress?
        bench.link.drops = { packet in
            destination = packet.flow.local
            return false
        }
        bench.link.place(.raw { _, _ in }, at: bench.peer)
        var answer: Message?
        bench.link.drops = { packet in
            (destination, answer) = (packet.flow.local, try? Message(parsing: packet.bytes))
            return true
        }
        bench.send(RawRequest(method: "OPTIONS", via: "SIP/2.0/UDP " + via).text)
        #expect(destination == SocketAddress(bench.peer.address, port: port))
        #expect(answer?.via.received == received)
        #expect(answer?.via.rport == rport)
    }

    @Test func `a peer of RFC 2543 is understood: repeated INVITE, ACK and CANCEL without a branch`() {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 486, at: now) }
        let via = "SIP/2.0/UDP 198.51.100.7:5070"
        bench.send(RawRequest(via: via).text)
        bench.send(RawRequest(via: via).text)
        #expect(bench.statuses == [486, 486])
        let tag = bench.phone.sessions[0].localTag
        bench.send(RawRequest(method: "ACK", via: via, to: "<sip:phone@192.0.2.2>;tag=\(tag)").text)
        #expect(bench.phone.traces == ["> 486 INVITE", "<* INVITE", ">* 486 INVITE", "< ACK"])
        bench.phone.onIncoming = { session, now in session.respond(status: 180, at: now) }
        bench.send(RawRequest(via: via, callID: "two").text)
        bench.send(RawRequest(method: "CANCEL", via: via, callID: "two").text)
        #expect(bench.statuses == [486, 486, 180, 200, 487])
        #expect(bench.phone.events.last == "cancelled")
    }
}
