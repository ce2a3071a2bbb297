import Primitives
import RTP
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Calls to trunks and from them in virtual time: the gateway, and carriers that say what a test makes them say.
@Suite struct TrunkTests: TrunkSuite {
    // MARK: Calls out

    @Test func `a call answers the carrier's challenge, under our name there`() throws {
        let stage = Self.stage([Self.target(50)]) { trunk in
            trunk.domain = "carrier.test"
            trunk.caller = "+4930555"
            trunk.rewrites = [NumberRewrite(pattern: NumberPattern("^+")!, strip: 1, prefix: "00")]
        }
        let carrier = RawPeer(stage, 50), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let invite = try #require(carrier.request(.invite))
        #expect(invite.requestURI?.text == "sip:0039055@carrier.test" && invite.from.uri.text == "sip:+4930555@carrier.test")
        Self.challenge(carrier, invite, 407)
        let again = try #require(carrier.request(.invite))
        #expect(Self.isProven(again, .proxyAuthorization) && again.cseq.number > invite.cseq.number)
        carrier.answer(again, 200, body: carrier.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 200)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test(arguments: [503, nil])
    func `where one server is not there the next is called, and first the next time`(status: Int?) throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)])
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let invite = try #require(first.request(.invite))
        if let status { first.answer(invite, status) }
        stage.run(seconds: 5)
        let other = try #require(second.request(.invite))
        #expect(other.via.branch != invite.via.branch && other.callID == invite.callID && other.cseq.number > invite.cseq.number)
        #expect([invite, other].map { $0.requestURI?.text } == ["sip:+39055@192.0.2.50:5060", "sip:+39055@192.0.2.51:5060"])
        #expect([invite, other].map(\.to.uri) == [invite, other].map(\.requestURI))
        second.answer(other, 200, body: second.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 200)
        let before = first.heard.count
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:+39055@gateway.test", call: "one", 1, toTag: tag)
        caller.request("INVITE", "sip:+39066@gateway.test", call: "two", 1, body: caller.description())
        #expect(second.request(.invite)?.requestURI?.text == "sip:+39066@192.0.2.51:5060")
        #expect(first.heard.dropFirst(before).allSatisfy { $0.method != .invite || !$0.isRequest || $0.callID == invite.callID })
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test(arguments: [180, 200])
    func `a server that answers when the next is called already is told so, and why is in the journal`(status: Int) throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)])
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let invite = try first.received(.invite)
        stage.run(seconds: 5)
        let other = try second.received(.invite)
        second.answer(other, 180)
        first.answer(invite, status, body: status == 200 ? first.description() : "")
        if status == 200 {
            #expect(first.request(.ack) != nil)
            first.answer(try first.received(.bye), 200)
        } else {
            first.answer(try first.received(.cancel), 200)
            first.answer(invite, 487)
        }
        second.answer(other, 200, body: second.description())
        stage.run(seconds: 0.5)
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:+39055@gateway.test", call: "one", 1, toTag: tag)
        caller.request("BYE", "sip:+39055@gateway.test", call: "one", 2, toTag: tag)
        second.answer(try second.received(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a text goes to the next server, too, and is for it`() throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)])
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        caller.request("MESSAGE", "sip:+39055@gateway.test", call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        first.answer(try first.received(.message), 503)
        let message = try second.received(.message)
        #expect(message.requestURI?.text == "sip:+39055@192.0.2.51:5060" && message.to.uri == message.requestURI)
        second.answer(message, 202)
        #expect(caller.final(.message, 1)?.status == 202)
    }

    @Test func `a server that is told another address of ours for media gets an offer of its own`() throws {
        let stage = Stage({ configuration in
            var trunk = TrunkConfiguration(targets: [Self.target(50), Self.target(51, priority: 1)]),
                line = LineConfiguration(number: "carrier")
            trunk.user = "account"
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
            configuration.advertise.address = IPAddress("198.51.100.1")
            configuration.advertise.local = [IPNetwork("192.0.2.50/32")!, IPNetwork("192.0.2.9/32")!]
        })
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        first.answer(try first.received(.invite), 503)
        let offers = [try first.received(.invite), try second.received(.invite)].map { String(decoding: $0.body, as: UTF8.self) }
        #expect(offers[0].contains("c=IN IP4 \(Cast.gateway.address)") && offers[1].contains("c=IN IP4 198.51.100.1"))
        second.answer(second.request(.invite), 200, body: second.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 200)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a redirection to a name is followed to its servers`() throws {
        func answer(_ record: DNSRecord) -> DNSAnswer { DNSAnswer(.found, records: [record], timeToLive: .seconds(60)) }
        let stage = Self.stage(
            [Self.target(50)],
            zone: [
                .srv("_sip._udp.other.test"): answer(.srv(priority: 0, weight: 0, port: 5070, target: "a.other.test")),
                .a("a.other.test"): answer(.address(IPAddress("192.0.2.70")!)),
                .a("b.other.test"): answer(.address(IPAddress("192.0.2.71")!)),
            ])
        let carrier = RawPeer(stage, 50), caller = RawPeer(stage, 9), other = RawPeer(stage, 71)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        var response = Message.response(to: try carrier.received(.invite), status: 302, toTag: "c")
        // The server of the first is silent, and the second has an address alone.
        for contact in ["<sip:+1@other.test>", "<sip:+2@b.other.test:5060>"] as [Text] { response.headers.append(.contact, contact) }
        var tried: [SocketAddress] = []
        stage.network.onSend = { bytes, _, to in if (try? Message(parsing: bytes))?.startsCall == true { tried.append(to) } }
        carrier.send(response.serialized())
        #expect(carrier.request(.ack) != nil)
        stage.run(seconds: 1)
        #expect(tried.contains(SocketAddress(IPAddress("192.0.2.70")!, port: 5070)) && other.request(.invite) == nil)
        stage.run(seconds: 4)
        let moved = try other.received(.invite)
        #expect(moved.requestURI?.text == "sip:+2@b.other.test:5060")
        other.answer(moved, 200, body: other.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 200)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a refusal is final, and a server that takes its time has it`() throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)])
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        first.answer(first.request(.invite), 180)
        stage.run(seconds: 20)
        #expect(second.request(.invite) == nil)
        first.answer(first.request(.invite), 486)
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 486 && second.request(.invite) == nil)
    }

    @Test func `where no server is there the caller hears it`() throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)])
        let caller = RawPeer(stage, 9), first = RawPeer(stage, 50), second = RawPeer(stage, 51)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        first.answer(first.request(.invite), 503)
        second.answer(second.request(.invite), 503)
        stage.run(seconds: 1)
        #expect((500...503).contains(caller.final(.invite, 1)?.status ?? 0))
    }

    @Test func `a call that ends meanwhile is not sent elsewhere`() throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)])
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        #expect(first.request(.invite) != nil)
        stage.gateway.endAll(at: stage.world.now)
        stage.run(seconds: 10)
        #expect(second.request(.invite) == nil)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `servers are asked whether they are there`() throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)]) { $0.health = .seconds(60) }
        let silent = RawPeer(stage, 50), other = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        stage.run(seconds: 0.1)
        #expect(silent.request(.options) != nil)
        other.answer(other.request(.options), 404)
        stage.run(seconds: 33)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        #expect(silent.request(.invite) == nil && other.request(.invite) != nil, "nobody waits for the silent one")
    }

    // MARK: Names

    @Test func `servers are looked up, and again when their time is over`() throws {
        func answer(_ record: DNSRecord, _ seconds: Int64) -> DNSAnswer {
            DNSAnswer(.found, records: [record], timeToLive: .seconds(seconds))
        }
        let target = TrunkConfiguration.Target(host: "carrier.test")
        let stage = Self.stage(
            [target],
            zone: [
                .srv("_sip._udp.carrier.test"): answer(.srv(priority: 0, weight: 0, port: 5060, target: "a.carrier.test"), 600),
                .a("a.carrier.test"): answer(.address(IPAddress("192.0.2.50")!), 60),
            ])
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        stage.run(seconds: 0.1)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        #expect(first.request(.invite)?.requestURI?.text == "sip:+39055@carrier.test")
        stage.zone[.a("a.carrier.test")] = answer(.address(IPAddress("192.0.2.51")!), 60)
        let asked = stage.questions.count
        stage.run(seconds: 50)
        #expect(stage.questions.count == asked)
        stage.run(seconds: 15)
        #expect(stage.questions.count > asked)
        caller.request("INVITE", "sip:+39066@gateway.test", call: "two", 1, body: caller.description())
        #expect(second.request(.invite)?.requestURI?.user == "+39066")
        // Where DNS does not answer, what was known goes on.
        for question in stage.zone.keys { stage.zone[question] = DNSAnswer(.failed) }
        stage.run(seconds: 100)
        caller.request("INVITE", "sip:+39077@gateway.test", call: "three", 1, body: caller.description())
        #expect(second.request(.invite)?.requestURI?.user == "+39077")
    }

    @Test func `a trunk that nothing is known of refuses calls for now`() throws {
        let stage = Self.stage([TrunkConfiguration.Target(host: "nowhere.test")]), caller = RawPeer(stage, 9)
        stage.run(seconds: 0.1)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        #expect(caller.final(.invite, 1)?.status == 503 && caller.final(.invite, 1)?.headers[.retryAfter] != nil)
    }

    // MARK: Calls in

    @Test func `a carrier that calls our Contact reaches the line that is meant by it`() throws {
        let stage = Self.stage([Self.target(50)]) { trunk in
            Self.register(&trunk)
            trunk.incoming = "9196"
        }
        let carrier = RawPeer(stage, 50), stranger = RawPeer(stage, 9)
        stage.run(seconds: 0.1)
        Self.granted(carrier, carrier.request(.register))
        carrier.request("INVITE", "sip:account@192.0.2.1:5060", call: "in", 1, body: carrier.description())
        #expect(carrier.final(.invite, 1)?.status == 200, "the echo answers")
        stranger.request("INVITE", "sip:account@192.0.2.1:5060", call: "other", 1, body: stranger.description())
        #expect(stranger.final(.invite, 1)?.status == 404, "for others it is no number")
    }

    @Test func `in a call that the carrier made its challenges are answered, too`() throws {
        let stage = Self.stage([Self.target(50)]), carrier = RawPeer(stage, 50), device = RawPeer(stage, 2), line = BridgedCall.line
        device.request("REGISTER", line, call: "register", 1)
        carrier.request("INVITE", line, call: "in", 1, body: carrier.description())
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description())
        carrier.request("ACK", line, call: "in", 1, toTag: carrier.final(.invite, 1)?.to.tag)
        device.hangUp(invite)
        Self.challenge(carrier, try carrier.received(.bye), 407)
        let again = try carrier.received(.bye)
        #expect(Self.isProven(again, .proxyAuthorization))
        carrier.answer(again, 200)
        stage.expectQuiet()
    }

    @Test func `who has our registration may call, though DNS names another server now`() {
        func answer(_ address: String) -> DNSAnswer {
            DNSAnswer(.found, records: [.address(IPAddress(address)!)], timeToLive: .seconds(60))
        }
        let stage = Self.stage([.init(host: "carrier.test", port: 5_060)], zone: [.a("carrier.test"): answer("192.0.2.50")]) { trunk in
            Self.register(&trunk)
            trunk.incoming = "9196"
        }
        let carrier = RawPeer(stage, 50)
        stage.run(seconds: 0.1)
        Self.granted(carrier, carrier.request(.register))
        stage.zone[.a("carrier.test")] = answer("192.0.2.51")
        stage.run(seconds: 65)
        carrier.request("INVITE", "sip:account@192.0.2.1:5060", call: "in", 1, body: carrier.description())
        #expect(carrier.final(.invite, 1)?.status == 200)
    }

    @Test(arguments: [(8, 200), (9, 404)])
    func `numbers of a carrier's networks are rewritten, and nobody else's`(last: UInt32, status: Int) throws {
        let stage = Self.stage([Self.target(50)]) { trunk in
            trunk.sources = [IPNetwork("192.0.2.8/32")!]
            trunk.incomingRewrites = [NumberRewrite(pattern: NumberPattern("^4930")!, strip: 4)]
        }
        let peer = RawPeer(stage, last)
        peer.request("INVITE", "sip:49309196@192.0.2.1", call: "in", 1, body: peer.description())
        #expect(peer.final(.invite, 1)?.status == status)
    }

    @Test(arguments: [("sip:account@192.0.2.1:5060", 200), ("sip:49302000@192.0.2.1", 200), ("sip:+39055@192.0.2.1", 482)])
    func `a text of a carrier goes where its call would`(uri: String, status: Int) throws {
        let stage = Self.stage([Self.target(50)]) { trunk in
            Self.register(&trunk)
            trunk.incoming = "2000"
            trunk.incomingRewrites = [NumberRewrite(pattern: NumberPattern("^4930")!, strip: 4)]
        }
        let carrier = RawPeer(stage, 50), device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        carrier.request("MESSAGE", uri, call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        if status == 200 { device.answer(try device.received(.message), 200) }
        #expect(carrier.final(.message, 1)?.status == status)
    }

    @Test func `a text to a carrier is from the domain in which it knows us`() throws {
        let stage = Self.stage([Self.target(50)]) { $0.domain = "carrier.test" }, carrier = RawPeer(stage, 50), sender = RawPeer(stage, 9)
        sender.request("MESSAGE", "sip:+39055@gateway.test", call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        #expect(try carrier.received(.message).from.uri.host == "carrier.test")
    }

    @Test func `a carrier's call does not go back to it`() throws {
        let stage = Self.stage([Self.target(50)]), carrier = RawPeer(stage, 50)
        carrier.request("INVITE", "sip:+39055@192.0.2.1", call: "in", 1, body: carrier.description())
        #expect(carrier.final(.invite, 1)?.status == 482)
        #expect(carrier.request(.invite) == nil)
    }

    @Test func `it does where that is meant, one hop nearer to its end`() throws {
        let stage = Self.stage([Self.target(50)]) { $0.isHairpin = true }, carrier = RawPeer(stage, 50)
        carrier.request("INVITE", "sip:+39055@192.0.2.1", call: "in", 1, body: carrier.description())
        let returned = try carrier.received(.invite)
        #expect(returned.maxForwards == 69 && returned.callID != "in")
        carrier.answer(returned, 486)
        #expect(carrier.final(.invite, 1)?.status == 486)
    }
}

extension Message {
    fileprivate var startsCall: Bool { isRequest && method == .invite }
}
