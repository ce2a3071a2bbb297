import Audio
import Media
import Primitives
import RTP
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// What lines play, and comfort noise, as signalling sees them.
@Suite struct SoundCallTests {
    private static let music = WAV(sampleRate: 8_000, samples: [1, 2, 3])

    private func stage(_ change: @escaping (inout GatewayConfiguration) -> Void) -> Stage { Stage { change(&$0) } }

    private func formats(_ message: Message?) -> [String] {
        let line = message.map { String(decoding: $0.body, as: UTF8.self) }?.split(separator: "\r\n").first { $0.hasPrefix("m=audio") }
        return line?.split(separator: " ").dropFirst(3).map(String.init) ?? []
    }

    // MARK: Hold music

    @Test func `whom the other side holds is not held where there is music, and nobody sends it a re-INVITE`() throws {
        let stage = stage { $0.lines[0].holdMusic = .sound(Self.music) }, call = try stage.bridge()
        call.fromDevice("INVITE", body: call.device.description("0", "sendonly", version: 2))
        call.fromDevice("ACK")
        #expect(call.caller.request(.invite) == nil)
        #expect(stage.events(.holdMusic).map { $0.details.flag(.on) } == [true])
        #expect(stage.events(.performHeld).isEmpty && stage.events(.mediaStopped).isEmpty)
        call.fromDevice("INVITE", body: call.device.description("0", "sendrecv", version: 3))
        call.fromDevice("ACK")
        #expect(stage.events(.holdMusic).map { $0.details.flag(.on) } == [true, false])
        #expect(call.caller.request(.invite) == nil)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test(arguments: [("sendonly", true), ("inactive", false)])
    func `with theirs a holder that goes on sending is heard, and another holds`(direction: String, isHeard: Bool) throws {
        let stage = stage { $0.lines[0].holdMusic = .theirs }, call = try stage.bridge()
        call.fromDevice("INVITE", body: call.device.description("0", direction, version: 2))
        call.fromDevice("ACK")
        #expect(stage.events(.performHeld).isEmpty == isHeard && stage.events(.mediaStopped).isEmpty == isHeard)
        if !isHeard { call.caller.answer(call.caller.request(.invite), 200, body: call.caller.description("0", "recvonly", version: 2)) }
        call.fromDevice("INVITE", body: call.device.description("0", "sendrecv", version: 3))
        call.fromDevice("ACK")
        #expect((call.caller.request(.invite) == nil) == isHeard)
        if !isHeard { call.caller.answer(call.caller.request(.invite), 200, body: call.caller.description("0", version: 3)) }
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 2)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `without music the hold is passed on`() throws {
        let stage = stage { _ in }, call = try stage.bridge()
        call.fromDevice("INVITE", body: call.device.description("0", "sendonly", version: 2))
        #expect(call.caller.request(.invite).map { String(decoding: $0.body, as: UTF8.self).contains("a=sendonly") } == true)
        #expect(stage.events(.holdMusic).isEmpty && stage.events(.performHeld).count == 1)
    }

    @Test func `a caller of no line does not make a device hear the music of its own line`() throws {
        let stage = stage { $0.lines[0].holdMusic = .sound(Self.music) }, call = try stage.bridge()
        call.callerOffers("sendonly")
        #expect(stage.events(.holdMusic).isEmpty && stage.events(.performHeld).count == 1)
        call.deviceAnswers(200, "recvonly")
        call.hangUp()
        stage.expectQuiet()
    }

    @Test(arguments: [("inactive", true), ("sendonly", false), ("recvonly", false)])
    func `who is held by the first answer is told, and one that only sends is heard`(direction: String, isHeld: Bool) throws {
        let stage = stage { _ in }, (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "held", 1, body: caller.description("0"))
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0", direction))
        caller.request("ACK", BridgedCall.line, call: "held", 1, toTag: caller.final(.invite, 1)?.to.tag)
        #expect((caller.request(.invite).map { String(decoding: $0.body, as: UTF8.self).contains("a=sendonly") } ?? false) == isHeld)
        if isHeld {
            caller.answer(caller.request(.invite), 200, body: caller.description("0", "recvonly", version: 2))
            device.request("INVITE", in: invite, 2, body: device.description("0", version: 2))
            device.request("ACK", in: invite, 2)
            #expect(caller.request(.invite).map { String(decoding: $0.body, as: UTF8.self).contains("a=sendrecv") } == true)
            caller.answer(caller.request(.invite), 200, body: caller.description("0", version: 3))
        }
        #expect(stage.events(.remoteHold).map { $0.details.flag(.on) } == (isHeld ? [true, false] : []))
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 2)
        device.request("BYE", in: invite, 3)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a caller that begins on hold holds whom it calls`() throws {
        let stage = stage { _ in }, (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "held", 1, body: caller.description("0", "inactive"))
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0"))
        caller.request("ACK", BridgedCall.line, call: "held", 1, toTag: caller.final(.invite, 1)?.to.tag)
        let again = try device.received(.invite)
        #expect(again.cseq != invite.cseq && String(decoding: again.body, as: UTF8.self).contains("a=sendonly"))
        device.answer(again, 200, body: device.description("0", "recvonly", version: 2))
        device.request("BYE", in: invite, 3)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test(arguments: [("sendonly", false), ("inactive", true)])
    func `who answers our offer with its ACK and only sends is heard`(direction: String, isHeld: Bool) throws {
        let stage = stage { _ in }, (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "late", 1)
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0"))
        caller.request(
            "ACK", BridgedCall.line, call: "late", 1, toTag: caller.final(.invite, 1)?.to.tag, body: caller.description("0", direction))
        let again = try #require(device.request(.invite))
        #expect((again.cseq != invite.cseq) == isHeld)
        if isHeld { device.answer(again, 200, body: device.description("0", "recvonly", version: 2)) }
        #expect(stage.events(.remoteHold).count == (isHeld ? 1 : 0))
        #expect(stage.gateway.counts(at: stage.world.now).media.started == (isHeld ? 1 : 2))
        device.request("BYE", in: invite, 3)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `one that only sent from the beginning holds when it sends no more`() throws {
        let stage = stage { _ in }, (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "held", 1, body: caller.description("0"))
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0", "sendonly"))
        caller.request("ACK", BridgedCall.line, call: "held", 1, toTag: caller.final(.invite, 1)?.to.tag)
        #expect(caller.request(.invite) == nil)
        device.request("INVITE", in: invite, 2, body: device.description("0", "inactive", version: 2))
        device.request("ACK", in: invite, 2)
        #expect(caller.request(.invite).map { String(decoding: $0.body, as: UTF8.self).contains("a=sendonly") } == true)
        caller.answer(caller.request(.invite), 200, body: caller.description("0", "recvonly", version: 2))
        device.request("INVITE", in: invite, 3, body: device.description("0", version: 3))
        device.request("ACK", in: invite, 3)
        #expect(caller.request(.invite).map { String(decoding: $0.body, as: UTF8.self).contains("a=sendrecv") } == true)
        caller.answer(caller.request(.invite), 200, body: caller.description("0", version: 3))
        #expect(stage.events(.remoteHold).map { $0.details.flag(.on) } == [true, false])
        #expect(stage.events(.mediaUpdated).count >= 2 && stage.events(.mediaUpdated).allSatisfy { $0.details.text(.codec) == "PCMU" })
        device.request("BYE", in: invite, 4)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    // MARK: Playback

    @Test(arguments: [true, false]) func `a playback line hangs up when its sound is over`(isOver: Bool) throws {
        let stage = stage { $0.lines[1].endpoint = .application(.playback(Self.music, loops: false)) }, peer = RawPeer(stage, 1)
        peer.request("INVITE", "sip:9196@hookswitch.test", call: "p", 1, body: peer.description("0"))
        peer.request("ACK", "sip:9196@hookswitch.test", call: "p", 1, toTag: peer.final(.invite, 1)?.to.tag)
        if isOver { stage.tell(.sourceFinished, of: 1) }
        #expect((peer.request(.bye) != nil) == isOver)
    }

    // MARK: Keys

    @Test(arguments: [("#", true, true), ("5", true, false), ("#", false, false)])
    func `a mailbox hangs up at #, by an event or by INFO, once the caller speaks`(key: String, hasBeeped: Bool, isOver: Bool) throws {
        for isByInfo in [false, true] {
            let stage = stage { $0.lines[1].endpoint = .application(.record(greeting: nil)) }, peer = RawPeer(stage, 1)
            peer.request("INVITE", "sip:9196@hookswitch.test", call: "m", 1, body: peer.description("0 101"))
            let tag = peer.final(.invite, 1)?.to.tag
            peer.request("ACK", "sip:9196@hookswitch.test", call: "m", 1, toTag: tag)
            if hasBeeped { stage.tell(.sourceFinished, of: 1) }
            if isByInfo {
                let body = "Signal=\(key)\r\nDuration=160\r\n"
                peer.request(
                    "INFO", "sip:9196@hookswitch.test", call: "m", 2, toTag: tag, body: body,
                    headers: ["Content-Type: application/dtmf-relay"])
            } else {
                stage.tell(.digit(try #require(DTMFDigit(Character(key)))), of: 1)
            }
            #expect((peer.request(.bye) != nil) == isOver, "by INFO: \(isByInfo)")
            #expect(stage.events(.dtmfReceived).count == 1)
        }
    }

    @Test func `a mailbox hangs up after the longest message, counted from the beep on`() throws {
        let stage = stage { $0.lines[1].endpoint = .application(.record(greeting: nil)) }, peer = RawPeer(stage, 1)
        peer.request("INVITE", "sip:9196@hookswitch.test", call: "m", 1, body: peer.description("0"))
        peer.request("ACK", "sip:9196@hookswitch.test", call: "m", 1, toTag: peer.final(.invite, 1)?.to.tag)
        stage.run(seconds: 20)
        stage.tell(.sourceFinished, of: 1)
        stage.run(seconds: 179)
        #expect(peer.request(.bye) == nil && stage.events(.mailboxEnded).isEmpty)
        stage.run(seconds: 1.5)
        peer.answer(peer.request(.bye), 200)
        #expect(stage.events(.mailboxEnded).map { $0.details.text(.cause) } == ["maximum"])
        stage.expectQuiet()
    }

    // MARK: Comfort noise

    @Test(arguments: [(true, ["0", "13"]), (false, ["0"])]) func `an application agrees to comfort noise where that is set`(
        isSet: Bool, expected: [String]
    ) throws {
        let stage = stage { $0.media.comfortNoise = isSet }, peer = RawPeer(stage, 1)
        peer.request("INVITE", "sip:9196@hookswitch.test", call: "n", 1, body: peer.description("0 13"))
        #expect(formats(peer.final(.invite, 1)) == expected)
    }

    @Test(arguments: [("0 13", "0 13", ["0", "13"]), ("0 13", "0", ["0"]), ("0", "0", ["0"])])
    func `a bridge has comfort noise on both sides or on none`(offer: String, answer: String, expected: [String]) throws {
        let stage = stage { $0.media.comfortNoise = true }, caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "n", 1, body: caller.description(offer))
        let invite = try device.received(.invite)
        #expect(formats(invite).contains("13") == offer.contains("13"))
        device.answer(invite, 200, body: device.description(answer))
        #expect(formats(caller.final(.invite, 1)) == expected)
    }
}
