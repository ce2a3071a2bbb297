import Gateway
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// For which line a call counts whose caller was transferred: for the one that it is at now.
@Suite struct TransferLimitTests {
    private static let group = "sip:4000@hookswitch.test", carrier = "sip:+49@hookswitch.test"

    /// One call at a time for 2000 and the trunk; a group that asks 2000 before 2001.
    private let stage = Stage { configuration in
        var group = LineConfiguration(number: "4000"), member = LineConfiguration(number: "2001"),
            trunk = LineConfiguration(number: "carrier")
        (group.endpoint, member.isOpen) = (.group(RingGroup([.init("2000"), .init("2001")])), true)
        (trunk.match, trunk.endpoint) = (NumberPattern("^+"), .trunk(TrunkConfiguration(targets: [.init(host: "192.0.2.50", port: 5060)])))
        (configuration.lines[0].maximumCalls, member.maximumCalls, trunk.maximumCalls) = (1, 1, 1)
        configuration.lines += [group, member, trunk]
    }

    /// The caller goes, and whom it has called talks with the trunk.
    private func handedOn() throws -> (call: BridgedCall, carrier: RawPeer) {
        let call = try stage.bridge(), carrier = RawPeer(stage, 50)
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.carrier)>"])
        carrier.answer(try carrier.received(.invite), 200, body: carrier.description("0"))
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.caller.answer(try call.caller.received(.bye), 200)
        return (call, carrier)
    }

    /// Whom the caller has called goes, and it talks with the trunk.
    private func handedOnByCallee() throws -> (call: BridgedCall, carrier: RawPeer) {
        let call = try stage.bridge(), carrier = RawPeer(stage, 50)
        call.fromDevice("REFER", headers: ["Refer-To: <\(Self.carrier)>"])
        carrier.answer(try carrier.received(.invite), 200, body: carrier.description("0"))
        for notify in call.device.heard where notify.isRequest && notify.method == .notify { call.device.answer(notify, 200) }
        call.device.answer(try call.device.received(.bye), 200)
        return (call, carrier)
    }

    private func ring(_ number: String, _ sequence: Int, by other: RawPeer) -> Int? {
        stage.telephonesRing = true
        other.request("INVITE", number, call: "n\(sequence)", sequence, body: other.description("0"))
        return other.heard.last { $0.method == .invite && $0.cseq.number == UInt32(sequence) }?.status
    }

    @Test func `a line that has its caller transferred away has room for the next call, and has it again when that is over`() throws {
        let (call, carrier) = try handedOnByCallee(), other = RawPeer(stage, 9)
        #expect(ring(Self.carrier, 1, by: other) == 486, "it counts where it is now")
        #expect(ring(BridgedCall.line, 2, by: other) == 180)
        let invite = try call.device.received(.invite)
        call.device.answer(invite, 200, body: call.device.description("0"))
        other.request("ACK", BridgedCall.line, call: "n2", 2, toTag: other.final(.invite, 2)?.to.tag)
        #expect(ring(BridgedCall.line, 3, by: other) == 486, "one at a time, all the same")
        #expect(stage.media.sendingLegs == 4)
        call.device.hangUp(invite)
        other.answer(other.request(.bye), 200)
        call.fromCaller("BYE")
        carrier.answer(carrier.request(.bye), 200)
        #expect(ring(BridgedCall.line, 4, by: other) == 180)
        other.cancel("n4")
        call.device.answer(call.device.request(.invite), 487)
        stage.expectQuiet()
    }

    @Test func `a group asks a line again that has its caller transferred away`() throws {
        let (call, carrier) = try handedOnByCallee(), other = RawPeer(stage, 9)
        #expect(ring(Self.group, 1, by: other) == 180)
        let invite = try call.device.received(.invite)
        #expect(invite.callID != call.invite.callID)
        call.device.answer(invite, 486)
        call.fromCaller("BYE")
        carrier.answer(carrier.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `handed back to a telephone of the line, it counts there again`() throws {
        let call = try stage.bridge(), member = RawPeer(stage, 8), other = RawPeer(stage, 9)
        func finish(_ peer: RawPeer) {
            for notify in peer.heard where notify.isRequest && notify.method == .notify { peer.answer(notify, 200) }
            peer.answer(peer.request(.bye), 200)
        }
        member.request("REGISTER", "sip:2001@hookswitch.test", call: "member", 1)
        call.fromDevice("REFER", headers: ["Refer-To: <sip:2001@hookswitch.test>"])
        let there = try member.received(.invite)
        member.answer(there, 200, body: member.description("0"))
        finish(call.device)
        member.request("REFER", in: there, 2, headers: ["Refer-To: <\(BridgedCall.line)>"])
        let back = try call.device.received(.invite)
        #expect(back.callID != call.invite.callID)
        call.device.answer(back, 200, body: call.device.description("0"))
        finish(member)
        #expect(ring(BridgedCall.line, 1, by: other) == 486 && ring("sip:2001@hookswitch.test", 2, by: other) == 180)
        other.cancel("n2")
        member.answer(member.request(.invite), 487)
        call.fromCaller("BYE")
        call.device.answer(call.device.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `who took the call over on another telephone of the line, and talks with another than its caller, counts`() throws {
        let call = try stage.bridge(), phone = RawPeer(stage, 7), other = RawPeer(stage, 9), carrier = RawPeer(stage, 50)
        let dialog = "\(call.invite.callID);to-tag=\(call.invite.from.tag ?? "");from-tag=\(call.device.tag)"
        phone.request(
            "INVITE", BridgedCall.line, call: "take", 1, body: phone.description("0"), headers: ["Replaces: \(dialog)"],
            from: "<sip:2000@hookswitch.test>")
        phone.request("ACK", BridgedCall.line, call: "take", 1, toTag: phone.final(.invite, 1)?.to.tag)
        call.device.answer(try call.device.received(.bye), 200)
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.carrier)>"])
        carrier.answer(try carrier.received(.invite), 200, body: carrier.description("0"))
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.caller.answer(try call.caller.received(.bye), 200)
        #expect(ring(BridgedCall.line, 1, by: other) == 486)
        carrier.hangUp(carrier.request(.invite))
        phone.answer(phone.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `an attended transfer counts for whom it was made to, and not for who made it`() throws {
        let call = try stage.bridge(), third = RawPeer(stage, 8), other = RawPeer(stage, 9)
        third.request("REGISTER", "sip:2001@hookswitch.test", call: "third", 1)
        call.device.request(
            "INVITE", "sip:2001@hookswitch.test", call: "consult", 1, body: call.device.description("0"), from: "<sip:2000@hookswitch.test>"
        )
        third.answer(try third.received(.invite), 200, body: third.description("0"))
        let tag = try #require(call.device.final(.invite, 1)?.to.tag)
        call.device.request("ACK", "sip:2001@hookswitch.test", call: "consult", 1, toTag: tag)
        let dialog = "consult%3Bto-tag%3D\(tag)%3Bfrom-tag%3Dconsult"
        call.fromDevice("REFER", headers: ["Refer-To: <sip:2001@hookswitch.test?Replaces=\(dialog)>"])
        #expect(stage.events(.transferred).count == 2)
        for notify in call.device.heard where notify.isRequest && notify.method == .notify { call.device.answer(notify, 200) }
        for bye in call.device.heard where bye.isRequest && bye.method == .bye { call.device.answer(bye, 200) }
        #expect(ring(BridgedCall.line, 1, by: other) == 180)
        other.cancel("n1")
        call.device.answer(call.device.request(.invite), 487)
        #expect(ring("sip:2001@hookswitch.test", 2, by: other) == 486)
        #expect(ring(Self.group, 3, by: other) == 180 && third.heard.count { $0.isRequest && $0.method == .invite } == 1)
        other.cancel("n3")
        call.device.answer(call.device.request(.invite), 487)
        call.fromCaller("BYE")
        third.answer(third.request(.bye), 200)
        stage.expectQuiet()
    }

    private func expectEnd(_ call: BridgedCall, _ carrier: RawPeer) {
        call.fromDevice("BYE")
        carrier.answer(carrier.request(.bye), 200)
        stage.run(seconds: 1)
    }

    @Test func `who was called and talks with another than its caller has no second call as a member of a group`() throws {
        let (call, carrier) = try handedOn()
        let member = RawPeer(stage, 8), other = RawPeer(stage, 9)
        member.request("REGISTER", "sip:2001@hookswitch.test", call: "member", 1)
        other.request("INVITE", Self.group, call: "group", 1, body: other.description("0"))
        #expect(member.request(.invite) != nil && call.device.heard.count { $0.isRequest && $0.method == .invite && $0.to.tag == nil } == 1)
        other.cancel("group")
        member.answer(member.request(.invite), 487)
        expectEnd(call, carrier)
        stage.expectQuiet()
    }

    @Test func `a call that was transferred to a trunk counts there, until it is over`() throws {
        let (call, carrier) = try handedOn()
        let other = RawPeer(stage, 9)
        other.request("INVITE", Self.carrier, call: "second", 1, body: other.description("0"))
        #expect(other.final(.invite, 1)?.status == 486)
        expectEnd(call, carrier)
        other.request("INVITE", Self.carrier, call: "third", 2, body: other.description("0"))
        let invite = carrier.heard.last { $0.isRequest && $0.method == .invite }
        carrier.answer(invite, 603)
        #expect(other.final(.invite, 2)?.status == 603)
        stage.expectQuiet()
    }
}
