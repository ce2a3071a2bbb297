import Primitives
import SIP
import Testing
import UserAgent

/// Requests that have somewhere else to go where nobody is (RFC 3263 §4.3).
@Suite struct HopTests {
    private let link = Link(seed: 9)
    private let alice: Phone, bob: Phone, carol: Phone

    init() {
        alice = Phone(link, "192.0.2.1:5060") { $0.longestDatagram = 1_300 }
        bob = Phone(link, "192.0.2.2:5060") { $0.allowedMethods.append(.message) }
        carol = Phone(link, "192.0.2.3:5060") { $0.allowedMethods.append(.message) }
    }

    private var toCarol: NextHop { NextHop(alice.flow(to: carol)) }

    @Test func `who asks who calls and then rings for long is waited for, though there is another server`() {
        bob.onIncoming = { [link] session, now in
            guard session.request.headers.contains(.proxyAuthorization) else {
                _ = session.respond(status: 407, headers: [(.proxyAuthenticate, DigestChallenge(realm: "bob", nonce: "n", algorithm: .md5).value)], at: now)
                return
            }
            session.respond(status: 180, at: now)
            link.plan(after: .seconds(10)) { _ = session.respond(status: 200, body: Array("v=0 answer".utf8), at: $0) }
        }
        let call = alice.call(bob) {
            $0.credentials = Credentials(username: "1001", password: "secret")
            $0.alternatives = [toCarol]
        }
        link.run(seconds: 20)
        #expect(call.state == .confirmed && carol.sessions.isEmpty, "\(alice.events)")
        call.bye(at: link.now)
        link.run()
        #expect(alice.agent.counts == nothingLeft && bob.agent.counts == nothingLeft)
    }

    @Test func `a text goes to the next server before its sender has given up`() {
        link.leave(bob.address)
        carol.onRequest = { [carol] _, transaction, now in carol.agent.respond(to: transaction, status: 200, at: now) }
        var message = OutgoingMessage(target: bob.uri(), flow: alice.flow(to: bob), from: NameAddress(uri: alice.uri()), to: NameAddress(uri: bob.uri()))
        message.alternatives = [toCarol]
        var status: Int?
        alice.agent.message(message, at: link.now) { answered, _, _ in status = answered }
        link.run(seconds: 5)
        #expect(status == 200 && carol.events == ["request MESSAGE"])
        link.run()
        #expect(alice.agent.counts == nothingLeft)
    }

    @Test func `a long request that no connection takes is a datagram to the same server before the next is asked`() {
        link.drops = { $0.flow.transport == .tcp }
        let call = alice.call(bob) {
            $0.body = Array(repeating: 0x61, count: 1_300)
            $0.alternatives = [toCarol]
        }
        link.run(seconds: 6)
        #expect(call.state == .confirmed && bob.sessions.map { $0.request.via.transport } == ["UDP"] && carol.sessions.isEmpty)
    }

    @Test func `whoever answers with ever new addresses is followed four times, however many servers each has`() throws {
        var asked = 0
        alice.agent.locate = { [alice, carol, link] _, _, found in
            asked += 1
            // The first server of each is not there.
            let nobody = Flow(transport: .udp, local: alice.address, remote: SocketAddress("192.0.2.99:5060")!)
            found([nobody, alice.flow(to: carol)], link.now)
        }
        let named: (Int) -> Text = { NameAddress(uri: URI(user: "x", host: Text("n\($0).example.com"))).text }
        for phone in [bob, carol] { phone.onIncoming = { session, now in _ = session.respond(status: 302, headers: [(.contact, named(asked))], at: now) } }
        let call = alice.call(bob)
        link.run(seconds: 300)
        #expect(call.state == .ended && asked == 4, "\(asked)")
    }

    @Test(arguments: [true, false])
    func `whom a 3xx names hears nothing that was for the one before alone`(isConfidential: Bool) throws {
        bob.onIncoming = { [carol] session, now in session.respond(status: 302, headers: [(.contact, NameAddress(uri: carol.uri()).text)], at: now) }
        let names: [HeaderName] = [.pAssertedIdentity, "X-Tenant"]
        alice.call(bob) {
            $0.headers = [(.pAssertedIdentity, "<sip:1001@example.com>"), ("X-Tenant", "acme"), (.subject, "hello")]
            $0.confidential = isConfidential ? names : []
        }
        link.run(seconds: 1)
        let request = try #require(carol.sessions.first).request
        #expect(names.allSatisfy { request.headers.contains($0) != isConfidential } && request.headers[.subject] == "hello")
    }
}
