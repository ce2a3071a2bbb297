import Primitives
import SIP
import Testing
import UserAgent

/// RFC 3261 §8.1.3.4: who is told that the callee is elsewhere calls there, as the same call.
@Suite struct RedirectionTests {
    let pair = Pair()
    let carol: Phone

    init() {
        carol = Phone(pair.link, "192.0.2.3:5060")
        redirect(to: ["<sip:carol@nowhere.example>;q=1.0", "<sip:carol@192.0.2.3:5060>"])
    }

    private func redirect(to contacts: [Text]) {
        pair.bob.onIncoming = { session, now in
            session.respond(status: 302, headers: contacts.map { (.contact, $0) }, at: now)
        }
    }

    @Test func `a call follows to the first address that can be reached, and its user hears only of that`() throws {
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed)
        #expect(pair.alice.events == ["provisional 180", "accepted"])
        let moved = try #require(carol.sessions.first?.request)
        #expect(moved.requestURI?.text == "sip:carol@192.0.2.3:5060")
        #expect(moved.callID == call.callID && moved.to.uri == pair.bob.uri())
        call.bye(at: pair.link.now)
        pair.finish()
        #expect(carol.events.last == "ended")
        #expect(carol.agent.counts == nothingLeft)
    }

    @Test func `the next address is tried where the one before refuses`() {
        redirect(to: ["<sip:bob@192.0.2.2:5060>", "<sip:one@192.0.2.3:5060>", "<sip:two@192.0.2.3:5060>"])
        carol.onIncoming = { session, now in
            session.respond(status: session.request.requestURI?.user == "one" ? 486 : 200, body: Array("v=0".utf8), at: now)
        }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed && carol.sessions.count == 2)
    }

    @Test func `a 6xx ends the search`() {
        redirect(to: ["<sip:one@192.0.2.3:5060>", "<sip:two@192.0.2.3:5060>"])
        carol.onIncoming = { session, now in session.respond(status: 603, at: now) }
        pair.alice.call(pair.bob)
        pair.finish()
        #expect(pair.alice.events == ["rejected 603"] && carol.sessions.count == 1)
    }

    @Test func `two that send each other the call do not send it for ever`() {
        var asked = 0
        pair.bob.onIncoming = { session, now in
            asked += 1
            session.respond(status: 302, headers: [(.contact, Text("<sip:again\(asked)@192.0.2.2:5060>"))], at: now)
        }
        pair.alice.call(pair.bob)
        pair.finish()
        #expect(pair.alice.events == ["rejected 302"] && asked == 5)
    }

    @Test func `a call that was given up goes nowhere else`() {
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        pair.link.drops = { packet in (try? Message(parsing: packet.bytes))?.method == .cancel }
        call.cancel(at: pair.link.now)
        pair.bob.sessions[0].respond(status: 302, headers: [(.contact, "<sip:carol@192.0.2.3:5060>")], at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events.last == "rejected 302" && carol.sessions.isEmpty)
    }
}
