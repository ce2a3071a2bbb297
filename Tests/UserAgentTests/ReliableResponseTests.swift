import Primitives
import SIP
import Testing
import UserAgent

/// RFC 3262, and UPDATE before the answer (RFC 3311).
@Suite struct ReliableResponseTests {
    private let offer = Array("v=0 offer".utf8), answer = Array("v=0 answer".utf8)

    /// Bob rings with a 180 that wants its PRACK, and waits.
    private func ringing(
        _ reliability: UserAgentConfiguration.Reliability = .whenSupported, body: [UInt8] = [],
        _ change: (inout OutgoingInvite) -> Void = { _ in }
    )
        -> (pair: Pair, call: InviteSession)
    {
        let pair = Pair(bob: { $0.reliability = reliability })
        pair.bob.onIncoming = { session, now in
            session.respond(status: 100, at: now)
            session.respond(status: 180, body: body, at: now)
        }
        return (pair, pair.alice.call(pair.bob, change))
    }

    @Test func `a reliable 180 is acknowledged by PRACK, and the call goes on`() throws {
        let (pair, call) = ringing()
        pair.link.run(seconds: 1)
        #expect(pair.alice.traces == ["> INVITE", "< 100 INVITE", "< 180 INVITE", "> PRACK", "< 200 PRACK"])
        #expect(pair.alice.events == ["provisional 180"])
        pair.bob.sessions[0].respond(status: 200, body: answer, at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a PRACK goes where the response says that it acknowledges, though one before said nothing`() throws {
        let pair = Pair(), link = pair.link
        var prack: Message?
        link.place(
            .raw { bytes, flow in
                guard let message = try? Message(parsing: bytes), message.isRequest else { return }
                if message.method == .prack { prack = message }
                guard message.method == .invite else { return }
                link.carry(Message.response(to: message, status: 180, toTag: "x").serialized(), over: flow)
                var reliable = Message.response(
                    to: message, status: 183, toTag: "x", contact: NameAddress(uri: URI(user: "deep", host: "198.51.100.9")))
                reliable.append(.recordRoute, "<sip:192.0.2.2;lr>")
                reliable.append(.require, "100rel")
                reliable.append(.rseq, "1")
                link.carry(reliable.serialized(), over: flow)
            }, at: pair.bob.address)
        pair.alice.call(pair.bob)
        link.run(seconds: 0.3)
        let sent = try #require(prack)
        #expect(sent.requestURI?.text == "sip:deep@198.51.100.9" && sent.routes.map(\.uri.text) == ["sip:192.0.2.2;lr"], "\(sent)")
    }

    @Test func `without a wish of the caller the 180 is as it was, and with Require it is reliable`() {
        for (headers, isReliable) in [([], false), ([(HeaderName.require, "100rel" as Text)], true)] {
            let (pair, call) = ringing(.whenRequired) { $0.headers = headers }
            pair.link.run(seconds: 1)
            #expect(pair.alice.traces.contains("> PRACK") == isReliable)
            call.cancel(at: pair.link.now)
            pair.finish()
        }
    }

    @Test func `an INVITE without an offer that may have it reliable and need not hears a plain 180`() {
        let (pair, call) = ringing { $0.body = [] }
        pair.link.run(seconds: 1)
        #expect(pair.bob.sessions[0].ringsReliably == false)
        #expect(pair.alice.traces == ["> INVITE", "< 100 INVITE", "< 180 INVITE"])
        call.cancel(at: pair.link.now)
        pair.finish()
    }

    /// RFC 3262 §3.
    @Test(arguments: [true, false])
    func `a PRACK that crosses the end of the call is answered`(isCancelled: Bool) throws {
        let (pair, call) = ringing()
        if isCancelled {
            call.cancel(at: pair.link.now)
        } else {
            pair.link.plan(after: .milliseconds(25)) { pair.bob.sessions[0].respond(status: 486, at: $0) }
        }
        pair.link.run(seconds: 0.2)
        #expect(pair.alice.events == ["provisional 180", "rejected \(isCancelled ? 487 : 486)"])
        #expect(pair.alice.traces.contains("> PRACK") && pair.alice.traces.contains("< 200 PRACK"))
        // Of what else is acknowledged nobody knows.
        var prack = try pair.early(.prack, of: call, from: pair.alice, body: [])
        prack.headers.append(.rack, "7 1 INVITE")
        var answers: [String] = []
        pair.link.drops = {
            answers.append(summary($0.bytes)); return false
        }
        pair.bob.agent.receive(prack.serialized(), over: pair.bob.flow(to: pair.alice), at: pair.link.now)
        #expect(answers == ["481 PRACK"])
        pair.finish()
    }

    @Test func `a lost PRACK is sent again, and the 180 until then`() {
        let (pair, call) = ringing()
        var lost = 0
        pair.link.drops = { packet in
            guard summary(packet.bytes) == "PRACK", lost < 2 else { return false }
            lost += 1
            return true
        }
        pair.link.run(seconds: 3)
        #expect(pair.alice.traces.filter { $0 == "<* 180 INVITE" || $0 == "< 180 INVITE" }.count == 3)
        // What comes again is taken once.
        #expect(pair.alice.events == ["provisional 180"])
        #expect(pair.bob.traces.filter { $0 == "< PRACK" }.count == 1)
        call.cancel(at: pair.link.now)
        pair.finish()
    }

    @Test func `without a PRACK for 64·T1 the callee is told, and may refuse with 504`() {
        let (pair, _) = ringing()
        pair.link.drops = { summary($0.bytes) == "PRACK" }
        pair.bob.also { session, event, now in if case .provisionalTimeout = event { session.respond(status: 504, at: now) } }
        pair.link.run(seconds: 31.9)
        #expect(!pair.bob.events.contains("provisionalTimeout"))
        pair.link.run(seconds: 1)
        #expect(pair.bob.events.contains("provisionalTimeout"))
        #expect(pair.alice.events.last == "rejected 504")
        pair.finish()
    }

    @Test func `a second reliable response waits for the PRACK of the first`() {
        let (pair, call) = ringing()
        var acknowledged = 0
        pair.link.drops = { packet in
            if summary(packet.bytes) == "PRACK" { acknowledged += 1 }
            return summary(packet.bytes) == "PRACK" && acknowledged == 1
        }
        pair.link.run(seconds: 0.1)
        pair.bob.sessions[0].respond(status: 183, at: pair.link.now)
        pair.link.run(seconds: 0.1)
        #expect(!pair.bob.traces.contains("> 183 INVITE"))
        pair.link.run(seconds: 2)
        #expect(pair.alice.events == ["provisional 180", "provisional 183"])
        #expect(pair.bob.traces.filter { $0 == "< PRACK" }.count == 2)
        call.cancel(at: pair.link.now)
        pair.finish()
    }

    @Test func `an INVITE without an offer gets it in the 180 and answers it in the PRACK, and the 200 waits for that`() {
        let (pair, call) = ringing(.whenRequired, body: Array("v=0 their offer".utf8)) {
            ($0.body, $0.headers) = ([], [(.require, "100rel")])
        }
        pair.alice.also { session, event, now in
            if case .provisional(let response) = event, !response.body.isEmpty {
                session.acknowledgeProvisional(body: Array("v=0 ours".utf8), at: now)
            }
        }
        var lost = 0
        pair.link.drops = { packet in
            guard summary(packet.bytes) == "PRACK", lost < 1 else { return false }
            lost += 1
            return true
        }
        pair.link.run(seconds: 0.1)
        pair.bob.sessions[0].respond(status: 200, at: pair.link.now)
        pair.link.run(seconds: 0.1)
        #expect(!pair.bob.traces.contains("> 200 INVITE"))
        pair.link.run(seconds: 2)
        #expect(pair.bob.events == ["incoming", "acknowledged with body", "acknowledged"])
        #expect(pair.alice.events == ["provisional 180", "accepted"])
        #expect(call.state == .confirmed)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `an UPDATE with an offer before the answer is refused by the callee with 500, and by the caller with 491`() throws {
        let (pair, call) = ringing()
        var answers: [Message] = []
        pair.link.drops = { packet in
            if let message = try? Message(parsing: packet.bytes), message.method == .update { answers.append(message) }
            return false
        }
        pair.link.run(seconds: 0.5)
        for (phone, peer, session) in [(pair.alice, pair.bob, call), (pair.bob, pair.alice, pair.bob.sessions[0])] {
            let update = try pair.early(.update, of: session, from: phone, body: offer)
            peer.agent.receive(update.serialized(), over: peer.flow(to: phone), at: pair.link.now)
        }
        #expect(answers.map(\.status) == [500, 491])
        #expect(answers.first?.headers[.retryAfter] != nil)
        call.cancel(at: pair.link.now)
        pair.finish()
    }

    @Test func `an UPDATE without an offer is answered in an early dialog`() throws {
        let (pair, call) = ringing()
        pair.link.run(seconds: 0.5)
        let update = try pair.early(.update, of: pair.bob.sessions[0], from: pair.bob, body: [])
        pair.alice.agent.receive(update.serialized(), over: pair.alice.flow(to: pair.bob), at: pair.link.now)
        #expect(pair.alice.traces.suffix(2) == ["< UPDATE", "> 200 UPDATE"])
        call.cancel(at: pair.link.now)
        pair.finish()
    }

    @Test func `once a reliable response answered, either side may offer anew with UPDATE`() throws {
        let (pair, call) = ringing(body: Array("v=0 answer".utf8))
        pair.link.run(seconds: 0.5)
        for (phone, peer, session) in [(pair.alice, pair.bob, call), (pair.bob, pair.alice, pair.bob.sessions[0])] {
            let update = try pair.early(.update, of: session, from: phone, body: offer)
            peer.agent.receive(update.serialized(), over: peer.flow(to: phone), at: pair.link.now)
            #expect(peer.events.last == "offered UPDATE")
            #expect(peer.traces.last == "> 200 UPDATE")
        }
        pair.bob.sessions[0].respond(status: 200, at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed && pair.bob.sessions[0].state == .confirmed)
    }

    /// RFC 3261 §14.2.
    @Test func `a re-INVITE before the first INVITE is answered is refused, though an UPDATE would be taken`() throws {
        let (pair, call) = ringing(body: Array("v=0 answer".utf8))
        pair.link.run(seconds: 0.5)
        for (phone, peer, session, refusal) in [
            (pair.alice, pair.bob, call, "> 500 INVITE"), (pair.bob, pair.alice, pair.bob.sessions[0], "> 491 INVITE"),
        ] {
            let second = try pair.early(.invite, of: session, from: phone, body: offer)
            peer.agent.receive(second.serialized(), over: peer.flow(to: phone), at: pair.link.now)
            #expect(peer.traces.last == refusal)
            #expect(!peer.events.contains { $0.hasPrefix("offered") })
        }
        call.cancel(at: pair.link.now)
        pair.finish()
    }

    @Test(arguments: ["7 1 INVITE", "", "one 1 INVITE", "4294967296 1 INVITE"])
    func `a PRACK that acknowledges nothing gets 481`(rack: String) throws {
        let (pair, call) = ringing()
        pair.link.run(seconds: 0.5)
        var prack = try pair.early(.prack, of: call, from: pair.alice, body: [])
        prack.headers.append(.rack, Text(rack))
        pair.bob.agent.receive(prack.serialized(), over: pair.bob.flow(to: pair.alice), at: pair.link.now)
        #expect(pair.bob.traces.last == "> 481 PRACK")
        call.cancel(at: pair.link.now)
        pair.finish()
    }
}

extension Pair {
    /// A request in the early dialog of a session, as its phone would send it.
    func early(_ method: SIP.Method, of session: InviteSession, from phone: Phone, body: [UInt8]) throws -> Message {
        let answered = bob.sessions[0]
        var dialog: Dialog
        if session.role == .callee {
            dialog = try #require(session.dialog)
        } else {
            let callee = try #require(answered.dialog)
            let response = Message.response(to: session.request, status: 180, toTag: callee.localTag)
            dialog = Dialog(caller: session.request, response: response, overTLS: false)
        }
        let host = phone === alice ? "192.0.2.1" : "192.0.2.2"
        let sequence = dialog.takeSequence() + 20
        let via = Via(transport: "UDP", host: Text(host), port: 5060, branch: "z9hG4bKearly" + method.text + Text(host))
        var request = dialog.request(method, sequence: sequence, via: via, contact: NameAddress(uri: phone.uri()))
        if !body.isEmpty {
            request.headers.append(.contentType, "application/sdp")
            request.body = body
        }
        return request
    }
}
