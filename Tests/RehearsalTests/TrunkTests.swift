import Primitives
import RTP
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Trunks in virtual time: the gateway, and carriers that say what a test makes them say.
@Suite struct TrunkTests {
    private static func target(_ last: UInt32, priority: Int = 0) -> TrunkConfiguration.Target {
        var target = TrunkConfiguration.Target(host: Text("192.0.2.\(last)"), port: 5060)
        target.priority = priority
        return target
    }

    /// Line `carrier`, for numbers that begin with +.
    private static func stage(_ targets: [TrunkConfiguration.Target], zone: [DNSQuestion: DNSAnswer] = [:], _ change: (inout TrunkConfiguration) -> Void = { _ in }) -> Stage {
        var trunk = TrunkConfiguration(targets: targets)
        (trunk.user, trunk.password) = ("account", "secret")
        change(&trunk)
        return Stage({ configuration in
            var line = LineConfiguration(number: "carrier")
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
        }, zone: zone)
    }

    private static func register(_ trunk: inout TrunkConfiguration) { trunk.registration = .init() }

    private static func challenge(_ peer: RawPeer, _ request: Message?, _ status: Int = 401) {
        guard let request else { return }
        var response = Message.response(to: request, status: status, toTag: "c")
        let value = DigestChallenge(realm: "carrier", nonce: Text("n\(request.cseq.number)"), algorithm: DigestAlgorithm(.sha512_256), qualities: ["auth"]).value
        response.headers.append(status == 401 ? .wwwAuthenticate : .proxyAuthenticate, value)
        peer.send(response.serialized())
    }

    /// Whether the credentials of a request are those of the account, by a server of our own.
    private static func isProven(_ request: Message?, _ name: HeaderName) -> Bool {
        guard let request, let value = request.headers[name], let given = try? DigestCredentials(parsing: value) else { return false }
        let challenge = DigestChallenge(realm: given.realm, nonce: given.nonce, algorithm: given.algorithm, qualities: ["auth"])
        let right = DigestCredentials(
            answering: challenge, user: "account", secret: .password("secret"), method: request.method, uri: given.uri, count: 1, clientNonce: given.clientNonce,
            hash: OpenSSLDigest.sip)
        return given.response == right?.response
    }

    private static func granted(_ peer: RawPeer, _ request: Message?, expires: Int = 600) {
        guard let request, let contact = request.contact else { return }
        var response = Message.response(to: request, status: 200, toTag: "c")
        response.headers.append(.contact, contact.text + ";expires=" + Text(expires))
        peer.send(response.serialized())
    }

    @Test func `registers, proves who it is, refreshes, keeps the way open and leaves`() throws {
        let stage = Self.stage([Self.target(50)], Self.register), carrier = RawPeer(stage, 50)
        stage.run(seconds: 0.1)
        let first = try #require(carrier.request(.register))
        #expect(first.to.uri.user == "account" && first.contact?.uri.user == "account" && first.headers[.authorization] == nil)
        Self.challenge(carrier, first)
        let second = try #require(carrier.request(.register))
        #expect(Self.isProven(second, .authorization) && second.cseq.number == first.cseq.number + 1 && second.callID == first.callID)
        Self.granted(carrier, second)
        let seen = carrier.heard.count
        stage.run(seconds: 470)
        #expect(carrier.heard.count == seen)
        stage.run(seconds: 80)
        let third = try #require(carrier.request(.register))
        #expect(third.cseq.number > second.cseq.number && third.expires == 600)
        Self.granted(carrier, third)
        stage.gateway.drain(at: stage.world.now)
        stage.run(seconds: 0.1)
        let last = try #require(carrier.request(.register))
        #expect(last.expires == 0)
        carrier.answer(last, 200)
        #expect(stage.gateway.userAgent.counts.registrations == 0)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test(arguments: [
        (["<sip:orig@192.0.2.60;lr>, <sip:192.0.2.61;lr>"], ["<sip:orig@192.0.2.60;lr>", "<sip:192.0.2.61;lr>"]),
        (["<sip:192.0.2.60;lr>", "<sip:192.0.2.61;lr>"], ["<sip:192.0.2.60;lr>", "<sip:192.0.2.61;lr>"]), (["<sip:192.0.2.60>"], []),
        (["<sip:192.0.2.60;lr>, broken<"], []), ([], []),
    ] as [([Text], [Text])])
    func `calls go by the routes that the registrar named`(named: [Text], routes: [Text]) throws {
        let stage = Self.stage([Self.target(50)], Self.register), carrier = RawPeer(stage, 50), caller = RawPeer(stage, 9)
        stage.run(seconds: 0.1)
        let register = try #require(carrier.request(.register))
        var response = Message.response(to: register, status: 200, toTag: "c")
        response.headers.append(.contact, try #require(register.contact).text + ";expires=600")
        for route in named { response.headers.append(.serviceRoute, route) }
        carrier.send(response.serialized())
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let invite = try #require(carrier.request(.invite))
        #expect(invite.routes.map(\.text) == routes && invite.requestURI?.user == "+39055")
    }

    @Test func `what a trunk is told in headers of ours, nobody is told whom it names in a 302`() throws {
        let tenant = try #require(HeaderRules.Field(name: "X-Tenant", value: "acme")), stage = Self.stage([Self.target(50)]) { $0.headers.set = [tenant] }
        let carrier = RawPeer(stage, 50), elsewhere = RawPeer(stage, 60), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let invite = try #require(carrier.request(.invite))
        #expect(invite.headers["X-Tenant"] == "acme")
        carrier.answer(invite, 302, contact: Text("<sip:+39055@\(elsewhere.address)>"))
        #expect(try elsewhere.received(.invite).headers["X-Tenant"] == nil)
    }

    @Test func `who calls is told a trunk by its rules, each of its servers, and nobody whom it names in a 302`() throws {
        let field = try #require(HeaderRules.Field(name: "P-Asserted-Identity", value: "<sip:+49@provider.test>"))
        let stage = Stage { configuration in
            var trunk = TrunkConfiguration(targets: [Self.target(50), Self.target(51, priority: 1)]), line = LineConfiguration(number: "carrier")
            trunk.headers.set = [field]
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
            configuration.access.asserting = [IPNetwork("192.0.2.99/32")!]
        }
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), elsewhere = RawPeer(stage, 60), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        first.answer(try first.received(.invite), 503)
        let invite = try second.received(.invite)
        #expect(invite.headers.all(.pAssertedIdentity) == ["<sip:+49@provider.test>"])
        second.answer(invite, 302, contact: Text("<sip:+39055@\(elsewhere.address)>"))
        #expect(try elsewhere.received(.invite).headers[.pAssertedIdentity] == nil)
    }

    @Test func `a caller's identity that a trunk is passed goes to nobody whom it names in a 302`() throws {
        let name = try #require(HeaderRules.NamePattern("P-Asserted-Identity")), stage = Self.stage([Self.target(50)]) { $0.headers.copy = [name] }
        let carrier = RawPeer(stage, 50), elsewhere = RawPeer(stage, 60), caller = RawPeer(stage, 9)
        caller.request(
            "INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description(), headers: ["P-Asserted-Identity: <sip:4711@house.test>", "Privacy: id"])
        let invite = try carrier.received(.invite)
        #expect(invite.headers[.pAssertedIdentity] == "<sip:4711@house.test>")
        carrier.answer(invite, 302, contact: Text("<sip:+39055@\(elsewhere.address)>"))
        #expect(try elsewhere.received(.invite).headers[.pAssertedIdentity] == nil)
    }

    @Test func `an empty line keeps the way open while it is registered`() throws {
        var lines = 0
        let stage = Self.stage([Self.target(50)], Self.register), carrier = RawPeer(stage, 50)
        stage.network.onSend = { bytes, _, to in if bytes == [13, 10, 13, 10], to == carrier.address { lines += 1 } }
        stage.run(seconds: 60)
        #expect(lines == 0, "not registered yet")
        Self.granted(carrier, carrier.request(.register))
        stage.run(seconds: 100)
        #expect((4...5).contains(lines))
    }

    @Test func `where the registrar agreed to answer it is asked by STUN, and a way that is dead is opened anew`() throws {
        var asked: [[UInt8]] = []
        let stage = Self.stage([Self.target(50)], Self.register), carrier = RawPeer(stage, 50)
        stage.network.onSend = { bytes, _, to in if STUNBinding.begins(bytes), to == carrier.address { asked.append(bytes) } }
        stage.run(seconds: 0.1)
        let register = try #require(carrier.request(.register))
        #expect(register.via.parameters["keep"]?.isEmpty == true)
        func agree(_ request: Message) {
            var response = Message.response(to: request, status: 200, toTag: "c")
            response.via.parameters["keep"] = "20"
            response.headers.append(.contact, (request.contact?.text ?? "") + ";expires=600")
            carrier.send(response.serialized())
        }
        agree(register)
        for _ in 0..<4 {
            let before = asked.count
            stage.run(seconds: 20.1)
            #expect(asked.count > before)
            let request = try STUNMessage(parsing: try #require(asked.last))
            carrier.send(try #require(STUNBinding.answer(to: request, from: Cast.gateway)))
        }
        #expect(carrier.heard.count { $0.method == .register } == 1)
        stage.run(seconds: 65)
        #expect(Set(carrier.heard.filter { $0.method == .register }.map(\.cseq.number)).count == 2, "nobody answered for 39.5 s")
        #expect(stage.events(.trunkState).contains { $0.details.text(.cause) == "flow-failed" })
        agree(try #require(carrier.request(.register)))
        let before = asked.count
        stage.run(seconds: 21)
        #expect(asked.count > before)
    }

    @Test func `over a connection a pong that does not come closes it, and the registration is made again`() throws {
        var pings: [Flow] = [], registers = 0
        let stage = Stage { configuration, environment in
            var trunk = TrunkConfiguration(targets: [TrunkConfiguration.Target(host: "192.0.2.60", port: 5060, transport: .tcp)]), line = LineConfiguration(number: "carrier")
            (trunk.user, trunk.password) = ("account", "secret")
            Self.register(&trunk)
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
            environment.listeners.append(.init(.tcp, Cast.gateway))
        }
        let carrier = StreamPeer(stage)
        carrier.onRequest = { request, flow in
            guard request.method == .register else { return }
            registers += 1
            var response = Message.response(to: request, status: 200, toTag: "c")
            response.headers.append(.contact, (request.contact?.text ?? "") + ";expires=600")
            stage.network.send(response.serialized(), over: flow)
        }
        carrier.onPing = { flow in
            pings.append(flow)
            if pings.count < 4 { stage.network.send(StreamFramer.pong, over: flow) }
        }
        // The first attempt found nobody.
        for _ in 0..<60 where registers == 0 { stage.run(seconds: 1) }
        stage.run(seconds: 75)
        #expect(registers == 1 && pings.count == 3 && carrier.failures.isEmpty, "\(registers) \(pings) \(carrier.failures)")
        stage.run(seconds: 34.5)
        #expect(pings.count == 4 && carrier.failures.count == 1, "ten seconds after the fourth")
        #expect(registers == 2 && Set(pings.map(\.connection)).count == 1)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    /// A registrar behind connections.
    private final class StreamPeer: Inhabitant {
        var onRequest: (Message, Flow) -> Void = { _, _ in }
        var onPing: (Flow) -> Void = { _ in }
        private(set) var failures: [Flow] = []
        init(_ stage: Stage) { stage.network.attach(self, to: SocketAddress(IPAddress(v4: 0xC000_023C), port: 5060)) }
        var deadline: Instant? { nil }
        func advance(to now: Instant) {}
        func failed(_ flow: Flow, at now: Instant) { failures.append(flow) }
        func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
            if bytes == StreamFramer.ping { onPing(flow) } else if let message = try? Message(parsing: bytes) { onRequest(message, flow) }
        }
    }

    @Test func `a binding request on the port of SIP is answered, and a registrar's promise to do so given`() throws {
        let stage = Self.stage([Self.target(50)]), peer = RawPeer(stage, 9)
        var answers: [STUNMessage] = []
        stage.network.onSend = { bytes, _, to in if to == peer.address, let message = try? STUNMessage(parsing: bytes) { answers.append(message) } }
        peer.send(STUNBinding.request(transaction: Array(1...12)))
        #expect(answers.map(\.mappedAddress) == [peer.address] && answers.first?.messageClass == .success)
        for bytes in [[0, 1, 0, 0], [0, 1, 0, 4, 0x21, 0x12, 0xA4, 0x42] + Array(repeating: 0, count: 12), [13, 10, 13, 10]] as [[UInt8]] { peer.send(bytes) }
        #expect(answers.count == 1 && peer.heard.isEmpty)
        peer.request("REGISTER", "sip:2000@hookswitch.test", call: "reg", 1)
        #expect(peer.heard.last?.via.parameters.contains("keep" as StaticString) == false)
        let lines = ["REGISTER sip:hookswitch.test SIP/2.0", "Via: SIP/2.0/UDP \(peer.address);branch=z9hG4bKkeep;rport;keep", "Max-Forwards: 70", "From: <sip:2000@hookswitch.test>;tag=k",
            "To: <sip:2000@hookswitch.test>", "Call-ID: keep", "CSeq: 1 REGISTER", "Contact: <sip:2000@\(peer.address)>", "Content-Length: 0", "", ""]
        peer.send(Array(lines.joined(separator: "\r\n").utf8))
        #expect(peer.heard.last?.status == 200 && peer.heard.last?.via.parameters["keep"] == "30")
    }

    @Test func `a registrar that wants more time gets it, and one that refuses is asked again later`() throws {
        let stage = Self.stage([Self.target(50)], Self.register), carrier = RawPeer(stage, 50)
        stage.run(seconds: 0.1)
        let request = try #require(carrier.request(.register))
        var brief = Message.response(to: request, status: 423, toTag: "c")
        brief.headers.append(.minExpires, "3600")
        carrier.send(brief.serialized())
        #expect(carrier.request(.register)?.expires == 3_600)
        carrier.answer(carrier.request(.register), 403)
        let seen = carrier.heard.count
        stage.run(seconds: 14)
        #expect(carrier.heard.count == seen)
        stage.run(seconds: 17)
        #expect(carrier.heard.count > seen)
    }

    @Test func `where one registrar is silent the next is asked`() throws {
        let stage = Self.stage([Self.target(50), Self.target(51, priority: 1)], Self.register)
        let silent = RawPeer(stage, 50), other = RawPeer(stage, 51)
        stage.run(seconds: 0.1)
        #expect(silent.request(.register) != nil && other.request(.register) == nil)
        stage.run(seconds: 33)
        Self.granted(other, other.request(.register))
        #expect(stage.gateway.trunksInOrder[0].registrationStatus == 200)
    }

    @Test func `an operator hears what becomes of a trunk, and of each change once`() throws {
        var heard: [String] = []
        let stage = Stage { configuration, environment in
            for (number, host) in [("carrier", "192.0.2.50"), ("lost", "nowhere.test")] {
                var trunk = TrunkConfiguration(targets: [TrunkConfiguration.Target(host: Text(host), port: host == "nowhere.test" ? nil : 5060)])
                (trunk.user, trunk.password) = ("account", "secret")
                Self.register(&trunk)
                var line = LineConfiguration(number: Text(number))
                line.endpoint = .trunk(trunk)
                configuration.lines.append(line)
            }
            environment.onTrunk = { heard.append("\($0.isTrouble ? "!" : "")\($0)") }
        }
        let carrier = RawPeer(stage, 50)
        stage.run(seconds: 0.1)
        #expect(heard == ["trunk carrier: its servers are udp:192.0.2.50:5060", "!trunk lost: no server of nowhere.test was found"])
        for _ in 0..<3 {
            let refused = try #require(carrier.request(.register))
            carrier.answer(refused, 403)
            for _ in 0..<400 where carrier.request(.register)?.cseq == refused.cseq { stage.run(seconds: 1) }
        }
        Self.granted(carrier, carrier.request(.register))
        #expect(Array(heard.dropFirst(2)) == ["!trunk carrier: the registration with 192.0.2.50:5060 failed with 403", "trunk carrier: registered with 192.0.2.50:5060"])
        #expect(stage.events(.trunkState).contains { $0.details.text(.cause) == "unresolved" })
    }

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
            var trunk = TrunkConfiguration(targets: [Self.target(50), Self.target(51, priority: 1)]), line = LineConfiguration(number: "carrier")
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
        let stage = Self.stage([Self.target(50)], zone: [
            .srv("_sip._udp.other.test"): answer(.srv(priority: 0, weight: 0, port: 5070, target: "a.other.test")),
            .a("a.other.test"): answer(.address(IPAddress("192.0.2.70")!)), .a("b.other.test"): answer(.address(IPAddress("192.0.2.71")!)),
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
        func answer(_ record: DNSRecord, _ seconds: Int64) -> DNSAnswer { DNSAnswer(.found, records: [record], timeToLive: .seconds(seconds)) }
        let target = TrunkConfiguration.Target(host: "carrier.test")
        let stage = Self.stage([target], zone: [
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
        // Where the name system does not answer, what was known goes on.
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

    @Test func `who has our registration may call, though the name system names another server now`() {
        func answer(_ address: String) -> DNSAnswer { DNSAnswer(.found, records: [.address(IPAddress(address)!)], timeToLive: .seconds(60)) }
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

    // MARK: Headers

    @Test func `headers are passed on INVITE, 18x, 200 and BYE, and set towards the trunk`() throws {
        let stage = Self.stage([Self.target(50)]) { trunk in
            trunk.headers.copy = [HeaderRules.NamePattern("X-*")!]
            trunk.headers.remove = [HeaderRules.NamePattern("X-Secret")!]
            trunk.headers.set = [HeaderRules.Field(name: "X-Tenant", value: "acme")!]
        }
        let carrier = RawPeer(stage, 50), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description(), headers: ["X-One: 1", "X-Secret: 2", "Subject: no"])
        let invite = try #require(carrier.request(.invite))
        #expect([invite.headers["X-One"], invite.headers["X-Tenant"], invite.headers["X-Secret"], invite.headers["Subject"]] == ["1", "acme", nil, nil])
        func answer(_ status: Int, _ value: Text, body: String = "") {
            var response = Message.response(to: invite, status: status, toTag: "raw")
            response.headers.append(.contact, Text("<sip:peer@\(carrier.address)>"))
            response.headers.append("X-Two", value)
            if !body.isEmpty { response.headers.append(.contentType, "application/sdp") }
            response.body = Array(body.utf8)
            carrier.send(response.serialized())
        }
        answer(183, "early")
        #expect(caller.heard.contains { $0.status == 180 && $0.headers["X-Two"] == "early" && $0.headers["X-Tenant"] == nil })
        answer(200, "answered", body: carrier.description())
        stage.run(seconds: 0.5)
        let accepted = try #require(caller.final(.invite, 1))
        #expect(accepted.status == 200 && accepted.headers["X-Two"] == "answered")
        caller.request("ACK", "sip:+39055@gateway.test", call: "one", 1, toTag: accepted.to.tag)
        caller.request("BYE", "sip:+39055@gateway.test", call: "one", 2, toTag: accepted.to.tag, headers: ["X-Three: 3", "X-Secret: 2"])
        stage.run(seconds: 0.5)
        let bye = try #require(carrier.request(.bye))
        #expect([bye.headers["X-Three"], bye.headers["X-Tenant"], bye.headers["X-Secret"]] == ["3", "acme", nil])
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }
}

extension Message {
    fileprivate var startsCall: Bool { isRequest && method == .invite }
}
