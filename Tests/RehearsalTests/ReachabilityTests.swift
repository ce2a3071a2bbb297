import Gateway
import Primitives
import SIP
import Testing
import UserAgent

@testable import Rehearsal

/// Devices that are asked whether they are there, and those that do not answer.
@Suite struct ReachabilityTests {
    private static let line = BridgedCall.line, private5 = "<sip:peer@10.0.0.5:5060>"

    private func stage(_ configure: @escaping (inout GatewayConfiguration) -> Void = { _ in }) -> Stage { Stage(configure) }

    private func options(_ peer: RawPeer) -> [Message] { peer.heard.filter { $0.isRequest && $0.method == .options } }

    @Test(arguments: [
        (private5, false, true), (nil, false, false), (nil, true, true),
        ("<sip:peer@10.0.0.5;pn-provider=x;pn-prid=y;pn-param=z>", true, false),
    ])
    func `a device behind a NAT is asked every 25 seconds, any other where all are`(contact: String?, asksAll: Bool, isAsked: Bool) throws {
        let stage = stage { $0.devices.asksAll = asksAll }, device = RawPeer(stage, 1)
        device.request("REGISTER", Self.line, call: "device", 1, contact: contact)
        stage.run(seconds: 19)
        #expect(options(device).isEmpty)
        stage.run(seconds: 6)
        #expect(options(device).isEmpty != isAsked)
        guard isAsked else { return }
        device.answer(options(device).last, 404)
        stage.run(seconds: 25)
        #expect(Set(options(device).map(\.callID)).count >= 2)
        device.answer(options(device).last, 404)
        // Any answer says that somebody is there.
        #expect(stage.gateway.registrar.counts.silent == 0 && stage.gateway.registrar.counts.contacts == 1)
    }

    @Test func `without the setting nobody is asked`() {
        let stage = stage { $0.devices.keepAlive = nil }, device = RawPeer(stage, 1)
        device.request("REGISTER", Self.line, call: "device", 1, contact: Self.private5)
        stage.run(seconds: 100)
        #expect(options(device).isEmpty)
    }

    @Test func `a device that answers no question twice in a row is forgotten, and a call hears so at once`() {
        let stage = stage(), device = RawPeer(stage, 1), caller = RawPeer(stage, 2)
        device.request("REGISTER", Self.line, call: "device", 1, contact: Self.private5)
        stage.run(seconds: 60)
        #expect(stage.gateway.registrar.counts.silent == 1 && stage.gateway.registrar.counts.contacts == 1)
        stage.run(seconds: 40)
        #expect(stage.gateway.registrar.counts.contacts == 0)
        caller.request("INVITE", Self.line, call: "one", 1, body: caller.description())
        #expect(caller.final(.invite, 1)?.status == 480)
        stage.expectQuiet()
        #expect(stage.gateway.registrar.counts.isEmpty)
    }

    @Test func `one that was silent and answers is there again`() {
        let stage = stage(), device = RawPeer(stage, 1)
        device.request("REGISTER", Self.line, call: "device", 1, contact: Self.private5)
        stage.run(seconds: 60)
        #expect(stage.gateway.registrar.counts.silent == 1)
        device.answer(options(device).last, 200)
        #expect(stage.gateway.registrar.counts.silent == 0)
        stage.run(seconds: 60)
        #expect(stage.gateway.registrar.counts.contacts == 1)
    }

    @Test func `a device that says nothing does not hold up the busy of another`() throws {
        let stage = stage(), caller = RawPeer(stage, 3), dead = RawPeer(stage, 1), busy = RawPeer(stage, 2)
        dead.request("REGISTER", Self.line, call: "dead", 1)
        busy.request("REGISTER", Self.line, call: "busy", 1)
        caller.request("INVITE", Self.line, call: "one", 1, body: caller.description())
        busy.answer(try busy.received(.invite), 486)
        stage.run(seconds: 3)
        #expect(caller.final(.invite, 1) == nil)
        stage.run(seconds: 1)
        #expect(caller.final(.invite, 1)?.status == 486)
        // It is asked at once whether it is there at all; the next call does not wait for it.
        #expect(!options(dead).isEmpty && stage.gateway.registrar.counts.silent == 1)
        caller.request("INVITE", Self.line, call: "two", 2, body: caller.description())
        busy.answer(try busy.received(.invite), 486)
        #expect(caller.final(.invite, 2)?.status == 486)
        stage.expectQuiet()
        #expect(stage.gateway.registrar.counts.contacts == 1)
    }

    @Test func `one that was silent is called after the others, and is like them when it answers`() throws {
        let stage = stage { $0.limits.dropsDeadContacts = false }, caller = RawPeer(stage, 3), dead = RawPeer(stage, 1),
            other = RawPeer(stage, 2)
        other.request("REGISTER", Self.line, call: "other", 1)
        dead.request("REGISTER", Self.line, call: "dead", 1)
        caller.request("INVITE", Self.line, call: "one", 1, body: caller.description())
        other.answer(try other.received(.invite), 486)
        stage.run(seconds: 40)
        #expect(stage.gateway.registrar.counts.silent == 1)
        caller.request("INVITE", Self.line, call: "two", 2, body: caller.description())
        let called = stage.transcript.events.filter {
            $0.kind == .sipSent && $0.details.text(.method) == "INVITE" && $0.details.text(.remote) != nil
        }
        #expect(called.suffix(2).map { $0.details.text(.remote)?.description } == ["\(other.address)", "\(dead.address)"])
        dead.answer(try dead.received(.invite), 180)
        #expect(stage.gateway.registrar.counts.silent == 0)
        other.answer(try other.received(.invite), 486)
        stage.run(seconds: 5)
        #expect(caller.final(.invite, 2) == nil, "it rings")
        dead.answer(try dead.received(.invite), 200, body: dead.description())
        #expect(caller.final(.invite, 2)?.status == 200)
        caller.request("ACK", Self.line, call: "two", 2, toTag: caller.final(.invite, 2)?.to.tag)
        dead.hangUp(dead.request(.invite))
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `one that is silent for the second time is waited for four seconds, and forgotten`() throws {
        let stage = stage { $0.devices.keepAlive = nil }, caller = RawPeer(stage, 3), dead = RawPeer(stage, 1)
        dead.request("REGISTER", Self.line, call: "dead", 1)
        caller.request("INVITE", Self.line, call: "one", 1, body: caller.description())
        stage.run(seconds: 5)
        caller.cancel("one")
        #expect(caller.final(.invite, 1)?.status == 487)
        caller.request("INVITE", Self.line, call: "two", 2, body: caller.description())
        stage.run(seconds: 5)
        #expect(caller.final(.invite, 2)?.status == 480)
        #expect(stage.gateway.registrar.counts.contacts == 0)
        stage.expectQuiet()
    }

    @Test func `a ring group in turn goes on when the one whose turn it is says nothing`() throws {
        let stage = stage { configuration in
            var other = LineConfiguration(number: "2001"), group = LineConfiguration(number: "3000")
            other.isOpen = true
            group.endpoint = .group(RingGroup([.init("2000"), .init("2001")], .inTurn(.seconds(20))))
            configuration.lines += [other, group]
        }
        let caller = RawPeer(stage, 3), dead = RawPeer(stage, 1), next = RawPeer(stage, 2)
        dead.request("REGISTER", Self.line, call: "dead", 1)
        next.request("REGISTER", "sip:2001@hookswitch.test", call: "next", 1)
        caller.request("INVITE", "sip:3000@hookswitch.test", call: "one", 1, body: caller.description())
        stage.run(seconds: 3)
        #expect(dead.request(.invite) != nil && next.request(.invite) == nil)
        stage.run(seconds: 2)
        next.answer(try next.received(.invite), 486)
        #expect(caller.final(.invite, 1)?.status == 486)
        stage.expectQuiet()
    }
}
