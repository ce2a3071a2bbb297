import CallJournal
import Primitives
import Testing

/// The journals of calls in which everything is right, one for each form that a call may take.
struct GoodJournal: CustomTestStringConvertible, Sendable {
    let name: String
    let events: [JournalEvent]
    var testDescription: String { name }

    init(_ name: String, scope: Text = "perLine", _ steps: (inout JournalScript) -> Void) {
        var script = JournalScript(scope: scope)
        steps(&script)
        self.name = name
        events = script.stop()
    }

    static let alice = JournalScript.alice, bob = JournalScript.bob, carol = JournalScript.carol

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
        s.connect(alice)
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

    static let joinedAlone = GoodJournal("a call that is alone is taken out, and another joins its session", scope: "perGroup") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.answer(alice, answer)
        s.received("ACK", alice)
        s.add(.sessionActivated, alice, [.session: "a"])
        s.start(alice)
        let part = s.request("group")[0]
        s.perform(.performGroup, alice, part)
        s.fulfil(alice, part)
        s.ring(carol)
        let other = s.request("answer")[0]
        s.answer(carol, other)
        s.received("ACK", carol)
        let join = s.request("group")[0]
        s.perform(.performGroup, carol, join, with: alice)
        s.fulfil(carol, join)
        s.start(carol)
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

    static let all: [GoodJournal] = [
        echo, recorded, relayed, streamed, queued, localHangUp, bridge(scope: "perLine"), bridge(scope: "perGroup"), twoSessions,
        conference,
        joinedAlone,
        declined,
        samePort, ringLimit, answerTimeout, cancelled,
        cancelledBridge, busy, challenged, noAnswer, cancelCrossing, deferredCancel, redirected, redirectedInVain, passedOver,
        forkedUpstream, forkedDevices, hold, holdAndAccept,
        otherPort, failedBindAtAnswer, failedBindAtOK, reset, neverAcknowledged, endBeforeACK, byeCrossing, doNotDisturb, unknownNumber,
        noPorts, adopted, notAdopted,
    ]
}
