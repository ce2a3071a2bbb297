import CallJournal
import Primitives

// Holds, and what goes wrong on the way.
extension GoodJournal {
    static let hold = GoodJournal("held by us, then by the far end") { s in
        s.connect(alice)
        s.hold(alice)
        s.resume(alice)
        s.received("INVITE", alice, cseq: 2)
        s.add(.remoteHold, alice, [.on: 1, .onHold: 0])
        s.add(.mediaUpdated, alice)
        s.sent("INVITE", alice, status: 200, cseq: 2)
        s.received("ACK", alice, cseq: 2)
        s.bye(alice)
        s.deactivate()
        s.close(alice)
    }

    static let relayed = GoodJournal("the kernel relays until a packet is not ordinary, and until a hold") { s in
        s.connect(alice)
        s.add(.mediaArmed, alice)
        s.add(.mediaTaken, alice, [.cause: "packet", .packets: 7])
        s.add(.mediaArmed, alice)
        s.hold(alice, beforePause: { $0.add(.mediaTaken, alice, [.cause: "stop", .packets: 3, .count: 9]) })
        s.resume(alice)
        s.bye(alice)
        s.deactivate()
        s.close(alice)
    }

    static let streamed = GoodJournal("a program speaks, and rests in the holds of both sides") { s in
        s.connect(alice)
        s.add(.streamStarted, alice, [.direction: "both", .codec: "twilio", .remote: "127.0.0.1:8080"])
        s.hold(alice) { $0.add(.streamPaused, alice, [.on: 1]) }
        s.resume(alice)
        s.add(.streamPaused, alice, [.on: 0])
        s.received("INVITE", alice, cseq: 2)
        s.add(.streamPaused, alice, [.on: 1])
        s.add(.remoteHold, alice, [.on: 1, .onHold: 0])
        s.sent("INVITE", alice, status: 200, cseq: 2)
        s.received("ACK", alice, cseq: 2)
        s.received("INVITE", alice, cseq: 3)
        s.add(.remoteHold, alice, [.on: 0, .onHold: 0])
        s.add(.streamPaused, alice, [.on: 0])
        s.sent("INVITE", alice, status: 200, cseq: 3)
        s.received("ACK", alice, cseq: 3)
        s.add(.streamStopped, alice, [.direction: "both", .cause: "call-ended"])
        s.bye(alice)
        s.deactivate()
        s.close(alice)
    }

    static let queued = GoodJournal("a caller chooses in a menu, waits in a queue, and talks with a member") { s in
        s.connect(alice)
        s.add(.menuEntered, alice, [.text: "top"])
        s.add(.menuChoice, alice, [.digits: "1", .text: "number 7000"])
        s.add(.queueEntered, alice, [.count: 1])
        s.add(.queueOffered, alice, [.text: "1001"])
        let start = s.request("start", "group")
        s.call(bob, start[0])
        s.perform(.performGroup, bob, start[1], with: alice)
        s.fulfil(bob, start[1])
        s.rings(bob)
        s.answered(bob)
        s.start(bob)
        s.add(.queueAnswered, alice, [.remote: "1001", .count: 900])
        s.add(.transferred, alice, [.with: .text(bob.text)])
        s.add(.transferred, bob, [.with: .text(alice.text)])
        s.bye(alice)
        s.close(alice)
        let end = s.request("end")[0]
        s.hangUp(bob, end)
        s.deactivate()
        s.close(bob)
        s.received("BYE", bob, status: 200, cseq: 9, tag: "won")
    }

    static let holdAndAccept = GoodJournal("one call is held, another answered") { s in
        s.connect(alice)
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

    static let otherPort = GoodJournal("another program has the port of the answer, and the next is taken") { s in
        s.ring(alice)
        let answer = s.request("answer")[0]
        s.perform(.performAnswer, alice, answer)
        s.exchangePort(alice)
        s.open(alice)
        s.sent("INVITE", alice, status: 200)
        s.fulfil(alice, answer)
        s.received("ACK", alice)
        s.activate(alice)
        s.start(alice)
        s.bye(alice)
        s.deactivate()
        s.close(alice)
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
        s.connect(alice)
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
        s.connect(alice)
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

    static let adopted = GoodJournal("two calls of a gateway that has died go on, and one hangs up") { s in
        s.adopt(alice, "alice@a", s.request("start")[0])
        let start = s.request("start", "group")
        s.adopt(bob, "bob@a", start[0])
        s.perform(.performGroup, bob, start[1], with: alice)
        s.fulfil(bob, start[1])
        s.answered(bob, cseq: 1_001)
        s.activate(bob)
        s.start(bob)
        s.answered(alice, cseq: 1_001)
        s.start(alice)
        s.bye(alice)
        let end = s.request("end")[0]
        s.hangUp(bob, end)
        s.received("BYE", bob, status: 200, cseq: 9)
        s.deactivate()
        s.close(alice)
        s.close(bob)
    }

    static let notAdopted = GoodJournal("a far end does not know the gateway that would go on with its call") { s in
        s.adopt(bob, "bob@a", s.request("start")[0])
        s.received("INVITE", bob, status: 481, cseq: 1_001, tag: "won")
        s.sent("ACK", bob, cseq: 1_001, tag: "won")
        s.add(.reportEnded, bob, [.reason: "failed"])
        s.sent("BYE", bob, cseq: 1_002, tag: "won", reason: "Q.850;cause=41")
        s.add(.callEnded, bob)
        s.release(bob)
    }
}
