import Primitives
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// A telephone that sends its calls on, with 302, to a number of the gateway that called it.
@Suite struct ForwardingTests {
    /// Line 2000 forwards. The caller is a guest; the gateway itself is none, so that a call of its own must be known as one.
    private static func stage(
        _ listeners: [Transport] = [.udp, .tcp], domain: Text = Cast.domain, _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) -> Stage {
        let stage = Stage { configuration, environment in
            configuration.domain = domain
            change(&configuration)
            (configuration.access.trusted, configuration.access.guests) = ([], [IPNetwork("192.0.2.1/32")!])
            var other = LineConfiguration(number: "2001")
            other.isOpen = true
            configuration.lines.append(other)
            environment.listeners = listeners.map { .init($0, Cast.gateway) }
        }
        stage.network.hasEphemeralPorts = true
        return stage
    }

    /// A call to line 2000, whose telephone sends it on.
    private func forward(_ stage: Stage, to target: String) throws -> (caller: RawPeer, other: RawPeer) {
        let (caller, forwarding, other) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        forwarding.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1, from: "<sip:2000@hookswitch.test>")
        other.request("REGISTER", "sip:2001@hookswitch.test", call: "second", 1, from: "<sip:2001@hookswitch.test>")
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description())
        let invite = try forwarding.received(.invite)
        forwarding.answer(invite, 302, contact: Text("<\(target)>"))
        stage.run(seconds: 0.5)
        return (caller, other)
    }

    @Test func `a telephone that forwards to where nobody is stays registered`() throws {
        let stage = Self.stage()
        let (caller, _) = try forward(stage, to: "sip:2001@192.0.2.77")
        stage.run(seconds: 40)
        #expect(caller.final(.invite, 1).map { $0.status ?? 0 >= 400 } == true)
        caller.request("ACK", "sip:2000@hookswitch.test", call: "forwarded", 1, toTag: caller.final(.invite, 1)?.to.tag)
        let forwarding = RawPeer(stage, 2)
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "again", 1, body: caller.description())
        #expect(forwarding.request(.invite) != nil)
    }

    @Test func `a stranger whom a telephone names has nobody transferred`() throws {
        let stage = Self.stage(), stranger = RawPeer(stage, 77)
        let (caller, _) = try forward(stage, to: "sip:x@192.0.2.77")
        let invite = try stranger.received(.invite)
        stranger.answer(invite, 200, body: stranger.description())
        caller.request("ACK", "sip:2000@hookswitch.test", call: "forwarded", 1, toTag: caller.final(.invite, 1)?.to.tag)
        stranger.request("REFER", in: invite, 1, headers: ["Refer-To: <sip:2001@hookswitch.test>"])
        #expect(stranger.final(.refer, 1)?.status == 403)
    }

    /// Line 2002 calls 2000, which sends the call on to 2001, where it is answered.
    private func forwarded(_ change: (inout LineConfiguration) -> Void = { _ in }) throws -> (stage: Stage, caller: RawPeer, other: RawPeer)
    {
        let stage = Stage { configuration in
            configuration.access.trusted = [IPNetwork("192.0.2.0/24")!]
            var other = LineConfiguration(number: "2001"), third = LineConfiguration(number: "2002"),
                conference = LineConfiguration(number: "4000")
            (other.isOpen, third.isOpen, conference.endpoint) = (true, true, .application(.conference))
            change(&third)
            configuration.lines += [other, third, conference]
        }
        let (caller, forwarding, other) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3)), sender = "<sip:2002@hookswitch.test>"
        for (peer, number) in [(forwarding, "2000"), (other, "2001"), (caller, "2002")] {
            peer.request("REGISTER", "sip:\(number)@hookswitch.test", call: number, 1, from: "<sip:\(number)@hookswitch.test>")
        }
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description(), from: sender)
        forwarding.answer(try forwarding.received(.invite), 302, contact: Text("<sip:2001@\(Cast.domain)>"))
        other.answer(try other.received(.invite), 200, body: other.description())
        stage.run(seconds: 0.5)
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", "sip:2000@hookswitch.test", call: "forwarded", 1, toTag: answer.to.tag, from: sender)
        return (stage, caller, other)
    }

    @Test func `a call that was sent on to a person may be transferred to an application`() throws {
        let (stage, caller, _) = try forwarded()
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request(
            "REFER", "sip:2000@hookswitch.test", call: "forwarded", 2, toTag: tag, headers: ["Refer-To: <sip:4000@hookswitch.test>"],
            from: "<sip:2002@hookswitch.test>")
        stage.run(seconds: 1)
        let told = caller.heard.last { $0.isRequest && $0.method == .notify }.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(told?.hasPrefix("SIP/2.0 200") == true, "\(told ?? "")")
    }

    @Test func `a call that was sent on is one conversation of its caller`() throws {
        let (stage, caller, _) = try forwarded { $0.maximumCalls = 2 }
        let third = RawPeer(stage, 9)
        for call in ["second", "third"] {
            third.request("INVITE", "sip:2002@hookswitch.test", call: call, 1, body: third.description())
            if call == "second" {
                caller.answer(try caller.received(.invite), 180)
                #expect(third.heard.last { $0.callID == "second" }?.status == 180)
            }
        }
        #expect(third.heard.last { $0.callID == "third" }?.status == 486)
    }

    @Test(arguments: [
        "sip:2001@\(Cast.gateway)", "sip:2001@\(Cast.domain)", "sip:2001@\(Cast.gateway);transport=tcp",
        "sip:2001@\(Cast.domain);transport=tcp",
        "tel:20-01",
    ])
    func `a telephone forwards to another line of ours`(target: String) throws {
        let stage = Self.stage()
        let (caller, other) = try forward(stage, to: target)
        other.answer(try other.received(.invite), 200, body: other.description())
        stage.run(seconds: 0.5)
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", "sip:2000@hookswitch.test", call: "forwarded", 1, toTag: answer.to.tag)
        caller.request("BYE", "sip:2000@hookswitch.test", call: "forwarded", 2, toTag: answer.to.tag)
        other.answer(other.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a call that is sent on is no new one at the door`() throws {
        let stage = Self.stage { configuration in
            configuration.access.isSilent = true
            (configuration.limits.callsPerSecond, configuration.limits.requestsPerSource) = (1, 1)
        }
        let (caller, other) = try forward(stage, to: "sip:2001@\(Cast.domain)")
        other.answer(try other.received(.invite), 486)
        #expect(caller.final(.invite, 1)?.status == 486)
        stage.expectQuiet()
    }

    @Test func `a telephone that sends a call on to a feature code sets nothing of the caller's line`() throws {
        let stage = Stage { configuration in
            configuration.access.trusted = [IPNetwork("192.0.2.1/32")!]
            var other = LineConfiguration(number: "2001")
            other.password = "secret"
            configuration.lines.append(other)
        }
        let caller = RawPeer(stage, 1), forwarding = RawPeer(stage, 2)
        forwarding.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1, from: "<sip:2000@hookswitch.test>")
        caller.request(
            "INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description(), from: "<sip:2001@hookswitch.test>")
        forwarding.answer(try forwarding.received(.invite), 302, contact: Text("<sip:*78@\(Cast.domain)>"))
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 404 && stage.events(.featureDialled).isEmpty)
        #expect(stage.gateway.isDoNotDisturbOn(ofLine: "2001", at: stage.world.now) == false)
        stage.expectQuiet()
    }

    @Test func `305 names a proxy and nobody to be called`() throws {
        let stage = Self.stage(), (caller, forwarding, other) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        forwarding.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1, from: "<sip:2000@hookswitch.test>")
        other.request("REGISTER", "sip:2001@hookswitch.test", call: "second", 1, from: "<sip:2001@hookswitch.test>")
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description())
        forwarding.answer(try forwarding.received(.invite), 305, contact: Text("<sip:2001@\(Cast.domain)>"))
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 480 && other.request(.invite) == nil)
        stage.expectQuiet()
    }

    @Test func `who refuses a call that was sent on is not called again by another way`() throws {
        let stage = Self.stage(), (caller, other) = try forward(stage, to: "sip:2001@\(Cast.domain)")
        other.answer(try other.received(.invite), 503)
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 500)
        #expect(Set(other.heard.filter { $0.isRequest && $0.method == .invite }.map(\.callID)).count == 1)
        stage.expectQuiet()
    }

    /// Only where the other end is ours, too, may media go to a port of ours.
    @Test func `who is outside gets no media of another call, though the call was first sent on to a number of ours`() throws {
        let stage = Self.stage(), outside = RawPeer(stage, 4)
        let (caller, other) = try forward(stage, to: "sip:2001@\(Cast.gateway)>;q=1, <sip:x@\(outside.address)")
        other.answer(try other.received(.invite), 486)
        stage.run(seconds: 0.5)
        let invite = try outside.received(.invite)
        let own = outside.description(port: 20_000).replacing("IN IP4 \(outside.address.address)", with: "IN IP4 \(Cast.gateway.address)")
        outside.answer(invite, 200, body: own)
        outside.answer(outside.request(.bye), 200)
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 488)
        #expect(stage.events(.mediaOpened).isEmpty)
        stage.expectQuiet()
    }

    @Test func `a call that rings is sent on also when no new call is taken`() throws {
        let stage = Self.stage(), caller = RawPeer(stage, 1), forwarding = RawPeer(stage, 2), other = RawPeer(stage, 3)
        forwarding.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1, from: "<sip:2000@hookswitch.test>")
        other.request("REGISTER", "sip:2001@hookswitch.test", call: "second", 1, from: "<sip:2001@hookswitch.test>")
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description())
        stage.gateway.drain(at: stage.world.now)
        forwarding.answer(try forwarding.received(.invite), 302, contact: Text("<sip:2001@\(Cast.domain)>"))
        stage.run(seconds: 0.5)
        other.answer(try other.received(.invite), 486)
        caller.request("INVITE", "sip:2001@hookswitch.test", call: "new", 2, body: caller.description())
        stage.run(seconds: 0.5)
        #expect(caller.final(.invite, 1)?.status == 486 && caller.final(.invite, 2)?.status == 503)
        stage.expectQuiet()
    }

    @Test(arguments: [true, false])
    func `a caller may hang up while the place is looked for that a telephone names, and hears of it where there is none`(hangsUp: Bool)
        throws
    {
        var asked: [UInt64] = []
        let stage = Stage { _, environment in environment.resolve = { asked.append($1) } }
        let caller = RawPeer(stage, 1), forwarding = RawPeer(stage, 2)
        forwarding.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1)
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description())
        forwarding.answer(try forwarding.received(.invite), 302, contact: "<sip:x@elsewhere.test>")
        #expect(!asked.isEmpty && caller.final(.invite, 1) == nil)
        if hangsUp { caller.cancel("forwarded") }
        while let question = asked.popLast() { stage.gateway.receive(DNSAnswer(.nothing), of: question, at: stage.world.now) }
        stage.run(seconds: 0.1)
        #expect(caller.final(.invite, 1)?.status == (hangsUp ? 487 : 480))
        #expect(stage.events(.redirectionLookup).map { $0.details.flag(.on) } == (hangsUp ? [true] : [true, false]))
        stage.expectQuiet()
    }

    // MARK: Where a call goes that is sent on

    private static let device = Flow(transport: .udp, local: Cast.gateway, remote: SocketAddress(IPAddress(v4: 0xC000_0202), port: 5060))

    private func ways(_ stage: Stage, to uri: String) throws -> [Flow] {
        var found: [Flow]?
        stage.gateway.locate(try URI(parsing: Text(uri)), after: Self.device) { flows, _ in found = flows }
        stage.run(seconds: 0.1)
        return try #require(found)
    }

    @Test(arguments: [
        ("sip:2001@\(Cast.domain)", Transport.udp), ("sip:2001@\(Cast.domain);transport=tcp", .tcp),
        ("sip:2001@\(Cast.domain);transport=tls", .tls),
        ("sips:2001@\(Cast.domain)", .tls),
    ])
    func `to a number of ours there is one way, and over TLS we have our name there`(uri: String, transport: Transport) throws {
        let peer = transport == .tls ? Cast.domain : .empty
        #expect(
            try ways(Self.stage([.udp, .tcp, .tls]), to: uri) == [
                Flow(transport: transport, local: Cast.gateway, remote: Cast.gateway, peer: peer)
            ])
    }

    @Test func `another program at an address that is our domain is called like any other`() throws {
        let own = Cast.gateway.address, stage = Self.stage(domain: Text("\(own)"))
        #expect(try ways(stage, to: "sip:x@\(own):5070;transport=tcp").map(\.remote) == [SocketAddress(own, port: 5070)])
        #expect(try ways(stage, to: "sip:2001@\(own);transport=tcp").map(\.remote) == [Cast.gateway])
    }

    /// Without a port our domain is an address of record, whatever port we listen on, where the user is a number of ours.
    @Test func `a number of ours is reached where our domain is an address and our port another`() throws {
        let here = SocketAddress(Cast.gateway.address, port: 5560), domain = Text("\(here.address)")
        let stage = Stage { configuration, environment in
            (configuration.domain, environment.listeners) = (domain, [.init(.udp, here)])
        }
        for uri in ["sip:2000@\(domain)", "sip:2000@\(domain);user=phone", "sip:2000@\(here)"] {
            #expect(try ways(stage, to: uri).map(\.remote) == [here], "\(uri)")
        }
        #expect(try ways(stage, to: "sip:somebody@\(domain)").map(\.remote) == [Cast.gateway])
        #expect(try ways(stage, to: "sip:2000@\(domain):5070").map(\.remote) == [SocketAddress(here.address, port: 5070)])
    }

    @Test func `a telephone that sent a call on cannot make another in its name`() throws {
        let stage = Self.stage()
        let (caller, forwarding, other) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        forwarding.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1, from: "<sip:2000@hookswitch.test>")
        other.request("REGISTER", "sip:2001@hookswitch.test", call: "second", 1, from: "<sip:2001@hookswitch.test>")
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description())
        let invite = try forwarding.received(.invite)
        forwarding.answer(invite, 302, contact: Text("<sip:2001@\(Cast.gateway)>"))
        stage.run(seconds: 0.5)
        var stolen = invite
        stolen.startLine = .request(.invite, try URI(parsing: "sip:9196@hookswitch.test"))
        stolen.cseq = CSeq(number: 77, method: .invite)
        stolen.via = Via(transport: "UDP", host: "192.0.2.2", port: 5060, branch: "z9hG4bKstolen")
        forwarding.send(stolen.serialized())
        #expect(forwarding.final(.invite, 77)?.status == 401)
        other.answer(try other.received(.invite), 486)
        stage.expectQuiet()
    }

    @Test func `a telephone that forwards to its own number is a loop`() throws {
        let stage = Self.stage()
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1, from: "<sip:2000@hookswitch.test>")
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "round", 1, body: caller.description())
        device.answer(try device.received(.invite), 302, contact: Text("<sip:2000@\(Cast.gateway)>"))
        for _ in 0..<5 where caller.final(.invite, 1) == nil {
            device.answer(device.request(.invite), 302, contact: Text("<sip:2000@\(Cast.gateway)>"))
            stage.run(seconds: 0.5)
        }
        #expect(caller.final(.invite, 1) != nil)
        #expect(device.heard.count { $0.isRequest && $0.method == .invite } <= 2)
        stage.expectQuiet()
    }
}
