import Primitives
import SIP
import Testing
import UserAgent

/// Two telephones on a link without loss, 10 ms one way.
struct Pair {
    let link: Link
    let alice: Phone
    let bob: Phone

    init(
        seed: UInt64 = 1, alice configureAlice: (inout UserAgentConfiguration) -> Void = { _ in },
        bob configureBob: (inout UserAgentConfiguration) -> Void = { _ in }
    ) {
        link = Link(seed: seed)
        alice = Phone(link, "192.0.2.1:5060", configureAlice)
        bob = Phone(link, "192.0.2.2:5060", configureBob)
    }

    /// A confirmed call whose events so far are forgotten.
    func connected() -> (InviteSession, InviteSession) {
        let call = alice.call(bob)
        link.run(seconds: 1)
        alice.forget()
        bob.forget()
        return (call, bob.sessions[bob.sessions.count - 1])
    }

    /// Lets every timer run out; nothing may be left then.
    func finish(_ location: SourceLocation = #_sourceLocation) {
        link.run()
        #expect(alice.agent.counts == nothingLeft, sourceLocation: location)
        #expect(bob.agent.counts == nothingLeft, sourceLocation: location)
    }
}

@Suite struct CallFlowTests {
    @Test func `a call is offered, rings, is answered, acknowledged and ended, and leaves nothing`() {
        let pair = Pair()
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        #expect(call.state == .confirmed && pair.bob.sessions[0].state == .confirmed)
        call.bye(reasons: [Reason(protocol: "Q.850", cause: 16)], at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events == ["provisional 180", "accepted", "byeCompleted 200"])
        #expect(pair.bob.events == ["incoming", "acknowledged", "ended Q.850/16"])
        #expect(pair.alice.traces == ["> INVITE", "< 100 INVITE", "< 180 INVITE", "< 200 INVITE", "> ACK", "> BYE", "< 200 BYE"])
        #expect(pair.bob.traces == ["> 100 INVITE", "> 180 INVITE", "> 200 INVITE", "< ACK", "< BYE", "> 200 BYE"])
    }

    @Test func `over TCP nothing is repeated but what RFC 3261 wants repeated, and the connection of the answer is used`() {
        let pair = Pair()
        let call = pair.alice.call(pair.bob, transport: .tcp)
        pair.link.run(seconds: 1)
        #expect(call.flow.connection == 1)
        call.bye(at: pair.link.now)
        pair.finish()
        #expect(pair.alice.traces == ["> INVITE", "< 100 INVITE", "< 180 INVITE", "< 200 INVITE", "> ACK", "> BYE", "< 200 BYE"])
    }

    @Test func `a busy callee refuses once and its ACK is absorbed`() {
        let pair = Pair()
        pair.bob.onIncoming = { session, now in
            session.respond(status: 100, at: now)
            session.respond(status: 486, at: now)
            #expect(!session.respond(status: 200, at: now))
        }
        let call = pair.alice.call(pair.bob)
        pair.finish()
        #expect(call.state == .ended)
        #expect(pair.alice.events == ["rejected 486"])
        #expect(pair.bob.events == ["incoming"])
        #expect(pair.alice.traces == ["> INVITE", "< 100 INVITE", "< 486 INVITE", "> ACK"])
        #expect(pair.bob.traces == ["> 100 INVITE", "> 486 INVITE", "< ACK"])
    }

    @Test(arguments: ["0", "5"]) func `an invitation ends with the time that it gives`(seconds: String) {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 180, at: now) }
        bench.send(RawRequest(headers: ["Expires: \(seconds)"]).text)
        #expect(bench.statuses == (seconds == "0" ? [180, 487] : [180]))
        bench.link.run(seconds: 5)
        #expect(Set(bench.statuses) == [180, 487])
        #expect(bench.phone.events == ["incoming", "cancelled Q.850/102"])
        bench.link.run()
        #expect(bench.phone.agent.counts == nothingLeft)
    }

    @Test func `a ringing call is cancelled with its reasons`() {
        let pair = Pair()
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        call.cancel(reasons: [.completedElsewhere], at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events == ["provisional 180", "rejected 487"])
        #expect(pair.bob.events == ["incoming", "cancelled SIP/200"])
        #expect(pair.bob.traces == ["> 180 INVITE", "< CANCEL", "> 200 CANCEL", "> 487 INVITE", "< ACK"])
    }

    @Test func `CANCEL waits for a provisional response`() {
        let pair = Pair()
        pair.bob.onIncoming = { _, _ in }
        let call = pair.alice.call(pair.bob)
        call.cancel(at: pair.link.now)
        pair.link.run(seconds: 0.4)
        #expect(pair.alice.traces == ["> INVITE"])
        pair.bob.sessions[0].respond(status: 100, at: pair.link.now)
        pair.finish()
        #expect(pair.alice.traces == ["> INVITE", "< 100 INVITE", "> CANCEL", "< 200 CANCEL", "< 487 INVITE", "> ACK"])
        #expect(pair.alice.events == ["rejected 487"])
        #expect(pair.bob.events == ["incoming", "cancelled"])
    }

    @Test func `a CANCEL that crosses the 200 does nothing, and the caller is told of the 200`() {
        let pair = Pair()
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        pair.alice.onEvent = { session, event, now in if case .accepted = event { session.bye(at: now) } }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        pair.bob.sessions[0].respond(status: 200, at: pair.link.now)
        call.cancel(at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events == ["provisional 180", "accepted", "byeCompleted 200"])
        #expect(pair.bob.events == ["incoming", "acknowledged", "ended"])
        #expect(
            pair.alice.traces == [
                "> INVITE", "< 180 INVITE", "> CANCEL", "< 200 INVITE", "> ACK", "> BYE", "< 200 CANCEL", "< 200 BYE",
            ])
    }

    @Test func `a 200 long after the CANCEL is still acknowledged and ended`() {
        let pair = Pair()
        pair.link.drops = { summary($0.bytes) == "CANCEL" }
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        pair.alice.onEvent = { session, event, now in if case .accepted = event { session.bye(at: now) } }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        call.cancel(at: pair.link.now)
        pair.link.run(seconds: 20)
        pair.bob.sessions[0].respond(status: 200, at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events == ["provisional 180", "accepted", "byeCompleted 200"])
        #expect(pair.bob.events == ["incoming", "acknowledged", "ended"])
    }

    @Test func `an INVITE that was cancelled in vain is given up after 64·T1`() {
        let pair = Pair()
        pair.link.drops = { summary($0.bytes) == "CANCEL" }
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        call.cancel(at: pair.link.now)
        pair.link.run(seconds: 31.9)
        #expect(call.state == .inviting)
        pair.link.run(seconds: 0.2)
        #expect(pair.alice.events == ["provisional 180", "rejected 408 locally"])
        pair.bob.sessions[0].respond(status: 480, at: pair.link.now)
        pair.finish()
    }

    @Test func `a BYE that is lost with its connection is sent again over a new one`() {
        let pair = Pair()
        let call = pair.alice.call(pair.bob, transport: .tcp)
        pair.link.run(seconds: 1)
        pair.alice.forget()
        var byes: [UInt64] = []
        pair.link.drops = { packet in
            guard summary(packet.bytes) == "BYE" else { return false }
            byes.append(packet.flow.connection)
            return byes.count == 1
        }
        call.bye(at: pair.link.now)
        pair.alice.agent.failed(call.flow, at: pair.link.now)
        pair.finish()
        #expect(byes.count == 2)
        #expect(pair.alice.events == ["byeCompleted 200"])
        #expect(pair.bob.events.last == "ended")
    }

    @Test func `nobody there: 408 after 64·T1, and over a dead connection 503 at once`() {
        let pair = Pair()
        pair.link.drops = { _ in true }
        pair.alice.call(pair.bob)
        pair.link.run(seconds: 31.9)
        #expect(pair.alice.events == [])
        pair.link.run(seconds: 0.2)
        #expect(pair.alice.events == ["rejected 408 locally"])
        pair.link.unreachable = [pair.bob.address]
        pair.alice.call(pair.bob, transport: .tcp)
        pair.link.run(seconds: 0.1)
        #expect(pair.alice.events == ["rejected 408 locally", "rejected 503 locally"])
        pair.finish()
    }

    @Test func `a lost ACK is sent again when the 200 comes again`() {
        let pair = Pair()
        var dropped = 0
        pair.link.drops = { packet in
            guard summary(packet.bytes) == "ACK", dropped < 2 else { return false }
            dropped += 1
            return true
        }
        pair.alice.call(pair.bob)
        pair.link.run(seconds: 10)
        #expect(pair.bob.events == ["incoming", "acknowledged"])
        #expect(pair.bob.traces == ["> 100 INVITE", "> 180 INVITE", "> 200 INVITE", ">* 200 INVITE", ">* 200 INVITE", "< ACK"])
        #expect(pair.alice.events == ["provisional 180", "accepted"])
        #expect(pair.alice.traces.suffix(6) == ["< 200 INVITE", "> ACK", "<* 200 INVITE", ">* ACK", "<* 200 INVITE", ">* ACK"])
        pair.alice.sessions[0].bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a lost 200 is repeated by the callee`() {
        let pair = Pair()
        var dropped = false
        pair.link.drops = { packet in
            guard summary(packet.bytes) == "200 INVITE", !dropped else { return false }
            dropped = true
            return true
        }
        pair.alice.call(pair.bob)
        pair.link.run(seconds: 2)
        #expect(pair.alice.events == ["provisional 180", "accepted"])
        #expect(pair.bob.traces.suffix(3) == ["> 200 INVITE", ">* 200 INVITE", "< ACK"])
        pair.bob.sessions[0].bye(at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events.last == "ended")
        #expect(pair.bob.events.last == "byeCompleted 200")
    }

    @Test func `a 200 is repeated for 64·T1 and then the callee may end the call`() {
        let pair = Pair()
        pair.link.drops = { summary($0.bytes) == "ACK" }
        pair.alice.call(pair.bob)
        pair.link.run(seconds: 31.9)
        #expect(pair.bob.traces.filter { $0 == ">* 200 INVITE" }.count == 10)
        #expect(pair.bob.events == ["incoming"])
        pair.finish()
        #expect(pair.bob.events == ["incoming", "acknowledgeTimeout", "byeCompleted 200"])
        #expect(pair.alice.events == ["provisional 180", "accepted", "ended"])
    }

    @Test func `the BYE of a callee waits for the ACK`() {
        let pair = Pair()
        pair.alice.onEvent = { _, _, _ in }
        pair.bob.onIncoming = { session, now in
            session.respond(status: 200, at: now)
            session.bye(reasons: [Reason(protocol: "Q.850", cause: 41)], at: now)
        }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 5)
        #expect(!pair.bob.traces.contains("> BYE"))
        call.acknowledge(at: pair.link.now)
        pair.finish()
        #expect(pair.bob.events == ["incoming", "acknowledged", "byeCompleted 200"])
        #expect(pair.alice.events == ["accepted", "ended Q.850/41"])
    }

    @Test func `a BYE that is asked for while the 200 is on its way out waits too`() {
        let pair = Pair()
        pair.bob.onEvent = { session, event, now in
            if case .traced(.sent, let message, _) = event, message.status == 200, message.method == .invite { session.bye(at: now) }
        }
        pair.alice.call(pair.bob)
        pair.finish()
        #expect(pair.bob.traces == ["> 100 INVITE", "> 180 INVITE", "> 200 INVITE", "< ACK", "> BYE", "< 200 BYE"])
    }

    @Test func `without an ACK the BYE of a callee goes out after 64·T1`() {
        let pair = Pair()
        pair.alice.onEvent = { _, _, _ in }
        pair.bob.onIncoming = { session, now in
            session.respond(status: 200, at: now)
            session.bye(at: now)
        }
        pair.alice.call(pair.bob)
        pair.link.run(seconds: 31.9)
        #expect(!pair.bob.traces.contains("> BYE"))
        pair.finish()
        #expect(pair.bob.events == ["incoming", "acknowledgeTimeout", "byeCompleted 200"])
    }

    @Test func `BYE and BYE cross`() {
        let pair = Pair()
        let (call, answered) = pair.connected()
        call.bye(at: pair.link.now)
        answered.bye(at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events == ["byeCompleted 200"])
        #expect(pair.bob.events == ["byeCompleted 200"])
        #expect(pair.alice.traces == ["> BYE", "< BYE", "> 200 BYE", "< 200 BYE"])
    }

    @Test func `after the end the dialog is unknown`() {
        let pair = Pair()
        let (call, answered) = pair.connected()
        pair.link.drops = { summary($0.bytes) == "BYE" && $0.flow.local == pair.bob.address }
        call.bye(at: pair.link.now)
        pair.link.run(seconds: 33)
        #expect(pair.alice.events == ["byeCompleted 408"])
        answered.reinvite(body: Array("v=0".utf8), at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(pair.bob.events == ["refused 481"])
        answered.bye(at: pair.link.now)
        pair.finish()
        #expect(pair.bob.events == ["refused 481", "byeCompleted 481"])
    }

    @Test func `INFO is delivered and answered, OPTIONS in the dialog is answered`() throws {
        let pair = Pair()
        let (call, answered) = pair.connected()
        call.info(contentType: "application/dtmf-relay", body: Array("Signal=5".utf8), at: pair.link.now)
        pair.link.run(seconds: 1)
        #expect(pair.bob.events == ["info"])
        #expect(pair.alice.traces == ["> INFO", "< 200 INFO"])
        var dialog = try #require(call.dialog)
        let via = Via(transport: "UDP", host: "192.0.2.1", port: 5060, branch: "z9hG4bKoptions")
        let options = dialog.request(.options, sequence: dialog.takeSequence(), via: via)
        pair.bob.agent.receive(options.serialized(), over: pair.bob.flow(to: pair.alice), at: pair.link.now)
        #expect(pair.bob.traces == ["< INFO", "> 200 INFO", "< OPTIONS", "> 200 OPTIONS"])
        #expect(pair.bob.events == ["info"])
        answered.bye(at: pair.link.now)
        pair.finish()
    }

    @Test func `a ringing callee repeats its 180 every minute`() {
        let pair = Pair()
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        pair.alice.call(pair.bob)
        pair.link.run(seconds: 59.5)
        #expect(pair.bob.traces == ["> 180 INVITE"])
        pair.link.run(seconds: 61)
        #expect(pair.bob.traces == ["> 180 INVITE", ">* 180 INVITE", ">* 180 INVITE"])
        pair.bob.sessions[0].respond(status: 480, at: pair.link.now)
        pair.finish()
    }

    @Test func `a repeated INVITE gets the last response again and the delegate hears of it once`() {
        let pair = Pair()
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        pair.link.drops = { summary($0.bytes) == "180 INVITE" }
        pair.alice.call(pair.bob)
        pair.link.run(seconds: 3)
        #expect(pair.bob.events == ["incoming"])
        #expect(pair.bob.traces == ["> 180 INVITE", "<* INVITE", ">* 180 INVITE", "<* INVITE", ">* 180 INVITE"])
        pair.link.drops = nil
        pair.bob.sessions[0].respond(status: 603, at: pair.link.now)
        pair.finish()
        #expect(pair.alice.events == ["rejected 603"])
    }

    @Test func `a callee that is cancelled by BYE on the early dialog ends the call`() {
        let pair = Pair()
        pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        let call = pair.alice.call(pair.bob)
        pair.link.run(seconds: 1)
        let tag = pair.bob.sessions[0].localTag
        let bye = """
            BYE sip:phone@192.0.2.2:5060 SIP/2.0\r
            Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKearlybye;rport\r
            From: \(call.request.from.text)\r
            To: <sip:phone@192.0.2.2:5060>;tag=\(tag)\r
            Call-ID: \(call.callID)\r
            CSeq: \(call.request.cseq.number + 1) BYE\r
            Max-Forwards: 70\r
            Content-Length: 0\r
            \r

            """
        pair.bob.agent.receive(Array(bye.utf8), over: pair.bob.flow(to: pair.alice), at: pair.link.now)
        pair.finish()
        #expect(pair.bob.events == ["incoming", "ended"])
        #expect(pair.bob.traces.prefix(4) == ["> 180 INVITE", "< BYE", "> 200 BYE", "> 487 INVITE"])
        #expect(pair.alice.events == ["provisional 180", "rejected 487"])
    }
}
