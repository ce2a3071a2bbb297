import Gateway
import Media
import Primitives
import SDP
import SIP
import Testing

@testable import Rehearsal

/// Section 2 of the mapping, row by row: what the network does with an incoming call.
@Suite struct MappingIncomingTests {
    static let rows: [MappingRow] =
        [
            MappingRow("I1: 100 comes first, at once") { play in
                let begin = play.stage.world.now
                play.invite()
                #expect(play.caller.heard.first?.status == 100 && play.stage.world.now - begin <= .milliseconds(200))
                play.cancel()
            },
            MappingRow("I2: reported when a port is reserved and nothing is open") { play in
                play.invite()
                try play.expectOrder(.mediaReserved, .reportIncoming, .reportIncomingAccepted)
                #expect(play.stage.media.openLegs == 0)
                play.cancel()
            },
            MappingRow("I3: 180 without a description, and again every minute") { play in
                play.invite()
                let ringing = { play.caller.heard.filter { $0.status == 180 } }
                #expect(ringing().isEmpty && play.stage.events(.reportIncomingAccepted).count == 1, "reported, and nothing rings yet")
                play.device.answer(try play.called, 180)
                #expect(ringing().count == 1 && ringing()[0].body.isEmpty)
                play.device.answer(try play.called, 180)
                #expect(ringing().count == 1)
                play.stage.run(seconds: 61)
                #expect(ringing().count == 2)
                play.cancel()
            },
            MappingRow("I3: a telephone that says nothing does not ring for its caller") { play in
                play.invite()
                play.stage.run(seconds: 40)
                #expect(Set(play.caller.heard.compactMap(\.status)) == [100, 408])
            },
            MappingRow("I3: a progress without ringing (183) is heard as ringing, a call that is sent on (181) is not") { play in
                play.invite()
                play.device.answer(try play.called, 181)
                #expect(play.caller.heard.last?.status == 100)
                play.device.answer(try play.called, 183)
                #expect(play.caller.heard.last?.status == 180)
                play.cancel()
            },
            MappingRow("I3: the second of two telephones rings, the first is silent") { play in
                play.registerSecond()
                play.invite()
                play.second.answer(play.second.request(.invite), 180)
                #expect(play.caller.heard.last?.status == 180)
                play.cancel()
            },
            MappingRow("I3: answered without ringing") { play in
                try play.talk()
                #expect(play.caller.heard.compactMap(\.status) == [100, 200])
                play.hangUp()
            },
            MappingRow("I5, I6: answered: configured, opened, 200, fulfilled, activated, started") { play in
                play.invite()
                play.device.answer(try play.called, 200, body: play.device.description("0"))
                try play.expectOrder(.performAnswer, .mediaConfigured, .mediaOpened, .actionFulfilled, .mediaStarted)
                let events = play.stage.transcript.events.filter { $0.call == (try? CallUUID(play.call(0))) }
                let accepted = try #require(events.firstIndex { $0.kind == .sipSent && $0.details.number(.status) == 200 })
                #expect(
                    events.firstIndex { $0.kind == .mediaOpened }! < accepted
                        && accepted < events.firstIndex { $0.kind == .actionFulfilled }!)
                play.acknowledge()
                play.hangUp()
            },
            MappingRow("I7: with a late offer the ACK completes it, and media starts then") { play in
                play.invite(offers: false)
                play.device.answer(try play.called, 200, body: play.device.description("0"))
                let started = { play.stage.gateway.counts(at: play.stage.world.now).media.started }
                #expect(play.answer?.body.isEmpty == false && started() == 1)
                play.acknowledge(body: play.caller.description("0"))
                #expect(started() == 2)
                play.hangUp()
            },
            MappingRow("I8: no ACK for 64·T1: BYE, failed") { play in
                play.invite(MappingPlay.echo)
                play.stage.run(seconds: 31.5)
                #expect(play.caller.request(.bye) == nil)
                play.stage.run(seconds: 1)
                play.caller.answer(try play.caller.received(.bye), 200)
                #expect(play.reasons(of: .reportEnded) == ["failed"])
            },
            MappingRow("I9: CANCEL: 200, 487, remoteEnded, and the devices stop ringing") { play in
                play.invite()
                play.device.answer(try play.called, 180)
                play.cancel()
                #expect(play.caller.final(.cancel, 1)?.status == 200 && play.answer?.status == 487)
                #expect(play.reasons(of: .reportEnded) == ["remoteEnded"])
                play.device.answer(try play.device.received(.cancel), 200)
                play.device.answer(try play.called, 487)
            },
            MappingRow("the time that the INVITE gives (Expires) goes by: unanswered, 487, and the devices stop ringing") { play in
                play.invite(headers: ["Expires: 20"])
                play.device.answer(try play.called, 180)
                play.stage.run(seconds: 19)
                #expect(play.answer == nil && play.device.request(.cancel) == nil)
                play.stage.run(seconds: 2)
                #expect(play.answer?.status == 487 && play.reasons(of: .reportEnded) == ["unanswered"])
                let cancel = try play.device.received(.cancel)
                #expect(cancel.headers[.reason] == "Q.850;cause=102;text=\"Invitation expired\"")
                play.device.answer(cancel, 200)
                play.device.answer(try play.called, 487)
            },
            MappingRow("an INVITE that was answered in its time expires no more") { play in
                play.invite(headers: ["Expires: 20"])
                play.device.answer(try play.called, 200, body: play.device.description("0"))
                play.acknowledge()
                play.stage.run(seconds: 25)
                #expect(play.caller.request(.bye) == nil && play.reasons(of: .reportEnded).isEmpty)
                play.hangUp()
            },
        ]
        + [
            ("I10", "SIP;cause=200;text=\"Call completed elsewhere\"", "answeredElsewhere"), ("I11", "SIP;cause=600", "declinedElsewhere"),
            ("I11", "SIP;cause=603", "declinedElsewhere"), ("I11", "SIP;cause=607", "declinedElsewhere"),
            ("I11", "SIP;cause=608", "declinedElsewhere"),
            ("I12", "SIP;cause=408", "unanswered"), ("I12", "SIP;cause=480", "unanswered"), ("I12", "SIP;cause=487", "unanswered"),
            ("I12", "Q.850;cause=18", "unanswered"), ("I12", "Q.850;cause=19", "unanswered"), ("I12", "Q.850;cause=102", "unanswered"),
        ].map { (id: String, reason: String, ended: String) in
            MappingRow("\(id): CANCEL with \(reason): \(ended), and the devices are told why") { play in
                play.invite()
                play.device.answer(try play.called, 180)
                play.cancel(reason: reason)
                #expect(play.reasons(of: .reportEnded) == [ended])
                let cancel = try #require(play.device.request(.cancel))
                #expect(cancel.headers[.reason] == Text(reason))
                play.device.answer(cancel, 200)
                play.device.answer(try play.called, 487)
            }
        } + [
            MappingRow("I13: CANCEL after our 200 changes nothing") { play in
                play.invite(MappingPlay.echo)
                play.cancel(MappingPlay.echo)
                #expect([200, 481].contains(play.caller.final(.cancel, 1)?.status))
                play.acknowledge(MappingPlay.echo)
                #expect(play.stage.media.openLegs == 1 && play.reasons(of: .reportEnded).isEmpty)
                play.hangUp(MappingPlay.echo)
            },
            MappingRow("I14: Replaces that fits no dialog: 481") { play in
                play.invite(headers: ["Replaces: a;to-tag=b;from-tag=c"])
                #expect(play.answer?.status == 481)
            },
            MappingRow("I15: BYE: 200 at once, the media stops, remoteEnded") { play in
                try play.talk()
                play.caller.request("BYE", MappingPlay.line, call: "row", 2, toTag: play.tag)
                #expect(play.caller.final(.bye, 2)?.status == 200)
                try play.expectOrder(.mediaStopped, .reportEnded)
                #expect(play.reasons(of: .reportEnded) == ["remoteEnded"])
                play.device.answer(try play.device.received(.bye), 200)
            },
            MappingRow("I16: an answer that cannot bind its port: 503 with Q.850;cause=41, to be tried again") { play in
                play.stage.media.bindFailures = 1_000
                play.invite(MappingPlay.echo)
                #expect(play.answer?.status == 503 && play.answer?.reasons.map(\.cause) == [41] && play.answer?.headers[.retryAfter] == "5")
                #expect(play.stage.gateway.refusals.contains { $0 == ("port-taken", 1) })
            },
            MappingRow("I16: another program has the port: the answer names the next, which is open") { play in
                play.stage.media.nextBindsFail = 2
                play.invite(MappingPlay.echo)
                #expect(play.answer?.status == 200)
                let taken = play.stage.events(.mediaRefused).compactMap { $0.details.number(.port) }
                let opened = try #require(play.stage.events(.mediaOpened).first?.details.number(.port))
                #expect(taken.count == 2 && !taken.contains(opened))
                let body = try #require(play.answer).body
                #expect(try SessionDescription(parsing: body).media[0].port == UInt16(opened))
                #expect(
                    play.stage.media.counts(at: play.stage.world.now).ports.reserved == 4,
                    "those of the other program are this call's until it is over")
                play.acknowledge(MappingPlay.echo)
                play.hangUp(MappingPlay.echo)
                #expect(play.stage.media.counts(at: play.stage.world.now).ports.taken == 4)
            },
            MappingRow("I16: an offer without a codec of ours: 488") { play in
                play.caller.request("INVITE", MappingPlay.echo, call: "row", 1, body: play.caller.description("18"))
                #expect(play.answer?.status == 488)
            },
            MappingRow("I17: the user declines: 603 with Q.850;cause=21, no reason in CallKit") { play in
                play.invite()
                play.device.answer(try play.called, 180)
                try play.end(0)
                #expect(play.answer?.status == 603 && play.answer?.reasons == [Reason(protocol: "Q.850", cause: 21)])
                #expect(play.reasons(of: .callEnded).first == "action")
                play.device.answer(play.device.request(.cancel), 200)
                play.device.answer(try play.called, 487)
            },
            MappingRow("I18: nobody answers in time: 480 with Q.850;cause=19") { play in
                play.invite()
                play.device.answer(try play.called, 180)
                play.stage.run(seconds: 181)
                #expect(play.answer?.status == 480 && play.answer?.reasons == [Reason(protocol: "Q.850", cause: 19)])
                play.device.answer(play.device.request(.cancel), 200)
                play.device.answer(try play.called, 487)
            },
            MappingRow("I19: an answer that nobody performs in time is told as 504 with Q.850;cause=102") { _ in
                #expect(EndCause.answerTimeout.status == 504 && EndCause.answerTimeout.responseReasons.map(\.cause) == [102])
            },
            MappingRow("I20: the other devices hear that the call was completed elsewhere") { play in
                play.registerSecond()
                play.invite()
                play.second.answer(try play.second.received(.invite), 180)
                play.device.answer(try play.called, 200, body: play.device.description("0"))
                let cancel = try #require(play.second.request(.cancel))
                #expect(cancel.headers[.reason] == "SIP;cause=200;text=\"Call completed elsewhere\"")
                play.second.answer(cancel, 200)
                play.second.answer(play.second.request(.invite), 487)
                #expect(play.reasons(of: .reportEnded) == ["answeredElsewhere"])
                play.acknowledge()
                play.hangUp()
            },
            MappingRow("I21: the same request by another way: 482") { play in
                play.invite(MappingPlay.echo)
                play.invite(MappingPlay.echo)
                #expect(play.answer?.status == 482 && play.caller.heard.contains { $0.status == 200 })
                let tag = play.caller.heard.first { $0.status == 200 }?.to.tag
                play.caller.request("ACK", MappingPlay.echo, call: "row", 1, toTag: tag)
                play.caller.request("BYE", MappingPlay.echo, call: "row", 2, toTag: tag)
            },
        ]

    @Test(arguments: rows)
    func `section 2`(row: MappingRow) throws {
        let play = MappingPlay { configuration in
            for index in configuration.lines.indices { configuration.lines[index].ringTimeout = .seconds(180) }
        }
        try row.play(play)
        play.finish()
    }
}
