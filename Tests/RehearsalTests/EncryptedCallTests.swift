import CallKit
import Gateway
import Primitives
import SDP
import SIP
import Testing

@testable import Rehearsal

/// A call to a line that must be encrypted, as its signalling sees it.
@Suite struct EncryptedCallTests {
    /// The device's description over SAVP, with a key for the first suite that it was offered.
    private static func description(_ device: RawPeer, to offer: Message, _ direction: String = "sendrecv", version: Int = 1) throws
        -> String
    {
        let lines = String(decoding: offer.body, as: UTF8.self).split(separator: "\r\n")
        let key = try #require(lines.first { $0.hasPrefix("a=crypto:") })
        return device.description("0", direction, version: version).replacing("RTP/AVP", with: "RTP/SAVP") + key + "\r\n"
    }

    @Test(arguments: [true, false])
    func `an answer in the clear to a later offer of ours ends the call, as the first would`(isClear: Bool) throws {
        let stage = Stage { configuration in
            var own = LineConfiguration(number: "2001")
            own.isOpen = true
            configuration.lines[0].srtp = .required
            configuration.lines.append(own)
        }
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2)), sender = "<sip:2001@hookswitch.test>"
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        func offer(_ sequence: Int, _ direction: String, tag: Text?) {
            caller.request(
                "INVITE", BridgedCall.line, call: "e", sequence, toTag: tag, body: caller.description("0", direction, version: sequence),
                from: sender)
        }
        offer(1, "sendrecv", tag: nil)
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: try Self.description(device, to: invite))
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        #expect(caller.final(.invite, 1)?.status == 200)
        caller.request("ACK", BridgedCall.line, call: "e", 1, toTag: tag, from: sender)
        offer(2, "sendonly", tag: tag)
        caller.request("ACK", BridgedCall.line, call: "e", 2, toTag: tag, from: sender)
        let again = try device.received(.invite), agreed = try Self.description(device, to: again, "recvonly", version: 2)
        #expect(again.cseq != invite.cseq)
        device.answer(again, 200, body: isClear ? device.description("0", "recvonly", version: 2) : agreed)
        #expect(device.request(.ack)?.cseq.number == again.cseq.number)
        #expect((device.request(.bye) != nil) == isClear && (caller.request(.bye) != nil) == isClear)
        if !isClear { caller.request("BYE", BridgedCall.line, call: "e", 3, toTag: tag, from: sender) }
        device.answer(device.request(.bye), 200)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    /// RFC 3264 §8.1: what is brought back is a new stream.
    @Test func `a stream that was taken away and comes back has a new handshake`() throws {
        let stage = Stage { $0.lines[1].srtp = .optional }, caller = RawPeer(stage, 1), echo = "sip:9196@hookswitch.test"
        let print = "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":") + "\r\na=setup:actpass\r\n"
        func offer(_ version: Int, port: Int = 4_000, tag: Text? = nil) {
            let body = caller.description(version: version, port: port).replacing("RTP/AVP", with: "UDP/TLS/RTP/SAVP") + print
            caller.request("INVITE", echo, call: "dtls", version, toTag: tag, body: body)
            caller.request("ACK", echo, call: "dtls", version, toTag: tag ?? caller.final(.invite, version)?.to.tag)
        }
        offer(1)
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        offer(2, port: 0, tag: tag)
        offer(3, tag: tag)
        #expect(
            stage.media.protections == [
                .none, .dtls(begins: true, peer: try #require(Fingerprint(.sha256, [UInt8](repeating: 0xAB, count: 32)))),
            ])
        caller.request("BYE", echo, call: "dtls", 4, toTag: tag)
        stage.expectQuiet()
    }

    @Test(arguments: [("192.0.2.1", "active"), ("10.1.2.3", "passive"), ("192.168.0.9", "passive"), ("203.0.113.77", "active")])
    func `a telephone behind a NAT begins its handshake`(address: String, setup: String) throws {
        let stage = Stage { $0.lines[1].srtp = .optional }, caller = RawPeer(stage, 1), echo = "sip:9196@hookswitch.test"
        let print = "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":") + "\r\na=setup:actpass\r\n"
        let body = caller.description().replacing("192.0.2.1", with: address).replacing("RTP/AVP", with: "UDP/TLS/RTP/SAVP") + print
        caller.request("INVITE", echo, call: "dtls", 1, body: body)
        let answer = try #require(caller.final(.invite, 1))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("a=setup:\(setup)\r\n"))
        caller.request("ACK", echo, call: "dtls", 1, toTag: answer.to.tag)
        caller.request("BYE", echo, call: "dtls", 2, toTag: answer.to.tag)
        stage.expectQuiet()
    }

    /// A telephone that is set to "SRTP only" does not look for keys in RTP/AVP.
    @Test(arguments: [200, 488]) func `a telephone that refuses best effort is offered encryption alone`(answer: Int) throws {
        let stage = Stage { $0.lines[0].srtp = .optional }, caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "e", 1, body: caller.description("0"))
        let first = try device.received(.invite)
        #expect(String(decoding: first.body, as: UTF8.self).contains(" RTP/AVP "))
        device.answer(first, 488)
        let second = try device.received(.invite)
        #expect(
            String(decoding: second.body, as: UTF8.self).contains(" RTP/SAVP ") && second.callID == first.callID
                && second.cseq.number > first.cseq.number)
        #expect(device.heard.contains { $0.method == .ack && $0.cseq.number == first.cseq.number } && caller.final(.invite, 1) == nil)
        guard answer == 200 else {
            device.answer(second, 488)
            #expect(caller.final(.invite, 1)?.status == 488 && device.request(.invite)?.cseq == second.cseq)
            return stage.expectQuiet()
        }
        device.answer(second, 200, body: try Self.description(device, to: second).replacing("RTP/AVP", with: "RTP/SAVP"))
        let accepted = try #require(caller.final(.invite, 1))
        caller.request("ACK", BridgedCall.line, call: "e", 1, toTag: accepted.to.tag)
        #expect(accepted.status == 200 && stage.media.openLegs == 2 && device.request(.bye) == nil)
        caller.request("BYE", BridgedCall.line, call: "e", 2, toTag: accepted.to.tag)
        device.answer(device.request(.bye), 200)
        stage.expectQuiet()
    }

    // MARK: Whose line a leg belongs to

    /// What is offered to whoever is called: over which profile, and whether with connectivity checks.
    private static func expect(_ invite: Message, _ profile: String, ice: Bool, _ location: SourceLocation = #_sourceLocation) {
        let offer = String(decoding: invite.body, as: UTF8.self)
        #expect(offer.contains(" \(profile) ") && offer.contains("a=ice-lite") == ice, "\(offer)", sourceLocation: location)
    }

    private static func protect(_ line: inout LineConfiguration) { (line.srtp, line.srtpKeying, line.ice) = (.required, .dtls, .lite) }

    @Test(arguments: [true, false])
    func `a member of a ring group is offered what its own line wants`(isMember: Bool) throws {
        let stage = Stage { configuration in
            var group = LineConfiguration(number: "3000")
            group.endpoint = .group(RingGroup([.init("2000")]))
            if isMember { Self.protect(&configuration.lines[0]) } else { Self.protect(&group) }
            configuration.lines.append(group)
        }
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2)), sender = "<sip:9196@hookswitch.test>"
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", "sip:3000@hookswitch.test", call: "e", 1, body: caller.description("0"), from: sender)
        let invite = try device.received(.invite)
        Self.expect(invite, isMember ? "UDP/TLS/RTP/SAVPF" : "RTP/AVP", ice: isMember)
        device.answer(invite, 486)
        stage.expectQuiet()
    }

    @Test(arguments: [true, false])
    func `whom a call is transferred to is offered what its own line wants`(isTrunk: Bool) throws {
        let stage = Stage { configuration in
            var other = LineConfiguration(number: "3000")
            (other.isOpen, other.endpoint) = (
                !isTrunk, isTrunk ? .trunk(TrunkConfiguration(targets: [.init(host: "192.0.2.3", port: 5060)])) : .devices
            )
            Self.protect(&other)
            configuration.lines.append(other)
        }
        let call = try stage.bridge(), third = RawPeer(stage, 3)
        if !isTrunk { third.request("REGISTER", "sip:3000@hookswitch.test", call: "third", 1) }
        call.fromCaller("REFER", headers: ["Refer-To: <sip:3000@hookswitch.test>"])
        let invite = try third.received(.invite)
        Self.expect(invite, "UDP/TLS/RTP/SAVPF", ice: true)
        third.answer(invite, 486)
        call.caller.heard.filter { $0.isRequest && $0.method == .notify }.forEach { call.caller.answer($0, 200) }
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `who calls without an offer is offered what its own line wants`() throws {
        let stage = Stage { configuration in
            var own = LineConfiguration(number: "2001")
            own.isOpen = true
            Self.protect(&own)
            configuration.lines.append(own)
        }
        let caller = RawPeer(stage, 1)
        caller.request("INVITE", "sip:9196@hookswitch.test", call: "late", 1, from: "<sip:2001@hookswitch.test>")
        Self.expect(try #require(caller.final(.invite, 1)), "UDP/TLS/RTP/SAVPF", ice: true)
        stage.gateway.endAll(at: stage.world.now)
    }

    @Test func `a call of ours to an application is encrypted where the application wants that`() throws {
        let stage = Stage { configuration in configuration.lines[1].srtp = .required }
        let device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        let echo = CallRequest(handle: CXHandle(type: .phoneNumber, value: "9196"))
        try stage.gateway.start(echo, ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 0.5)
        let invite = try device.received(.invite)
        Self.expect(invite, "RTP/AVP", ice: false)
        device.answer(invite, 200, body: device.description("0"))
        stage.run(seconds: 0.5)
        #expect(stage.media.openLegs == 3 && device.request(.bye) == nil)
        device.hangUp(invite)
        stage.expectQuiet()
    }
}
