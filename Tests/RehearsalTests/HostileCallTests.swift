import Gateway
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// What a breaker did to the gateway, byte for byte; each of these went wrong once.
@Suite struct HostileCallTests {
    let stage = Stage()
    let caller: RawPeer
    let device: RawPeer
    let echo = "sip:9196@hookswitch.test", line = "sip:2000@hookswitch.test"

    init() {
        (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", line, call: "register", 1)
    }

    private func over(_ location: SourceLocation = #_sourceLocation) {
        stage.run(seconds: 200)
        #expect(stage.gateway.counts(at: stage.world.now).isIdle, sourceLocation: location)
        #expect(stage.violations.isEmpty, sourceLocation: location)
    }

    private func hangUp(_ uri: String, _ call: String, _ sequence: Int, _ toTag: Text?) {
        caller.request("BYE", uri, call: call, sequence, toTag: toTag)
        device.answer(device.request(.bye), 200)
    }

    /// A call to the device that both sides have confirmed.
    private func bridged() throws -> Text {
        caller.request("INVITE", line, call: "bridged", 1, body: caller.description("0 8"))
        device.answer(device.request(.invite), 200, body: device.description("0 8"))
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", line, call: "bridged", 1, toTag: answer.to.tag)
        return try #require(answer.to.tag)
    }

    @Test func `a new INVITE with the Call-ID and tag of a call that is up is refused, and that call goes on`() throws {
        caller.request("INVITE", echo, call: "twice", 1, body: caller.description())
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", echo, call: "twice", 1, toTag: tag)
        caller.request("INVITE", echo, call: "twice", 2, body: caller.description())
        #expect(caller.final(.invite, 2)?.status == 482)
        caller.request("INVITE", line, call: "twice", 3, body: caller.description())
        #expect(caller.final(.invite, 3)?.status == 482)
        #expect(stage.media.openLegs == 1)
        caller.request("BYE", echo, call: "twice", 4, toTag: tag)
        #expect(caller.final(.bye, 4)?.status == 200)
        over()
    }

    @Test func `the Call-ID and tag of a call that is over make a new call`() throws {
        for sequence in [1, 11] {
            caller.request("INVITE", echo, call: "again", sequence, body: caller.description())
            let answer = try #require(caller.final(.invite, sequence))
            #expect(answer.status == 200)
            caller.request("ACK", echo, call: "again", sequence, toTag: answer.to.tag)
            caller.request("BYE", echo, call: "again", sequence + 1, toTag: answer.to.tag)
        }
        over()
    }

    @Test func `a caller without an offer is offered what the callee speaks before all else that we know`() throws {
        caller.request("INVITE", line, call: "late", 1)
        device.answer(device.request(.invite), 200, body: device.description("8 0"))
        let answer = try #require(caller.final(.invite, 1))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("RTP/AVP 8 0 111 9 "))
        caller.request("ACK", line, call: "late", 1, toTag: answer.to.tag, body: caller.description("8"))
        #expect(stage.media.openLegs == 2)
        hangUp(line, "late", 2, answer.to.tag)
        over()
    }

    @Test func `a callee that shares no codec with the caller is bridged all the same, and each is answered in its own`() throws {
        caller.request("INVITE", line, call: "foreign", 1, body: caller.description("8"))
        let offer = try #require(device.request(.invite))
        #expect(String(decoding: offer.body, as: UTF8.self).contains("RTP/AVP 8 111 9 0 "), "the caller's first")
        device.answer(offer, 200, body: device.description("0"))
        let answer = try #require(caller.final(.invite, 1))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("RTP/AVP 8\r\n"))
        caller.request("ACK", line, call: "foreign", 1, toTag: answer.to.tag)
        #expect(stage.media.transcoded == 1)
        caller.request("INVITE", line, call: "foreign", 2, toTag: answer.to.tag, body: caller.description("8 0", version: 2))
        #expect(
            String(decoding: try #require(caller.final(.invite, 2)).body, as: UTF8.self).contains("RTP/AVP 0\r\n"),
            "what both speak needs no decoding")
        caller.request("ACK", line, call: "foreign", 2, toTag: answer.to.tag)
        hangUp(line, "foreign", 3, answer.to.tag)
        over()
    }

    /// Packets are passed on as they are: whom they go to decides how long they may be (RFC 8866 §6.4, §6.5).
    @Test(arguments: [("ptime:40", ["a=ptime:40"]), ("maxptime:10", ["a=ptime:10", "a=maxptime:10"]), ("x", ["a=ptime:30"])])
    func `the caller is told what the callee likes to hear in one packet`(wish: String, told: [String]) throws {
        let stage = Stage(), caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "bridged", 1, body: caller.description() + "a=ptime:30\r\n")
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description() + "a=\(wish)\r\n")
        let answer = try #require(caller.final(.invite, 1)), text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.split(separator: "\r\n").filter { $0.contains("ptime") }.map(String.init) == told, "\(text)")
        caller.request("ACK", BridgedCall.line, call: "bridged", 1, toTag: answer.to.tag)
        caller.request("INVITE", BridgedCall.line, call: "bridged", 2, toTag: answer.to.tag)
        let offer = String(decoding: try #require(caller.final(.invite, 2)).body, as: UTF8.self)
        #expect(offer.split(separator: "\r\n").filter { $0.contains("ptime") }.map(String.init) == told, "\(offer)")
        caller.request(
            "ACK", BridgedCall.line, call: "bridged", 2, toTag: answer.to.tag, body: caller.description(version: 2) + "a=ptime:30\r\n")
        caller.request("BYE", BridgedCall.line, call: "bridged", 3, toTag: answer.to.tag)
        device.answer(device.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a 200 without a description has that of the 183 before it`() throws {
        caller.request("INVITE", line, call: "early", 1, body: caller.description())
        device.answer(device.request(.invite), 183, body: device.description())
        #expect(stage.media.openLegs == 0)
        device.answer(device.request(.invite), 200)
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", line, call: "early", 1, toTag: answer.to.tag)
        hangUp(line, "early", 2, answer.to.tag)
        over()
    }

    @Test func `a device that answers 408 is there, and is called again`() {
        caller.request("INVITE", line, call: "first", 1, body: caller.description())
        device.answer(device.request(.invite), 408)
        #expect(caller.final(.invite, 1)?.status == 408)
        caller.request("INVITE", line, call: "second", 1, body: caller.description())
        device.answer(device.request(.invite), 486)
        #expect(caller.heard.last { $0.callID == "second" }?.status == 486)
        over()
    }

    @Test func `a hold that comes while the resume waits for its answer holds`() throws {
        let tag = try bridged()
        for (sequence, direction) in [(2, "sendonly"), (3, "sendrecv"), (4, "sendonly")] {
            caller.request(
                "INVITE", line, call: "bridged", sequence, toTag: tag, body: caller.description("0 8", direction, version: sequence))
            caller.request("ACK", line, call: "bridged", sequence, toTag: tag)
            if sequence == 2 { device.answer(device.request(.invite), 200, body: device.description("0", "recvonly", version: 2)) }
        }
        device.answer(device.request(.invite), 200, body: device.description("0", "sendrecv", version: 3))
        let held = try #require(device.request(.invite))
        #expect(String(decoding: held.body, as: UTF8.self).contains("a=sendonly"))
        device.answer(held, 200, body: device.description("0", "recvonly", version: 4))
        hangUp(line, "bridged", 5, tag)
        over()
    }
}
