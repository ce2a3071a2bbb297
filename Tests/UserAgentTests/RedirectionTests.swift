import Primitives
import SIP
import Testing

@testable import UserAgent

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

    @Test func `the addresses are tried in the order of their preference, without what a Request-URI may not say`() {
        redirect(to: [
            "<sip:last@192.0.2.3:5060>;q=0.2", "<sip:second@192.0.2.3:5060;method=INVITE>;q=0.9", "<sip:first@192.0.2.3:5060?Subject=x>",
        ])
        carol.onIncoming = { session, now in session.respond(status: 486, at: now) }
        pair.alice.call(pair.bob)
        pair.finish()
        #expect(
            carol.sessions.compactMap(\.request.requestURI?.text) == ["first", "second", "last"].map { "sip:" + $0 + "@192.0.2.3:5060" })
    }

    @Test func `the address that was tried first is not tried again`() {
        redirect(to: ["<" + pair.bob.uri().text + ">", "<" + pair.bob.uri().text + ";method=INVITE>", "<sip:carol@192.0.2.3:5060>;q=0.1"])
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed && pair.bob.sessions.count == 1)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a redirected call that comes back to us as it is is a loop`() throws {
        var answers: [Int?] = []
        pair.link.place(
            .raw { [pair, carol] bytes, _ in
                guard let message = try? Message(parsing: bytes) else { return }
                guard message.method == .invite, message.isRequest else { return answers.append(message.status) }
                // It has no route of its own to carol, and sends her call where it came from.
                let via =
                    "INVITE " + (message.requestURI?.text ?? .empty) + " SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.3:5060;branch=z9hG4bKback"
                guard let end = bytes.firstIndex(of: 0x0D) else { return }
                pair.alice.agent.receive(Array(via.bytes) + bytes[end...], over: pair.alice.flow(to: carol), at: pair.link.now)
            }, at: carol.address)
        redirect(to: ["<sip:carol@192.0.2.3:5060>"])
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 0.1)
        #expect(answers.contains(482), "\(answers)")
        call.cancel(at: pair.link.now)
        pair.finish()
    }

    private func ask(_ realm: Text, _ session: InviteSession, _ now: Instant) {
        session.respond(
            status: 407, headers: [(.proxyAuthenticate, DigestChallenge(realm: realm, nonce: "n", algorithm: .md5).value)], at: now)
    }

    @Test func `each address may ask who calls, however often the ones before asked`() {
        pair.bob.onIncoming = { session, now in
            guard session.request.headers.contains(.proxyAuthorization) else { return ask("bob", session, now) }
            session.respond(status: 302, headers: ["one", "two"].map { (.contact, "<sip:" + $0 + "@192.0.2.3:5060>") }, at: now)
        }
        carol.onIncoming = { session, now in
            guard session.request.headers.contains(.proxyAuthorization) else { return ask("carol", session, now) }
            session.respond(status: session.request.requestURI?.user == "one" ? 486 : 200, body: Array("v=0".utf8), at: now)
        }
        let call = pair.alice.call(pair.bob) { $0.credentials = Credentials(username: "1001", password: "secret") }
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed && carol.sessions.count == 4)
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `what the old address was told of the password the new one is not`() throws {
        pair.bob.onIncoming = { session, now in
            guard session.request.headers.contains(.proxyAuthorization) else { return ask("bob", session, now) }
            session.respond(status: 302, headers: [(.contact, "<sip:carol@192.0.2.3:5060>")], at: now)
        }
        carol.onIncoming = { session, now in
            guard session.request.headers.contains(.proxyAuthorization) else { return ask("carol", session, now) }
            session.respond(status: 200, body: Array("v=0".utf8), at: now)
        }
        let call = pair.alice.call(pair.bob) { $0.credentials = Credentials(username: "1001", password: "secret") }
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed)
        let told = try #require(carol.sessions.last?.request.headers.all(.proxyAuthorization)).map {
            try DigestCredentials(parsing: $0).realm
        }
        #expect(told == ["carol"])
        call.bye(at: pair.link.now)
        pair.finish()
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

    @Test func `a name is followed to where it is, later, and not where the call was given up meanwhile`() throws {
        for isGivenUp in [false, true] {
            let test = RedirectionTests(), pair = test.pair
            test.redirect(to: ["<sip:carol@carol.test;transport=tcp>"])
            var asked: [Text] = []
            pair.alice.agent.locate = { uri, flow, completion in
                asked.append(uri.host)
                pair.link.plan(after: .seconds(40)) { now in
                    completion([Flow(transport: .udp, local: flow.local, remote: test.carol.address)], now)
                }
            }
            let call = pair.alice.call(pair.bob)
            pair.link.run(seconds: 39)
            #expect(
                asked == ["carol.test"] && pair.alice.events == ["looking for sip:carol@carol.test;transport=tcp"]
                    && call.state == .inviting)
            pair.alice.forget()
            if isGivenUp { call.cancel(at: pair.link.now) }
            pair.link.run(seconds: 2)
            #expect(call.state == (isGivenUp ? .ended : .confirmed))
            if isGivenUp {
                #expect(pair.alice.events == ["rejected 302"] && test.carol.sessions.isEmpty)
            } else {
                #expect(test.carol.sessions.first?.request.requestURI?.text == "sip:carol@carol.test;transport=tcp")
                call.bye(at: pair.link.now)
            }
            pair.finish()
        }
    }

    /// RFC 3261 §8.1.1.8.
    @Test func `what follows over another transport names us as that one reaches us`() throws {
        redirect(to: ["<sip:carol@192.0.2.3:5060;transport=tcp>"])
        pair.alice.agent.locate = { [carol] _, flow, completion in
            completion([Flow(transport: .tcp, local: flow.local, remote: carol.address)], pair.link.now)
        }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        let moved = try #require(carol.sessions.first?.request)
        #expect(moved.via.transport == "TCP" && moved.contact?.uri.text == "sip:caller@192.0.2.1:5060;transport=tcp")
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test(arguments: [
        (Transport.udp, "sip:carol@192.0.2.3:5060", false), (.udp, "sip:carol@198.51.100.3:5060", true),
        (.udp, "sip:carol@192.0.2.3:5060;transport=tcp", true),
        (.tcp, "sip:carol@192.0.2.3:5060;transport=tcp", false), (.tcp, "sip:carol@192.0.2.3:5060", true),
        (.tls, "sip:carol@192.0.2.3:5060;transport=tls", true),
        (.tls, "sip:carol@192.0.2.3:5060", true),
    ])
    func `an address is called from the same socket where that leads to it, and elsewhere the way is asked for`(
        transport: Transport, target: Text, isAsked: Bool
    ) {
        redirect(to: ["<" + target + ">"])
        var asked: [Text] = []
        pair.alice.agent.locate = { [carol] uri, flow, completion in
            asked.append(uri.text)
            completion([Flow(transport: .udp, local: flow.local, remote: carol.address)], pair.link.now)
        }
        let call = pair.alice.call(pair.bob, transport: transport)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed && asked == (isAsked ? [target] : []))
        #expect(carol.sessions.first?.request.via.transport == (isAsked ? "UDP" : transport.name))
        call.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a name that is nowhere is passed over, and without any other address the redirection is the answer`() {
        pair.alice.agent.locate = { _, _, completion in completion([], pair.link.now) }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed && carol.sessions.count == 1)
        call.bye(at: pair.link.now)
        pair.link.run(seconds: 1)
        redirect(to: ["<sip:carol@nowhere.example>"])
        pair.alice.forget()
        pair.alice.call(pair.bob)
        pair.finish()
        #expect(pair.alice.events == ["looking for sip:carol@nowhere.example", "foundNobody", "rejected 302"])
    }

    @Test func `what was asked for over TLS is not redirected to anything less`() {
        redirect(to: ["<sip:carol@192.0.2.3:5060>"])
        pair.alice.call(pair.bob, transport: .tls) { $0.target = URI(scheme: .sips, user: "bob", host: "192.0.2.2", port: 5060) }
        pair.finish()
        #expect(carol.sessions.isEmpty && pair.alice.events == ["rejected 302"])
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
