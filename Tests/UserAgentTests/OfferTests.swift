import Primitives
import SIP
import Testing
import UserAgent

@Suite struct OfferTests {
    let sdp = Array("v=0 hold".utf8)

    @Test func `a re-INVITE is answered and acknowledged without the delegate's help`() {
        let pair = Pair()
        let (call, answered) = pair.connected()
        #expect(answered.reinvite(body: sdp, at: pair.link.now))
        #expect(!answered.canOffer && !answered.reinvite(body: sdp, at: pair.link.now))
        pair.link.run(seconds: 1)
        #expect(pair.bob.events == ["reanswered"])
        #expect(pair.alice.events == ["offered INVITE", "acknowledged"])
        #expect(pair.bob.traces == ["> INVITE", "< 200 INVITE", "> ACK"])
        #expect(pair.alice.traces == ["< INVITE", "> 200 INVITE", "< ACK"])
        #expect(call.canOffer && answered.canOffer)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a re-INVITE without an offer gets one in the 200 and answers in the ACK`() {
        let pair = Pair()
        let (call, _) = pair.connected()
        pair.alice.onEvent = { session, event, now in
            if case .reanswered(let response) = event {
                #expect(response.body == Array("v=0 re-answer".utf8))
                session.acknowledge(body: Array("v=0 late answer".utf8), at: now)
            }
        }
        call.reinvite(body: [], at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(pair.bob.events == ["offered INVITE without body", "acknowledged with body"])
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `an INVITE without an offer gets one in the 200 and answers in the ACK`() {
        let pair = Pair()
        pair.alice.onEvent = { session, event, now in
            if case .accepted = event { session.acknowledge(body: Array("v=0 answer".utf8), at: now) }
        }
        let call = pair.alice.call(pair.bob) { $0.body = [] }
        pair.link.run(seconds: 1)
        #expect(pair.bob.events == ["incoming", "acknowledged with body"])
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `an UPDATE with an offer is answered by the delegate, one without by the session`() {
        let pair = Pair()
        let (call, _) = pair.connected()
        call.update(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 1)
        call.update(body: [], at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(pair.alice.events == ["reanswered", "reanswered"])
        #expect(pair.bob.events == ["offered UPDATE"])
        #expect(pair.alice.traces == ["> UPDATE", "< 200 UPDATE", "> UPDATE", "< 200 UPDATE"])
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `in glare both are refused with 491, and the owner of the Call-ID waits longer`(seed: UInt64) {
        let pair = Pair(seed: seed)
        let (call, answered) = pair.connected()
        let start = pair.link.now
        var retries: [String: Duration] = [:]
        pair.link.drops = { packet in
            if summary(packet.bytes) == "INVITE", pair.link.now > start {
                retries[packet.flow.remote == pair.alice.address ? "alice" : "bob"] = pair.link.now - start
            }
            return false
        }
        call.reinvite(body: sdp, at: start)
        answered.reinvite(body: sdp, at: start)
        pair.link.run(seconds: 10)
        #expect(
            pair.alice.events == ["offered INVITE", "acknowledged", "reanswered"]
                || pair.alice.events == ["refused 491", "offered INVITE", "acknowledged"])
        #expect(pair.bob.events.first == "reanswered")
        let bob = retries["bob"]
        #expect(bob.map { $0 >= .milliseconds(20) && $0 <= .milliseconds(2_020) } == true, "seed \(seed)")
        if let alice = retries["alice"] { #expect(alice >= .milliseconds(2_120) && alice <= .milliseconds(4_020), "seed \(seed)") }
        #expect(pair.alice.traces.contains("> 491 INVITE") && pair.bob.traces.contains("> 491 INVITE"))
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a re-INVITE asks for no reliable responses, which nobody would acknowledge`() {
        let pair = Pair()
        var supported: [[Text]] = []
        pair.link.drops = { packet in
            if let message = try? Message(parsing: packet.bytes), message.isRequest, message.method == .invite {
                supported.append(message.headers.elements(.supported))
            }
            return false
        }
        let (call, _) = pair.connected()
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(
            supported.count == 2 && supported[0].contains("100rel") && !supported[1].contains("100rel") && !supported[1].contains("199"))
        call.bye(at: pair.link.now)
        pair.finish()
    }

    /// RFC 3261 §14.1.
    @Test(arguments: [true, false]) func `after a 491 what is wanted by then is offered, and once`(isOutdated: Bool) {
        let pair = Pair()
        let (call, answered) = pair.connected()
        pair.alice.also { session, event, now in
            if isOutdated, case .retryDue = event { session.reinvite(body: Array("v=0 resumed".utf8), at: now) }
        }
        var offers: [Text] = []
        pair.link.drops = { packet in
            if let message = try? Message(parsing: packet.bytes), message.isRequest, message.method == .invite {
                offers.append(Text(message.body))
            }
            return false
        }
        pair.bob.onEvent = { session, event, now in
            if case .offered(let offer) = event {
                session.answer(offer, status: offers.count == 1 ? 491 : 200, body: offer.body ?? [], at: now)
            }
        }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 5)
        #expect(offers == ["v=0 hold", isOutdated ? "v=0 resumed" : "v=0 hold"])
        #expect(call.canOffer && answered.canOffer)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `an offer of the peer while ours waits after a 491 replaces ours`() {
        let pair = Pair()
        let (call, answered) = pair.connected()
        call.reinvite(body: sdp, at: pair.link.now)
        answered.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 4)
        #expect(pair.alice.events == ["refused 491", "offered INVITE", "acknowledged"])
        #expect(pair.bob.events == ["reanswered"])
        #expect(call.canOffer)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a second offer before the first is answered gets 500 with Retry-After, whatever its method`() throws {
        let pair = Pair()
        let (call, answered) = pair.connected()
        pair.bob.onEvent = { _, _, _ in }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 0.1)
        #expect(pair.bob.traces == ["< INVITE", "> 100 INVITE"])
        var dialog = try #require(call.dialog)
        var answers: [Message] = []
        pair.link.drops = { packet in
            if let message = try? Message(parsing: packet.bytes), message.via.branch?.hasPrefix("z9hG4bKsecond") == true {
                answers.append(message)
            }
            return false
        }
        for method in [Method.invite, .update] {
            let via = Via(transport: "UDP", host: "192.0.2.1", port: 5060, branch: "z9hG4bKsecond" + method.text)
            var second = dialog.request(method, sequence: dialog.takeSequence() + 7, via: via)
            second.headers.append(.contentType, "application/sdp")
            second.body = sdp
            pair.bob.agent.receive(second.serialized(), over: pair.bob.flow(to: pair.alice), at: pair.link.now)
        }
        #expect(answers.map(\.summary) == ["500 INVITE", "500 UPDATE"])
        for answer in answers {
            let seconds = answer.headers[.retryAfter]?.integer(Int.self)
            #expect(seconds.map { (0...10).contains($0) } == true)
        }
        answered.bye(at: pair.link.now)
        pair.finish()
        #expect(pair.bob.events == ["offered INVITE", "offerWithdrawn", "byeCompleted 200"])
        #expect(pair.alice.events == ["refused 487", "ended"])
    }

    @Test func `a request with a CSeq that is not higher gets 500`() throws {
        let pair = Pair()
        let (call, _) = pair.connected()
        let dialog = try #require(call.dialog)
        let via = Via(transport: "UDP", host: "192.0.2.1", port: 5060, branch: "z9hG4bKlow")
        let low = dialog.request(.info, sequence: dialog.localSequence, via: via)
        pair.bob.agent.receive(low.serialized(), over: pair.bob.flow(to: pair.alice), at: pair.link.now)
        #expect(pair.bob.traces == ["< INFO", "> 500 INFO"])
        #expect(pair.bob.events == [])
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test(arguments: [481, 488, 500])
    func `a refused re-INVITE leaves the session as it was`(status: Int) {
        let pair = Pair()
        let (call, _) = pair.connected()
        pair.bob.onEvent = { session, event, now in if case .offered(let offer) = event { session.answer(offer, status: status, at: now) } }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(pair.alice.events == ["refused \(status)"])
        #expect(call.state == .confirmed && call.canOffer)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a re-INVITE that nobody answers is refused with 408 after 64·T1, with and without a 100`() {
        let pair = Pair()
        let (call, answered) = pair.connected()
        pair.bob.onEvent = { _, _, _ in }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 31.9)
        #expect(pair.alice.events == [])
        pair.link.run(seconds: 0.2)
        #expect(pair.alice.events == ["refused 408"])
        pair.link.drops = { _ in true }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 32.1)
        #expect(pair.alice.events == ["refused 408", "refused 408"])
        pair.link.drops = nil
        answered.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `BYE crosses a re-INVITE`() {
        let pair = Pair()
        let (call, answered) = pair.connected()
        call.reinvite(body: sdp, at: pair.link.now)
        answered.bye(at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events == ["ended"])
        #expect(pair.bob.events == ["byeCompleted 200"])
        #expect(pair.alice.traces == ["> INVITE", "< BYE", "> 200 BYE", "< 481 INVITE", "> ACK"])
    }

    @Test func `BYE behind our own re-INVITE ends both`() {
        let pair = Pair()
        let (call, _) = pair.connected()
        pair.bob.onEvent = { _, _, _ in }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 1)
        call.bye(at: pair.link.now)
        pair.finish()
        #expect(pair.bob.events == ["offered INVITE", "offerWithdrawn", "ended"])
        #expect(pair.bob.traces == ["< INVITE", "> 100 INVITE", "< BYE", "> 200 BYE", "> 487 INVITE", "< ACK"])
        #expect(pair.alice.events == ["byeCompleted 200"])
    }

    @Test func `a 200 to a re-INVITE that crosses our BYE is acknowledged`() {
        let pair = Pair()
        let (call, _) = pair.connected()
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 0.015)
        call.bye(at: pair.link.now)
        pair.finish()
        #expect(pair.alice.traces == ["> INVITE", "> BYE", "< 200 INVITE", "> ACK", "< 200 BYE"])
        #expect(pair.alice.events == ["byeCompleted 200"])
    }

    @Test func `a lost ACK of a re-INVITE is sent again`() {
        let pair = Pair()
        let (call, _) = pair.connected()
        var dropped = false
        pair.link.drops = { packet in
            guard summary(packet.bytes) == "ACK", !dropped else { return false }
            dropped = true
            return true
        }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.link.run(seconds: 2)
        #expect(pair.bob.events == ["offered INVITE", "acknowledged"])
        #expect(pair.alice.traces == ["> INVITE", "< 200 INVITE", "> ACK", "<* 200 INVITE", ">* ACK"])
        #expect(pair.alice.events == ["reanswered"])
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `without an ACK for its 200 to a re-INVITE the callee is told and may end the call`() {
        let pair = Pair()
        let (call, _) = pair.connected()
        pair.link.drops = { summary($0.bytes) == "ACK" }
        call.reinvite(body: sdp, at: pair.link.now)
        pair.finish()
        #expect(pair.bob.events == ["offered INVITE", "acknowledgeTimeout", "byeCompleted 200"])
        #expect(pair.alice.events == ["reanswered", "ended"])
    }
}
