import Gateway
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// A telephone that sends its calls on, with 302, to a number of the gateway that called it.
@Suite struct ForwardingTests {
    /// Line 2000 forwards. The caller is a guest; the gateway itself is none, so that a call of its own must be known as one.
    private static func stage() -> Stage {
        Stage { configuration in
            (configuration.access.trusted, configuration.access.guests) = ([], [IPNetwork("192.0.2.1/32")!])
            var other = LineConfiguration(number: "2001")
            other.isOpen = true
            configuration.lines.append(other)
        }
    }

    @Test(arguments: ["sip:2001@\(Cast.gateway)", "sip:2001@\(Cast.domain)"])
    func `a telephone forwards to another line of ours`(target: String) throws {
        let stage = Self.stage()
        let (caller, forwarding, other) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        forwarding.request("REGISTER", "sip:2000@hookswitch.test", call: "first", 1, from: "<sip:2000@hookswitch.test>")
        other.request("REGISTER", "sip:2001@hookswitch.test", call: "second", 1, from: "<sip:2001@hookswitch.test>")
        caller.request("INVITE", "sip:2000@hookswitch.test", call: "forwarded", 1, body: caller.description())
        forwarding.answer(try forwarding.received(.invite), 302, contact: Text("<\(target)>"))
        stage.run(seconds: 0.5)
        other.answer(try other.received(.invite), 200, body: other.description())
        stage.run(seconds: 0.5)
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", "sip:2000@hookswitch.test", call: "forwarded", 1, toTag: answer.to.tag)
        caller.request("BYE", "sip:2000@hookswitch.test", call: "forwarded", 2, toTag: answer.to.tag)
        other.answer(other.request(.bye), 200)
        stage.expectQuiet()
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
