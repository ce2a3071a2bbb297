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
                _ = session.respond(
                    status: 407, headers: [(.proxyAuthenticate, DigestChallenge(realm: "bob", nonce: "n", algorithm: .md5).value)], at: now)
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

    /// Bob says nothing for five seconds, though he has the call.
    private func stall(_ respond: @escaping (InviteSession, Instant) -> Void) {
        link.drops = { [bob, link] in $0.flow.remote == bob.address && link.now < .zero + .seconds(5) }
        bob.onIncoming = { [link] session, _ in link.plan(after: .milliseconds(5_500)) { respond(session, $0) } }
    }

    @Test func `a server that was passed over and rings after all is told that the call is elsewhere`() {
        stall { $0.respond(status: 180, at: $1) }
        let call = alice.call(bob) { $0.alternatives = [toCarol] }
        link.run(seconds: 10)
        #expect(
            call.state == .confirmed && carol.sessions.map(\.state) == [.confirmed] && bob.sessions.map(\.state) == [.ended],
            "\(alice.traces)")
        #expect(alice.traces.count { $0.hasPrefix("> CANCEL") } == 1)
        call.bye(at: link.now)
        link.run()
        #expect([alice, bob, carol].allSatisfy { $0.agent.counts == nothingLeft })
    }

    @Test func `a server that was passed over and answers after all gets an ACK and a BYE`() {
        stall { $0.respond(status: 200, body: Array("v=0 late".utf8), at: $1) }
        let call = alice.call(bob) { $0.alternatives = [toCarol] }
        link.run(seconds: 10)
        #expect(
            call.state == .confirmed && carol.sessions.map(\.state) == [.confirmed] && bob.sessions.map(\.state) == [.ended],
            "\(alice.traces)")
        #expect(bob.traces.contains { $0.hasPrefix("< ACK") } && alice.traces.count { $0.hasPrefix("> BYE") } == 1)
        call.bye(at: link.now)
        link.run()
        #expect([alice, bob, carol].allSatisfy { $0.agent.counts == nothingLeft })
    }

    @Test func `a server that answers late and asks who ends its call is told`() {
        var heard: [String] = []
        link.place(
            .raw { [link, bob] bytes, flow in
                guard let message = try? Message(parsing: bytes) else { return }
                heard.append(message.summary + (message.headers.contains(.proxyAuthorization) ? " with credentials" : ""))
                guard message.isRequest, message.method == .invite && heard.count == 1 || message.method == .bye else { return }
                let asks = message.method == .bye && !message.headers.contains(.proxyAuthorization)
                var response = Message.response(to: message, status: asks ? 407 : 200, toTag: "late", contact: NameAddress(uri: bob.uri()))
                if asks { response.append(.proxyAuthenticate, DigestChallenge(realm: "carrier", nonce: "n", algorithm: .md5).value) }
                let answer = response.serialized()
                link.plan(after: message.method == .invite ? .milliseconds(5_500) : .zero) { _ in link.carry(answer, over: flow) }
            }, at: bob.address)
        let call = alice.call(bob) {
            $0.credentials = Credentials(username: "1001", password: "secret")
            $0.alternatives = [toCarol]
        }
        link.run(seconds: 10)
        #expect(call.state == .confirmed && heard.suffix(3) == ["ACK", "BYE", "BYE with credentials"], "\(heard)")
        call.bye(at: link.now)
        link.run()
        #expect(alice.agent.counts == nothingLeft)
    }

    @Test func `a server that was passed over and never says anything is sent nothing more`() {
        link.leave(bob.address)
        let call = alice.call(bob) { $0.alternatives = [toCarol] }
        link.run(seconds: 30)
        #expect(call.state == .confirmed && alice.traces.count { $0 == ">* INVITE" } == 3, "\(alice.traces)")
    }

    @Test func `a server that rings when its caller has given up is told so, though nobody has waited for it that long`() {
        stall { $0.respond(status: 180, at: $1) }
        let call = alice.call(bob) { $0.alternatives = [toCarol] }
        link.run(seconds: 1)
        call.cancel(reasons: [.completedElsewhere], at: link.now)
        link.run(seconds: 10)
        #expect(call.state == .ended && carol.sessions.isEmpty && bob.sessions.map(\.state) == [.ended], "\(alice.traces)")
        #expect(bob.events.contains("cancelled SIP/200"), "\(bob.events)")
        link.run()
        #expect([alice, bob].allSatisfy { $0.agent.counts == nothingLeft })
    }

    @Test func `the next server may ask who calls, too, with a nonce of its own`() {
        func challenge(_ session: InviteSession, _ nonce: Text, _ now: Instant) -> Bool {
            let given = session.request.headers[.proxyAuthorization].flatMap { try? DigestCredentials(parsing: $0) }
            guard given?.nonce != nonce else { return false }
            _ = session.respond(
                status: 407, headers: [(.proxyAuthenticate, DigestChallenge(realm: "carrier", nonce: nonce, algorithm: .md5).value)],
                at: now)
            return true
        }
        bob.onIncoming = { session, now in if !challenge(session, "one", now) { _ = session.respond(status: 503, at: now) } }
        carol.onIncoming = { session, now in
            if !challenge(session, "two", now) { _ = session.respond(status: 200, body: Array("v=0 answer".utf8), at: now) }
        }
        let call = alice.call(bob) {
            $0.credentials = Credentials(username: "1001", password: "secret")
            $0.alternatives = [toCarol]
        }
        link.run(seconds: 2)
        #expect(call.state == .confirmed, "\(alice.traces)")
    }

    @Test(arguments: [true, false])
    func `who calls is asserted to those servers that it is meant for`(isForFirst: Bool) throws {
        bob.onIncoming = { session, now in _ = session.respond(status: 503, at: now) }
        alice.call(bob) {
            $0.alternatives = [toCarol]
            $0.identityOver = { [bob] flow in (flow.remote == bob.address) == isForFirst ? "<sip:1001@example.com>" : nil }
        }
        link.run(seconds: 1)
        let first = try #require(bob.sessions.first).request, second = try #require(carol.sessions.first).request
        #expect(first.headers.contains(.pAssertedIdentity) == isForFirst && second.headers.contains(.pAssertedIdentity) != isForFirst)
    }

    @Test func `a text goes to the next server before its sender has given up`() {
        link.leave(bob.address)
        carol.onRequest = { [carol] _, transaction, now in carol.agent.respond(to: transaction, status: 200, at: now) }
        var message = OutgoingMessage(
            target: bob.uri(), flow: alice.flow(to: bob), from: NameAddress(uri: alice.uri()), to: NameAddress(uri: bob.uri()))
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
        for phone in [bob, carol] {
            phone.onIncoming = { session, now in _ = session.respond(status: 302, headers: [(.contact, named(asked))], at: now) }
        }
        let call = alice.call(bob)
        link.run(seconds: 300)
        #expect(call.state == .ended && asked == 4, "\(asked)")
    }

    @Test func `whoever names another address in a 3xx has no other server asked`() {
        let other = Phone(link, "192.0.2.4:5060")
        link.leave(carol.address)
        bob.onIncoming = { [carol] session, now in
            session.respond(status: 302, headers: [(.contact, NameAddress(uri: carol.uri()).text)], at: now)
        }
        let call = alice.call(bob) { $0.alternatives = [NextHop(alice.flow(to: other))] }
        link.run(seconds: 20)
        #expect(other.sessions.isEmpty && call.state == .inviting, "the new address has the time of an only one")
        link.run()
        #expect(other.sessions.isEmpty && call.state == .ended)
    }

    @Test(arguments: [true, false])
    func `whom a 3xx names hears nothing that was for the one before alone`(isConfidential: Bool) throws {
        bob.onIncoming = { [carol] session, now in
            session.respond(status: 302, headers: [(.contact, NameAddress(uri: carol.uri()).text)], at: now)
        }
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
