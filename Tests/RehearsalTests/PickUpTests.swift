import CallKit
import Media
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// A call that rings at one telephone and is taken at another (RFC 3891), and transfers that do not wait for the answer.
@Suite struct PickUpTests {
    static let other = "sip:3000@hookswitch.test"
    let play = MappingPlay { configuration in
        var other = LineConfiguration(number: "3000")
        other.isOpen = true
        configuration.lines.append(other)
    }

    private func phone() -> RawPeer { RawPeer(play.stage, 7) }

    /// Takes the dialog that this INVITE of the gateway's made with the device.
    private func pickUp(_ phone: RawPeer, _ invite: Message, more: String = "", from sender: String = "<sip:3000@hookswitch.test>") {
        let dialog = "\(invite.callID);to-tag=\(invite.from.tag ?? "");from-tag=\(play.device.tag)\(more)"
        phone.request(
            "INVITE", Self.other, call: "pick", 1, body: phone.description("0 8"), headers: ["Replaces: \(dialog)", "Require: replaces"],
            from: sender)
    }

    private var started: Int { play.stage.gateway.counts(at: play.stage.world.now).media.started }

    @Test(arguments: ["", ";early-only"])
    func `another line of the house takes a call that rings`(flag: String) throws {
        let phone = phone()
        play.registerSecond()
        play.invite()
        let invite = try play.called
        play.device.answer(invite, 180)
        play.second.answer(play.second.request(.invite), 180)
        pickUp(phone, invite, more: flag)
        let taken = try #require(phone.final(.invite, 1))
        #expect(taken.status == 200 && play.answer?.status == 200)
        phone.request("ACK", Self.other, call: "pick", 1, toTag: taken.to.tag)
        play.acknowledge()
        for device in [play.device, play.second] {
            let cancel = try device.received(.cancel)
            #expect(cancel.reasons.first?.isSIP == true && cancel.reasons.first?.cause == 200)
            device.answer(cancel, 200)
            device.answer(device.request(.invite), 487)
        }
        #expect(started == 2)
        #expect(play.reasons(of: .reportEnded) == ["answeredElsewhere", "answeredElsewhere"])
        phone.request("BYE", Self.other, call: "pick", 2, toTag: taken.to.tag)
        #expect(play.caller.request(.bye) != nil)
        play.caller.answer(play.caller.request(.bye), 200)
        let recents = play.stage.gateway.recents(ofLine: "2000") ?? []
        #expect(
            recents.map(\.handle) == ["sip:peer@192.0.2.9"] && recents.map(\.outcome) == [.answered],
            "the call once, and not that it was taken")
        play.finish()
    }

    /// The lines of who takes a call, and of whom it rang for.
    private func lines(_ play: MappingPlay) throws -> (taker: Line, called: Line) {
        let lines = play.stage.gateway.lines
        return (try #require(lines.first { $0.configuration.number == "3000" }), lines[0])
    }

    @Test func `who takes a call has the limits of its own line, and has a conversation until it is over`() throws {
        let play = MappingPlay { configuration in
            var other = LineConfiguration(number: "3000")
            (other.isOpen, other.maximumDuration) = (true, .seconds(20))
            configuration.lines.append(other)
        }
        let phone = RawPeer(play.stage, 7), (taker, called) = try lines(play)
        func conversations() -> [Int] { [taker, called].map { play.stage.gateway.conversations(of: $0) } }
        play.invite()
        play.device.answer(try play.called, 180)
        try pickUp(phone, play.called)
        phone.request("ACK", Self.other, call: "pick", 1, toTag: phone.final(.invite, 1)?.to.tag)
        play.acknowledge()
        play.device.answer(try play.device.received(.cancel), 200)
        play.device.answer(try play.called, 487)
        #expect(conversations() == [1, 1])
        play.stage.run(seconds: 18)
        #expect(phone.request(.bye) == nil)
        play.stage.run(seconds: 3)
        phone.answer(try phone.received(.bye), 200)
        play.caller.answer(try play.caller.received(.bye), 200)
        #expect(conversations() == [0, 0])
        #expect(
            play.stage.gateway.recents(ofLine: "3000")?.isEmpty == true,
            "a call that was taken is in the recents of the line that it was for")
        play.finish()
    }

    @Test func `a line that takes a call of its own has the one conversation`() throws {
        let phone = phone(), (_, called) = try lines(play)
        play.invite()
        play.device.answer(try play.called, 180)
        try pickUp(phone, play.called, from: "<sip:2000@hookswitch.test>")
        #expect(phone.final(.invite, 1)?.status == 200 && play.stage.gateway.conversations(of: called) == 1)
    }

    /// RFC 3891 §3.
    @Test(arguments: [true, false]) func `who would take it when it is answered or over is told so`(isAnswered: Bool) throws {
        let phone = phone()
        play.invite()
        let invite = try play.called
        play.device.answer(invite, isAnswered ? 200 : 486, body: isAnswered ? play.device.description("0") : "")
        if isAnswered { play.acknowledge() }
        pickUp(phone, invite, more: ";early-only")
        #expect(phone.final(.invite, 1)?.status == (isAnswered ? 486 : 603))
        if isAnswered { play.hangUp() }
        play.finish()
    }

    @Test func `a line with room for one call has it taken, and room for no other`() throws {
        let play = MappingPlay { configuration in
            configuration.lines[0].maximumCalls = 1
            var other = LineConfiguration(number: "3000")
            other.isOpen = true
            configuration.lines.append(other)
        }
        let phone = RawPeer(play.stage, 7)
        play.invite()
        let invite = try play.called
        play.device.answer(invite, 180)
        let dialog = "\(invite.callID);to-tag=\(invite.from.tag ?? "");from-tag=\(play.device.tag)"
        phone.request(
            "INVITE", Self.other, call: "pick", 1, body: phone.description("0 8"), headers: ["Replaces: \(dialog)", "Require: replaces"],
            from: "<sip:3000@hookswitch.test>")
        let line = play.stage.gateway.lines[0]
        #expect(phone.final(.invite, 1)?.status == 200 && play.stage.gateway.conversations(of: line) == 1)
        #expect(line.provider.configuration.maximumCallGroups == 1)
    }

    @Test func `a call that was taken is one of those that its line has room for`() throws {
        let play = MappingPlay { configuration in
            configuration.lines[0].maximumCalls = 2
            var other = LineConfiguration(number: "3000")
            other.isOpen = true
            configuration.lines.append(other)
        }
        let phone = RawPeer(play.stage, 7), later = RawPeer(play.stage, 8)
        play.invite()
        play.device.answer(try play.called, 180)
        pickUp(phone, try play.called)
        #expect(phone.final(.invite, 1)?.status == 200)
        later.request("INVITE", MappingPlay.line, call: "second", 1, body: later.description())
        play.device.answer(try play.called, 180)
        #expect(later.heard.last?.status == 180)
        later.request("INVITE", MappingPlay.line, call: "third", 2, body: later.description())
        #expect(later.final(.invite, 2)?.status == 486)
        #expect(play.stage.gateway.lines[0].provider.configuration.maximumCallGroups == 2)
    }

    @Test func `after a call was taken its line is as much in quiet as before`() throws {
        let phone = phone()
        play.invite()
        play.device.answer(try play.called, 180)
        pickUp(phone, try play.called)
        #expect(phone.final(.invite, 1)?.status == 200)
        let line = play.stage.gateway.lines[0]
        _ = line.features.setDoNotDisturb(true)
        #expect(line.features.wouldRefuse(CXCallUpdate()))
    }

    @Test func `who is no line of the house takes nothing, and nobody takes a call that rings for himself`() throws {
        let phone = phone()
        play.invite()
        play.device.answer(try play.called, 180)
        pickUp(phone, try play.called, from: "<sip:stranger@192.0.2.9>")
        #expect(phone.final(.invite, 1)?.status == 403)
        // The early dialog with the caller is one that we did not begin (RFC 3891 §3).
        let tag = try #require(play.caller.heard.last { $0.status == 180 }?.to.tag)
        phone.request(
            "INVITE", Self.other, call: "own", 2, body: phone.description(), headers: ["Replaces: row;to-tag=\(tag);from-tag=row"],
            from: "<sip:2000@hookswitch.test>")
        #expect(phone.final(.invite, 2)?.status == 481)
        #expect(play.device.request(.cancel) == nil && play.answer == nil)
        play.cancel()
        play.device.answer(try play.called, 487)
        play.finish()
    }

    @Test func `a telephone that answers while its call is taken gets its ACK and BYE`() throws {
        let phone = phone()
        play.invite()
        let invite = try play.called
        play.device.answer(invite, 180)
        pickUp(phone, invite)
        play.device.answer(invite, 200, body: play.device.description("0"))
        #expect(play.device.request(.ack) != nil && play.device.request(.bye) != nil)
        play.device.answer(play.device.request(.bye), 200)
        #expect(started == 2 && phone.final(.invite, 1)?.status == 200)
        phone.request("ACK", Self.other, call: "pick", 1, toTag: phone.final(.invite, 1)?.to.tag)
        play.acknowledge()
        play.caller.request("BYE", MappingPlay.line, call: "row", 2, toTag: play.tag)
        phone.answer(phone.request(.bye), 200)
        play.finish()
    }

    @Test(arguments: [200, 486])
    func `an attended transfer to a call that still rings`(status: Int) throws {
        let third = RawPeer(play.stage, 5)
        third.request("REGISTER", Self.other, call: "third", 1)
        try play.talk()
        // The caller consults, and does not wait for the answer.
        play.caller.request("INVITE", Self.other, call: "consult", 1, body: play.caller.description())
        let consultation = try third.received(.invite)
        third.answer(consultation, 180)
        let tag = try #require(play.caller.heard.last { $0.status == 180 && $0.callID == "consult" }?.to.tag), first = play.tag
        play.caller.request(
            "REFER", MappingPlay.line, call: "row", 2, toTag: first,
            headers: ["Refer-To: <\(Self.other)?Replaces=consult%3Bto-tag%3D\(tag)%3Bfrom-tag%3Dconsult>"])
        #expect(play.caller.final(.refer, 2)?.status == 202)
        #expect(play.caller.heard.last { ($0.status ?? 0) >= 300 && $0.callID == "consult" }?.status == 480, "its own call is over")
        third.answer(consultation, status, body: status == 200 ? third.description("0") : "")
        let told = play.caller.heard.last { $0.isRequest && $0.method == .notify }.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(told?.hasPrefix("SIP/2.0 \(status)") == true)
        for notify in play.caller.heard where notify.isRequest && notify.method == .notify { play.caller.answer(notify, 200) }
        #expect(third.request(.cancel) == nil && started == 2)
        if status == 200 {
            play.caller.answer(play.caller.request(.bye), 200)
            third.request("BYE", in: consultation, 2)
            play.device.answer(play.device.request(.bye), 200)
        } else {
            play.caller.request("BYE", MappingPlay.line, call: "row", 9, toTag: first)
            play.device.answer(play.device.request(.bye), 200)
        }
        play.finish()
    }
}
