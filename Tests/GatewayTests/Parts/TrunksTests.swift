import Primitives
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway

/// The trunk of an incoming call, and the number that it dials.
@Suite struct TrunksTests {
    private static func parts(_ change: (inout TrunkConfiguration) -> Void = { _ in }) -> Parts {
        Parts { configuration in
            var carrier = TrunkConfiguration(targets: [.init(host: "192.0.2.7"), .init(host: "192.0.2.8", port: 5070, transport: .tcp)])
            carrier.user = "account"
            change(&carrier)
            let other = TrunkConfiguration(address: Flow.peer(20).remote)
            configuration.lines += [carrier, other].enumerated().map { index, trunk in
                .devices(Text("trunk\(index)")) { $0.endpoint = .trunk(trunk) }
            }
        }
    }

    @Test(
        arguments: [
            ("sip:2000@gateway.test", "sip:x@a.test", false, nil, "2000"), ("sip:account@203.0.113.1", "sip:+39@a.test", true, nil, "+39"),
            ("sip:account@203.0.113.1", "sip:+39@a.test", true, "3000", "3000"),
            ("sip:account@203.0.113.1", "sip:+39@a.test", false, nil, "account"),
            ("sip:account@203.0.113.1", "sip:a.test", true, nil, "account"), ("sip:0039@gateway.test", "sip:x@a.test", false, nil, "+39"),
            ("sip:gateway.test", "sip:x@a.test", false, nil, nil),
        ] as [(String, String, Bool, Text?, Text?)])
    func `a call dials the number of its Request-URI, or for our Contact the configured one or that of To`(
        uri: String, to: String, isRegistered: Bool, incoming: Text?, dialled: Text?
    ) {
        let parts = Self.parts { trunk in
            trunk.registration = isRegistered ? .init() : nil
            trunk.incoming = incoming
            trunk.incomingRewrites = [NumberRewrite(pattern: NumberPattern("^00")!, strip: 2, prefix: "+")]
        }
        #expect(parts.trunks.number(dialledBy: Parts.request(.invite, uri, to: to), from: parts.trunks.all[0]) == dialled)
    }

    @Test(
        arguments: [
            (7, .udp, 5060, 0), (7, .tcp, 5060, nil), (7, .udp, 5070, nil), (8, .tcp, 5070, 0), (20, .udp, 5060, 1), (9, .udp, 5060, 0),
            (10, .udp, 5060, nil),
        ] as [(UInt32, Transport, UInt16, Int?)])
    func `a call belongs to the trunk of its server or source network`(
        last: UInt32, transport: Transport, port: UInt16, trunk: Int?
    ) {
        let parts = Self.parts { $0.sources = [IPNetwork("192.0.2.9/32")!] }
        parts.trunks.start()
        var flow = Flow.peer(last, transport)
        flow.remote.port = port
        #expect(parts.trunks.sender(over: flow) === trunk.map { parts.trunks.all[$0] })
    }

    @Test(arguments: [(false, true), (true, false)])
    func `a call returns to its trunk with hairpin alone`(isHairpin: Bool, isReturning: Bool) {
        let parts = Self.parts { $0.isHairpin = isHairpin }, (first, second) = (parts.trunks.all[0], parts.trunks.all[1])
        #expect(parts.trunks.isReturning(first, to: parts.line("trunk0")) == isReturning)
        #expect(!parts.trunks.isReturning(second, to: parts.line("trunk0")) && !parts.trunks.isReturning(nil, to: parts.line("trunk0")))
        #expect(!parts.trunks.isReturning(first, to: parts.line("2000")))
    }

    @Test func `each trunk line has its own trunk`() {
        let parts = Self.parts()
        #expect(parts.trunks.trunk(of: parts.line("trunk1")) === parts.trunks.all[1] && parts.trunks.trunk(of: parts.line("2000")) == nil)
        #expect(parts.trunks.all.map(\.line) == ["trunk0", "trunk1"])
    }

    @Test func `a trunk registers at the start, and unregisters in the end`() throws {
        let parts = Self.parts { $0.registration = .init() }
        parts.trunks.start()
        let register = try #require(parts.wire.requests(.register).first)
        #expect(parts.wire.requests(.register).count == 1 && register.to.uri.text == "sip:account@192.0.2.7" && register.expires == 600)
        parts.answer(register, 200, headers: [(.expires, "600")], over: .peer(7))
        parts.trunks.leave()
        #expect(
            parts.wire.requests(.register).last?.contacts.first?.parameters["expires"] == "0"
                || parts.wire.requests(.register).last?.expires == 0)
        #expect(parts.events(.trunkState).map { $0.details.text(.cause) }.contains("registered"))
    }

    @Test func `servers are looked up again after their time to live`() throws {
        let parts = Self.parts { $0.targets = [.init(host: "carrier.test", port: 5060)] }
        parts.trunks.start()
        #expect(parts.queries.count == 1 && parts.trunks.deadline == nil)
        let answer = try #require(parts.locator.completion(of: 1))
        answer(.init(.found, records: [.address(IPAddress(v4: 0xC000_0207))], timeToLive: .seconds(60)), parts.context.now)
        #expect(parts.trunks.deadline == parts.context.now + .seconds(60))
        for seconds in [59, 1] {
            parts.wait(.seconds(seconds))
            parts.trunks.advance(to: parts.context.now)
        }
        #expect(parts.queries.count == 2)
    }
}
