import Primitives
import SIP
import Testing
import UserAgent

@Suite struct RegistrationTests {
    /// A registrar that answers as the test says.
    final class Registrar {
        let link = Link(seed: 3)
        let phone: Phone
        let registrar: Phone
        private(set) var requests: [(at: Duration, message: Message)] = []
        private(set) var events: [String] = []
        var registration: Registration!
        var answer: (Message) -> (status: Int, headers: [(HeaderName, Text)]) = { request in
            (200, request.contacts.map { (.contact, $0.text + ";expires=" + Text(request.expires ?? 0)) })
        }

        init(credentials: Credentials? = nil) {
            phone = Phone(link, "192.0.2.1:5060")
            registrar = Phone(link, "192.0.2.2:5060") { $0.allowedMethods.append(.register) }
            registrar.onRequest = { [unowned self] request, transaction, now in
                requests.append((now - .zero, request))
                let (status, headers) = answer(request)
                registrar.agent.respond(to: transaction, status: status, headers: headers, at: now)
                return true
            }
            var outgoing = OutgoingRegistration(
                registrar: URI(address: registrar.address), flow: phone.flow(to: registrar),
                address: NameAddress(uri: URI(user: "1001", host: "example.com")))
            outgoing.credentials = credentials
            registration = phone.agent.register(outgoing, at: link.now) { [unowned self] _, event, _ in
                switch event {
                case .registered(let seconds, _): events.append("registered \(seconds)")
                case .failed(let status, _, _): events.append("failed \(status)")
                case .unregistered(let status): events.append("unregistered \(status)")
                }
            }
        }

        func finish() {
            registration.unregister(at: link.now)
            link.run()
            #expect(phone.agent.counts == nothingLeft)
            #expect(registrar.agent.counts == nothingLeft)
        }
    }

    @Test func `a registration is refreshed at 80 to 90 per cent of the time granted, and taken back`() {
        let test = Registrar()
        test.link.run(seconds: 1_700)
        #expect(test.events == ["registered 600", "registered 600", "registered 600", "registered 600"])
        for (earlier, later) in zip(test.requests, test.requests.dropFirst()) {
            #expect(later.at - earlier.at >= .seconds(480) && later.at - earlier.at <= .seconds(541))
            #expect(later.message.cseq.number > earlier.message.cseq.number && later.message.callID == earlier.message.callID)
        }
        test.finish()
        #expect(test.requests.last?.message.expires == 0)
        #expect(test.events.last == "unregistered 200")
    }

    @Test func `the time of our own Contact counts when the registrar lists others too`() {
        let test = Registrar()
        test.answer = { request in
            (200, [(.contact, "<sip:other@192.0.2.99>;expires=7"), (.contact, (request.contact?.text ?? .empty) + ";expires=60")])
        }
        test.link.run(seconds: 1)
        #expect(test.events == ["registered 60"])
        test.finish()
    }

    @Test(
        arguments: [
            (["<sip:1001@203.0.113.9:4444;transport=udp>;expires=60"], "registered 60"),
            (["<sip:x@203.0.113.9>;expires=60"], "registered 60"),
            (["<sip:1001@203.0.113.9:1>;expires=90", "<sip:1001@203.0.113.9:2>;expires=70", "<sip:2@h>;expires=5"], "registered 70"),
            (["<sip:1001@203.0.113.9:1>"], "registered 3600"), (["<sip:1@h>;expires=5", "<sip:2@h>;expires=5"], "registered 3600"),
        ] as [([Text], String)])
    func `the time of a Contact that the registrar wrote anew counts`(contacts: [Text], event: String) {
        let test = Registrar()
        test.answer = { _ in (200, [(.expires, "3600")] + contacts.map { (.contact, $0) }) }
        test.link.run(seconds: 1)
        #expect(test.events == [event])
        test.finish()
    }

    @Test func `a binding that is granted for no time is a failure`() {
        let test = Registrar()
        test.answer = { request in (200, [(.contact, (request.contact?.text ?? .empty) + ";expires=0")]) }
        test.link.run(seconds: 14)
        #expect(test.events == ["failed 200"] && !test.registration.isRegistered)
        test.finish()
    }

    @Test func `a registrar that names another is followed`() {
        let test = Registrar()
        let other = Phone(test.link, "192.0.2.3:5060") { $0.allowedMethods.append(.register) }
        var uris: [Text?] = []
        other.onRequest = { request, transaction, now in
            uris.append(request.requestURI?.text)
            other.agent.respond(
                to: transaction, status: 200, headers: [(.contact, (request.contact?.text ?? .empty) + ";expires=60")], at: now)
            return true
        }
        test.answer = { _ in (302, [(.contact, "<sip:192.0.2.3:5060>")]) }
        test.link.run(seconds: 1)
        #expect(test.events == ["registered 60"] && uris == ["sip:192.0.2.3:5060"])
        test.finish()
        #expect(test.events.last == "unregistered 200" && other.agent.counts == nothingLeft)
    }

    @Test func `an interval that is too brief is raised to what the registrar wants`() {
        let test = Registrar()
        test.answer = { request in
            request.expires.map { $0 == 0 || $0 >= 3_600 } == true
                ? (200, [(.expires, Text(request.expires ?? 0))]) : (423, [(.minExpires, "3600")])
        }
        test.link.run(seconds: 1)
        #expect(test.events == ["registered 3600"])
        test.finish()
    }

    @Test func `a refused registration is tried again, less and less often`() {
        let test = Registrar()
        test.answer = { _ in (403, []) }
        test.link.run(seconds: 200)
        let gaps = zip(test.requests, test.requests.dropFirst()).map { $1.at - $0.at }
        #expect(gaps.count >= 2)
        #expect(gaps[0] >= .seconds(15) && gaps[0] <= .seconds(30.1))
        #expect(gaps[1] >= .seconds(30) && gaps[1] <= .seconds(60.1))
        #expect(Set(test.events) == ["failed 403"])
        test.finish()
        #expect(test.events.last == "unregistered 403")
    }

    @Test func `a registrar that does not answer counts as 408`() {
        let test = Registrar()
        test.link.drops = { _ in true }
        test.link.run(seconds: 33)
        #expect(test.events == ["failed 408"])
        test.link.drops = nil
        test.finish()
        #expect(test.events == ["failed 408", "unregistered 200"])
    }

    @Test func `OPTIONS tells whether a peer is there`() {
        let pair = Pair()
        var statuses: [Int] = []
        func ask(_ transport: Transport) {
            pair.alice.agent.options(
                OutgoingOptions(
                    target: pair.bob.uri(), flow: pair.alice.flow(to: pair.bob, transport), from: NameAddress(uri: pair.alice.uri()),
                    to: NameAddress(uri: pair.bob.uri())), at: pair.link.now
            ) { status, _, _ in statuses.append(status) }
        }
        ask(.udp)
        pair.link.run(seconds: 1)
        pair.link.unreachable = [pair.bob.address]
        ask(.tcp)
        pair.link.run(seconds: 1)
        pair.link.drops = { _ in true }
        pair.link.unreachable = []
        ask(.udp)
        pair.finish()
        #expect(statuses == [200, 503, 408])
    }
}
