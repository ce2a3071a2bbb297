import Gateway
import Media
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// A call is not left silent or half dead by what one of its ends refuses, removes or forgets.
@Suite struct RecoveryTests {
    let stage = Stage()

    private func text(_ message: Message?) -> String { message.map { String(decoding: $0.body, as: UTF8.self) } ?? "" }

    @Test func `a resume that the callee refuses is asked for again`() throws {
        let call = try stage.bridge()
        call.callerOffers("sendonly")
        call.deviceAnswers(200, "recvonly")
        call.callerOffers("sendrecv")
        call.deviceAnswers(488)
        stage.run(seconds: 2.1)
        #expect(call.device.heard.filter { $0.isRequest && $0.method == .invite }.count == 4)
        call.deviceAnswers(200, "sendrecv")
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 2)
        call.hangUp()
        stage.expectQuiet()
        #expect(stage.endReasons == ["remoteEnded", "action"])
    }

    @Test func `a hold that comes while a refused resume waits for its next attempt holds`() throws {
        let call = try stage.bridge()
        call.callerOffers("sendonly")
        call.deviceAnswers(200, "recvonly")
        call.callerOffers("sendrecv")
        call.deviceAnswers(488)
        call.callerOffers("sendonly")
        call.deviceAnswers(200, "recvonly")
        stage.run(seconds: 3)
        #expect(text(call.device.request(.invite)).contains("a=sendonly") && stage.gateway.counts(at: stage.world.now).media.started == 1)
        call.callerOffers("sendrecv")
        call.deviceAnswers(200, "sendrecv")
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 2)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `a MESSAGE to a device that is gone is 480 soon`() {
        let device = RawPeer(stage, 2), sender = RawPeer(stage, 1)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        stage.network.desert(device.address)
        sender.request("MESSAGE", BridgedCall.line, call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        stage.run(seconds: 0.5)
        #expect(sender.final(.message, 1)?.status == 480)
        stage.expectQuiet()
    }

    @Test func `a MESSAGE that a device does not answer is 100 once its sender is patient, and 480 at last`() {
        let device = RawPeer(stage, 2), sender = RawPeer(stage, 1)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        sender.request("MESSAGE", BridgedCall.line, call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        stage.run(seconds: 3.4)
        #expect(!sender.heard.contains { $0.status == 100 })
        stage.run(seconds: 0.2)
        #expect(sender.heard.count { $0.status == 100 && $0.method == .message } == 1)
        stage.run(seconds: 29)
        #expect(sender.final(.message, 1)?.status == 480)
        stage.expectQuiet()
    }

    @Test func `a callee that never lets itself be resumed ends the call for both`() throws {
        let call = try stage.bridge()
        call.callerOffers("sendonly")
        call.deviceAnswers(200, "recvonly")
        call.callerOffers("sendrecv")
        for _ in 1...3 {
            call.deviceAnswers(488)
            stage.run(seconds: 2.1)
        }
        let bye = try #require(call.device.request(.bye))
        #expect(bye.reasons == [Reason(protocol: "Q.850", cause: 65, text: "Resume refused")])
        #expect(call.caller.request(.bye)?.reasons == bye.reasons)
        call.device.answer(bye, 200)
        call.caller.answer(call.caller.request(.bye), 200)
        stage.expectQuiet()
        #expect(stage.endReasons == ["failed", "action"])
    }

    @Test func `an offer that sets the audio to port 0 is answered with port 0, and a later one brings it back`() throws {
        let call = try stage.bridge()
        for _ in 1...2 {
            call.callerOffers("sendrecv", port: 0)
            #expect(call.callerAnswer?.status == 200)
            #expect(text(call.callerAnswer).contains("m=audio 0 RTP/AVP"))
        }
        #expect(text(call.device.request(.invite)).contains("a=sendonly"))
        call.deviceAnswers(200, "recvonly")
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 0)
        call.callerOffers("sendrecv")
        #expect(text(call.callerAnswer).contains("a=sendrecv"))
        call.deviceAnswers(200, "sendrecv")
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 2)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test(arguments: [false, true])
    func `whoever has taken its sound away is held and resumed without being offered it again`(refusesAtResume: Bool) throws {
        let call = try stage.bridge()
        if !refusesAtResume {
            call.callerOffers("sendrecv", port: 0)
            call.deviceAnswers(200, "recvonly")
        }
        call.fromDevice("INVITE", body: call.device.description("0", "sendonly", version: 20))
        call.fromDevice("ACK")
        if refusesAtResume {
            call.caller.answer(call.caller.request(.invite), 200, body: call.caller.description("0", "recvonly", version: 21))
        }
        call.fromDevice("INVITE", body: call.device.description("0", "sendrecv", version: 22))
        call.fromDevice("ACK")
        if refusesAtResume {
            call.caller.answer(call.caller.request(.invite), 200, body: call.caller.description("0", version: 23, port: 0))
            call.deviceAnswers(200, "recvonly")
        }
        stage.run(seconds: 20)
        #expect(call.caller.heard.count { $0.isRequest && $0.method == .invite } == (refusesAtResume ? 2 : 0))
        #expect(stage.endReasons.isEmpty && stage.gateway.counts(at: stage.world.now).media.started == 0)
        call.callerOffers("sendrecv")
        call.deviceAnswers(200, "sendrecv")
        #expect(text(call.callerAnswer).contains("a=sendrecv") && stage.gateway.counts(at: stage.world.now).media.started == 2)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `packets stop before the 200 that takes the sound away`() throws {
        let call = try stage.bridge()
        call.callerOffers("sendrecv", port: 0)
        stage.gateway.journal.flush()
        let events = stage.transcript.events, stopped = events.firstIndex { $0.kind == .mediaStopped } ?? .max
        let told = events.lastIndex { $0.kind == .sipSent && $0.details.number(.status) == 200 } ?? 0
        #expect(stopped < told)
        call.deviceAnswers(200, "recvonly")
        call.hangUp()
        stage.expectQuiet()
    }

    @Test(arguments: ["sendonly", "inactive"]) func `packets stop before the 200 that agrees to silence`(direction: String) throws {
        let call = try stage.bridge()
        var sending: [Int] = []
        stage.network.onSend = { [stage] bytes, _, _ in
            if String(decoding: bytes, as: UTF8.self).hasPrefix("SIP/2.0 200") { sending.append(stage.media.sendingLegs) }
        }
        call.callerOffers(direction)
        #expect(sending.first == 1, "of the two the caller's is silent when its 200 leaves")
        call.deviceAnswers(200, "recvonly")
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `a text to a device that never answers is no 408`() {
        let device = RawPeer(stage, 2), sender = RawPeer(stage, 1)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        sender.request("MESSAGE", BridgedCall.line, call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        stage.run(seconds: 40)
        #expect(sender.final(.message, 1)?.status == 480)
        stage.expectQuiet()
    }

    @Test(arguments: [481, 408])
    func `an INFO that finds no dialog ends the call`(status: Int) throws {
        let call = try stage.bridge()
        call.fromCaller("INFO", body: "Signal=5\r\nDuration=160\r\n", headers: ["Content-Type: application/dtmf-relay"])
        call.device.answer(call.device.request(.info), status)
        let bye = try #require(call.device.request(.bye))
        call.device.answer(bye, 481)
        call.caller.answer(call.caller.request(.bye), 200)
        stage.expectQuiet()
        #expect(stage.endReasons == ["failed", "action"])
    }

    @Test func `the losers of a fork that a 603 ended are told why`() throws {
        let (caller, first, second) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        for (index, device) in [first, second].enumerated() { device.request("REGISTER", BridgedCall.line, call: "register\(index)", 1) }
        caller.request("INVITE", BridgedCall.line, call: "forked", 1, body: caller.description())
        second.answer(second.request(.invite), 180)
        first.answer(first.request(.invite), 603)
        let cancel = try #require(second.request(.cancel))
        #expect(cancel.reasons.map(\.value) == ["SIP;cause=603;text=\"Decline\"", "Q.850;cause=21"])
        #expect(caller.final(.invite, 1)?.status == 603)
        second.answer(cancel, 200)
        second.answer(second.request(.invite), 487)
        stage.expectQuiet()
    }
}

/// What ends a call that nobody ends.
@Suite struct CallLimitTests {
    private func stage(_ configure: @escaping (inout LineConfiguration) -> Void) -> Stage {
        Stage { configuration in for index in configuration.lines.indices { configure(&configuration.lines[index]) } }
    }

    private func bye(_ call: BridgedCall) throws {
        let byes = try [#require(call.caller.request(.bye)), #require(call.device.request(.bye))]
        call.caller.answer(byes[0], 200)
        call.device.answer(byes[1], 200)
    }

    @Test func `a call ends at its longest duration, as if hung up`() throws {
        let stage = stage { $0.maximumDuration = .seconds(60) }
        let call = try stage.bridge()
        stage.run(seconds: 59)
        #expect(call.device.request(.bye) == nil)
        stage.run(seconds: 1)
        #expect(call.device.request(.bye)?.reasons.map(\.value) == ["Q.850;cause=102;text=\"Maximum duration\""])
        try bye(call)
        stage.expectQuiet()
        #expect(stage.endReasons == ["action", "action"])
    }

    @Test func `the limits of the line that calls count as those of the one that is called`() throws {
        for (duration, silence) in [(30, nil), (nil, 30)] as [(Int?, Int?)] {
            let stage = Stage { configuration in
                var own = LineConfiguration(number: "2001")
                own.isOpen = true
                (own.maximumDuration, own.firstMediaTimeout) = (duration.map { .seconds($0) }, silence.map { .seconds($0) })
                configuration.lines.append(own)
            }
            let caller = RawPeer(stage, 1)
            caller.request(
                "INVITE", "sip:9196@hookswitch.test", call: "own", 1, body: caller.description(), from: "<sip:2001@hookswitch.test>")
            let answer = try #require(caller.final(.invite, 1))
            caller.request("ACK", "sip:9196@hookswitch.test", call: "own", 1, toTag: answer.to.tag)
            stage.run(seconds: 29)
            #expect(caller.request(SIP.Method.bye) == nil)
            stage.run(seconds: 2)
            caller.answer(caller.request(SIP.Method.bye), 200)
            #expect(caller.request(SIP.Method.bye) != nil)
            stage.expectQuiet()
        }
    }

    @Test func `a far end that falls silent fails the call, and one that was never heard has a limit of its own`() throws {
        let stage = stage { ($0.mediaTimeout, $0.firstMediaTimeout) = (.seconds(20), .seconds(40)) }
        let call = try stage.bridge()
        stage.tell(.silent, of: 1)
        #expect(call.device.request(.bye) == nil)
        stage.tell(.firstReceived(stage.world.now), of: 1)
        stage.run(seconds: 30)
        #expect(call.device.request(.bye) == nil)
        stage.tell(.silent, of: 1)
        #expect(call.device.request(.bye)?.reasons.map(\.value) == ["Q.850;cause=41;text=\"Media timeout\""])
        try bye(call)
        stage.expectQuiet()
        #expect(stage.endReasons == ["failed", "action"])
    }

    @Test func `a far end that is never heard fails the call`() throws {
        let stage = stage { $0.firstMediaTimeout = .seconds(40) }
        let call = try stage.bridge()
        stage.run(seconds: 39)
        #expect(call.device.request(.bye) == nil)
        stage.run(seconds: 2)
        try bye(call)
        stage.expectQuiet()
        #expect(stage.endReasons == ["failed", "failed"])
    }

    @Test(arguments: [20.0, 60])
    func `a far end that may not send is not missed, and has its time from when it may`(listening: Double) throws {
        let stage = Stage { $0.lines[1].firstMediaTimeout = .seconds(30) }
        let caller = RawPeer(stage, 1), echo = "sip:9196@hookswitch.test"
        caller.request("INVITE", echo, call: "listener", 1, body: caller.description("0", "recvonly"))
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", echo, call: "listener", 1, toTag: tag)
        stage.run(seconds: listening)
        #expect(caller.request(SIP.Method.bye) == nil)
        caller.request("INVITE", echo, call: "listener", 2, toTag: tag, body: caller.description("0", version: 2))
        caller.request("ACK", echo, call: "listener", 2, toTag: tag)
        stage.run(seconds: 29)
        #expect(caller.request(SIP.Method.bye) == nil)
        stage.run(seconds: 2)
        caller.answer(try caller.received(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a call on hold has no limit of silence`() throws {
        let stage = stage { $0.firstMediaTimeout = .seconds(40) }
        let call = try stage.bridge()
        stage.run(seconds: 5)
        call.callerOffers("sendonly")
        call.deviceAnswers(200, "recvonly")
        stage.run(seconds: 100)
        #expect(call.device.request(.bye) == nil)
        call.hangUp()
        stage.expectQuiet()
    }
}
