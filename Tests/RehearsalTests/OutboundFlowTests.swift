import CallKit
import Foundation
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Devices that keep several flows to the gateway: one of them rings at a time (RFC 5626 §7).
@Suite struct OutboundFlowTests {
    private let stage = Stage { configuration in
        var other = LineConfiguration(number: "2001")
        other.isOpen = true
        configuration.lines.append(other)
    }
    private let first: RawPeer, second: RawPeer, caller: RawPeer

    init() {
        (first, second, caller) = (RawPeer(stage, 31), RawPeer(stage, 32), RawPeer(stage, 9))
        register(second, 2)
        register(first, 1)
    }

    private func register(_ flow: RawPeer, _ number: Int, line: String = BridgedCall.line) {
        flow.request(
            "REGISTER", line, call: "flow\(number)", 1,
            contact: "<sip:peer@\(flow.address)>;+sip.instance=\"<urn:uuid:1>\";reg-id=\(number)")
    }

    private func invite() { caller.request("INVITE", BridgedCall.line, call: "one", 1, body: caller.description("0")) }

    /// Whoever has the call hangs up.
    private func expectEnd(_ invite: Message, by device: RawPeer) {
        device.hangUp(invite)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    private func answer(_ invite: Message, by device: RawPeer) throws {
        device.answer(invite, 200, body: device.description("0"))
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", BridgedCall.line, call: "one", 1, toTag: answer.to.tag)
    }

    @Test(arguments: [(486, 486), (480, 480), (500, 500), (503, 500), (603, 603)])
    func `a device with two flows rings over the one that it refreshed last, and what it says there is final`(status: Int, told: Int) throws
    {
        invite()
        #expect(second.request(.invite) == nil)
        first.answer(try first.received(.invite), status)
        stage.run(seconds: 5)
        #expect(caller.final(.invite, 1)?.status == told && second.request(.invite) == nil)
        stage.expectQuiet()
    }

    @Test func `a flow that failed is followed by the next, which has all rights of the device`() throws {
        invite()
        first.answer(try first.received(.invite), 430)
        let there = try second.received(.invite)
        #expect(try there.to.uri == first.received(.invite).to.uri)
        try answer(there, by: second)
        second.request("REFER", in: there, 2, headers: ["Refer-To: <sip:2001@hookswitch.test>"])
        #expect(second.final(.refer, 2)?.status == 202)
        for notify in second.heard where notify.isRequest && notify.method == .notify { second.answer(notify, 200) }
        caller.request("BYE", BridgedCall.line, call: "one", 2, toTag: caller.final(.invite, 1)?.to.tag)
        second.answer(second.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `where each has failed nobody is there`() throws {
        invite()
        first.answer(try first.received(.invite), 430)
        second.answer(try second.received(.invite), 430)
        #expect(caller.final(.invite, 1)?.status == 480)
        stage.expectQuiet()
    }

    @Test func `one that says nothing for four seconds is given up for the next, and cancelled when it speaks`() throws {
        invite()
        stage.run(seconds: 3.5)
        #expect(second.request(.invite) == nil)
        stage.run(seconds: 0.5)
        let there = try second.received(.invite)
        first.answer(try first.received(.invite), 180)
        #expect(first.request(.cancel) != nil)
        first.answer(first.request(.cancel), 200)
        first.answer(first.request(.invite), 487)
        try answer(there, by: second)
        expectEnd(there, by: second)
    }

    @Test func `one that says anything is waited for`() throws {
        invite()
        first.answer(try first.received(.invite), 100)
        stage.run(seconds: 20)
        #expect(second.request(.invite) == nil)
        caller.cancel("one")
        first.answer(first.request(.cancel), 200)
        first.answer(first.request(.invite), 487)
        stage.expectQuiet()
    }

    @Test func `a caller who gives up while a flow says nothing rings no other`() throws {
        invite()
        stage.run(seconds: 1)
        caller.cancel("one")
        stage.run(seconds: 40)
        #expect(second.request(.invite) == nil)
        stage.expectQuiet()
    }

    @Test func `a port that nobody has any more is left at once`() throws {
        stage.network.desert(first.address)
        invite()
        stage.run(seconds: 1)
        let there = try second.received(.invite)
        try answer(there, by: second)
        expectEnd(there, by: second)
    }

    @Test func `a flow whose connection is gone comes last`() throws {
        let third = RawPeer(stage, 33), way = Flow(transport: .tcp, local: third.address, remote: Cast.gateway)
        let lines = [
            "REGISTER \(BridgedCall.line) SIP/2.0", "Via: SIP/2.0/TCP \(third.address);branch=z9hG4bKthird", "Max-Forwards: 70",
            "From: <\(BridgedCall.line)>;tag=3",
            "To: <\(BridgedCall.line)>", "Call-ID: flow3", "CSeq: 1 REGISTER",
            "Contact: <sip:peer@\(third.address);transport=tcp>;+sip.instance=\"<urn:uuid:1>\";reg-id=3", "Content-Length: 0", "", "",
        ]
        stage.network.send(Array(lines.joined(separator: "\r\n").utf8), over: way)
        stage.run(seconds: 0.1)
        #expect(third.final(.register, 1)?.status == 200)
        stage.network.close(way)
        stage.run(seconds: 0.1)
        invite()
        #expect(third.request(.invite) == nil)
        first.answer(try first.received(.invite), 430)
        #expect(third.request(.invite) == nil)
        second.answer(try second.received(.invite), 430)
        third.answer(try third.received(.invite), 486)
        #expect(caller.final(.invite, 1)?.status == 486)
        stage.expectQuiet()
    }

    @Test func `whom a call is transferred to is called over the next flow, too`() throws {
        let asker = RawPeer(stage, 8), member = RawPeer(stage, 7)
        member.request("REGISTER", "sip:2001@hookswitch.test", call: "member", 1)
        asker.request("INVITE", "sip:2001@hookswitch.test", call: "first", 1, body: asker.description("0"))
        let talk = try member.received(.invite)
        member.answer(talk, 200, body: member.description("0"))
        asker.request("ACK", "sip:2001@hookswitch.test", call: "first", 1, toTag: asker.final(.invite, 1)?.to.tag)
        member.request("REFER", in: talk, 2, headers: ["Refer-To: <\(BridgedCall.line)>"])
        first.answer(try first.received(.invite), 430)
        let there = try second.received(.invite)
        #expect(try there.headers["Referred-By"] != nil && there.headers["Referred-By"] == first.received(.invite).headers["Referred-By"])
        second.answer(there, 200, body: second.description("0"))
        for notify in member.heard where notify.isRequest && notify.method == .notify { member.answer(notify, 200) }
        member.answer(try member.received(.bye), 200)
        second.hangUp(there)
        asker.answer(asker.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a call that is asked for from elsewhere rings the device over the next flow, too`() throws {
        try stage.gateway.start(CallRequest(handle: CXHandle(type: .generic, value: "9196")), ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 0.1)
        first.answer(try first.received(.invite), 430)
        let there = try second.received(.invite)
        second.answer(there, 200, body: second.description("0"))
        stage.run(seconds: 0.5)
        #expect(stage.media.openLegs == 3)
        second.hangUp(there)
        stage.expectQuiet()
    }

    @Test func `another telephone of the line rings beside it, and so does one that does not number its flows`() throws {
        let other = RawPeer(stage, 33), plain = RawPeer(stage, 34)
        other.request(
            "REGISTER", BridgedCall.line, call: "other", 1, contact: "<sip:peer@\(other.address)>;+sip.instance=\"<urn:uuid:2>\";reg-id=1")
        plain.request("REGISTER", BridgedCall.line, call: "plain", 1, contact: "<sip:peer@\(plain.address)>;+sip.instance=\"<urn:uuid:3>\"")
        invite()
        #expect(second.request(.invite) == nil)
        for phone in [first, other, plain] { phone.answer(try phone.received(.invite), 486) }
        #expect(caller.final(.invite, 1)?.status == 486)
        stage.expectQuiet()
    }
}
