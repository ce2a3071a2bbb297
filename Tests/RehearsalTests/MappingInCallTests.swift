import Gateway
import Media
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// Section 6 of the mapping, row by row: what happens within a call.
@Suite struct MappingInCallTests {
    private static func text(_ message: Message?) -> String { message.map { String(decoding: $0.body, as: UTF8.self) } ?? "" }
    private static func started(_ play: MappingPlay) -> Int { play.stage.gateway.counts(at: play.stage.world.now).media.started }

    /// The caller's re-INVITE with a description of its own, and the ACK.
    private static func reoffer(_ play: MappingPlay, _ sequence: Int, _ body: String, _ uri: String = MappingPlay.echo) {
        play.caller.request("INVITE", uri, call: "row", sequence, toTag: play.tag, body: body)
        play.caller.request("ACK", uri, call: "row", sequence, toTag: play.tag)
    }

    private static func echo(_ play: MappingPlay) {
        play.invite(MappingPlay.echo)
        play.acknowledge(MappingPlay.echo)
    }

    /// A description whose direction and address are where the row wants them.
    private static func description(media: String = "", session: String = "", address: String = "192.0.2.1") -> String {
        let kind = address.contains(":") ? "IP6" : "IP4"
        return
            (["v=0", "o=- 7 5 IN IP4 192.0.2.1", "s=-", "c=IN \(kind) \(address)", "t=0 0"] + (session.isEmpty ? [] : ["a=\(session)"])
            + ["m=audio 4000 RTP/AVP 0"] + (media.isEmpty ? [] : ["a=\(media)"]) + [""]).joined(separator: "\r\n")
    }

    private static let holds: [(name: String, body: String, answer: String, isHeld: Bool)] = [
        ("sendonly", description(media: "sendonly"), "recvonly", true), ("inactive", description(media: "inactive"), "inactive", true),
        ("recvonly", description(media: "recvonly"), "sendonly", false), ("0.0.0.0", description(address: "0.0.0.0"), "recvonly", true),
        ("::", description(address: "::"), "recvonly", true),
        ("session-level sendonly", description(session: "sendonly"), "recvonly", true),
        ("session-level sendonly, overridden by the media", description(media: "sendrecv", session: "sendonly"), "sendrecv", false),
        ("no direction at all", description(), "sendrecv", false),
    ]

    static let rows: [MappingRow] =
        holds.map { row in
            MappingRow("remote hold: \(row.name): answered \(row.answer), and isOnHold stays") { play in
                echo(play)
                reoffer(play, 2, row.body)
                let answer = play.caller.final(.invite, 2)
                #expect(answer?.status == 200 && text(answer).contains("a=\(row.answer)\r\n"))
                let events = play.stage.events(.remoteHold)
                #expect(
                    events.map { $0.details.flag(.on) } == (row.isHeld ? [true] : []) && events.allSatisfy { !$0.details.flag(.onHold) })
                reoffer(play, 3, description())
                #expect(text(play.caller.final(.invite, 3)).contains("a=sendrecv\r\n"))
                play.hangUp(MappingPlay.echo)
            }
        } + [
            MappingRow("local hold: the media stops, fulfilled at once, re-INVITE sendonly with a higher version") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                let invite = try play.called
                #expect(text(invite).contains("a=sendonly\r\n") && started(play) == 1)
                #expect(play.stage.events(.actionFulfilled).contains { $0.details.text(.class) == "held" })
                play.device.answer(invite, 200, body: play.device.description("0", "recvonly", version: 2))
                play.hangUp()
            },
            MappingRow("local hold that is refused: held all the same") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                play.device.answer(try play.called, 488)
                #expect(started(play) == 1 && play.stage.events(.callEnded).isEmpty)
                play.hangUp()
            },
            MappingRow("local resume: fulfilled and started by the 2xx") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                play.device.answer(try play.called, 200, body: play.device.description("0", "recvonly", version: 2))
                reoffer(play, 3, description(), MappingPlay.line)
                #expect(started(play) == 1)
                let invite = try play.called
                #expect(text(invite).contains("a=sendrecv\r\n"))
                play.device.answer(invite, 200, body: play.device.description("0", version: 3))
                #expect(started(play) == 2)
                play.hangUp()
            },
            MappingRow("both held: the callee holds, too, and the caller's resume alone starts nothing at the callee") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                play.device.answer(try play.called, 200, body: play.device.description("0", "inactive", version: 2))
                #expect(started(play) <= 1)
                reoffer(play, 3, description(), MappingPlay.line)
                play.device.answer(try play.called, 200, body: play.device.description("0", "sendonly", version: 3))
                #expect(play.stage.events(.callEnded).isEmpty)
                play.hangUp()
            },
            MappingRow("port 0: answered with port 0, the call goes on without sound") { play in
                echo(play)
                reoffer(play, 2, play.caller.description(version: 2, port: 0))
                #expect(
                    text(play.caller.final(.invite, 2)).contains("m=audio 0 ") && started(play) == 0
                        && play.stage.events(.callEnded).isEmpty)
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("re-INVITE without a description: 200 with our offer, answered in the ACK") { play in
                echo(play)
                play.caller.request("INVITE", MappingPlay.echo, call: "row", 2, toTag: play.tag)
                #expect(text(play.caller.final(.invite, 2)).contains("a=sendrecv\r\n"))
                play.caller.request("ACK", MappingPlay.echo, call: "row", 2, toTag: play.tag, body: description(media: "sendonly"))
                #expect(play.stage.events(.remoteHold).count == 1)
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("re-INVITE without a description whose ACK has none either: everything is as before") { play in
                echo(play)
                play.caller.request("INVITE", MappingPlay.echo, call: "row", 2, toTag: play.tag)
                play.caller.request("ACK", MappingPlay.echo, call: "row", 2, toTag: play.tag)
                play.stage.run(seconds: 1)
                #expect(play.stage.events(.callEnded).isEmpty && play.caller.request(.bye) == nil && started(play) == 1)
                reoffer(play, 3, play.caller.description(version: 2))
                #expect(play.caller.final(.invite, 3)?.status == 200, "and another offer is taken")
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("an offer that cannot be taken: 488 with Warning, and the session is as it was") { play in
                echo(play)
                play.caller.request(
                    "INVITE", MappingPlay.echo, call: "row", 2, toTag: play.tag, body: play.caller.description("18", version: 2))
                let answer = play.caller.final(.invite, 2)
                #expect(answer?.status == 488 && answer?.headers[.warning]?.hasPrefix("305 ") == true && started(play) == 1)
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("glare: 491 while our re-INVITE is under way") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                let ours = try play.called
                play.device.request("INVITE", in: ours, 1, body: play.device.description("0", version: 2))
                #expect(play.device.final(.invite, 1)?.status == 491)
                play.device.request("UPDATE", in: ours, 2, body: play.device.description("0", version: 2))
                #expect(play.device.final(.update, 2)?.status == 491)
                play.device.answer(ours, 200, body: play.device.description("0", "recvonly", version: 3))
                play.hangUp()
            },
            MappingRow("glare: our re-INVITE that is answered 491 is sent again after 2.1–4 s, for the Call-ID is ours") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                let first = try play.called
                play.device.answer(first, 491)
                play.stage.run(seconds: 1.9)
                #expect(try play.called.cseq.number == first.cseq.number)
                play.stage.run(seconds: 2.1)
                let again = try play.called
                #expect(again.cseq.number > first.cseq.number && text(again).contains("a=sendonly"))
                play.device.answer(again, 200, body: play.device.description("0", "recvonly", version: 3))
                play.hangUp()
            },
            MappingRow("glare: a hold that is answered 491 and taken back meanwhile is not sent again, but what is wanted by then") {
                play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                let first = try play.called
                play.device.answer(first, 491)
                reoffer(play, 3, description(), MappingPlay.line)
                play.stage.run(seconds: 4.1)
                let again = try play.called
                #expect(again.cseq.number > first.cseq.number && text(again).contains("a=sendrecv"))
                play.device.answer(again, 200, body: play.device.description("0", version: 2))
                play.stage.run(seconds: 5)
                #expect(try play.called.cseq.number == again.cseq.number && started(play) == 2)
                play.hangUp()
            },
        ]
        + [404, 408, 410, 416, 481, 482, 483, 484, 485, 502, 604].map { status in
            MappingRow("re-INVITE fails with \(status): failed, BYE") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                play.device.answer(try play.called, status)
                play.device.answer(try play.device.received(.bye), 481)
                play.caller.answer(try play.caller.received(.bye), 200)
                #expect(play.reasons(of: .reportEnded) == ["failed"])
            }
        }
        + [403, 480, 486, 500, 503, 600, 603].map { status in
            MappingRow("re-INVITE fails with \(status): the call goes on") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                play.device.answer(try play.called, status)
                play.stage.run(seconds: 1)
                #expect(play.device.request(.bye) == nil && play.stage.events(.callEnded).isEmpty)
                play.hangUp()
            }
        } + [
            MappingRow("video offered: its stream is refused with port 0, in its place") { play in
                echo(play)
                reoffer(play, 2, play.caller.description(version: 2) + "m=video 4002 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\n")
                #expect(text(play.caller.final(.invite, 2)).contains("m=video 0 RTP/AVP 96"))
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("OPTIONS in the call: 200 with what we allow") { play in
                echo(play)
                play.caller.request("OPTIONS", MappingPlay.echo, call: "row", 2, toTag: play.tag)
                let answer = play.caller.final(.options, 2)
                #expect(
                    answer?.status == 200 && answer?.headers.lists("REFER", in: .allow) == true
                        && answer?.headers.lists("timer", in: .supported) == true)
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("INFO in the call: 200, and it goes to the other leg") { play in
                try play.talk()
                play.caller.request(
                    "INFO", MappingPlay.line, call: "row", 2, toTag: play.tag, body: "Signal=5\r\nDuration=160\r\n",
                    headers: ["Content-Type: application/dtmf-relay"])
                #expect(play.caller.final(.info, 2)?.status == 200)
                let passed = try play.device.received(.info)
                #expect(passed.contentType == "application/dtmf-relay" && text(passed) == "Signal=5\r\nDuration=160\r\n")
                play.device.answer(passed, 200)
                play.hangUp()
            },
            MappingRow("another method in the call: 405 with Allow; an event: 489") { play in
                echo(play)
                for (sequence, method, status) in [(2, "FROBNICATE", 405), (3, "SUBSCRIBE", 489), (4, "PUBLISH", 489)] {
                    play.caller.request(method, MappingPlay.echo, call: "row", sequence, toTag: play.tag)
                    #expect(play.caller.heard.last?.status == status && play.caller.heard.last?.headers.contains(.allow) == true)
                }
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("a request after the end: 481, and the media stays closed") { play in
                echo(play)
                play.caller.request("BYE", MappingPlay.echo, call: "row", 2, toTag: play.tag)
                reoffer(play, 3, description())
                #expect(play.caller.final(.invite, 3)?.status == 481 && play.stage.media.openLegs == 0)
            },
            MappingRow("the caller ends while the callee is held: no resume, both are over") { play in
                try play.talk()
                reoffer(play, 2, description(media: "sendonly"), MappingPlay.line)
                play.device.answer(try play.called, 200, body: play.device.description("0", "recvonly", version: 2))
                play.hangUp()
                #expect(play.device.heard.filter { $0.isRequest && $0.method == .invite }.count == 2)
            },
        ]

    @Test(arguments: rows)
    func `section 6`(row: MappingRow) throws {
        let play = MappingPlay()
        try row.play(play)
        play.finish()
    }
}
