import Primitives
import SIP
import Testing

@testable import UserAgent

/// What the network says of datagrams that found nobody (RFC 3261 §18.4).
@Suite struct UndeliveredTests {
    private let link = Link(seed: 18)
    private let alice: Phone, bob: Phone

    init() {
        (alice, bob) = (Phone(link, "192.0.2.1:5060"), Phone(link, "192.0.2.2:5060"))
        link.quotation = 520
    }

    private func expectNothingLeft(_ location: SourceLocation = #_sourceLocation) {
        link.run()
        #expect(alice.agent.counts == nothingLeft, sourceLocation: location)
    }

    @Test func `an INVITE to where nobody is fails when its copy has come back, too`() {
        link.leave(bob.address)
        alice.call(bob)
        link.run(seconds: 0.4)
        #expect(alice.events.isEmpty)
        link.run(seconds: 0.2)
        #expect(alice.events == ["rejected 503 locally"] && alice.traces == ["> INVITE", ">* INVITE"])
        expectNothingLeft()
    }

    @Test func `who has restarted meanwhile is called`() {
        link.leave(bob.address)
        alice.call(bob)
        link.run(seconds: 0.1)
        link.place(.agent(bob.agent), at: bob.address)
        link.run(seconds: 1)
        #expect(alice.events.last == "accepted")
        alice.sessions[0].bye(at: link.now)
        expectNothingLeft()
    }

    @Test func `a registrar that is not there yet is asked again soon, and then less often`() {
        let registrar = bob.address
        link.leave(registrar)
        var delays: [Duration] = []
        let address = NameAddress(uri: alice.uri("1001"))
        let request = OutgoingRegistration(registrar: bob.uri(), flow: alice.flow(to: bob), address: address)
        let registration = alice.agent.register(request, at: link.now) { _, event, _ in
            if case .failed(503, nil, let delay) = event { delays.append(delay) }
        }
        link.run(seconds: 200)
        #expect(
            zip(delays, [1, 2, 4, 8, 16, 32, 32]).allSatisfy { $0 >= .seconds($1) / 2 && $0 <= .seconds($1) } && delays.count >= 7,
            "\(delays)")
        registration.unregister(at: link.now)
        expectNothingLeft()
    }

    @Test func `the next way is taken`() throws {
        link.leave(bob.address)
        let carol = Phone(link, "192.0.2.3:5060")
        alice.call(bob) { $0.alternatives = [NextHop(Flow(transport: .udp, local: alice.address, remote: carol.address))] }
        link.run(seconds: 0.7)
        #expect(carol.events.first == "incoming" && alice.events.contains("accepted"))
        alice.sessions[0].bye(at: link.now)
        expectNothingLeft()
    }

    /// RFC 792 asks for eight bytes of UDP's header alone, which name nobody.
    @Test(arguments: [0, 8, 60]) func `a quotation that ends before the branch says nothing`(length: Int) {
        link.quotation = length
        link.leave(bob.address)
        alice.call(bob)
        link.run(seconds: 31)
        #expect(alice.events.isEmpty)
        link.run(seconds: 2)
        #expect(alice.events == ["rejected 408 locally"])
    }

    @Test func `what another forged ends nothing`() throws {
        var forged: [[UInt8]] = []
        link.drops = { packet in
            let text = String(decoding: packet.bytes, as: UTF8.self)
            let branch = alice.agent.branchPrefix.description
            forged = [
                text.replacing(branch, with: "z9hG4bK00000000"), "SIP/2.0 200 OK\r\n" + text,
                text.replacing("INVITE sip", with: "CANCEL sip"),
                text.replacing(/(z9hG4bK[0-9a-f]{16})[0-9a-f]{8}/) { "\($0.1)00000000" }, branch, String(repeating: branch, count: 20),
            ].map { Array($0.utf8) }
            return true
        }
        alice.call(bob)
        link.run(seconds: 0.1)
        try #require(forged.count == 6)
        for bytes in forged { alice.agent.portUnreachable(bytes, at: link.now) }
        #expect(alice.events.isEmpty && alice.agent.counts.clientTransactions == 1)
        link.run()
        #expect(alice.events == ["rejected 408 locally"])
    }

    @Test func `who has rung is waited for, and whoever is not there to be cancelled ends with the INVITE`() {
        bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        alice.call(bob)
        link.run(seconds: 1)
        link.leave(bob.address)
        alice.sessions[0].cancel(at: link.now)
        link.run(seconds: 1)
        #expect(!alice.events.contains { $0.hasPrefix("rejected") })
        link.run()
        #expect(alice.events.last?.hasPrefix("rejected") == true)
        #expect(alice.agent.counts == nothingLeft)
    }

    @Test func `what belongs to a call is said again, and whoever comes back hears it`() {
        alice.call(bob)
        link.run(seconds: 1)
        for isOver in [false, true] {
            link.leave(bob.address)
            alice.forget()
            if isOver {
                alice.sessions[0].bye(at: link.now)
            } else {
                #expect(alice.sessions[0].reinvite(body: Array("v=0 hold".utf8), at: link.now))
            }
            link.run(seconds: 2)
            #expect(alice.events.isEmpty)
            link.place(.agent(bob.agent), at: bob.address)
            link.run(seconds: 5)
            #expect(alice.events == [isOver ? "byeCompleted 200" : "reanswered"])
        }
        #expect(bob.events.contains("ended"))
        expectNothingLeft()
    }

    @Test func `a CANCEL that came back is said again to whoever rings yet`() {
        bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        alice.call(bob)
        link.run(seconds: 1)
        link.leave(bob.address)
        alice.sessions[0].cancel(at: link.now)
        link.run(seconds: 2)
        link.place(.agent(bob.agent), at: bob.address)
        link.run(seconds: 3)
        #expect(bob.events.contains { $0.hasPrefix("cancelled") } && alice.events.last == "rejected 487")
        expectNothingLeft()
    }
}
