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
        var group = LineConfiguration(number: "4000"), member = LineConfiguration(number: "2001"), trunk = LineConfiguration(number: "carrier")
        (group.endpoint, member.isOpen) = (.group(RingGroup([.init("2000"), .init("2001")])), true)
        (trunk.match, trunk.endpoint) = (NumberPattern("^+"), .trunk(TrunkConfiguration(targets: [.init(host: "192.0.2.50", port: 5060)])))
        (configuration.lines[0].maximumCalls, trunk.maximumCalls) = (1, 1)
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
