import Primitives
import RTP
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// A trunk that registers, and the ways that it keeps open, in virtual time.
@Suite struct TrunkRegistrationTests: TrunkSuite {
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

    @Test(
        arguments: [
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
            var trunk = TrunkConfiguration(targets: [TrunkConfiguration.Target(host: "192.0.2.60", port: 5060, transport: .tcp)]),
                line = LineConfiguration(number: "carrier")
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
        stage.network.onSend = { bytes, _, to in
            if to == peer.address, let message = try? STUNMessage(parsing: bytes) { answers.append(message) }
        }
        peer.send(STUNBinding.request(transaction: Array(1...12)))
        #expect(answers.map(\.mappedAddress) == [peer.address] && answers.first?.messageClass == .success)
        for bytes in [[0, 1, 0, 0], [0, 1, 0, 4, 0x21, 0x12, 0xA4, 0x42] + Array(repeating: 0, count: 12), [13, 10, 13, 10]] as [[UInt8]] {
            peer.send(bytes)
        }
        #expect(answers.count == 1 && peer.heard.isEmpty)
        peer.request("REGISTER", "sip:2000@hookswitch.test", call: "reg", 1)
        #expect(peer.heard.last?.via.parameters.contains("keep" as StaticString) == false)
        let lines = [
            "REGISTER sip:hookswitch.test SIP/2.0", "Via: SIP/2.0/UDP \(peer.address);branch=z9hG4bKkeep;rport;keep", "Max-Forwards: 70",
            "From: <sip:2000@hookswitch.test>;tag=k",
            "To: <sip:2000@hookswitch.test>", "Call-ID: keep", "CSeq: 1 REGISTER", "Contact: <sip:2000@\(peer.address)>",
            "Content-Length: 0", "", "",
        ]
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
                var trunk = TrunkConfiguration(targets: [
                    TrunkConfiguration.Target(host: Text(host), port: host == "nowhere.test" ? nil : 5060)
                ])
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
        #expect(
            Array(heard.dropFirst(2)) == [
                "!trunk carrier: the registration with 192.0.2.50:5060 failed with 403", "trunk carrier: registered with 192.0.2.50:5060",
            ])
        #expect(stage.events(.trunkState).contains { $0.details.text(.cause) == "unresolved" })
    }
}
