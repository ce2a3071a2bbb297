import Primitives
import SIP
import Testing
import UserAgent

/// A proxy in front of several telephones, played by the test: it answers the INVITE of an agent with whatever tags it likes.
@Suite struct ForkTests {
    final class Proxy {
        let bench = Bench()
        private(set) var received: [Message] = []
        private(set) var invite: Message?
        var session: InviteSession!

        init() {
            bench.link.place(
                .raw { [unowned self] bytes, _ in
                    guard let message = try? Message(parsing: bytes) else { return }
                    received.append(message)
                    if message.method == .invite, message.isRequest { invite = message }
                    if message.method == .bye, message.isRequest { answer(200, to: message) }
                }, at: bench.peer)
            var outgoing = OutgoingInvite(
                target: URI(user: "bob", address: bench.peer), flow: bench.flow, from: NameAddress(uri: bench.phone.uri("1001")),
                to: NameAddress(uri: URI(user: "bob", address: bench.peer)))
            outgoing.body = Array("v=0".utf8)
            session = bench.phone.agent.invite(outgoing, delegate: bench.phone, at: bench.link.now)
            bench.link.run(seconds: 0.1)
        }

        func answer(
            _ status: Int, to request: Message? = nil, tag: Text? = nil, contact: String? = "<sip:bob@198.51.100.7:5070>",
            recordRoute: String? = nil
        ) {
            guard let request = request ?? invite else { return }
            var response = Message.response(to: request, status: status, toTag: tag)
            if let contact { response.headers.append(.contact, Text(contact)) }
            if let recordRoute { response.headers.append(.recordRoute, Text(recordRoute)) }
            bench.phone.agent.receive(response.serialized(), over: bench.flow, at: bench.link.now)
            bench.link.run(seconds: 0.1)
        }

        func requests(_ method: SIP.Method) -> [Message] { received.filter { $0.isRequest && $0.method == method } }
    }

    @Test func `several forks ring, one answers, a second 200 is acknowledged and ended at once`() {
        let proxy = Proxy()
        proxy.answer(180, tag: "one")
        proxy.answer(180, tag: "two")
        proxy.answer(200, tag: "one")
        proxy.answer(200, tag: "two")
        proxy.answer(200, tag: "two")
        #expect(proxy.bench.phone.events == ["provisional 180", "provisional 180", "accepted"])
        #expect(proxy.requests(.ack).map { $0.to.tag } == ["one", "two", "two"])
        #expect(proxy.requests(.bye).map { $0.to.tag } == ["two"])
        #expect(proxy.session.state == .confirmed && proxy.session.remoteTag == "one")
        #expect(
            proxy.bench.phone.traces == [
                "> INVITE", "< 180 INVITE", "< 180 INVITE", "< 200 INVITE", "> ACK", "< 200 INVITE", "> ACK", "> BYE", "< 200 BYE",
                "<* 200 INVITE", ">* ACK",
            ])
        proxy.session.bye(at: proxy.bench.link.now)
        proxy.bench.link.run()
        #expect(proxy.requests(.bye).map { $0.to.tag } == ["two", "one"])
        #expect(proxy.bench.phone.agent.counts == nothingLeft)
    }

    @Test func `the 200 of a fork that comes after our BYE is ended too`() {
        let proxy = Proxy()
        proxy.answer(200, tag: "one")
        proxy.session.bye(at: proxy.bench.link.now)
        proxy.bench.link.run(seconds: 1)
        #expect(proxy.session.state == .ended)
        proxy.answer(200, tag: "two")
        #expect(proxy.requests(.bye).map { $0.to.tag } == ["one", "two"])
        proxy.bench.link.run()
        #expect(proxy.bench.phone.agent.counts == nothingLeft)
    }

    @Test func `more forks than anybody has are not listened to`() {
        let proxy = Proxy()
        for fork in 0..<40 { proxy.answer(180, tag: Text("early\(fork)")) }
        for fork in 0..<40 { proxy.answer(200, tag: Text("fork\(fork)")) }
        #expect(proxy.requests(.bye).count == 15)
        proxy.session.bye(at: proxy.bench.link.now)
        proxy.bench.link.run()
        #expect(proxy.bench.phone.agent.counts == nothingLeft)
    }

    @Test func `a fork that said 199 rings no more, and its requests are unknown`() throws {
        let proxy = Proxy()
        proxy.answer(180, tag: "one")
        proxy.answer(199, tag: "one")
        #expect(proxy.bench.phone.events == ["provisional 180", "provisional 199"])
        let call = proxy.session.callID, tag = proxy.session.localTag
        proxy.bench.send(
            RawRequest(
                method: "INFO", from: "<sip:bob@198.51.100.7:5070>;tag=one", to: "<sip:1001@192.0.2.2>;tag=\(tag)", callID: "\(call)"
            ).text)
        #expect(proxy.received.last?.status == 481)
        proxy.answer(486, tag: "x")
        proxy.bench.link.run()
        #expect(proxy.bench.phone.agent.counts == nothingLeft)
    }

    @Test func `requests inside of the dialog follow the record route of the 200, in reverse`() {
        let proxy = Proxy()
        proxy.answer(180, tag: "one", contact: nil)
        proxy.answer(200, tag: "one", contact: "<sip:bob@10.0.0.9>", recordRoute: "<sip:198.51.100.9;lr>, <sip:198.51.100.7:5070;lr>")
        let ack = proxy.requests(.ack).first
        #expect(ack?.requestURI?.text == "sip:bob@10.0.0.9")
        #expect(ack?.routes.map(\.uri.text) == ["sip:198.51.100.7:5070;lr", "sip:198.51.100.9;lr"])
        proxy.session.bye(at: proxy.bench.link.now)
        proxy.bench.link.run()
        #expect(proxy.bench.phone.agent.counts == nothingLeft)
    }

    @Test func `a peer behind a NAT is reached where its messages come from`() {
        let proxy = Proxy()
        proxy.answer(200, tag: "one", contact: "<sip:bob@192.168.1.9:5060>")
        #expect(proxy.requests(.ack).first?.requestURI?.text == "sip:bob@192.168.1.9:5060")
        proxy.session.bye(at: proxy.bench.link.now)
        proxy.bench.link.run()
        #expect(proxy.bench.phone.agent.counts == nothingLeft)
    }

    @Test func `provisional responses after the 200 change nothing`() {
        let proxy = Proxy()
        proxy.answer(200, tag: "one")
        proxy.answer(100)
        proxy.answer(180, tag: "one")
        #expect(proxy.bench.phone.events == ["accepted"])
        proxy.session.bye(at: proxy.bench.link.now)
        proxy.bench.link.run()
        #expect(proxy.bench.phone.agent.counts == nothingLeft)
    }
}
