import Gateway
import Media
import Primitives
import SDP
import SIP
import Testing

@testable import Rehearsal

/// Section 3 of the mapping, row by row: what becomes of a call that we make.
@Suite struct MappingOutgoingTests {
    private static func refusals(_ statuses: [Int], _ ended: String, ringing: Bool = false) -> [MappingRow] {
        statuses.map { status in
            MappingRow("O7: \(status)\(ringing ? " after ringing" : ""): \(ended)") { play in
                play.invite()
                if ringing { play.device.answer(try play.called, 180) }
                play.device.answer(try play.called, status)
                #expect(play.device.request(.ack) != nil)
                #expect(play.reasons(of: .reportEnded) == [ended])
                #expect(play.answer != nil)
            }
        }
    }

    static let rows: [MappingRow] =
        [
            MappingRow("O1: the INVITE with its offer leaves inside of the start, which is fulfilled then") { play in
                play.invite()
                let called = try play.called
                #expect(!called.body.isEmpty)
                try play.expectOrder(.performStart, .mediaReserved, .mediaConfigured, .sipSent, .actionFulfilled, of: 1)
                play.cancel()
            },
            MappingRow("O1: without a port the start fails, and no INVITE leaves") { play in
                let ports = (0..<100).compactMap { _ in try? play.stage.media.reserve(at: play.stage.world.now) }
                #expect(ports.count == 99 || ports.count == 100)
                for port in ports.dropFirst(ports.count - 1) { try play.stage.media.release(port, at: play.stage.world.now) }
                play.stage.run(seconds: 2)
                play.invite()
                #expect(play.device.request(.invite) == nil && play.answer?.status == 503)
                for port in ports.dropLast() { try play.stage.media.release(port, at: play.stage.world.now) }
            },
            MappingRow("O2: 100 says nothing") { play in
                play.invite()
                play.device.answer(try play.called, 100)
                #expect(play.stage.events(.reportConnecting).isEmpty)
                play.cancel()
            },
            MappingRow("O3: the first 18x is reported, once; early media opens nothing") { play in
                play.invite()
                play.device.answer(try play.called, 180)
                play.device.answer(try play.called, 183, body: play.device.description("0"))
                #expect(play.stage.events(.reportConnecting).count == 1 && play.stage.events(.earlyMediaIgnored).count == 1)
                #expect(play.stage.media.openLegs == 0)
                play.cancel()
            },
            MappingRow("O4: 2xx: opened, ACK, connected, started; the 2xx of another fork gets ACK and BYE") { play in
                play.invite()
                play.device.answer(try play.called, 200, body: play.device.description("0"))
                #expect(play.device.request(.ack) != nil && play.stage.events(.reportConnected).count == 1)
                try play.expectOrder(.mediaOpened, .reportConnected, .mediaStarted, of: 1)
                play.device.answer(try play.called, 200, body: play.device.description("0"), tag: "fork")
                let byes = play.device.heard.filter { $0.isRequest && $0.method == .bye }
                #expect(byes.map { $0.to.tag } == ["fork"])
                play.device.answer(byes[0], 200)
                play.acknowledge()
                play.hangUp()
            },
            MappingRow("O4: another program has the port: the next is opened, and a re-INVITE names it") { play in
                play.invite()
                let called = try play.called
                play.stage.media.nextBindsFail = 1
                play.device.answer(called, 200, body: play.device.description("0"))
                let opened = try #require(play.stage.events(.mediaOpened).first?.details.number(.port))
                let first = try SessionDescription(parsing: called.body)
                #expect(first.media[0].port != UInt16(opened))
                let invites = play.device.heard.filter { $0.isRequest && $0.method == .invite }
                #expect(invites.count == 2 && play.device.request(.ack) != nil)
                let again = try #require(invites.last), session = try SessionDescription(parsing: again.body)
                #expect(session.media[0].port == UInt16(opened) && session.origin.version != first.origin.version)
                play.device.answer(again, 200, body: play.device.description("0"))
                play.acknowledge()
                play.hangUp()
            },
            MappingRow("O5: 3xx: its contact is called under the same UUID") { play in
                play.invite()
                let first = try play.called
                play.device.answer(first, 302, contact: "<sip:peer@192.0.2.3:5060>")
                let next = try #require(play.second.request(.invite))
                #expect(next.callID == first.callID && next.cseq.number > first.cseq.number)
                play.second.answer(next, 486)
                #expect(play.stage.events(.performStart).count == 1 && play.answer?.status == 486)
            },
            MappingRow("O6: 422: again, with the interval that was asked for") { play in
                play.invite()
                let first = try play.called
                play.device.answer(first, 422, headers: [(.minSE, "3600")])
                let next = try play.called
                #expect(next.cseq.number > first.cseq.number && next.headers[.minSE] == "3600" && next.headers[.sessionExpires] == "3600")
                play.device.answer(next, 486)
                #expect(play.stage.events(.performStart).count == 1)
            },
        ] + refusals([486, 600, 480], "unanswered") + refusals([603, 607], "remoteEnded")
        + refusals([503, 500, 502, 504, 608, 403, 404, 410, 484, 485, 488, 415, 606, 604, 421, 433, 482, 483, 401, 407], "failed")
        + refusals([408], "unanswered", ringing: true) + refusals([408], "failed") + refusals([487], "unanswered") + [
            MappingRow(
                "O7: a device that is busy for a while says how long; one that wants to be left alone does not speak for the gateway"
            ) { play in
                for (status, near, seconds) in [(486, 486, "30"), (503, 500, nil)] as [(Int, Int, Text?)] {
                    play.caller.request("INVITE", MappingPlay.line, call: "retry\(status)", status, body: play.caller.description())
                    play.device.answer(try play.called, status, headers: [(.retryAfter, "30")])
                    let answer = try #require(play.caller.final(.invite, status))
                    #expect(answer.status == near && answer.headers[.retryAfter] == seconds)
                }
            },
            MappingRow("O8: ended before any provisional response: the CANCEL waits for one") { play in
                play.invite()
                try play.end(1)
                #expect(play.device.request(.cancel) == nil)
                play.device.answer(try play.called, 100)
                let cancel = try #require(play.device.request(.cancel))
                #expect(cancel.headers[.reason]?.hasPrefix("Q.850;cause=16") == true)
                play.device.answer(cancel, 200)
                play.device.answer(try play.called, 487)
            },
            MappingRow("O9: a 200 that crosses the CANCEL gets ACK and BYE, and nothing is opened") { play in
                play.invite()
                play.device.answer(try play.called, 180)
                play.cancel()
                play.device.answer(try play.called, 200, body: play.device.description("0"))
                #expect(play.device.request(.ack) != nil && play.stage.events(.mediaOpened).isEmpty)
                play.device.answer(try play.device.received(.bye), 200)
                play.device.answer(play.device.request(.cancel), 200)
            },
        ]
        + [200, 481, 408].map { status in
            MappingRow("O10: our BYE says normal clearing, and \(status) to it is as good as another") { play in
                try play.talk()
                try play.end(1)
                let bye = try #require(play.device.request(.bye))
                #expect(bye.headers[.reason] == "Q.850;cause=16;text=\"Normal call clearing\"")
                play.device.answer(bye, status)
                play.caller.answer(play.caller.request(.bye), status)
                #expect(play.reasons(of: .callEnded) == ["action", "action"])
            }
        } + [
            MappingRow("O11: rung too long: CANCEL with SIP;cause=408, unanswered") { play in
                play.invite()
                play.device.answer(try play.called, 180)
                play.stage.run(seconds: 61)
                let cancel = try #require(play.device.request(.cancel))
                #expect(cancel.reasons.first == Reason(protocol: "SIP", cause: 408, text: "Request Timeout"))
                #expect(play.stage.events(.reportEnded).first?.details.text(.reason) == "unanswered")
                play.device.answer(cancel, 200)
                play.device.answer(try play.called, 487)
            },
            MappingRow("O11: nobody there, and the network says so: failed soon, and the caller hears of this device alone") { play in
                play.stage.network.desert(play.device.address)
                play.invite()
                play.stage.run(seconds: 0.5)
                #expect(play.answer?.status == 480 && play.answer?.reasons.map(\.cause) == [20])
                #expect(play.reasons(of: .reportEnded) == ["failed"])
            },
            MappingRow("O11: of two devices one is not there any more: the other goes on ringing") { play in
                play.registerSecond()
                play.stage.network.desert(play.device.address)
                play.invite()
                play.second.answer(play.second.request(.invite), 180)
                play.stage.run(seconds: 0.6)
                #expect(play.answer == nil)
                play.second.answer(play.second.request(.invite), 486)
                #expect(play.answer?.status == 486)
            },
            MappingRow("O11: nobody there: failed after 64·T1") { play in
                play.invite()
                play.stage.run(seconds: 33)
                #expect(play.stage.events(.reportEnded).first?.details.text(.reason) == "failed" && play.answer?.status == 408)
            },
            MappingRow("O12: 199 ends one of several early dialogs, and another may answer") { play in
                play.invite()
                play.device.answer(try play.called, 180, tag: "one")
                play.device.answer(try play.called, 180, tag: "two")
                play.device.answer(try play.called, 199, tag: "one")
                #expect(play.stage.events(.callEnded).isEmpty)
                play.device.answer(try play.called, 200, body: play.device.description("0"), tag: "two")
                play.acknowledge()
                #expect(play.stage.gateway.counts(at: play.stage.world.now).media.started == 2)
                play.hangUp()
            },
        ]

    @Test(arguments: [true, false])
    func `nobody there is forgotten until it registers again, also when it does so meanwhile`(returns: Bool) {
        let stage = Stage(), caller = RawPeer(stage, 1), gone = RawPeer(stage, 2), back = RawPeer(stage, 3)
        gone.request("REGISTER", BridgedCall.line, call: "first", 1, contact: "<sip:peer@10.0.0.9:5060>")
        caller.request("INVITE", BridgedCall.line, call: "one", 1, body: caller.description())
        #expect(gone.request(.invite) != nil)
        stage.run(seconds: 10)
        if returns { back.request("REGISTER", BridgedCall.line, call: "second", 1, contact: "<sip:peer@10.0.0.9:5060>") }
        stage.run(seconds: 25)
        #expect(caller.final(.invite, 1)?.status == 408)
        caller.request("INVITE", BridgedCall.line, call: "two", 2, body: caller.description())
        #expect((back.request(.invite) != nil) == returns && (caller.final(.invite, 2)?.status == 480) == !returns)
    }

    @Test(arguments: rows)
    func `section 3`(row: MappingRow) throws {
        let play = MappingPlay { configuration in
            configuration.media.ports = 20_000...20_199
            configuration.limits.dropsDeadContacts = false
        }
        try row.play(play)
        play.finish()
    }
}
