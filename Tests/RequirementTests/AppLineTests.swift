import CallKit
import Foundation
import Media
import Primitives
import Runtime
import SDP
import SIP
import Testing
import UserAgent

@testable import CallApp
@testable import Rehearsal

/// What an app's line and its far ends owe each other, whatever the app does.
@Suite struct AppLineTests {
    private let stage = Stage()

    @Test(
        arguments: [
            ("9196", "sip:9196@[::1]"), ("bob", "sip:bob@[::1]"), ("sip:9196", "sip:9196@[::1]"), ("*31#2001", "sip:*31#2001@[::1]"),
            ("+1 (408) 555-1212", "sip:+14085551212@[::1]"), ("tel:+1-408-555-1212", "sip:+14085551212@[::1]"),
            ("TEL:+14085551212", "sip:+14085551212@[::1]"),
            ("j.doe-2", "sip:j.doe-2@[::1]"), ("bob@example.test", "sip:bob@example.test"),
            ("sip:bob@example.test:5070", "sip:bob@example.test:5070"),
            ("bob@[2001:db8::1]", "sip:bob@[2001:db8::1]"), ("SIP:bob@example.test", "sip:bob@example.test"),
            ("mailto:bob@example.test", nil), ("https://example.test", nil), ("bob@", nil), ("bob:secret@example.test", nil),
            ("bob smith", nil), ("sip:", nil), ("", nil),
        ] as [(String, String?)])
    func `a handle names a number of the line's domain or an address, and nothing else`(handle: String, target: String?) {
        var settings = stage.line.settings
        settings.domain = "::1"
        #expect(settings.target(handle)?.description == target)
    }

    @Test(arguments: [(Transport.tls, "sips:bob@example.test"), (.tcp, nil), (.udp, nil)] as [(Transport, String?)])
    func `a sips handle is called over TLS or not at all`(transport: Transport, target: String?) {
        var settings = stage.line.settings
        settings.flow.transport = transport
        #expect(settings.target("sips:bob@example.test")?.description == target)
    }

    @Test func `a hold is no end for RTCP, and the end of the call is`() {
        for stopsByItself in [false, true] {
            let stage = Stage(), app = ProbeApp(stage)
            app.does(CXSetHeldCallAction.self) { [link = app.link] action in
                if stopsByItself, action.isOnHold { link.stopAudio() }
                link.setHeld(action.callUUID, action.isOnHold) { $0 ? action.fulfill() : action.fail() }
            }
            let uuid = stage.takeCall().uuid
            stage.hold(uuid)
            stage.run(1)
            stage.hold(uuid, false)
            stage.run(1)
            #expect(stage.media.goodbyes == 0 && stage.media.sendingLegs == 1)
            stage.end(uuid)
            stage.run(1)
            #expect(stage.media.goodbyes == 1)
            #expect(stage.leftovers() == [])
        }
    }

    @Test func `a far end that offers without the codec in use gets another one of ours`() throws {
        let app = ProbeApp(stage), call = stage.takeCall()
        #expect(call.far.negotiation.audio?.primary.codec.name == "opus")
        call.far.negotiation.local.codecs = [try #require(Codec.catalogue.first { $0.name == "PCMA" })]
        call.far.hold(.sendrecv)
        stage.run(1)
        #expect(call.far.negotiation.audio?.primary.codec.name == "PCMA" && stage.sent("app 488 INVITE").isEmpty)
        call.far.negotiation.local.codecs = Codec.catalogue
        call.far.hold(.sendrecv)
        stage.run(1)
        #expect(call.far.negotiation.audio?.primary.codec.name == "PCMA", "one that is in use stays so")
        stage.end(call.uuid)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    /// A request in the early dialog that the app has with a callee, which its session has no method for.
    private func send(_ body: [UInt8], inEarlyDialogOf ringing: Message) {
        let head = """
            UPDATE sip:1001@\(Stage.address) SIP/2.0
            Via: SIP/2.0/UDP \(FarPhone.address);branch=z9hG4bKearly
            Max-Forwards: 70
            From: \(ringing.to.text)
            To: \(ringing.from.text)
            Call-ID: \(ringing.callID)
            CSeq: 1 UPDATE
            Contact: <sip:\(FarPhone.address)>
            Content-Type: application/sdp
            Content-Length: \(body.count)


            """
        let bytes = Array(head.replacing("\n", with: "\r\n").utf8) + body
        stage.network.send(bytes, over: Flow(transport: .udp, local: FarPhone.address, remote: Stage.address))
    }

    @Test func `an offer before the answer is told to come later, for its dialog is there`() throws {
        let app = ProbeApp(stage)
        stage.far.onInvite = { [stage] call in
            let answer = (try? call.negotiation.answer(codecs: nil, direction: .sendrecv))?.description.serialized() ?? []
            call.session?.respond(status: 183, headers: [(.require, "100rel"), (.rseq, "1")], body: answer, at: stage.now)
        }
        stage.dial("2002")
        stage.run(1)
        let ringing = try #require(stage.sent("far 183 INVITE").first?.message), far = try #require(stage.far.calls.last)
        send(far.negotiation.offer(direction: .sendrecv).serialized(), inEarlyDialogOf: ringing)
        stage.run(1)
        #expect(stage.sent("app 481 UPDATE").isEmpty)
        #expect(stage.sent("app 500 UPDATE").first?.message.headers[.retryAfter] != nil)
        for call in stage.calls { stage.end(call) }
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `a caller without an offer who wants reliable responses hears nothing before the answer`() {
        let app = ProbeApp(stage), far = stage.far.call(offers: false, headers: [(.require, "100rel")])
        stage.run(1)
        #expect(stage.calls.count == 1 && stage.line.refusals == 0)
        #expect(stage.traffic == ["far INVITE", "app 100 INVITE"])
        stage.request(CXAnswerCallAction(call: stage.calls[0]))
        stage.run(1)
        #expect(far.statuses.last == 200 && stage.media.sendingLegs == 1)
        stage.end(stage.calls[0])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `a caller who never acknowledges that it rings is refused`() {
        let app = ProbeApp(stage)
        stage.far.call(headers: [(.require, "100rel")])
        stage.far.isDeaf = true
        stage.run(40)
        #expect(stage.calls.isEmpty && stage.sent("app 504 INVITE").count > 0)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    /// A call on hold that is taken back, and how the far end answers that.
    private func takeBack(_ call: (uuid: UUID, far: FarCall), _ app: ProbeApp, answer: @escaping (inout String) -> Void) -> [Bool] {
        stage.hold(call.uuid)
        stage.run(1)
        var results: [Bool] = []
        app.does(CXSetHeldCallAction.self) { [stage] action in
            stage.line.setHeld(action.callUUID, action.isOnHold, at: stage.now) {
                results.append($0)
                $0 ? action.fulfill() : action.fail()
            }
        }
        call.far.editAnswer = answer
        stage.hold(call.uuid, false)
        stage.run(1)
        return results
    }

    @Test func `a resume whose answer cannot be used has failed, and the next one may be better`() {
        let app = ProbeApp(stage), call = stage.takeCall()
        #expect(takeBack(call, app) { $0.replace(#/m=audio \d+/#, with: "m=audio 0") } == [false])
        #expect(stage.call(call.uuid)?.isOnHold == true && stage.media.sendingLegs == 0)
        call.far.editAnswer = { _ in }
        stage.hold(call.uuid, false)
        stage.run(1)
        #expect(stage.call(call.uuid)?.isOnHold == false && stage.media.sendingLegs == 1)
        stage.end(call.uuid)
        #expect(stage.leftovers() == [])
    }

    @Test func `an answer in the clear ends a call that must be encrypted`() throws {
        let stage = Stage { $0.srtp = .required }, app = ProbeApp(stage)
        var random: any RandomNumberGenerator = SeededRandom(seed: 5)
        let security = LocalSecurity.ofThisProcess(.required, keying: .sdes, using: &random)
        stage.far.onInvite = { call in
            call.negotiation.local.security = security
            try? call.negotiation.receive(offer: call.session?.request.body ?? [])
            call.answer()
        }
        stage.dial("2002")
        stage.run(1)
        let far = try #require(stage.far.calls.last)
        #expect(stage.media.sendingLegs == 1)
        far.editAnswer = {
            $0.replace("RTP/SAVP", with: "RTP/AVP")
            $0.replace(#/a=crypto.*\r\n/#, with: "")
        }
        stage.hold(stage.calls[0])
        stage.run(1)
        #expect(stage.calls.isEmpty && far.isOver)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `a telephone that gives sound too early has no line`() {
        let system = CallSystem(configuration: CallSystemConfiguration(), host: QueueHost())
        let error = #expect(throws: LiveAppError.self) {
            try LiveAppLine(LiveAppSettings(number: "1001", server: "127.0.0.1:5060"), system: system) { _ in }
        }
        #expect(error?.description.contains("configureShared(.app)") == true)
    }
}
