import Primitives
import SIP
import Testing
import UserAgent

@Suite struct DigestTests {
    /// A callee that asks for a password before anything else.
    final class Guarded {
        let pair = Pair()
        private var server: DigestServer
        let secret = DigestSecret.password("secret")

        init(nonceLifetime: Duration = .seconds(300)) {
            server = DigestServer(
                configuration: .init(realm: "example.com", nonceLifetime: nonceLifetime), secret: [1, 2, 3], hash: testHash)
        }

        /// The challenges for a request without right credentials; nil when it may pass.
        func challenges(_ request: Message, at now: Instant, header: HeaderName) -> [(HeaderName, Text)]? {
            let name: HeaderName = header == .proxyAuthenticate ? .proxyAuthorization : .authorization
            var isStale = false
            if let value = request.headers[name], let credentials = try? DigestCredentials(parsing: value), let uri = request.requestURI {
                switch server.verify(credentials, method: request.method, uri: uri, secret: secret, at: now) {
                case .accepted: return nil
                case .stale, .unknownNonce: isStale = true
                case .refused: break
                }
            }
            return server.challenges(stale: isStale, at: now).map { (header, $0.value) }
        }

        func call(password: Text) -> InviteSession {
            pair.bob.onIncoming = { [unowned self] session, now in
                if let headers = challenges(session.request, at: now, header: .proxyAuthenticate) {
                    session.respond(status: 407, headers: headers, at: now)
                } else {
                    session.respond(status: 200, body: Array("v=0".utf8), at: now)
                }
            }
            return pair.alice.call(pair.bob) { $0.credentials = Credentials(username: "1001", password: password) }
        }
    }

    @Test func `a challenged INVITE is sent again with credentials, and its ACK carries them`() {
        let test = Guarded()
        let call = test.call(password: "secret")
        test.pair.link.run(seconds: 1)
        #expect(test.pair.alice.events == ["accepted"])
        #expect(test.pair.alice.traces == ["> INVITE", "< 407 INVITE", "> ACK", "> INVITE", "< 200 INVITE", "> ACK"])
        #expect(test.pair.bob.events == ["incoming", "incoming", "acknowledged"])
        let (first, second) = (test.pair.bob.sessions[0].request, test.pair.bob.sessions[1].request)
        #expect(first.callID == second.callID && first.from.tag == second.from.tag && second.cseq.number == first.cseq.number + 1)
        #expect(first.via.branch != second.via.branch)
        call.bye(at: test.pair.link.now)
        test.pair.finish()
    }

    /// An INVITE with somebody else's address below it has no other use than the answer to a challenge.
    @Test(arguments: [true, false])
    func `a callee proves who it is to whoever has acknowledged its answer`(isAcknowledged: Bool) throws {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in
            session.authenticate(as: Credentials(username: "1001", password: "secret"))
            session.respond(status: 200, body: Array("v=0 answer".utf8), at: now)
        }
        var request = RawRequest()
        request.body = "v=0 offer"
        bench.send(request.text)
        if isAcknowledged {
            request.to += ";tag=\(try #require(bench.answers.last?.to.tag))"
            (request.method, request.body, request.via) = ("ACK", "", "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKack;rport")
            bench.send(request.text)
            bench.phone.sessions[0].bye(at: bench.link.now)
        }
        bench.link.run(seconds: isAcknowledged ? 0.1 : 33)
        let byes = { bench.answers.filter { $0.isRequest && $0.method == .bye } }
        var refusal = Message.response(to: try #require(byes().last), status: 407, toTag: nil)
        refusal.append(.proxyAuthenticate, DigestChallenge(realm: "carrier", nonce: "n", algorithm: .md5).value)
        bench.send(refusal.description)
        #expect(byes().contains { $0.headers.contains(.proxyAuthorization) } == isAcknowledged)
    }

    @Test func `a wrong password is tried once`() {
        let test = Guarded()
        _ = test.call(password: "wrong")
        test.pair.finish()
        #expect(test.pair.alice.events == ["rejected 407"])
        #expect(test.pair.bob.events == ["incoming", "incoming"])
    }

    @Test func `without credentials a challenge is final`() {
        let test = Guarded()
        let call = test.call(password: "secret")
        test.pair.link.run(seconds: 1)
        call.bye(at: test.pair.link.now)
        let plain = test.pair.alice.call(test.pair.bob)
        test.pair.link.run(seconds: 1)
        #expect(plain.state == .ended)
        #expect(test.pair.alice.events.last == "rejected 407")
        test.pair.finish()
    }

    @Test func `a call that is cancelled while it is challenged is not sent again`() {
        let test = Guarded()
        let call = test.call(password: "secret")
        call.cancel(at: test.pair.link.now)
        test.pair.finish()
        #expect(test.pair.alice.traces == ["> INVITE", "< 407 INVITE", "> ACK"])
        #expect(test.pair.alice.events == ["rejected 407"])
    }

    @Test func `a server that calls every nonce stale is not followed for ever`() {
        let test = Guarded(nonceLifetime: .zero)
        _ = test.call(password: "secret")
        test.pair.finish()
        #expect(test.pair.alice.events == ["rejected 407"])
        #expect(test.pair.bob.sessions.count == 5)
    }

    @Test func `requests in the dialog carry what the INVITE learnt`() {
        let test = Guarded()
        let call = test.call(password: "secret")
        test.pair.link.run(seconds: 1)
        var info: Message?
        test.pair.bob.onEvent = { _, event, _ in if case .info(let message) = event { info = message } }
        call.info(contentType: "text/plain", body: [1], at: test.pair.link.now)
        test.pair.link.run(seconds: 1)
        #expect(info?.headers.contains(.proxyAuthorization) == true)
        call.bye(at: test.pair.link.now)
        test.pair.finish()
    }

    @Test func `a registration answers the challenge of its registrar and uses the nonce again`() {
        let guarded = Guarded()
        let test = RegistrationTests.Registrar(credentials: Credentials(username: "1001", password: "secret"))
        var statuses: [Int] = []
        test.answer = { request in
            let challenges = guarded.challenges(request, at: test.link.now, header: .wwwAuthenticate)
            statuses.append(challenges == nil ? 200 : 401)
            return challenges.map { (401, $0) } ?? (
                200, [(.contact, request.contact?.text ?? .empty), (.expires, Text(request.expires ?? 0))]
            )
        }
        test.link.run(seconds: 550)
        #expect(test.events == ["registered 600", "registered 600"])
        #expect(statuses.prefix(2) == [401, 200])
        test.finish()
        #expect(test.events.last == "unregistered 200")
    }

    @Test func `a BYE and a re-INVITE that are challenged are sent again, and the ACK has the credentials of its own INVITE`() {
        let guarded = Guarded()
        let bench = Bench()
        var requests: [Message] = [], credentials: [Text?] = []
        bench.link.place(
            .raw { bytes, _ in
                guard let message = try? Message(parsing: bytes), message.isRequest else { return }
                guard message.method != .ack else { return credentials.append(message.headers[.authorization]) }
                requests.append(message)
                let challenges =
                    message.method == .invite && message.to.tag == nil
                    ? nil : guarded.challenges(message, at: bench.link.now, header: .wwwAuthenticate)
                var answer = Message.response(to: message, status: challenges == nil ? 200 : 401, toTag: "peer")
                answer.headers.append(.contact, "<sip:peer@198.51.100.7:5070>")
                for (name, value) in challenges ?? [] { answer.headers.append(name, value) }
                bench.phone.agent.receive(answer.serialized(), over: bench.flow, at: bench.link.now)
            }, at: bench.peer)
        var invite = OutgoingInvite(
            target: URI(user: "peer", address: bench.peer), flow: bench.flow, from: NameAddress(uri: bench.phone.uri()),
            to: NameAddress(uri: URI(user: "peer", address: bench.peer)))
        invite.credentials = Credentials(username: "1001", password: "secret")
        let session = bench.phone.agent.invite(invite, delegate: bench.phone, at: bench.link.now)
        bench.link.run(seconds: 1)
        session.reinvite(body: [1], at: bench.link.now)
        bench.link.run(seconds: 1)
        session.bye(at: bench.link.now)
        bench.link.run()
        #expect(bench.phone.events == ["accepted", "reanswered", "byeCompleted 200"])
        #expect(requests.map(\.summary) == ["INVITE", "INVITE", "INVITE", "BYE"])
        // That of the 401 has none, like the INVITE that it answers.
        #expect(credentials == [nil, nil, requests[2].headers[.authorization]] && credentials[2] != nil)
        #expect(zip(requests, requests.dropFirst()).allSatisfy { $0.cseq.number < $1.cseq.number })
        #expect(bench.phone.agent.counts == nothingLeft)
    }
}
