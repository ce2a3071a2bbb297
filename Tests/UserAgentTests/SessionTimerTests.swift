import Primitives
import SIP
import Testing
import UserAgent

@Suite struct SessionRefreshTests {
    /// Alice speaks of timers; Bob does too if he has an interval.
    private func pair(alice: UInt32 = 600, bob: UInt32?, allows: [Method]? = nil) -> Pair {
        Pair(
            alice: { $0.sessionTimer = .init(interval: alice) },
            bob: {
                $0.sessionTimer = bob.map { SessionTimer.Policy(interval: $0) }
                if let allows { $0.allowedMethods = allows }
            })
    }

    @Test func `the caller refreshes with UPDATE, and a refreshed session does not end`() {
        let pair = pair(bob: 600)
        let (call, _) = pair.connected()
        pair.link.run(seconds: 3_000)
        #expect(pair.alice.traces.filter { $0 == "> UPDATE" }.count == 9 || pair.alice.traces.filter { $0 == "> UPDATE" }.count == 10)
        #expect(pair.alice.events.isEmpty && pair.bob.events.isEmpty)
        #expect(call.state == .confirmed)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `where the peer allows no UPDATE the delegate is asked for a re-INVITE`() {
        let pair = pair(bob: 600, allows: [.invite, .ack, .cancel, .bye, .options])
        pair.alice.also { session, event, now in if case .refreshDue = event { session.reinvite(body: Array("v=0 same".utf8), at: now) } }
        let (call, _) = pair.connected()
        pair.link.run(seconds: 301)
        #expect(pair.alice.events == ["refreshDue", "reanswered"])
        #expect(pair.alice.traces == ["> INVITE", "< 200 INVITE", "> ACK"])
        pair.link.run(seconds: 298)
        #expect(pair.bob.events == ["offered INVITE", "acknowledged"])
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a peer without timers is refreshed all the same`() {
        let pair = pair(bob: nil)
        let (call, _) = pair.connected()
        pair.link.run(seconds: 301)
        #expect(pair.alice.traces == ["> UPDATE", "< 200 UPDATE"])
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `the one who refreshes is gone: the other ends the call before the interval does`() {
        let pair = pair(bob: 600)
        let (_, answered) = pair.connected()
        pair.link.drops = { $0.flow.remote == pair.alice.address }
        pair.bob.also { session, event, now in if case .expired = event { session.bye(at: now) } }
        pair.link.run(seconds: 566)
        #expect(pair.bob.events.isEmpty && answered.state == .confirmed)
        pair.link.run(seconds: 2)
        #expect(pair.bob.events == ["expired"])
    }

    @Test func `the one who is refreshed is gone: no answer to the refresh ends the call`() {
        let pair = pair(bob: 600)
        let (call, _) = pair.connected()
        pair.link.drops = { $0.flow.remote == pair.bob.address }
        pair.alice.also { session, event, now in if case .dialogLost = event { session.bye(at: now) } }
        pair.link.run(seconds: 340)
        #expect(pair.alice.events == ["dialogLost 408"])
        #expect(call.state == .ending)
    }

    @Test func `a peer without timers that no connection reaches any more is no more alive than one that is silent`() {
        let pair = pair(bob: nil)
        let call = pair.alice.call(pair.bob, transport: .tcp)
        pair.link.run(seconds: 1)
        pair.alice.forget()
        pair.link.unreachable.insert(pair.bob.address)
        pair.link.run(seconds: 570)
        #expect(pair.alice.events == ["expired"] && call.state == .confirmed)
    }

    @Test func `422 to our INVITE is answered with a longer interval`() {
        let strict = Pair(
            alice: { $0.sessionTimer = .init(interval: 120) }, bob: { $0.sessionTimer = .init(interval: 1_800, minimum: 900) })
        let (call, _) = strict.connected()
        #expect(call.state == .confirmed)
        #expect(call.request.headers[.minSE] == "900" && call.request.headers[.sessionExpires] == "900")
        call.bye(at: strict.link.now)
        strict.finish()
    }

    @Test func `too short an interval in an INVITE is answered 422 with Min-SE`() {
        let bench = Bench { $0.sessionTimer = .init(interval: 1_800, minimum: 300) }
        bench.send(RawRequest(headers: ["Supported: timer", "Session-Expires: 100"]).text)
        #expect(bench.statuses == [422] && bench.answers.first?.headers[.minSE] == "300")
    }

    @Test func `a refresh that gave way to an offer which is then refused is made again`() throws {
        let bench = Bench { $0.sessionTimer = .init(interval: 90, minimum: 90) }
        bench.phone.onIncoming = { session, now in session.respond(status: 200, body: Array("v=0 answer".utf8), at: now) }
        bench.phone.onEvent = { session, event, now in if case .offered(let offer) = event { session.answer(offer, status: 488, at: now) } }
        var request = RawRequest()
        request.body = "v=0 offer"
        request.headers = ["Supported: timer", "Session-Expires: 90;refresher=uas", "Allow: INVITE, ACK, BYE, UPDATE"]
        bench.send(request.text)
        let tag = try #require(bench.answers.last?.to.tag)
        request.to += ";tag=\(tag)"
        (request.method, request.body, request.via) = ("ACK", "", "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKack;rport")
        bench.send(request.text)
        bench.link.run(seconds: 46)
        let updates = { bench.answers.filter { $0.isRequest && $0.method == .update } }
        let first = try #require(updates().first)
        bench.send(Message.response(to: first, status: 491, toTag: nil).description)
        (request.method, request.body, request.via, request.sequence) = (
            "INVITE", "v=0 other", "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKre;rport", 2
        )
        bench.send(request.text)
        #expect(bench.statuses.last == 488)
        bench.link.run(seconds: 3)
        #expect(Set(updates().map(\.cseq.number)).count == 2)
    }

    @Test func `glare of two refreshes resolves itself`() {
        let pair = pair(bob: 600)
        let (call, answered) = pair.connected()
        call.reinvite(body: Array("v=0".utf8), at: pair.link.now)
        answered.update(body: Array("v=0 other".utf8), at: pair.link.now)
        pair.link.run(seconds: 5)
        #expect(pair.alice.traces.contains { $0.hasPrefix("> 491") } && pair.bob.traces.contains { $0.hasPrefix("> 491") })
        #expect(call.canOffer && answered.canOffer)
        call.bye(at: pair.link.now)
        pair.finish()
    }
}
