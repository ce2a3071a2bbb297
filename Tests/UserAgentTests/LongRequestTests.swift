import Primitives
import SIP
import Testing
import UserAgent

/// RFC 3261 §18.1.1.
@Suite struct LongRequestTests {
    private func phones(_ link: Link) -> (Phone, Phone) {
        (Phone(link, "192.0.2.1:5060") { $0.longestDatagram = 1_300 }, Phone(link, "192.0.2.2:5060"))
    }

    private func call(_ length: Int, unreachable: Bool = false) -> (vias: [Text], transports: [Transport], caller: Phone) {
        let link = Link(seed: 4), (caller, callee) = phones(link)
        if unreachable { link.unreachable.insert(callee.address) }
        var transports: [Transport] = []
        link.drops = { packet in
            if summary(packet.bytes) == "INVITE" { transports.append(packet.flow.transport) }
            return false
        }
        let session = caller.call(callee) { $0.body = Array(repeating: 0x61, count: length) }
        link.run(seconds: 2)
        #expect(session.state == .confirmed)
        session.bye(at: link.now)
        link.run()
        #expect(caller.agent.counts == nothingLeft && callee.agent.counts == nothingLeft)
        return (callee.sessions.map { $0.request.via.transport }, transports, caller)
    }

    @Test func `a long request goes over TCP, with a Via that says so`() {
        let (vias, transports, _) = call(1_200)
        #expect(vias == ["TCP"] && transports == [.tcp])
    }

    @Test func `one that its credentials make long is a datagram after all, too, where nobody takes the connection`() {
        let link = Link(seed: 4), (caller, callee) = phones(link)
        link.unreachable.insert(callee.address)
        var lengths: [Int] = []
        link.drops = { packet in
            if summary(packet.bytes) == "INVITE" { lengths.append(packet.bytes.count) }
            return false
        }
        callee.onIncoming = { session, now in
            let isAsked = !session.request.headers.contains(.proxyAuthorization)
            let challenge = DigestChallenge(realm: "example.com", nonce: "n", algorithm: .md5).value
            session.respond(status: isAsked ? 407 : 200, headers: isAsked ? [(.proxyAuthenticate, challenge)] : [], at: now)
        }
        let session = caller.call(callee) {
            $0.body = Array(repeating: 0x61, count: 700)
            $0.credentials = Credentials(username: "1001", password: "secret")
        }
        link.run(seconds: 1)
        #expect(session.state == .confirmed)
        #expect(lengths.count == 2 && lengths[0] <= 1_300 && lengths[1] > 1_300, "\(lengths)")
        session.bye(at: link.now)
        link.run()
        #expect(caller.agent.counts == nothingLeft && callee.agent.counts == nothingLeft)
    }

    @Test func `a short one stays a datagram`() {
        let (vias, transports, _) = call(300)
        #expect(vias == ["UDP"] && transports == [.udp])
    }

    @Test func `who took no connection gets long datagrams for five minutes`() {
        let link = Link(seed: 4), (caller, callee) = phones(link)
        for seconds in [0, 1, 298, 2] as [Double] {
            if seconds == 0 { link.unreachable.insert(callee.address) } else { link.unreachable = [] }
            link.run(seconds: seconds)
            let session = caller.call(callee) { $0.body = Array(repeating: 0x61, count: 1_200) }
            link.run(seconds: 0.2)
            session.bye(at: link.now)
        }
        #expect(callee.sessions.map { $0.request.via.transport } == ["UDP", "UDP", "UDP", "TCP"])
    }

    /// A firewall says nothing to who connects.
    @Test func `where the connection does not come to stand the datagram follows after a second`() {
        let link = Link(seed: 4), (caller, callee) = phones(link)
        var sent: [(transport: Transport, at: Instant)] = []
        link.drops = { packet in
            if summary(packet.bytes) == "INVITE" { sent.append((packet.flow.transport, link.now)) }
            return packet.flow.transport == .tcp
        }
        let session = caller.call(callee) { $0.body = Array(repeating: 0x61, count: 1_200) }
        link.run(seconds: 2)
        #expect(session.state == .confirmed)
        #expect(sent.map(\.transport) == [.tcp, .udp] && sent[1].at - sent[0].at == .seconds(1))
        session.bye(at: link.now)
        link.run()
        #expect(caller.agent.counts == nothingLeft && callee.agent.counts == nothingLeft)
    }

    /// The device registered over UDP; its Contact is an address that only its own network has.
    @Test func `what goes to somebody behind a NAT is a datagram at once`() {
        let link = Link(seed: 4), (caller, callee) = phones(link)
        var transports: [Transport] = []
        link.drops = { packet in
            if summary(packet.bytes) == "INVITE" { transports.append(packet.flow.transport) }
            return false
        }
        let session = caller.call(callee) {
            $0.target = URI(user: "bob", host: "10.1.2.3", port: 5_060)
            $0.body = Array(repeating: 0x61, count: 1_200)
        }
        link.run(seconds: 0.5)
        #expect(session.state == .confirmed && transports == [.udp])
        session.bye(at: link.now)
        link.run()
        #expect(caller.agent.counts == nothingLeft && callee.agent.counts == nothingLeft)
    }

    @Test func `where nobody takes the connection the datagram is long`() {
        let (vias, _, caller) = call(1_200, unreachable: true)
        #expect(vias == ["UDP"])
        #expect(!caller.events.contains { $0.hasPrefix("rejected") })
        #expect(caller.traces.filter { $0.hasPrefix("> INVITE") }.count == 1, "the second is the first again: \(caller.traces)")
    }
}
