import Audio
import Gateway
import Media
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// REFER and Replaces through the gateway: who stays keeps its call.
@Suite struct TransferTests {
    let stage = Stage { configuration in
        var other = LineConfiguration(number: "3000")
        other.isOpen = true
        configuration.lines.append(other)
    }

    private static let other = "sip:3000@hookswitch.test"

    private func third() -> RawPeer {
        let peer = RawPeer(stage, 3)
        peer.request("REGISTER", Self.other, call: "third", 1)
        return peer
    }

    private func fragments(_ peer: RawPeer) -> [String] {
        peer.heard.filter { $0.isRequest && $0.method == .notify }.map { String(decoding: $0.body, as: UTF8.self).trimmingSuffix }
    }

    /// Answers the NOTIFYs that came, so that nothing waits for them.
    private func answerNotifications(_ peer: RawPeer) {
        for notify in peer.heard where notify.isRequest && notify.method == .notify { peer.answer(notify, 200) }
    }

    private func connectedMedia() -> Int { stage.gateway.counts(at: stage.world.now).media.started }

    @Test func `the caller transfers the callee blindly: the callee's call goes on with somebody else`() throws {
        let call = try stage.bridge()
        let third = third()
        call.callerOffers("sendonly")
        call.deviceAnswers(200, "recvonly")
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.other)>"])
        #expect(call.caller.final(.refer, call.callerSequence)?.status == 202)
        #expect(fragments(call.caller) == ["SIP/2.0 100 Trying"])
        #expect(call.caller.request(.notify)?.headers[.event] == "refer")
        let invite = try #require(third.request(.invite))
        #expect(invite.headers[.referredBy] == "<sip:peer@hookswitch.test>" && invite.from.uri.user == "2000")
        third.answer(invite, 200, body: third.description("0"))
        #expect(fragments(call.caller) == ["SIP/2.0 100 Trying", "SIP/2.0 200 OK"])
        #expect(call.caller.request(.notify)?.headers[.subscriptionState]?.hasPrefix("terminated") == true)
        // The callee, which the caller held, is resumed.
        call.deviceAnswers(200, "sendrecv")
        answerNotifications(call.caller)
        call.caller.answer(call.caller.request(.bye), 200)
        #expect(connectedMedia() == 2)
        #expect(call.device.request(.bye) == nil)
        #expect(stage.events(.reportUpdated).count == 2 && Set(stage.events(.transferred).compactMap { $0.details.text(.with) }).count == 2)
        call.fromDevice("BYE")
        third.answer(third.request(.bye), 200)
        stage.expectQuiet()
        #expect(stage.endReasons == ["remoteEnded", "remoteEnded", "action"])
    }

    @Test func `who is said to ask for a transfer is told as text`() throws {
        let call = try stage.bridge(), third = third()
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.other)>", "Referred-By: <sip:boss@example.test>;a=\u{1}b"])
        #expect(try third.received(.invite).headers[.referredBy] == "<sip:boss@example.test>;a= b")
        third.answer(third.request(.invite), 486)
        answerNotifications(call.caller)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `who does not want to be known is not known as the one who transfers either`() throws {
        let call = try stage.bridge(headers: ["Privacy: id"]), third = third()
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.other)>", "Subject: from peer", "User-to-User: 00aa;encoding=hex"])
        let invite = try third.received(.invite)
        #expect(invite.headers[.referredBy] == "<sip:anonymous@anonymous.invalid>" && invite.from.uri.user == "2000")
        #expect(invite.headers[.subject] == nil && invite.headers["User-to-User"] == nil)
        third.answer(invite, 486)
        answerNotifications(call.caller)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `whom a call is transferred to tells nothing to the one who leaves`() throws {
        let call = try stage.bridge(), third = third()
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.other)>", "Subject: for you"])
        let invite = try third.received(.invite)
        #expect(invite.headers[.subject] == "for you")
        third.answer(invite, 200, body: third.description("0"), headers: [(.subject, "thanks")])
        answerNotifications(call.caller)
        let bye = try call.caller.received(.bye)
        #expect(bye.headers[.subject] == nil)
        call.caller.answer(bye, 200)
        call.fromDevice("BYE")
        third.answer(third.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `whoever is called by a transfer is offered first what the one who stays speaks`() throws {
        let call = try stage.bridge(), third = third()
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.other)>"])
        let offer = String(decoding: try third.received(.invite).body, as: UTF8.self)
        #expect(offer.contains("m=audio ") && offer.contains(" RTP/AVP 0 "), "\(offer)")
        third.answer(third.request(.invite), 486)
        answerNotifications(call.caller)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `a callee who is transferred is announced with the name of its line`() throws {
        let stage = Stage { configuration in
            configuration.lines[0].name = "Bob"
            var other = LineConfiguration(number: "3000")
            other.isOpen = true
            configuration.lines.append(other)
        }
        let call = try stage.bridge(), third = RawPeer(stage, 3)
        third.request("REGISTER", Self.other, call: "third", 1)
        call.fromCaller("REFER", headers: ["Refer-To: <\(Self.other)>"])
        let from = try third.received(.invite).from
        #expect(from.displayName == "Bob" && from.uri.user == "2000")
    }

    @Test func `a call that is up is taken over also when no new call is taken`() throws {
        let call = try stage.bridge(), phone = RawPeer(stage, 3)
        stage.gateway.drain(at: stage.world.now)
        for (number, dialog, status) in [(1, "bridged;to-tag=\(call.tag);from-tag=bridged", 200), (2, "none;to-tag=a;from-tag=b", 503)] {
            phone.request(
                "INVITE", BridgedCall.line, call: "take\(number)", number, body: phone.description("0 8"), headers: ["Replaces: \(dialog)"])
            #expect(phone.final(.invite, number)?.status == status)
        }
    }

    @Test func `the callee transfers the caller, too`() throws {
        let call = try stage.bridge()
        let third = third()
        call.fromDevice("REFER", headers: ["Refer-To: <\(Self.other)>", "Referred-By: <sip:2000@hookswitch.test>"])
        third.answer(third.request(.invite), 180)
        third.answer(third.request(.invite), 183)
        third.answer(third.request(.invite), 200, body: third.description("0"))
        #expect(fragments(call.device) == ["SIP/2.0 100 Trying", "SIP/2.0 180 Ringing", "SIP/2.0 200 OK"])
        answerNotifications(call.device)
        call.device.answer(call.device.request(.bye), 200)
        #expect(third.request(.invite)?.headers[.referredBy] == "<sip:2000@hookswitch.test>")
        #expect(connectedMedia() == 2 && call.caller.request(.bye) == nil)
        call.fromCaller("BYE")
        third.answer(third.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a transfer that nobody takes leaves the call as it was`() throws {
        let call = try stage.bridge()
        let third = third()
        for (target, status) in [(Self.other, 486), ("sip:4040@hookswitch.test", 404)] {
            call.fromCaller("REFER", headers: ["Refer-To: <\(target)>"])
            third.answer(third.request(.invite), 486)
            #expect(fragments(call.caller).last?.hasPrefix("SIP/2.0 \(status)") == true)
            answerNotifications(call.caller)
        }
        #expect(call.caller.request(.notify)?.headers[.event] == Text("refer;id=\(call.callerSequence)"))
        #expect(connectedMedia() == 2)
        call.hangUp()
        stage.expectQuiet()
        #expect(stage.events(.transferFailed).count == 2)
    }

    @Test func `whoever asked may hang up before the new call is answered, and then nobody is left when it is not`() throws {
        for status in [200, 486] {
            let stage = Stage { configuration in
                var other = LineConfiguration(number: "3000")
                other.isOpen = true
                configuration.lines.append(other)
            }
            let call = try stage.bridge()
            let third = RawPeer(stage, 3)
            third.request("REGISTER", Self.other, call: "third", 1)
            call.fromCaller("REFER", headers: ["Refer-To: <\(Self.other)>", "Refer-Sub: false"])
            #expect(call.caller.request(.notify) == nil)
            call.fromCaller("BYE")
            #expect(call.device.request(.bye) == nil)
            third.answer(third.request(.invite), status, body: status == 200 ? third.description("0") : "")
            if status == 200 {
                #expect(stage.gateway.counts(at: stage.world.now).media.started == 2)
                call.fromDevice("BYE")
                third.answer(third.request(.bye), 200)
            } else {
                call.device.answer(call.device.request(.bye), 200)
            }
            stage.expectQuiet()
        }
    }

    /// The caller of a bridge calls the third, too, who answers; its tag there.
    private func consult(_ caller: RawPeer, _ third: RawPeer) throws -> Text {
        caller.request("INVITE", Self.other, call: "consult", 1, body: caller.description())
        third.answer(third.request(.invite), 200, body: third.description("0"))
        let tag = try #require(caller.heard.last { $0.status == 200 && $0.callID == "consult" }?.to.tag)
        caller.request("ACK", Self.other, call: "consult", 1, toTag: tag)
        return tag
    }

    private func joins(_ tag: Text) -> [String] { ["Refer-To: <\(Self.other)?Replaces=consult%3Bto-tag%3D\(tag)%3Bfrom-tag%3Dconsult>"] }

    @Test func `who is joined with somebody that holds is held`() throws {
        let call = try stage.bridge(), third = third(), tag = try consult(call.caller, third)
        third.request("INVITE", in: try #require(third.request(.invite)), 2, body: third.description("0", "sendonly", version: 2))
        third.request("ACK", in: try #require(third.request(.invite)), 2)
        call.caller.answer(try call.caller.received(.invite), 200, body: call.caller.description("0", "recvonly", version: 2))
        #expect(call.device.heard.count { $0.isRequest && $0.method == .invite } == 1)
        call.fromCaller("REFER", headers: joins(tag))
        let held = try call.device.received(.invite)
        #expect(held.to.tag != nil && String(decoding: held.body, as: UTF8.self).contains("a=sendonly"))
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `who is joined with an announcement hears it`() throws {
        let call = try stage.bridge(), third = third()
        call.caller.request("INVITE", Self.other, call: "consult", 1, body: call.caller.description())
        third.answer(third.request(.invite), 200, body: third.description("0", "sendonly"))
        let tag = try #require(call.caller.heard.last { $0.status == 200 && $0.callID == "consult" }?.to.tag)
        call.caller.request("ACK", Self.other, call: "consult", 1, toTag: tag)
        call.fromCaller("REFER", headers: joins(tag))
        #expect(fragments(call.caller).last == "SIP/2.0 200 OK")
        #expect(call.device.heard.count { $0.isRequest && $0.method == .invite } == 1, "nobody holds it")
    }

    @Test func `whom music consoled while it was held hears the one that it is joined with`() throws {
        let stage = Stage { configuration in
            configuration.lines[0].holdMusic = .sound(WAV(sampleRate: 8_000, samples: [1, 2, 3]))
            var other = LineConfiguration(number: "3000")
            other.isOpen = true
            configuration.lines.append(other)
        }
        let call = try stage.bridge(), third = RawPeer(stage, 3)
        third.request("REGISTER", Self.other, call: "third", 1)
        // The device, whose line has the music, holds the caller, calls the third, and joins the two.
        call.fromDevice("INVITE", body: call.device.description("0", "sendonly", version: 2))
        call.fromDevice("ACK")
        #expect(stage.events(.holdMusic).map { $0.details.flag(.on) } == [true])
        call.device.request("INVITE", Self.other, call: "consult", 1, body: call.device.description(), from: "<\(BridgedCall.line)>")
        third.answer(third.request(.invite), 200, body: third.description("0"))
        let tag = try #require(call.device.heard.last { $0.status == 200 && $0.callID == "consult" }?.to.tag)
        call.device.request("ACK", Self.other, call: "consult", 1, toTag: tag)
        call.fromDevice("REFER", headers: joins(tag))
        #expect(stage.events(.holdMusic).map { $0.details.flag(.on) } == [true, false])
        #expect(stage.gateway.counts(at: stage.world.now).media.started >= 2)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a call that is being transferred itself is joined with nobody, and whoever it rings for is not forgotten`() throws {
        let call = try stage.bridge(), third = third(), fourth = RawPeer(stage, 4)
        let tag = try consult(call.caller, third)
        // The third, whom the caller consults, wants the caller called by its own line, and that rings.
        fourth.request("REGISTER", BridgedCall.line, call: "fourth", 1)
        third.request("REFER", in: try #require(third.request(.invite)), 2, headers: ["Refer-To: <\(BridgedCall.line)>"])
        #expect(third.final(.refer, 2)?.status == 202)
        let ringing = try #require(fourth.request(.invite))
        fourth.answer(ringing, 180)
        call.fromCaller("REFER", headers: joins(tag))
        #expect(fragments(call.caller).last == "SIP/2.0 491 Request Pending")
        fourth.answer(ringing, 200, body: fourth.description("0"))
        #expect(fragments(third).last == "SIP/2.0 200 OK")
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `an attended transfer joins the far ends of two calls`() throws {
        let first = try stage.bridge()
        let third = third()
        first.callerOffers("sendonly")
        first.deviceAnswers(200, "recvonly")
        let tag = try consult(first.caller, third)
        first.fromCaller("REFER", headers: joins(tag))
        #expect(fragments(first.caller) == ["SIP/2.0 100 Trying", "SIP/2.0 200 OK"])
        first.deviceAnswers(200, "sendrecv")
        answerNotifications(first.caller)
        for bye in first.caller.heard where bye.isRequest && bye.method == .bye { first.caller.answer(bye, 200) }
        #expect(connectedMedia() == 2 && first.device.request(.bye) == nil && third.request(.bye) == nil)
        third.request("BYE", in: try #require(third.request(.invite)), 2)
        #expect(first.device.request(.bye) != nil)
        first.device.answer(first.device.request(.bye), 200)
        stage.expectQuiet()
        #expect(stage.endReasons == ["remoteEnded", "remoteEnded", "remoteEnded", "action"])
    }

    @Test(arguments: [
        ("", 400), ("Refer-To: <sip:3000@hookswitch.test>, <sip:2@x>", 400), ("Refer-To: <mailto:x@y>", 416),
        ("Refer-To: <sip:x@y;z=\(String(repeating: "z", count: 2_048))>", 414),
        ("Refer-To: <sip:3000@hookswitch.test?Replaces=x>", 400),
    ])
    func `a REFER that says nothing clear is refused`(header: String, status: Int) throws {
        let call = try stage.bridge()
        call.fromCaller("REFER", headers: header.isEmpty ? [] : [header])
        #expect(call.caller.final(.refer, call.callerSequence)?.status == status)
        #expect(call.caller.request(.notify) == nil)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `outside of a bridge nobody is transferred`() throws {
        let caller = RawPeer(stage, 1)
        caller.request("REFER", "sip:2000@hookswitch.test", call: "outside", 1, headers: ["Refer-To: <\(Self.other)>"])
        #expect(caller.final(.refer, 1)?.status == 403)
        caller.request("INVITE", "sip:9196@hookswitch.test", call: "echo", 1, body: caller.description())
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:9196@hookswitch.test", call: "echo", 1, toTag: tag)
        caller.request("REFER", "sip:9196@hookswitch.test", call: "echo", 2, toTag: tag, headers: ["Refer-To: <\(Self.other)>"])
        #expect(caller.final(.refer, 2)?.status == 603)
        caller.request("BYE", "sip:9196@hookswitch.test", call: "echo", 3, toTag: tag)
        stage.expectQuiet()
    }

    @Test func `an INVITE with Replaces takes the place of the same party's call`() throws {
        let call = try stage.bridge()
        let phone = RawPeer(stage, 3)
        phone.request(
            "INVITE", BridgedCall.line, call: "otherphone", 1, body: phone.description("0 8"),
            headers: ["Replaces: bridged;to-tag=\(call.tag);from-tag=bridged"])
        let answer = try #require(phone.final(.invite, 1))
        #expect(answer.status == 200 && !phone.heard.contains { $0.status == 180 })
        phone.request("ACK", BridgedCall.line, call: "otherphone", 1, toTag: answer.to.tag)
        call.caller.answer(call.caller.request(.bye), 200)
        #expect(connectedMedia() == 2 && call.device.request(.bye) == nil)
        call.fromDevice("BYE")
        phone.answer(phone.request(.bye), 200)
        stage.expectQuiet()
        #expect(stage.endReasons == ["remoteEnded", "remoteEnded", "action"])
    }

    @Test func `nobody takes a call that rings at somebody else by the caller's side of it`() {
        let play = MappingPlay(), phone = RawPeer(play.stage, 4)
        play.invite()
        play.device.answer(play.device.request(.invite), 180)
        let ringing = play.caller.heard.last { $0.status == 180 }
        for (number, flag) in ["", ";early-only"].enumerated() {
            phone.request(
                "INVITE", MappingPlay.line, call: "take\(number)", 1, body: phone.description(),
                headers: ["Replaces: row;to-tag=\(ringing?.to.tag ?? "");from-tag=row\(flag)"])
            #expect(phone.heard.last { ($0.status ?? 0) >= 200 }?.status == 481)
        }
        play.device.answer(play.device.request(.invite), 486)
        play.finish()
    }

    /// RFC 4488 §4, RFC 3515 §2.4.5.
    @Test func `who transfers is told the end, also when whom it transfers has hung up; and may require not to be told`() throws {
        for isSilent in [false, true] {
            let stage = Stage { configuration in
                var other = LineConfiguration(number: "3000")
                other.isOpen = true
                configuration.lines.append(other)
            }
            let call = try stage.bridge(), third = RawPeer(stage, 3)
            third.request("REGISTER", Self.other, call: "third", 1)
            call.fromCaller(
                "REFER", headers: ["Refer-To: <\(Self.other)>"] + (isSilent ? ["Refer-Sub: false", "Require: norefersub"] : []))
            #expect(call.caller.final(.refer, call.callerSequence)?.status == 202)
            if let notify = call.caller.request(.notify) { call.caller.answer(notify, 200) }
            third.answer(third.request(.invite), 180)
            call.fromDevice("BYE")
            let last = call.caller.request(.notify)
            #expect((last?.headers["Subscription-State"]?.hasPrefix("terminated") == true) != isSilent)
            let order = call.caller.heard.filter { $0.isRequest && ($0.method == .notify || $0.method == .bye) }.map(\.method)
            #expect(order.last == .bye)
            if !isSilent { call.caller.answer(last, 200) }
            call.caller.answer(call.caller.request(.bye), 200)
            third.answer(third.request(.cancel), 200)
            third.answer(third.request(.invite), 487)
            stage.expectQuiet()
        }
    }

    @Test func `a Replaces that fits nothing is refused`() throws {
        let call = try stage.bridge()
        let phone = RawPeer(stage, 3)
        let good = "bridged;to-tag=\(call.tag);from-tag=bridged"
        let rows = [
            ("none;to-tag=a;from-tag=b", "<sip:peer@192.0.2.9>", 481), (good + ";early-only", "<sip:peer@192.0.2.9>", 486),
            ("nonsense", "<sip:peer@192.0.2.9>", 400),
            (good + ", " + good, "<sip:peer@192.0.2.9>", 400), (good, "<sip:thief@192.0.2.9>", 403),
        ]
        for (index, row) in rows.enumerated() {
            phone.request(
                "INVITE", BridgedCall.line, call: "replaces\(index)", 1, body: phone.description(), headers: ["Replaces: \(row.0)"],
                from: row.1)
            #expect(phone.heard.last { ($0.status ?? 0) >= 200 }?.status == row.2, "\(row)")
        }
        #expect(connectedMedia() == 2)
        call.hangUp()
        for (index, row) in [(1.0, 603), (32, 481)].enumerated() {
            stage.run(seconds: row.0)
            phone.request("INVITE", BridgedCall.line, call: "late\(index)", 1, body: phone.description(), headers: ["Replaces: \(good)"])
            let refusal = phone.heard.last { $0.callID == Text("late\(index)") && ($0.status ?? 0) >= 200 }
            #expect(refusal?.status == row.1, "a dialog that ended is remembered for a while")
        }
        stage.expectQuiet()
    }

    @Test func `we ask the far end to call somebody else, and our call ends when it did`() throws {
        let call = try stage.bridge()
        let uuid = try #require(stage.events(.reportIncoming).first?.call?.uuid)
        let target = try URI(parsing: "sip:4000@example.com")
        #expect(stage.gateway.refer(uuid, to: target, at: stage.world.now))
        stage.run(seconds: 0.1)
        let refer = try #require(call.caller.request(.refer))
        #expect(refer.headers[.referTo] == "<sip:4000@example.com>" && refer.headers[.referredBy] == "<sip:2000@hookswitch.test>")
        call.caller.answer(refer, 202)
        for (status, state) in [("180 Ringing", "active"), ("200 OK", "terminated;reason=noresource")] {
            call.fromCaller(
                "NOTIFY", body: "SIP/2.0 \(status)\r\n",
                headers: ["Event: refer", "Subscription-State: \(state)", "Content-Type: message/sipfrag"])
            #expect(call.caller.final(.notify, call.callerSequence)?.status == 200)
        }
        call.caller.answer(call.caller.request(.bye), 200)
        call.device.answer(call.device.request(.bye), 200)
        stage.expectQuiet()
        #expect(stage.endReasons == ["action", "action"])
    }
}

extension String {
    fileprivate var trimmingSuffix: String { Text(self).trimmed.description }
}
