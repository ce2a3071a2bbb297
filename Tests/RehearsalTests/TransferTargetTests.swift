import Gateway
import Media
import Primitives
import SIP
import Testing
import UserAgent

@testable import Rehearsal

/// Transfers to what the gateway answers itself, and what headers go with them.
@Suite struct TransferTargetTests {
    /// Of each NOTIFY what it says, once.
    private func fragments(_ peer: RawPeer) -> [String] {
        var last: UInt32 = 0
        return peer.heard.filter { $0.isRequest && $0.method == .notify }.compactMap { notify in
            guard notify.cseq.number > last else { return nil }
            last = notify.cseq.number
            return Text(String(decoding: notify.body, as: UTF8.self)).trimmed.description
        }
    }

    /// Only the peers of a bridge are trusted, and nobody is a guest: a call of the gateway to itself stands for itself.
    private static func stage(_ endpoint: LineEndpoint, over transports: [Transport] = [.udp]) -> Stage {
        let stage = Stage { configuration, environment in
            environment.listeners = transports.map { .init($0, Cast.gateway) }
            configuration.access.trusted = [1, 2].map { IPNetwork("192.0.2.\($0)/32")! }
            configuration.access.guests = []
            var line = LineConfiguration(number: "4000"), member = LineConfiguration(number: "2001")
            line.endpoint = endpoint
            member.isOpen = true
            configuration.lines += [line, member]
        }
        stage.network.hasEphemeralPorts = true
        return stage
    }

    @Test func `a member of a group that has calls enough is passed over`() throws {
        let stage = Stage { configuration in
            var group = LineConfiguration(number: "4000"), member = LineConfiguration(number: "2001")
            configuration.lines[0].maximumCalls = 1
            (group.endpoint, member.isOpen) = (.group(RingGroup([.init("2000"), .init("2001")])), true)
            configuration.lines += [group, member]
        }
        let call = try stage.bridge(), member = RawPeer(stage, 8), other = RawPeer(stage, 9)
        member.request("REGISTER", "sip:2001@hookswitch.test", call: "member", 1)
        other.request("INVITE", "sip:4000@hookswitch.test", call: "group", 1, body: other.description("0"))
        #expect(member.request(.invite) != nil && call.device.heard.count { $0.isRequest && $0.method == .invite } == 1)
    }

    /// The gateway calls itself over TCP where that is what it listens to first, and where a name makes the INVITE too long for a datagram.
    /// A call that is up goes on while no new one is taken.
    @Test(arguments: [([Transport.tcp, .udp], 1, false), ([.udp, .tcp], 1_200, false), ([.udp], 1, true)])
    func `our own call reaches us over a connection, and while we drain`(transports: [Transport], length: Int, isDrained: Bool) throws {
        let stage = Self.stage(.application(.echo), over: transports), name = String(repeating: "N", count: length)
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2)), sender = "\"\(name)\" <sip:peer@192.0.2.9>"
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "long", 1, body: caller.description("0"), from: sender)
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0"))
        caller.request("ACK", BridgedCall.line, call: "long", 1, toTag: caller.final(.invite, 1)?.to.tag, from: sender)
        if isDrained { stage.gateway.drain(at: stage.world.now) }
        device.request("REFER", in: invite, 2, headers: ["Refer-To: <sip:4000@hookswitch.test>"])
        stage.run(seconds: 1)
        #expect(fragments(device).last == "SIP/2.0 200 OK")
        for notify in device.heard where notify.isRequest && notify.method == .notify { device.answer(notify, 200) }
        device.answer(device.request(.bye), 200)
        caller.request("BYE", BridgedCall.line, call: "long", 2, toTag: caller.final(.invite, 1)?.to.tag, from: sender)
        stage.expectQuiet()
    }

    @Test(arguments: [LineEndpoint.application(.conference), .application(.echo), .script(LineScript(.answer))])
    func `a call is transferred to an application`(endpoint: LineEndpoint) throws {
        let stage = Self.stage(endpoint), call = try stage.bridge()
        call.fromCaller("REFER", headers: ["Refer-To: <sip:4000@hookswitch.test>"])
        #expect(call.caller.final(.refer, 2)?.status == 202)
        stage.run(seconds: 1)
        #expect(fragments(call.caller) == ["SIP/2.0 100 Trying", "SIP/2.0 180 Ringing", "SIP/2.0 200 OK"])
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.caller.answer(call.caller.request(.bye), 200)
        stage.run(seconds: 1)
        #expect(
            call.device.request(.bye) == nil && stage.gateway.counts(at: stage.world.now).media.started == 3,
            "the device, and both ends of our own call")
        call.fromDevice("BYE")
        stage.expectQuiet()
    }

    @Test(arguments: [LineEndpoint.application(.conference), .script(LineScript(.answer))])
    func `who has called an application first may hand it over, too`(endpoint: LineEndpoint) throws {
        let stage = Self.stage(endpoint), call = try stage.bridge()
        call.caller.request("INVITE", "sip:4000@hookswitch.test", call: "consult", 1, body: call.caller.description("0"))
        let tag = try #require(call.caller.heard.last { $0.status == 200 && $0.callID == "consult" }?.to.tag)
        call.caller.request("ACK", "sip:4000@hookswitch.test", call: "consult", 1, toTag: tag)
        call.fromCaller("REFER", headers: ["Refer-To: <sip:4000@hookswitch.test?Replaces=consult%3Bto-tag%3D\(tag)%3Bfrom-tag%3Dconsult>"])
        stage.run(seconds: 1)
        #expect(fragments(call.caller) == ["SIP/2.0 100 Trying", "SIP/2.0 180 Ringing", "SIP/2.0 200 OK"])
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        let byes = call.caller.heard.filter { $0.isRequest && $0.method == .bye }
        #expect(Set(byes.map(\.callID)).count == 2, "both of its calls end")
        for bye in byes { call.caller.answer(bye, 200) }
        #expect(call.device.request(.bye) == nil)
        call.fromDevice("BYE")
        stage.expectQuiet()
    }

    @Test func `an application is not transferred to another, for nobody would be there to hang up`() throws {
        let stage = Self.stage(.application(.echo)), call = try stage.bridge()
        call.fromCaller("REFER", headers: ["Refer-To: <sip:4000@hookswitch.test>"])
        stage.run(seconds: 1)
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.caller.answer(call.caller.request(.bye), 200)
        call.fromDevice("REFER", headers: ["Refer-To: <sip:4000@hookswitch.test>"])
        stage.run(seconds: 1)
        #expect(fragments(call.device).last == "SIP/2.0 480 Temporarily Unavailable")
        for notify in call.device.heard where notify.isRequest && notify.method == .notify { call.device.answer(notify, 200) }
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 3)
        call.fromDevice("BYE")
        stage.expectQuiet()
    }

    /// Nobody would be there to hang up.
    @Test func `a call that was sent on twice, to an application, is not transferred to another`() throws {
        let stage = Stage { configuration in
            var other = LineConfiguration(number: "2001"), conference = LineConfiguration(number: "4000")
            (other.isOpen, conference.endpoint) = (true, .application(.conference))
            configuration.lines += [other, conference]
        }
        let (caller, first, second) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        for (peer, number) in [(first, "2000"), (second, "2001")] {
            peer.request("REGISTER", "sip:\(number)@hookswitch.test", call: number, 1)
        }
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description())
        first.answer(try first.received(.invite), 302, contact: Text("<sip:2001@\(Cast.domain)>"))
        stage.run(seconds: 0.5)
        second.answer(try second.received(.invite), 302, contact: Text("<sip:9196@\(Cast.domain)>"))
        stage.run(seconds: 0.5)
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:2000@hookswitch.test", call: "forwarded", 1, toTag: tag)
        caller.request(
            "REFER", "sip:2000@hookswitch.test", call: "forwarded", 2, toTag: tag, headers: ["Refer-To: <sip:4000@hookswitch.test>"])
        stage.run(seconds: 1)
        #expect(fragments(caller).last == "SIP/2.0 480 Temporarily Unavailable")
        for notify in caller.heard where notify.isRequest && notify.method == .notify { caller.answer(notify, 200) }
        caller.request("BYE", "sip:2000@hookswitch.test", call: "forwarded", 3, toTag: tag)
        stage.expectQuiet()
    }

    @Test func `a call is transferred to a group that has a domain of its own`() throws {
        let stage = Stage { configuration in
            configuration.access.trusted = [1, 2].map { IPNetwork("192.0.2.\($0)/32")! }
            var sales = LineConfiguration(number: "sales"), member = LineConfiguration(number: "2001")
            (sales.domain, sales.endpoint, member.isOpen) = ("sales.example.test", .group(RingGroup([.init("2001")])), true)
            configuration.lines += [sales, member]
        }
        let call = try stage.bridge(), member = RawPeer(stage, 8)
        member.request("REGISTER", "sip:2001@hookswitch.test", call: "member", 1)
        call.fromDevice("REFER", headers: ["Refer-To: <sip:sales@sales.example.test>"])
        stage.run(seconds: 1)
        member.answer(try member.received(.invite), 200, body: member.description("0"))
        #expect(fragments(call.device).last == "SIP/2.0 200 OK")
    }

    @Test func `a call is transferred to a ring group`() throws {
        let stage = Self.stage(.group(RingGroup([.init("2001")]))), call = try stage.bridge(), member = RawPeer(stage, 8)
        member.request("REGISTER", "sip:2001@hookswitch.test", call: "member", 1)
        call.fromDevice("REFER", headers: ["Refer-To: <sip:4000@hookswitch.test>"])
        stage.run(seconds: 1)
        member.answer(try member.received(.invite), 200, body: member.description("0"))
        stage.run(seconds: 1)
        #expect(fragments(call.device).last == "SIP/2.0 200 OK")
        for notify in call.device.heard where notify.isRequest && notify.method == .notify { call.device.answer(notify, 200) }
        call.device.answer(call.device.request(.bye), 200)
        call.fromCaller("BYE")
        stage.run(seconds: 1)
        member.answer(member.request(.bye), 200)
        stage.expectQuiet()
    }

    // MARK: Whether the target wants the call

    /// Somebody is called at line 3000 beforehand, and talks.
    private static func occupy(_ third: RawPeer, by other: RawPeer) throws {
        other.request("INVITE", "sip:3000@hookswitch.test", call: "busy", 1, body: other.description("0"))
        third.answer(try third.received(.invite), 200, body: third.description("0"))
        other.request("ACK", "sip:3000@hookswitch.test", call: "busy", 1, toTag: other.final(.invite, 1)?.to.tag)
    }

    @Test(arguments: ["480 Do Not Disturb", "607 Unwanted", "403 Forbidden", "486 Busy Here"])
    func `a line that would refuse the one who stays refuses the transfer, and does not ring`(answer: String) throws {
        let stage = Stage { configuration in
            var line = LineConfiguration(number: "3000")
            line.isOpen = true
            switch answer.prefix(3) {
            case "480": line.doNotDisturb.isOn = true
            case "607": line.block = [NumberPattern("2000")!]
            case "403": line.takesCalls = false
            default: line.maximumCalls = 1
            }
            configuration.lines.append(line)
        }
        let call = try stage.bridge(), third = RawPeer(stage, 3), other = RawPeer(stage, 4)
        third.request("REGISTER", "sip:3000@hookswitch.test", call: "third", 1)
        if answer.hasPrefix("486") { try Self.occupy(third, by: other) }
        let before = third.heard.count
        call.fromCaller("REFER", headers: ["Refer-To: <sip:3000@hookswitch.test>"])
        #expect(call.caller.final(.refer, 2)?.status == 202 && fragments(call.caller).last == "SIP/2.0 \(answer)")
        #expect(third.heard.count == before)
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.hangUp()
        if answer.hasPrefix("486") { third.hangUp(third.request(.invite)) }
        other.answer(other.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test(arguments: [false, true]) func `a line with room for one call has it handed on to another telephone of its own`(isOneAsleep: Bool)
        throws
    {
        let stage = Stage { configuration, environment in
            (configuration.lines[0].maximumCalls, configuration.push.isOn, environment.push) = (1, true, { _ in })
        }
        if isOneAsleep {
            let contact = "<sip:peer@192.0.2.4:5060;pn-provider=acme;pn-prid=token>"
            RawPeer(stage, 4).request("REGISTER", BridgedCall.line, call: "asleep", 1, headers: ["Expires: 60"], contact: contact)
            stage.run(seconds: 61)
        }
        let call = try stage.bridge(), second = RawPeer(stage, 3)
        second.request("REGISTER", BridgedCall.line, call: "second", 1)
        call.fromDevice("REFER", headers: ["Refer-To: <\(BridgedCall.line)>"])
        second.answer(try second.received(.invite), 200, body: second.description("0"))
        #expect(fragments(call.device).last == "SIP/2.0 200 OK")
        for notify in call.device.heard where notify.isRequest && notify.method == .notify { call.device.answer(notify, 200) }
        call.device.answer(call.device.request(.invite), 487)
        call.device.answer(call.device.request(.bye), 200)
        call.fromCaller("BYE")
        second.answer(second.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `Do Not Disturb counts for a transfer also after a call of the line was taken over`() throws {
        let stage = Stage { _ in }
        let call = try stage.bridge(), phone = RawPeer(stage, 3)
        let dialog = "\(call.invite.callID);to-tag=\(call.invite.from.tag ?? "");from-tag=\(call.device.tag)"
        phone.request(
            "INVITE", BridgedCall.line, call: "take", 1, body: phone.description("0"), headers: ["Replaces: \(dialog)"],
            from: "<sip:2000@hookswitch.test>")
        let tag = try #require(phone.final(.invite, 1)?.to.tag)
        phone.request("ACK", BridgedCall.line, call: "take", 1, toTag: tag)
        call.device.answer(call.device.request(.bye), 200)
        stage.gateway.setDoNotDisturb(true, ofLine: "2000", at: stage.world.now)
        let before = call.device.heard.count
        call.fromCaller("REFER", headers: ["Refer-To: <\(BridgedCall.line)>"])
        #expect(fragments(call.caller).last == "SIP/2.0 480 Do Not Disturb" && call.device.heard.count == before)
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.fromCaller("BYE")
        phone.answer(phone.request(.bye), 200)
        stage.expectQuiet()
    }

    // MARK: Headers

    @Test func `what a REFER carries goes with the INVITE that it asks for, by the rules of the trunk`() throws {
        let stage = Stage({ configuration in
            var target = TrunkConfiguration.Target(host: "192.0.2.50", port: 5060)
            target.priority = 0
            var trunk = TrunkConfiguration(targets: [target]), line = LineConfiguration(number: "carrier")
            trunk.headers.copy = [HeaderRules.NamePattern("X-*")!]
            trunk.headers.remove = [HeaderRules.NamePattern("X-Secret")!]
            trunk.headers.set = [HeaderRules.Field(name: "X-Tenant", value: "acme")!]
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
        })
        let call = try stage.bridge(headers: ["X-First: 1"]), carrier = RawPeer(stage, 50)
        call.fromCaller("REFER", headers: ["Refer-To: <sip:+49@hookswitch.test>", "X-Case: 7", "X-Secret: 8"])
        let invite = try carrier.received(.invite)
        #expect(
            [invite.headers["X-Case"], invite.headers["X-Tenant"], invite.headers["X-Secret"], invite.headers["X-First"]] == [
                "7", "acme", nil, nil,
            ])
        carrier.answer(invite, 486)
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `a REFER of ours to a trunk has what is set there`() throws {
        let stage = Stage({ configuration in
            var trunk = TrunkConfiguration(targets: [.init(host: "192.0.2.50", port: 5060)]), line = LineConfiguration(number: "carrier")
            trunk.headers.set = [HeaderRules.Field(name: "X-Tenant", value: "acme")!]
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
        })
        let caller = RawPeer(stage, 9), carrier = RawPeer(stage, 50)
        caller.request("INVITE", "sip:+49@hookswitch.test", call: "one", 1, body: caller.description())
        carrier.answer(try carrier.received(.invite), 200, body: carrier.description())
        caller.request("ACK", "sip:+49@hookswitch.test", call: "one", 1, toTag: caller.final(.invite, 1)?.to.tag)
        let uuid = try #require(stage.events(.reportConnected).first?.call?.uuid)
        #expect(stage.gateway.refer(uuid, to: try URI(parsing: "sip:+50@carrier.test"), at: stage.world.now))
        stage.run(seconds: 0.1)
        #expect(try carrier.received(.refer).headers["X-Tenant"] == "acme")
    }
}
