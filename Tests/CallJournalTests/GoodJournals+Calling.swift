import CallJournal
import Primitives

// Calls that we make: refused, given up, forked.
extension GoodJournal {
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

    static let redirected = GoodJournal("the user gives up while the place is looked for that a 3xx names") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.received("INVITE", bob, status: 302)
        s.sent("ACK", bob)
        s.add(.redirectionLookup, bob, [.on: true])
        let end = s.request("end")[0]
        s.perform(.performEnd, bob, end)
        s.fulfil(bob, end)
        s.add(.callEnded, bob)
        s.release(bob)
    }

    static let redirectedInVain = GoodJournal("the place that a 3xx names is not found") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.received("INVITE", bob, status: 302)
        s.sent("ACK", bob)
        s.add(.redirectionLookup, bob, [.on: true])
        s.add(.redirectionLookup, bob, [.on: false])
        s.add(.reportEnded, bob, [.reason: "failed"])
        s.add(.callEnded, bob)
        s.release(bob)
    }

    static let passedOver = GoodJournal("a server that said nothing answers when the next is called") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.add(.inviteUnanswered, bob, [.status: 408])
        s.sent("INVITE", bob, cseq: 2)
        s.received("INVITE", bob, status: 180, cseq: 2, tag: "won")
        s.add(.reportConnecting, bob)
        s.received("INVITE", bob, status: 180, cseq: 1, tag: "late")
        s.sent("CANCEL", bob, cseq: 1)
        s.received("INVITE", bob, status: 200, cseq: 1, tag: "late")
        s.sent("ACK", bob, cseq: 1, tag: "late")
        s.sent("BYE", bob, cseq: 3, tag: "late")
        s.received("INVITE", bob, status: 486, cseq: 2)
        s.sent("ACK", bob, cseq: 2)
        s.add(.reportEnded, bob, [.reason: "unanswered"])
        s.add(.callEnded, bob)
        s.release(bob)
    }

    static let forkedUpstream = GoodJournal("a proxy forked: two 200s, and an early answer in the 183") { s in
        let start = s.request("start")[0]
        s.call(bob, start)
        s.received("INVITE", bob, status: 183, tag: "lost")
        s.add(.earlyMediaIgnored, bob, [.status: 183])
        s.add(.reportConnecting, bob)
        s.answered(bob)
        s.activate(bob)
        s.start(bob)
        s.received("INVITE", bob, status: 200, tag: "lost")
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
        s.add(.reportEnded, carol, [.reason: "answeredElsewhere"])
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
}
