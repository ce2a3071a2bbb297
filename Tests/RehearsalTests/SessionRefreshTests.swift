import Gateway
import Primitives
import SIP
import Testing
import UserAgent

@testable import Rehearsal

/// Session timers and reliable responses of the whole gateway.
@Suite struct GatewayRefreshTests {
    private func echo(_ stage: Stage, _ caller: RawPeer, headers: [String] = []) throws -> Message {
        caller.request("INVITE", "sip:9196@hookswitch.test", call: "echo", 1, body: caller.description(), headers: headers)
        let answer = try #require(caller.final(.invite, 1))
        caller.request("ACK", "sip:9196@hookswitch.test", call: "echo", 1, toTag: answer.to.tag)
        return answer
    }

    @Test func `an echo call whose caller vanished ends by itself`() throws {
        let stage = Stage()
        let caller = RawPeer(stage, 1)
        let answer = try echo(stage, caller, headers: ["Supported: timer", "Session-Expires: 90"])
        #expect(answer.headers[.sessionExpires] == "90;refresher=uac" && answer.headers.lists("timer", in: .require))
        stage.run(seconds: 59)
        #expect(caller.request(.bye) == nil && stage.media.openLegs == 1)
        stage.run(seconds: 1)
        #expect(caller.request(.bye)?.reasons == [Reason(protocol: "SIP", cause: 408, text: "Session timer expired")])
        #expect(stage.media.openLegs == 0)
        stage.expectQuiet()
        #expect(stage.endReasons == ["failed"])
    }

    @Test func `a caller that knows no timers is asked by UPDATE or re-INVITE, and when it is gone the call ends`() throws {
        for allowed in ["INVITE, UPDATE", "INVITE"] {
            let stage = Stage()
            let caller = RawPeer(stage, 1)
            #expect(try echo(stage, caller, headers: ["Allow: \(allowed)"]).headers[.sessionExpires] == nil)
            stage.run(seconds: 901)
            let asked = try #require(allowed == "INVITE" ? caller.request(.invite) : caller.request(.update))
            caller.answer(asked, 200, body: allowed == "INVITE" ? caller.description(version: 2) : "")
            stage.run(seconds: 901)
            #expect(
                caller.heard.filter { $0.isRequest && $0.method == asked.method && $0.cseq.number > asked.cseq.number }.isEmpty == false)
            stage.run(seconds: 40)
            #expect(caller.request(.bye) != nil && stage.media.openLegs == 0)
            stage.expectQuiet()
        }
    }

    @Test func `whoever holds and allows no UPDATE is not asked to resume`() throws {
        let stage = Stage()
        let caller = RawPeer(stage, 1)
        let tag = try echo(stage, caller, headers: ["Allow: INVITE"]).to.tag
        caller.request(
            "INVITE", "sip:9196@hookswitch.test", call: "echo", 2, toTag: tag, body: caller.description("0", "sendonly", version: 2))
        caller.request("ACK", "sip:9196@hookswitch.test", call: "echo", 2, toTag: tag)
        stage.run(seconds: 901)
        let refresh = try #require(caller.request(.invite))
        #expect(String(decoding: refresh.body, as: UTF8.self).contains("a=recvonly"))
        caller.answer(refresh, 200, body: caller.description("0", "sendonly", version: 2))
        stage.run(seconds: 1)
        #expect(stage.events(.remoteHold).map { $0.details.flag(.on) } == [true])
        caller.request("BYE", "sip:9196@hookswitch.test", call: "echo", 3, toTag: tag)
        stage.expectQuiet()
    }

    @Test func `both legs of a bridge have timers of their own, and the end of one ends the other`() throws {
        let stage = Stage()
        let call = try stage.bridge(
            headers: ["Supported: timer", "Session-Expires: 120", "Allow: UPDATE"], answerHeaders: [(.sessionExpires, "300;refresher=uas")])
        #expect(call.invite.headers[.sessionExpires] == "1800" && call.invite.headers[.minSE] == "90")
        stage.run(seconds: 70)
        call.fromCaller("UPDATE", headers: ["Supported: timer", "Session-Expires: 120;refresher=uac"])
        #expect(call.callerAnswer?.headers[.sessionExpires] == "120;refresher=uac")
        stage.run(seconds: 87)
        #expect(call.device.request(.bye) == nil && call.caller.request(.bye) == nil)
        stage.run(seconds: 2)
        #expect(call.caller.request(.bye)?.reasons.first?.cause == 408)
        #expect(call.device.request(.bye) != nil)
        stage.expectQuiet()
        #expect(stage.endReasons == ["failed", "action"])
    }

    @Test func `without the setting no timer is spoken of`() throws {
        let stage = Stage { $0.sip.sessionTimer = nil }
        let call = try stage.bridge(headers: ["Supported: timer", "Session-Expires: 120"])
        #expect(call.invite.headers[.sessionExpires] == nil && !call.invite.headers.lists("timer", in: .supported))
        stage.run(seconds: 4_000)
        #expect(call.device.request(.bye) == nil)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `a 183 that is reliable and has a description is acknowledged, opens nothing, and is the answer`() throws {
        let stage = Stage()
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "early", 1, body: caller.description())
        let invite = try #require(device.request(.invite))
        #expect(invite.headers.lists("100rel", in: .supported))
        for _ in 1...2 { device.answer(invite, 183, body: device.description(), headers: [(.require, "100rel"), (.rseq, "77")]) }
        let prack = try #require(device.request(.prack))
        #expect(prack.headers[.rack] == Text("77 \(invite.cseq.number) INVITE"))
        #expect(device.heard.count { $0.isRequest && $0.method == .prack } == 1)
        device.answer(prack, 200)
        #expect(stage.media.openLegs == 0)
        // A new offer before the answer, which moves the device's media.
        device.request("UPDATE", in: invite, 1, body: device.description(version: 2, port: 4_444))
        #expect(device.final(.update, 1)?.status == 200 && stage.media.openLegs == 0)
        // And one that changes its codec.
        device.request("UPDATE", in: invite, 2, body: device.description("8", version: 3, port: 4_444))
        #expect(device.final(.update, 2)?.status == 200)
        device.answer(invite, 200)
        let answer = try #require(caller.final(.invite, 1))
        caller.request("ACK", BridgedCall.line, call: "early", 1, toTag: answer.to.tag)
        #expect(stage.media.openLegs == 2)
        #expect(stage.transcript.events.contains { $0.kind == .earlyMediaIgnored })
        caller.request("BYE", BridgedCall.line, call: "early", 2, toTag: answer.to.tag)
        device.answer(device.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a caller that requires it gets a reliable 180, and 504 when it never acknowledges that`() throws {
        let stage = Stage()
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "reliable", 1, body: caller.description(), headers: ["Require: 100rel"])
        device.answer(device.request(.invite), 180)
        let ringing = try #require(caller.heard.last { $0.status == 180 })
        #expect(ringing.reliableSequence != nil)
        stage.run(seconds: 33)
        #expect(caller.final(.invite, 1)?.status == 504)
        let cancel = try #require(device.request(.cancel))
        device.answer(cancel, 200)
        device.answer(device.request(.invite), 487)
        stage.expectQuiet()
        #expect(stage.endReasons == ["failed", "action"])
    }
}
