import Gateway
import Testing
import Primitives

/// The journals of calls in which everything is right, one for each form that a call may take.
struct GoodJournal: CustomTestStringConvertible, Sendable {
    let name: String
    let events: [JournalEvent]
    var testDescription: String { name }

    private init(_ name: String, scope: Text = "perLine", _ steps: (inout JournalScript) -> Void) {
        var script = JournalScript(scope: scope)
        steps(&script)
        self.name = name
        events = script.stop()
    }

    private static let alice = JournalScript.alice, bob = JournalScript.bob, carol = JournalScript.carol

    static let echo = GoodJournal("an application answers, the caller hangs up") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.activate(alice)
        s.start(alice)
        s.received("ACK", alice)
        s.add(.dtmfReceived, alice, [.digits: "5"])
        s.bye(alice)
        s.deactivate()
        s.close(alice)
    }

    static let recorded = GoodJournal("an application answers, and is recorded") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.activate(alice)
        s.add(.recordingStarted, alice, [.text: "a.wav"])
        s.start(alice)
        s.received("ACK", alice)
        s.bye(alice)
        s.deactivate()
        s.add(.recordingEnded, alice, [.text: "a.wav", .count: 0])
        s.close(alice)
    }

    static let localHangUp = GoodJournal("the called user hangs up") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.received("ACK", alice)
        s.activate(alice)
        s.start(alice)
        let end = s.request("end")[0]
        s.hangUp(alice, end)
        s.received("BYE", alice, status: 200, cseq: 9)
        s.deactivate()
        s.close(alice)
    }

    static func bridge(scope: Text, reinvited: Bool = false) -> GoodJournal {
        GoodJournal("a bridged call, session \(scope)", scope: scope) { s in
            s.ring(alice)
            let start = s.request("start", "group")
            s.call(bob, start[0])
            s.perform(.performGroup, bob, start[1], with: alice)
            s.fulfil(bob, start[1])
            s.rings(bob)
            s.answered(bob)
            s.activate(bob)
            s.start(bob)
            let answer = s.request("answer")[0]
            s.answer(alice, answer)
            s.start(alice)
            s.received("ACK", alice)
            if reinvited {
                s.received("INVITE", bob, cseq: 1, tag: "won")
                s.sent("INVITE", bob, status: 200, cseq: 1, tag: "won")
                s.received("ACK", bob, cseq: 1, tag: "won")
            }
            s.bye(alice)
            s.close(alice)
            let end = s.request("end")[0]
            s.hangUp(bob, end)
            s.deactivate()
            s.close(bob)
            s.received("BYE", bob, status: 200, cseq: 9, tag: "won")
        }
    }

    static let twoSessions = GoodJournal("two separate calls of a line with a session per group", scope: "perGroup") { s in
        for (call, session) in [(alice, "a" as JournalEvent.Value), (carol, "c")] {
            s.ring(call)
            let answer = s.request("answer")[0]
            s.answer(call, answer)
            s.received("ACK", call)
            s.add(.sessionActivated, call, [.session: session])
            s.start(call)
        }
        for (call, session) in [(alice, "a" as JournalEvent.Value), (carol, "c")] {
            s.bye(call)
            s.add(.sessionDeactivated, nil, [.session: session])
            s.close(call)
        }
    }

    static let conference = GoodJournal("a call with its session joins another group", scope: "perGroup") { s in
        for (call, session) in [(alice, "a" as JournalEvent.Value), (carol, "c")] {
            s.ring(call)
            let answer = s.request("answer")[0]
            s.answer(call, answer)
            s.received("ACK", call)
            s.add(.sessionActivated, call, [.session: session])
            s.start(call)
        }
        let join = s.request("group")[0]
        s.perform(.performGroup, carol, join, with: alice)
        s.fulfil(carol, join)
        s.add(.sessionDeactivated, nil, [.session: "c"])
        s.bye(alice)
        s.close(alice)
        s.bye(carol)
        s.add(.sessionDeactivated, nil, [.session: "a"])
        s.close(carol)
    }

    static let declined = GoodJournal("the user declines") { s in
        s.ring(alice)
        let end = s.request("end")[0]
        s.perform(.performEnd, alice, end)
        s.sent("INVITE", alice, status: 603, reason: "Q.850;cause=21")
        s.fulfil(alice, end)
        s.add(.callEnded, alice)
        s.release(alice)
        s.received("ACK", alice)
    }

    static let samePort = GoodJournal("a number is used again after its quarantine") { s in
        for call in [alice, carol] {
            s.ring(call, port: 30_000)
            let end = s.request("end")[0]
            s.perform(.performEnd, call, end)
            s.sent("INVITE", call, status: 486)
            s.fulfil(call, end)
            s.add(.callEnded, call)
            s.release(call)
            s.wait(.milliseconds(1500))
        }
    }

    static let ringLimit = GoodJournal("nobody answers: the system ends the call") { s in
        s.ring(alice)
        s.wait(.seconds(60))
        let end = s.issue("end")[0]
        s.perform(.performEnd, alice, end)
        s.sent("INVITE", alice, status: 480, reason: "Q.850;cause=19")
        s.fulfil(alice, end)
        s.add(.callEnded, alice)
        s.release(alice)
        s.received("ACK", alice)
    }

    static let answerTimeout = GoodJournal("an answer is not completed in time") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.perform(.performAnswer, alice, answer)
        s.wait(.seconds(60))
        s.add(.actionTimedOut, alice, [.action: answer, .class: "answer"])
        let end = s.issue("end")[0]
        s.perform(.performEnd, alice, end)
        s.sent("INVITE", alice, status: 504, reason: "Q.850;cause=102")
        s.fulfil(alice, end)
        s.add(.callEnded, alice)
        s.release(alice)
    }

    static let cancelled = GoodJournal("the caller cancels") { s in
        s.ring(alice)
        s.received("CANCEL", alice)
        s.sent("CANCEL", alice, status: 200)
        s.sent("INVITE", alice, status: 487)
        s.add(.reportEnded, alice, [.reason: "remoteEnded"])
        s.add(.callEnded, alice)
        s.release(alice)
        s.received("ACK", alice)
    }

    static let cancelledBridge = GoodJournal("the caller cancels while the bridged device rings") { s in
        s.ring(alice)
        let start = s.request("start", "group")
        s.call(bob, start[0])
        s.perform(.performGroup, bob, start[1], with: alice)
        s.fulfil(bob, start[1])
        s.rings(bob)
        s.received("CANCEL", alice)
        s.sent("CANCEL", alice, status: 200)
        s.sent("INVITE", alice, status: 487)
        s.add(.reportEnded, alice, [.reason: "remoteEnded"])
        s.add(.callEnded, alice)
        s.release(alice)
        let end = s.request("end")[0]
        s.perform(.performEnd, bob, end)
        s.sent("CANCEL", bob, reason: "SIP;cause=200;text=\"Call completed elsewhere\"")
        s.fulfil(bob, end)
        s.add(.callEnded, bob)
        s.release(bob)
        s.received("INVITE", bob, status: 487, tag: "won")
        s.sent("ACK", bob)
    }

    static let busy = GoodJournal("the called party is busy") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.rings(bob)
        s.received("INVITE", bob, status: 486)
        s.sent("ACK", bob)
        s.add(.reportEnded, bob, [.reason: "unanswered"])
        s.add(.callEnded, bob)
        s.release(bob)
    }

    static let challenged = GoodJournal("both ways with a challenge") { s in
        s.received("INVITE", alice)
        s.sent("INVITE", alice, status: 401)
        s.received("ACK", alice)
        s.received("INVITE", alice, cseq: 2)
        s.sent("INVITE", alice, status: 100, cseq: 2)
        s.reserve(alice)
        s.add(.reportIncoming, alice)
        s.add(.reportIncomingAccepted, alice)
        s.sent("INVITE", alice, status: 180, cseq: 2)
        let start = s.request("start", "group")
        s.call(bob, start[0])
        s.perform(.performGroup, bob, start[1], with: alice)
        s.fulfil(bob, start[1])
        s.received("INVITE", bob, status: 407)
        s.sent("ACK", bob)
        s.sent("INVITE", bob, cseq: 2)
        s.received("INVITE", bob, status: 603, cseq: 2)
        s.sent("ACK", bob, cseq: 2)
        s.add(.reportEnded, bob, [.reason: "remoteEnded"])
        s.add(.callEnded, bob)
        s.release(bob)
        let end = s.request("end")[0]
        s.perform(.performEnd, alice, end)
        s.sent("INVITE", alice, status: 603, cseq: 2, reason: "Q.850;cause=21")
        s.fulfil(alice, end)
        s.add(.callEnded, alice)
        s.release(alice)
    }

    static let noAnswer = GoodJournal("an outgoing call is not answered") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.rings(bob)
        s.wait(.seconds(60))
        s.add(.reportEnded, bob, [.reason: "unanswered"])
        s.sent("CANCEL", bob, reason: "SIP;cause=408, Q.850;cause=19")
        s.add(.callEnded, bob)
        s.release(bob)
        s.received("CANCEL", bob, status: 200)
        s.received("INVITE", bob, status: 487)
        s.sent("ACK", bob)
    }

    static let cancelCrossing = GoodJournal("our CANCEL crosses the 200") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.rings(bob)
        let end = s.request("end")[0]
        s.perform(.performEnd, bob, end)
        s.sent("CANCEL", bob, reason: "Q.850;cause=16")
        s.fulfil(bob, end)
        s.add(.callEnded, bob)
        s.release(bob)
        s.received("INVITE", bob, status: 200, tag: "won")
        s.sent("ACK", bob, tag: "won")
        s.sent("BYE", bob, cseq: 2, tag: "won")
        s.received("BYE", bob, status: 200, cseq: 2, tag: "won")
    }

    static let deferredCancel = GoodJournal("the user gives up before any response: CANCEL waits for one") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        let end = s.request("end")[0]
        s.perform(.performEnd, bob, end)
        s.fulfil(bob, end)
        s.add(.callEnded, bob)
        s.release(bob)
        s.received("INVITE", bob, status: 100)
        s.sent("CANCEL", bob)
        s.received("INVITE", bob, status: 487)
        s.sent("ACK", bob)
    }

    static let forkedUpstream = GoodJournal("a proxy forked: two 200s, and an early answer in the 183") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.received("INVITE", bob, status: 183, tag: "lost")
        s.add(.earlyMediaIgnored, bob, [.status: 183])
        s.add(.reportConnecting, bob)
        s.answered(bob)
        s.add(.forkWon, bob, [.remoteTag: "won"])
        s.activate(bob)
        s.start(bob)
        s.received("INVITE", bob, status: 200, tag: "lost")
        s.add(.forkLost, bob, [.remoteTag: "lost"])
        s.sent("ACK", bob, tag: "lost")
        s.sent("BYE", bob, cseq: 2, tag: "lost")
        s.received("BYE", bob, status: 200, cseq: 2, tag: "lost")
        let end = s.request("end")[0]
        s.hangUp(bob, end)
        s.deactivate()
        s.close(bob)
    }

    static let forkedDevices = GoodJournal("two devices ring, one answers") { s in
        s.ring(alice)
        for call in [bob, carol] {
            let start = s.request("start", "group")
            s.call(call, start[0])
            s.perform(.performGroup, call, start[1], with: alice)
            s.fulfil(call, start[1])
            s.rings(call)
        }
        s.answered(bob)
        s.add(.forkWon, bob)
        s.add(.reportEnded, carol, [.reason: "answeredElsewhere"])
        s.add(.forkLost, carol)
        s.sent("CANCEL", carol, reason: "SIP;cause=200;text=\"Call completed elsewhere\"")
        s.add(.callEnded, carol)
        s.release(carol)
        s.activate(bob)
        s.start(bob)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.start(alice)
        s.received("ACK", alice)
        s.received("INVITE", carol, status: 487)
        s.sent("ACK", carol)
        s.bye(bob)
        s.close(bob)
        let end = s.request("end")[0]
        s.hangUp(alice, end)
        s.deactivate()
        s.close(alice)
    }

    static let hold = GoodJournal("held by us, then by the far end") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.received("ACK", alice)
        s.activate(alice)
        s.start(alice)
        let hold = s.request("held")[0]
        s.perform(.performHeld, alice, hold, on: true)
        s.pause(alice)
        s.sent("INVITE", alice, cseq: 5)
        s.fulfil(alice, hold)
        s.deactivate()
        s.received("INVITE", alice, status: 200, cseq: 5)
        s.sent("ACK", alice, cseq: 5)
        let resume = s.request("held")[0]
        s.perform(.performHeld, alice, resume, on: false)
        s.sent("INVITE", alice, cseq: 6)
        s.received("INVITE", alice, status: 200, cseq: 6)
        s.sent("ACK", alice, cseq: 6)
        s.fulfil(alice, resume)
        s.activate(alice)
        s.start(alice)
        s.received("INVITE", alice, cseq: 2)
        s.add(.remoteHold, alice, [.on: 1, .onHold: 0])
        s.add(.mediaUpdated, alice)
        s.sent("INVITE", alice, status: 200, cseq: 2)
        s.received("ACK", alice, cseq: 2)
        s.bye(alice)
        s.deactivate()
        s.close(alice)
    }

    static let holdAndAccept = GoodJournal("one call is held, another answered") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.received("ACK", alice)
        s.activate(alice)
        s.start(alice)
        s.ring(carol)
        let both = s.request("held", "answer")
        s.perform(.performHeld, alice, both[0], on: true)
        s.pause(alice)
        s.sent("INVITE", alice, cseq: 5)
        s.fulfil(alice, both[0])
        s.answer(carol, both[1])
        s.received("ACK", carol)
        s.start(carol)
        s.bye(carol)
        s.deactivate()
        s.close(carol)
        s.received("BYE", alice, cseq: 9)
        s.sent("BYE", alice, status: 200, cseq: 9)
        s.add(.reportEnded, alice, [.reason: "remoteEnded"])
        s.add(.callEnded, alice)
        s.close(alice)
    }

    static let failedBindAtAnswer = GoodJournal("the port cannot be bound at answer") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.perform(.performAnswer, alice, answer)
        s.add(.mediaConfigured, alice)
        s.add(.mediaRefused, alice, [.cause: "media-failed"])
        s.sent("INVITE", alice, status: 500, reason: "Q.850;cause=41")
        s.fail(alice, answer)
        s.add(.callEnded, alice)
        s.release(alice)
        s.received("ACK", alice)
    }

    static let failedBindAtOK = GoodJournal("the port cannot be bound when the 2xx comes") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.rings(bob)
        s.received("INVITE", bob, status: 200, tag: "won")
        s.add(.mediaConfigured, bob)
        s.add(.mediaRefused, bob, [.cause: "media-failed"])
        s.sent("ACK", bob, tag: "won")
        s.sent("BYE", bob, cseq: 2, tag: "won", reason: "Q.850;cause=41")
        s.add(.reportEnded, bob, [.reason: "failed", .cause: "media-failed"])
        s.add(.callEnded, bob)
        s.release(bob)
        s.received("BYE", bob, status: 200, cseq: 2, tag: "won")
    }

    static let reset = GoodJournal("the provider is reset while one call runs and one rings") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.received("ACK", alice)
        s.activate(alice)
        s.start(alice)
        s.ring(carol)
        s.add(.providerReset)
        s.add(.callEnded, alice, [.reason: "reset"])
        s.add(.callEnded, carol, [.reason: "reset"])
        s.pause(alice)
        s.sent("BYE", alice, cseq: 2, reason: "Q.850;cause=41")
        s.deactivate()
        s.close(alice)
        s.sent("INVITE", carol, status: 500, reason: "Q.850;cause=41")
        s.release(carol)
    }

    static let neverAcknowledged = GoodJournal("nobody acknowledges the 200") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.activate(alice)
        s.start(alice)
        s.wait(.seconds(32))
        s.pause(alice)
        s.add(.reportEnded, alice, [.reason: "failed"])
        s.sent("BYE", alice, cseq: 2, reason: "SIP;cause=408")
        s.add(.callEnded, alice)
        s.deactivate()
        s.close(alice)
    }

    static let endBeforeACK = GoodJournal("the called user hangs up before the ACK: BYE waits for it") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.activate(alice)
        s.start(alice)
        let end = s.request("end")[0]
        s.perform(.performEnd, alice, end)
        s.pause(alice)
        s.fulfil(alice, end)
        s.add(.callEnded, alice)
        s.deactivate()
        s.close(alice)
        s.received("ACK", alice)
        s.sent("BYE", alice, cseq: 2)
        s.received("BYE", alice, status: 200, cseq: 2)
    }

    static let byeCrossing = GoodJournal("both hang up at once") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.received("ACK", alice)
        s.activate(alice)
        s.start(alice)
        let end = s.request("end")[0]
        s.hangUp(alice, end)
        s.received("BYE", alice, cseq: 3)
        s.sent("BYE", alice, status: 200, cseq: 3)
        s.deactivate()
        s.close(alice)
    }

    static let doNotDisturb = GoodJournal("the report is refused by Do Not Disturb") { s in
        s.received("INVITE", alice)
        s.sent("INVITE", alice, status: 100)
        s.reserve(alice)
        s.add(.reportIncoming, alice)
        s.add(.reportIncomingRefused, alice, [.error: "filteredByDoNotDisturb"])
        s.sent("INVITE", alice, status: 480, reason: "Q.850;cause=31")
        s.release(alice)
        s.received("ACK", alice)
    }

    static let unknownNumber = GoodJournal("an INVITE that is refused before any report") { s in
        s.received("INVITE", alice)
        s.sent("INVITE", alice, status: 404)
        s.received("ACK", alice)
    }

    static let noPorts = GoodJournal("the pool is empty") { s in
        s.received("INVITE", alice)
        s.sent("INVITE", alice, status: 100)
        s.add(.mediaRefused, alice, [.cause: "ports-exhausted"])
        s.sent("INVITE", alice, status: 503)
        s.received("ACK", alice)
    }

    static let all: [GoodJournal] = [
        echo, recorded, localHangUp, bridge(scope: "perLine"), bridge(scope: "perGroup"), twoSessions, conference, declined, samePort, ringLimit, answerTimeout, cancelled,
        cancelledBridge, busy, challenged, noAnswer, cancelCrossing, deferredCancel, forkedUpstream, forkedDevices, hold, holdAndAccept,
        failedBindAtAnswer, failedBindAtOK, reset, neverAcknowledged, endBeforeACK, byeCrossing, doNotDisturb, unknownNumber, noPorts,
    ]
}
