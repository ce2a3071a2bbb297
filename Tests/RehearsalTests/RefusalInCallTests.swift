import Gateway
import Media
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// What a far end refuses within a call, and what is refused to it.
@Suite struct RefusalInCallTests {
    /// RFC 3264 §6: port 0 is an answer like any other.
    @Test func `port 0 in the ACK takes the sound away, and the call goes on`() throws {
        let play = MappingPlay()
        play.invite(MappingPlay.echo)
        play.acknowledge(MappingPlay.echo)
        play.caller.request("INVITE", MappingPlay.echo, call: "row", 2, toTag: play.tag)
        play.caller.request("ACK", MappingPlay.echo, call: "row", 2, toTag: play.tag, body: play.caller.description(version: 2, port: 0))
        play.stage.run(seconds: 1)
        #expect(play.caller.request(.bye) == nil && play.stage.events(.callEnded).isEmpty)
        #expect(play.stage.gateway.counts(at: play.stage.world.now).media.started == 0)
        play.caller.request("INVITE", MappingPlay.echo, call: "row", 3, toTag: play.tag, body: play.caller.description(version: 3))
        play.caller.request("ACK", MappingPlay.echo, call: "row", 3, toTag: play.tag)
        #expect(play.stage.gateway.counts(at: play.stage.world.now).media.started == 1, "an offer brings it back")
        play.hangUp(MappingPlay.echo)
        play.finish()
    }

    /// RFC 3264 §8: a stream that was taken away stays away until whoever took it offers it again.
    @Test func `a refresh of ours by re-INVITE does not offer sound that was taken away`() throws {
        let stage = Stage(), caller = RawPeer(stage, 1), echo = "sip:9196@hookswitch.test"
        caller.request("INVITE", echo, call: "echo", 1, body: caller.description(), headers: ["Allow: INVITE"])
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", echo, call: "echo", 1, toTag: tag)
        caller.request(
            "INVITE", echo, call: "echo", 2, toTag: tag, body: caller.description(version: 2, port: 0), headers: ["Allow: INVITE"])
        caller.request("ACK", echo, call: "echo", 2, toTag: tag)
        stage.run(seconds: 901)
        let refresh = try #require(caller.request(.invite))
        #expect(String(decoding: refresh.body, as: UTF8.self).contains("m=audio 0 "))
        caller.answer(refresh, 200, body: caller.description(version: 2, port: 0))
        stage.run(seconds: 5)
        #expect(caller.heard.last { $0.isRequest }?.method == .ack && stage.gateway.counts(at: stage.world.now).media.started == 0)
        caller.request("INVITE", echo, call: "echo", 3, toTag: tag, body: caller.description(version: 3), headers: ["Allow: INVITE"])
        caller.request("ACK", echo, call: "echo", 3, toTag: tag)
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 1, "an offer brings it back")
        caller.request("BYE", echo, call: "echo", 4, toTag: tag)
        stage.expectQuiet()
    }

    @Test(arguments: [(HeaderName.contentEncoding, "gzip" as Text), (.contentDisposition, "render")])
    func `a 200 whose body is not the session's has no answer`(header: HeaderName, value: Text) throws {
        let stage = Stage(), caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "bridged", 1, body: caller.description())
        device.answer(try device.received(.invite), 200, body: device.description(), headers: [(header, value)])
        device.answer(try device.received(.bye), 200)
        #expect(caller.final(.invite, 1)?.status == 488, "\(String(describing: caller.final(.invite, 1)?.status))")
        stage.expectQuiet()
    }

    @Test(arguments: [("", false), ("an answer that is none", true)])
    func `an ACK without an answer leaves the call as it is, and one that cannot be read ends it`(answer: String, ends: Bool) throws {
        let play = MappingPlay()
        play.invite(MappingPlay.echo)
        play.acknowledge(MappingPlay.echo)
        play.caller.request("INVITE", MappingPlay.echo, call: "row", 2, toTag: play.tag)
        play.caller.request("ACK", MappingPlay.echo, call: "row", 2, toTag: play.tag, body: answer)
        #expect((play.caller.request(.bye) != nil) == ends)
        if ends { play.caller.answer(play.caller.request(.bye), 200) } else { play.hangUp(MappingPlay.echo) }
        play.finish()
    }

    @Test func `a REFER that asks for another request than an INVITE is refused, and calls nobody`() throws {
        let stage = Stage { configuration in
            var other = LineConfiguration(number: "3000")
            other.isOpen = true
            configuration.lines.append(other)
        }
        let call = try stage.bridge(), third = RawPeer(stage, 3)
        third.request("REGISTER", "sip:3000@hookswitch.test", call: "third", 1)
        for method in ["MESSAGE", "BYE", "SUBSCRIBE"] {
            call.fromCaller("REFER", headers: ["Refer-To: <sip:3000@hookswitch.test;method=\(method)>"])
            #expect(call.caller.final(.refer, call.callerSequence)?.status == 501)
        }
        #expect(third.request(.invite) == nil && call.caller.request(.notify) == nil)
        call.fromCaller("REFER", headers: ["Refer-To: <sip:3000@hookswitch.test;method=INVITE>"])
        let accepted = call.caller.final(.refer, call.callerSequence)
        #expect(accepted?.status == 202 && accepted?.contact != nil)
        third.answer(third.request(.invite), 486)
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        call.hangUp()
        stage.expectQuiet()
    }

    /// As the video of a browser is, which is refused anyway.
    @Test func `a stream of hundreds of lines does not spoil an offer, and one beyond all measure is called too large`() throws {
        for (lines, status) in [(300, 200), (1_100, 488)] {
            let play = MappingPlay(), video = "m=video 5000 RTP/AVP 96\r\n" + String(repeating: "a=rtcp-fb:96 nack\r\n", count: lines)
            play.caller.request("INVITE", MappingPlay.echo, call: "row", 1, body: play.caller.description("0") + video)
            #expect(play.answer?.status == status)
            if status == 488 {
                #expect(play.answer?.headers[.warning].map { "\($0)".contains("too large") } == true)
                play.acknowledge(MappingPlay.echo)
            } else {
                let answer = try #require(play.answer)
                #expect(String(decoding: answer.body, as: UTF8.self).contains("m=video 0 "))
                play.acknowledge(MappingPlay.echo)
                play.hangUp(MappingPlay.echo)
            }
            play.finish()
        }
    }
}
