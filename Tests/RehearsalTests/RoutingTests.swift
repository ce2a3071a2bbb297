import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Ring groups, scripts and domains in virtual time.
@Suite struct RoutingTests {
    /// Lines 2001–2003 for devices, and the line 3000 as the test has it.
    private static func stage(calls: Int? = nil, _ change: @escaping (inout LineConfiguration) -> Void) -> Stage {
        Stage({ configuration in
            for number in 2001...2003 {
                var line = LineConfiguration(number: Text(number))
                if let calls { line.maximumCalls = calls }
                line.isOpen = true
                configuration.lines.append(line)
            }
            var line = LineConfiguration(number: "3000")
            change(&line)
            configuration.lines.append(line)
        })
    }

    private static func device(_ stage: Stage, _ last: UInt32, _ number: Int) -> RawPeer {
        let device = RawPeer(stage, last)
        device.request("REGISTER", "sip:\(number)@gateway.test", call: "reg\(number)", 1)
        return device
    }

    private static func group(_ members: [RingGroup.Member], _ strategy: RingGroup.Strategy = .all) -> (inout LineConfiguration) -> Void {
        { $0.endpoint = .group(RingGroup(members, strategy)) }
    }

    private static func call(_ stage: Stage, _ uri: String = "sip:3000@gateway.test", call: String = "one") -> RawPeer {
        let caller = RawPeer(stage, 9)
        caller.request("INVITE", uri, call: call, 1, body: caller.description())
        return caller
    }

    @Test func `a group rings all its members, and who answers has the call`() throws {
        let stage = Self.stage(Self.group([.init("2001"), .init("2002")]))
        let one = Self.device(stage, 31, 2001), two = Self.device(stage, 32, 2002)
        let caller = Self.call(stage)
        one.answer(one.request(.invite), 180)
        two.answer(two.request(.invite), 200, body: two.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 200)
        #expect(one.request(.cancel)?.headers[.reason]?.description.contains("200") == true)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a call that a member takes is one of its own, until it ends`() throws {
        let stage = Self.stage(calls: 1, Self.group([.init("2001"), .init("2002")]))
        let one = Self.device(stage, 31, 2001), other = RawPeer(stage, 8)
        let caller = Self.call(stage), invite = try one.received(.invite)
        func answer(_ number: Int) -> Int? {
            other.request("INVITE", "sip:2001@gateway.test", call: "n\(number)", number, body: other.description())
            return other.heard.last?.status
        }
        one.answer(invite, 200, body: one.description())
        caller.request("ACK", "sip:3000@gateway.test", call: "one", 1, toTag: caller.final(.invite, 1)?.to.tag)
        #expect(answer(1) == 486)
        one.hangUp(invite)
        caller.answer(caller.request(.bye), 200)
        #expect(answer(2) != 486 && one.request(.invite)?.callID != invite.callID)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `members with a delay ring later, and those before go on`() throws {
        let stage = Self.stage(Self.group([.init("2001"), .init("2002", delay: .seconds(5)), .init("2003", delay: .seconds(8))]))
        let one = Self.device(stage, 31, 2001), two = Self.device(stage, 32, 2002), three = Self.device(stage, 33, 2003)
        let caller = Self.call(stage)
        one.answer(one.request(.invite), 180)
        stage.run(seconds: 4)
        #expect(two.request(.invite) == nil)
        stage.run(seconds: 1.5)
        #expect(two.request(.invite) != nil && three.request(.invite) == nil && one.request(.cancel) == nil)
        // One who declines speaks for himself, and when nobody is left the next is not waited for.
        one.answer(one.request(.invite), 603)
        two.answer(two.request(.invite), 486)
        #expect(three.request(.invite) != nil)
        three.answer(three.request(.invite), 486)
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 603, "what tells the caller most (RFC 3261 §16.7)")
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `in turn each rings for its time`() throws {
        let stage = Self.stage(Self.group([.init("2001"), .init("2002"), .init("2003")], .inTurn(.seconds(10))))
        // 2002 has no device, and is passed over.
        let one = Self.device(stage, 31, 2001), three = Self.device(stage, 33, 2003)
        let caller = Self.call(stage)
        one.answer(one.request(.invite), 180)
        stage.run(seconds: 9)
        #expect(three.request(.invite) == nil && one.request(.cancel) == nil)
        stage.run(seconds: 1.5)
        #expect(one.request(.cancel) != nil)
        one.answer(one.request(.invite), 487)
        three.answer(three.request(.invite), 200, body: three.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 200)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a group without a device is unavailable, and leaves nothing`() throws {
        let stage = Self.stage(Self.group([.init("2001"), .init("2002")]))
        let caller = Self.call(stage)
        stage.run(seconds: 1)
        #expect(caller.final(.invite, 1)?.status == 480)
        caller.request("ACK", "sip:3000@gateway.test", call: "one", 1, toTag: caller.final(.invite, 1)?.to.tag)
        stage.run(seconds: 40)
        #expect(stage.gateway.hunts.isEmpty && stage.gateway.counts(at: stage.world.now).isIdle)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a caller who hangs up ends the hunt`() throws {
        let stage = Self.stage(Self.group([.init("2001"), .init("2002", delay: .seconds(5))]))
        let one = Self.device(stage, 31, 2001), two = Self.device(stage, 32, 2002)
        _ = Self.call(stage)
        one.answer(one.request(.invite), 180)
        stage.gateway.endAll(at: stage.world.now)
        stage.run(seconds: 10)
        #expect(two.request(.invite) == nil && stage.gateway.hunts.isEmpty)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a member that is not to be disturbed is passed over, and the others ring`() throws {
        let stage = Self.stage(Self.group([.init("2001"), .init("2002")]))
        let one = Self.device(stage, 31, 2001), two = Self.device(stage, 32, 2002)
        stage.gateway.setDoNotDisturb(true, ofLine: "2001", at: stage.world.now)
        let caller = Self.call(stage)
        #expect(one.request(.invite) == nil)
        two.answer(try two.received(.invite), 200, body: two.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 200)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a group whose members are not to be disturbed is unavailable`() throws {
        let stage = Self.stage(Self.group([.init("2001")])), one = Self.device(stage, 31, 2001)
        stage.gateway.setDoNotDisturb(true, ofLine: "2001", at: stage.world.now)
        let caller = Self.call(stage)
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 480 && one.request(.invite) == nil)
    }

    @Test func `a telephone that wants to be called securely is not called in the clear`() throws {
        let stage = Self.stage { $0.endpoint = .script(LineScript(.answer)) }, phone = RawPeer(stage, 31)
        // Behind a NAT: its sips Contact cannot be reached over TLS from here.
        phone.request("REGISTER", "sip:2001@gateway.test", call: "reg", 1, contact: "<sips:2001@10.0.0.9>")
        let caller = Self.call(stage, "sip:2001@gateway.test")
        #expect(caller.final(.invite, 1)?.status == 480 && phone.request(.invite) == nil)
    }

    // MARK: Scripts

    @Test(arguments: [
        (LineScript(.answer), 200), (.init(.reject(486)), 486), (.init(.reject(603)), 603), (.init(.reject(404)), 404), (.init(.ring), 480),
    ])
    func `a script does as it is told`(script: LineScript, status: Int) throws {
        let stage = Self.stage { line in
            (line.endpoint, line.ringTimeout) = (.script(script), .seconds(20))
        }
        let caller = Self.call(stage)
        #expect(caller.heard.contains { $0.status == 180 })
        stage.run(seconds: 21)
        #expect(caller.final(.invite, 1)?.status == status)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a script takes its time`() throws {
        let stage = Self.stage { $0.endpoint = .script(LineScript(.answer, after: .milliseconds(1_500))) }
        let caller = Self.call(stage)
        stage.run(seconds: 1.3)
        #expect(caller.final(.invite, 1) == nil)
        stage.run(seconds: 0.3)
        #expect(caller.final(.invite, 1)?.status == 200)
    }

    @Test func `every so many calls are busy`() throws {
        let stage = Self.stage { $0.endpoint = .script(LineScript(.reject(480), busyEvery: 3)) }
        let caller = RawPeer(stage, 9)
        let statuses = (1...7).map { number -> Int? in
            caller.request("INVITE", "sip:3000@gateway.test", call: "c\(number)", number, body: caller.description())
            return caller.final(.invite, number)?.status
        }
        #expect(statuses == [480, 480, 486, 480, 480, 486, 480])
    }

    // MARK: Numbers and domains

    @Test(arguments: [
        ("sip:3000@gateway.test", 404), ("sip:3000@sales.test", 603), ("sip:anything@SALES.test", 603), ("sip:anything@other.test", 404),
        ("sip:9196@sales.test", 200),
    ])
    func `a line of a domain has the calls of that domain that no other line has`(uri: String, status: Int) throws {
        let stage = Self.stage { line in
            (line.domain, line.endpoint) = ("sales.test", .script(LineScript(.reject(603))))
        }
        let caller = Self.call(stage, uri)
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == status)
    }

    @Test(arguments: [
        ("sip:%33000@gateway.test", 200), ("sip:3%30%300@gateway.test", 200), ("sip:%2533000@gateway.test", 484),
        ("sip:3000%00@gateway.test", 484),
        ("sip:3000%20@gateway.test", 404),
    ])
    func `a number is the same with escapes that it does not need, and one with a percent sign is nobody's`(uri: String, status: Int) {
        let stage = Self.stage { $0.endpoint = .script(LineScript(.answer)) }
        #expect(Self.call(stage, uri).final(.invite, 1)?.status == status)
    }

    @Test(arguments: [("Max-Forwards: 0", 483), ("Max-Forwards: 1", 200)])
    func `a call that has gone too far is refused`(header: String, status: Int) throws {
        let stage = Self.stage { $0.endpoint = .script(LineScript(.answer)) }
        let caller = RawPeer(stage, 9)
        let lines = [
            "INVITE sip:3000@gateway.test SIP/2.0", "Via: SIP/2.0/UDP \(caller.address);branch=z9hG4bKm;rport", header,
            "From: <sip:peer@192.0.2.9>;tag=x",
            "To: <sip:3000@gateway.test>", "Call-ID: far", "CSeq: 1 INVITE", "Contact: <sip:peer@\(caller.address)>",
            "Content-Type: application/sdp",
        ]
        let body = caller.description()
        caller.send(Array((lines + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n").utf8))
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == status)
    }

    @Test func `a REGISTER at its last hop has arrived`() {
        let stage = Self.stage { $0.endpoint = .script(LineScript(.answer)) }, phone = RawPeer(stage, 9)
        let lines = [
            "REGISTER sip:gateway.test SIP/2.0", "Via: SIP/2.0/UDP \(phone.address);branch=z9hG4bKm;rport", "Max-Forwards: 0",
            "From: <sip:2001@gateway.test>;tag=x", "To: <sip:2001@gateway.test>", "Call-ID: near", "CSeq: 1 REGISTER",
            "Contact: <sip:peer@\(phone.address)>", "Content-Length: 0",
        ]
        phone.send(Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
        #expect(phone.final(.register, 1)?.status == 200)
    }
}
