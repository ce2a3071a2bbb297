import CallKit
import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Calls to devices that sleep: pushed, parked, reported when the device has registered (RFC 8599), over the virtual network.
@Suite struct WakeTests {
    private final class Pushes { var sent: [PushMessage] = [] }

    let stage: Stage
    let caller: RawPeer, device: RawPeer
    private let pushes = Pushes()
    private static let contact = "<sip:peer@192.0.2.2:5060;pn-provider=acme;pn-param=app;pn-prid=token-1>"

    init() {
        let pushes = pushes
        stage = Stage { configuration, environment in
            configuration.push.isOn = true
            environment.push = { pushes.sent.append($0) }
            var other = LineConfiguration(number: "2001")
            other.isOpen = true
            configuration.lines.append(other)
        }
        (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        stage.telephonesRing = true
    }

    private func over(_ location: SourceLocation = #_sourceLocation) {
        stage.run(seconds: 200)
        #expect(stage.gateway.counts(at: stage.world.now).isIdle && stage.gateway.waking.isEmpty, sourceLocation: location)
        #expect(stage.violations.isEmpty, sourceLocation: location)
    }

    private func register(_ sequence: Int, by peer: RawPeer? = nil, expires: Int = 60, contact: String? = nil) {
        let peer = peer ?? device
        peer.request(
            "REGISTER", "sip:2000@hookswitch.test", call: "register-\(peer.address)", sequence, headers: ["Expires: \(expires)"],
            contact: contact ?? Self.contact)
    }

    /// The device has registered, and its registration is over.
    private func fallAsleep() {
        register(1)
        stage.run(seconds: 61)
    }

    private func invite(_ call: String = "call", from sender: String = "Alice <sip:+391@192.0.2.9>") {
        caller.request("INVITE", "sip:2000@hookswitch.test", call: call, 1, body: caller.description(), from: sender)
    }

    private func statuses(_ call: String = "call") -> [Int] {
        caller.heard.filter { $0.callID == Text(call) && $0.method == .invite }.compactMap(\.status)
    }

    @Test func `OF-16: the device registers five seconds after its push, rings and answers`() throws {
        fallAsleep()
        invite()
        #expect(statuses() == [100], "no ringing before the report")
        #expect(pushes.sent.count == 1)
        let push = try #require(pushes.sent.first)
        #expect(
            push.provider == "acme" && push.identifier == "token-1" && push.parameter == "app" && push.line == "2000"
                && push.caller == "+391" && push.name == "Alice")
        #expect(stage.events(.reportIncoming).isEmpty && stage.events(.mediaReserved).isEmpty)
        stage.run(seconds: 5)
        register(2)
        #expect(statuses() == [100, 180])
        #expect(stage.events(.reportIncoming).count == 1 && pushes.sent.count == 1, "one push, one report")
        device.answer(device.request(.invite), 200, body: device.description())
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", "sip:2000@hookswitch.test", call: "call", 1, toTag: answer.to.tag)
        #expect(stage.media.openLegs == 2)
        device.hangUp(device.request(.invite))
        caller.answer(caller.request(.bye), 200)
        over()
    }

    @Test func `OF-16: a device that never registers is 480 at the limit, and was never reported`() {
        fallAsleep()
        invite()
        stage.run(seconds: 29)
        #expect(statuses() == [100])
        stage.run(seconds: 2)
        #expect(Set(statuses()) == [100, 480])
        #expect(stage.events(.pushUnreported).map { $0.details.text(.cause) } == ["timeout"])
        #expect(stage.events(.reportIncoming).isEmpty)
        register(2)
        #expect(device.request(.invite) == nil, "too late")
        over()
    }

    @Test func `OF-18: the ring limit counts from the report, not from the push`() {
        fallAsleep()
        invite()
        stage.run(seconds: 20)
        register(2, expires: 600)
        device.answer(device.request(.invite), 180)
        stage.run(seconds: 58)
        #expect(statuses().max() == 180, "the caller still rings")
        stage.run(seconds: 3)
        #expect(statuses().last == 480)
        device.answer(device.request(.invite), 487)
        over()
    }

    @Test func `a push does not name a caller who does not want to be known`() throws {
        fallAsleep()
        caller.request(
            "INVITE", "sip:2000@hookswitch.test", call: "call", 1, body: caller.description(), headers: ["Privacy: id"],
            from: "Alice <sip:+391@192.0.2.9>")
        let push = try #require(pushes.sent.first)
        #expect(push.caller == "anonymous" && push.name == nil)
        over()
    }

    @Test func `whom a call is transferred to is woken, and rings as if the one who stays had dialled`() throws {
        fallAsleep()
        let asker = RawPeer(stage, 4), other = RawPeer(stage, 5)
        other.request("REGISTER", "sip:2001@hookswitch.test", call: "other", 1)
        asker.request("INVITE", "sip:2001@hookswitch.test", call: "first", 1, body: asker.description())
        other.answer(try other.received(.invite), 200, body: other.description())
        let tag = try #require(asker.final(.invite, 1)?.to.tag)
        asker.request("ACK", "sip:2001@hookswitch.test", call: "first", 1, toTag: tag)
        asker.request("REFER", "sip:2001@hookswitch.test", call: "first", 2, toTag: tag, headers: ["Refer-To: <sip:2000@hookswitch.test>"])
        #expect(asker.final(.refer, 2)?.status == 202 && pushes.sent.map(\.caller) == ["2001"])
        register(2, expires: 600)
        device.answer(try device.received(.invite), 200, body: device.description())
        stage.run(seconds: 0.5)
        let told = asker.heard.filter { $0.isRequest && $0.method == .notify }
        #expect(told.last.map { String(decoding: $0.body, as: UTF8.self).hasPrefix("SIP/2.0 200") } == true)
        for notify in told { asker.answer(notify, 200) }
        asker.answer(asker.request(.bye), 200)
        device.hangUp(device.request(.invite))
        other.answer(other.request(.bye), 200)
        over()
    }

    @Test func `who gives up while the device wakes has cancelled, as its recents say`() {
        fallAsleep()
        invite(from: "<sip:2001@hookswitch.test>")
        caller.cancel("call")
        #expect(stage.gateway.recents(ofLine: "2001")?.map(\.outcome) == [.cancelled])
        over()
    }

    @Test func `a caller who gives up while the device wakes gets 487, and nothing rings`() {
        fallAsleep()
        invite()
        caller.cancel("call")
        #expect(statuses().last == 487)
        #expect(stage.gateway.waking.isEmpty)
        #expect(stage.events(.pushUnreported).map { $0.details.text(.cause) } == ["cancelled"])
        register(2)
        #expect(device.request(.invite) == nil)
        over()
    }

    @Test func `pushes that nobody takes end the call at once`() throws {
        fallAsleep()
        invite()
        stage.gateway.pushFailed("the push service answered 410", for: try #require(pushes.sent.first), at: stage.world.now)
        stage.run(seconds: 0.2)
        #expect(statuses() == [100, 480])
        #expect(stage.events(.pushFailed).map { $0.details.text(.cause) } == ["the push service answered 410"])
        over()
    }

    @Test func `a second device that wakes later joins those that ring`() {
        let second = RawPeer(stage, 3)
        register(1, by: second, contact: "<sip:peer@192.0.2.3:5060;pn-provider=acme;pn-prid=token-2>")
        fallAsleep()
        invite()
        #expect(Set(pushes.sent.map(\.identifier)) == ["token-1", "token-2"])
        register(2)
        #expect(device.request(.invite) != nil && second.request(.invite) == nil)
        device.answer(device.request(.invite), 180)
        stage.run(seconds: 3)
        register(2, by: second, contact: "<sip:peer@192.0.2.3:5060;pn-provider=acme;pn-prid=token-2>")
        #expect(second.request(.invite) != nil)
        #expect(stage.events(.reportIncoming).count == 1)
        second.answer(second.request(.invite), 603)
        #expect(statuses().last == 603)
        device.answer(device.request(.invite), 487)
        over()
    }

    @Test func `a telephone that is awake rings at once, and one that sleeps is woken beside it`() {
        let desk = RawPeer(stage, 3)
        register(1, by: desk, expires: 600, contact: "<sip:peer@192.0.2.3:5060>")
        fallAsleep()
        invite()
        #expect(statuses() == [100, 180] && desk.request(.invite) != nil && pushes.sent.map(\.identifier) == ["token-1"])
        desk.answer(desk.request(.invite), 486)
        stage.run(seconds: 5)
        #expect(statuses().last == 180, "the other may still wake")
        register(2)
        #expect(device.request(.invite) != nil && stage.events(.reportIncoming).count == 1)
        device.answer(device.request(.invite), 480)
        #expect(statuses().last == 486)
        over()
    }

    @Test func `of two that sleep the second to wake rings though the first has declined, and the limit ends the wait`() {
        let second = RawPeer(stage, 3), contact = "<sip:peer@192.0.2.3:5060;pn-provider=acme;pn-prid=token-2>"
        register(1, by: second, contact: contact)
        fallAsleep()
        invite()
        register(2)
        device.answer(device.request(.invite), 486)
        stage.run(seconds: 3)
        #expect(statuses().last == 180)
        register(2, by: second, contact: contact)
        #expect(second.request(.invite) != nil)
        second.answer(second.request(.invite), 480)
        #expect(statuses().last == 486)
        stage.run(seconds: 61)
        invite("again")
        register(3)
        device.answer(device.request(.invite), 486)
        stage.run(seconds: 29)
        #expect(statuses("again").last == 180)
        stage.run(seconds: 2)
        #expect(statuses("again").last == 486)
        over()
    }

    @Test func `a telephone that registers another address while it rings is not called twice`() {
        let desk = RawPeer(stage, 3), instance = ";+sip.instance=\"<urn:uuid:3>\""
        register(1, by: desk, expires: 600, contact: "<sip:one@192.0.2.3:5060>" + instance)
        fallAsleep()
        invite()
        desk.answer(desk.request(.invite), 180)
        register(2, by: desk, expires: 600, contact: "<sip:two@192.0.2.3:5060>" + instance)
        #expect(desk.heard.count { $0.isRequest && $0.method == .invite } == 1)
        desk.answer(desk.request(.invite), 486)
        register(2)
        device.answer(device.request(.invite), 480)
        #expect(statuses().last == 486)
        over()
    }

    @Test func `what a Contact of more than 2,048 bytes says of pushes is not looked at`() {
        register(1, contact: "<sip:peer@192.0.2.2:5060;pn-provider=acme;pn-prid=token-1>;x=\(String(repeating: "x", count: 2_048))")
        #expect(device.final(.register, 1)?.status == 200)
        stage.run(seconds: 61)
        invite()
        #expect(statuses() == [480] && pushes.sent.isEmpty)
        over()
    }

    @Test func `a push that fails beside a telephone that rings is not waited for`() throws {
        let desk = RawPeer(stage, 3)
        register(1, by: desk, expires: 600, contact: "<sip:peer@192.0.2.3:5060>")
        fallAsleep()
        invite()
        desk.answer(desk.request(.invite), 486)
        stage.gateway.pushFailed("the push service answered 410", for: try #require(pushes.sent.first), at: stage.world.now)
        stage.run(seconds: 0.2)
        #expect(statuses().last == 486)
        over()
    }

    @Test(arguments: [
        ["<sip:peer@192.0.2.2:5060;pn-provider=acme;pn-prid=token-2>"], ["<sip:peer@192.0.2.2:5060>"],
        [
            "<sip:peer@192.0.2.2:5061;pn-provider=acme;pn-prid=token-1>;+sip.instance=\"<urn:uuid:1>\"",
            "<sip:peer@192.0.2.2:5062;pn-provider=acme;pn-prid=token-2>;+sip.instance=\"<urn:uuid:1>\"",
        ],
    ])
    func `a device is pushed to by what it registered last`(contacts: [String]) {
        register(1)
        for (index, contact) in contacts.enumerated() { register(2 + index, contact: contact) }
        stage.run(seconds: 61)
        invite()
        #expect(pushes.sent.map(\.identifier) == (contacts.last!.contains("token-2") ? ["token-2"] : []))
        over()
    }

    @Test func `a call that waits can be ended`() throws {
        fallAsleep()
        invite()
        #expect(stage.gateway.end(try #require(pushes.sent.first).call, at: stage.world.now))
        stage.run(seconds: 0.2)
        #expect(statuses() == [100, EndCause.declined.status] && stage.gateway.waking.isEmpty)
        over()
    }

    @Test func `what a device is pushed by is not in the journal`() throws {
        register(1)
        invite()
        try stage.gateway.start(CallRequest(handle: CXHandle(type: .generic, value: "9196")), ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 0.2)
        #expect(stage.events(.performStart).map { $0.details.text(.remote) } == ["sip:peer@192.0.2.2:5060", "sip:peer@192.0.2.2:5060"])
        for invite in device.heard where invite.isRequest && invite.method == .invite {
            #expect(invite.requestURI?.parameters["pn-prid"] == "token-1")
            device.answer(invite, 486)
        }
        over()
    }

    @Test func `nobody is woken for a call that the line does not want`() {
        fallAsleep()
        stage.gateway.setDoNotDisturb(true, ofLine: "2000", at: stage.world.now)
        invite()
        #expect(statuses().last == 480 && pushes.sent.isEmpty)
        #expect(stage.events(.reportIncomingRefused).count == 1)
        over()
    }

    @Test func `a device that unregistered, or registered without push parameters, is not woken`() {
        register(1)
        register(2, expires: 0)
        invite("gone")
        #expect(statuses("gone") == [480])
        register(3, contact: "<sip:peer@192.0.2.2:5060>")
        stage.run(seconds: 61)
        invite("plain")
        #expect(statuses("plain") == [480] && pushes.sent.isEmpty)
        over()
    }

    @Test func `two calls for one sleeping line are each pushed once and both ring`() {
        fallAsleep()
        invite("one")
        invite("two")
        #expect(pushes.sent.count == 2 && Set(pushes.sent.map(\.call)).count == 2)
        register(2)
        #expect(statuses("one") == [100, 180] && statuses("two") == [100, 180])
        #expect(device.heard.filter { $0.isRequest && $0.method == .invite }.count == 2)
        device.heard.filter { $0.isRequest && $0.method == .invite }.forEach { device.answer($0, 486) }
        over()
    }

    @Test func `the same INVITE by another way while its call waits is 482, and a stop ends calls that wait`() {
        fallAsleep()
        invite()
        caller.request(
            "INVITE", "sip:2000@hookswitch.test", call: "call", 2, body: caller.description(), from: "Alice <sip:+391@192.0.2.9>")
        #expect(caller.final(.invite, 2)?.status == 482)
        stage.gateway.endAll(at: stage.world.now)
        stage.run(seconds: 0.2)
        #expect(caller.final(.invite, 1)?.status == 503)
        over()
    }

    @Test func `a REGISTER that asks for pushes learns that there are some`() {
        register(1)
        #expect(device.final(.register, 1)?.headers["Feature-Caps"] == "*;+sip.pns=\"acme\"")
        register(2, contact: "<sip:peer@192.0.2.2:5060>")
        #expect(device.final(.register, 2)?.headers["Feature-Caps"] == nil)
        #expect(device.final(.register, 2)?.headers[.date]?.description.hasSuffix(" GMT") == true)
    }

    @Test func `a device counts as awake only so long after its REGISTER where that is set`() {
        let pushes = Pushes()
        let stage = Stage { configuration, environment in
            (configuration.push.isOn, configuration.push.awake) = (true, .seconds(10))
            environment.push = { pushes.sent.append($0) }
        }
        let caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        stage.telephonesRing = true
        func invite(_ call: String) { caller.request("INVITE", "sip:2000@hookswitch.test", call: call, 1, body: caller.description()) }
        device.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1, contact: Self.contact)
        invite("awake")
        #expect(device.request(.invite) != nil && pushes.sent.isEmpty)
        device.answer(device.request(.invite), 486)
        stage.run(seconds: 11)
        invite("asleep")
        #expect(pushes.sent.count == 1)
        device.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 2, contact: Self.contact)
        #expect(caller.heard.last { $0.callID == "asleep" }?.status == 180)
        device.answer(device.request(.invite), 486)
    }
}
