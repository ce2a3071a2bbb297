import Primitives
import SIP
import Testing
import UserAgent

/// Dialogs that another user agent goes on with, when the one that had them is gone.
@Suite struct AdoptionTests {
    private let pair = Pair()

    /// A third telephone that takes the place of one of two in a call.
    private func adopt(_ lost: InviteSession, of phone: Phone) throws -> (heir: Phone, session: InviteSession) {
        let heir = Phone(pair.link, "192.0.2.33:5060"), dialog = try #require(lost.dialog)
        let other = phone === pair.alice ? pair.bob : pair.alice
        let known = Dialog(
            callID: dialog.callID, local: dialog.local, remote: dialog.remote, routeSet: [], remoteTarget: dialog.remoteTarget,
            localSequence: dialog.localSequence + 1_000, isSecure: false)
        let adopted = AdoptedDialog(known, as: lost.role, over: heir.flow(to: other), offering: Array("v=0 new".utf8))
        pair.link.leave(phone.address)
        return (heir, heir.agent.adopt(adopted, delegate: heir, at: pair.link.now))
    }

    @Test(arguments: [true, false]) func `another agent goes on with a call, whichever side it takes`(isCaller: Bool) throws {
        let (call, answered) = pair.connected(), other = isCaller ? pair.bob : pair.alice
        let (heir, session) = try adopt(isCaller ? call : answered, of: isCaller ? pair.alice : pair.bob)
        pair.link.run(seconds: 1)
        #expect(other.events == ["offered INVITE", "acknowledged"] && heir.events == ["accepted"])
        #expect(heir.traces == ["> INVITE", "< 200 INVITE", "> ACK"] && session.canOffer)
        let far = isCaller ? answered : call
        #expect(far.reinvite(body: Array("v=0 hold".utf8), at: pair.link.now))
        pair.link.run(seconds: 1)
        #expect(heir.events == ["accepted", "offered INVITE", "acknowledged"], "requests of the other go where it is now")
        far.bye(at: pair.link.now)
        pair.link.run()
        #expect(heir.events.last == "ended" && heir.agent.counts == nothingLeft && other.agent.counts == nothingLeft)
    }

    @Test func `a peer that refuses gets a BYE when the delegate wants it`() throws {
        let (call, _) = pair.connected()
        pair.bob.onEvent = { session, event, now in
            if case .offered(let offer) = event { session.answer(offer, status: 488, at: now) }
        }
        let (heir, session) = try adopt(call, of: pair.alice)
        heir.onEvent = { session, event, now in if case .rejected = event { session.cancel(at: now) } }
        pair.link.run(seconds: 1)
        #expect(heir.events == ["rejected 488", "byeCompleted 200"] && pair.bob.events.last == "ended" && session.state == .ended)
        pair.link.run()
        #expect(heir.agent.counts == nothingLeft && pair.bob.agent.counts == nothingLeft)
    }

    @Test func `a peer that says nothing is waited for no longer than sixteen T1`() throws {
        let (call, _) = pair.connected(), (heir, session) = try adopt(call, of: pair.alice)
        pair.link.leave(pair.bob.address)
        pair.link.run(seconds: 7.9)
        #expect(heir.events.isEmpty)
        pair.link.run(seconds: 0.2)
        #expect(heir.events == ["rejected 408 locally"])
        session.bye(at: pair.link.now)
        pair.link.run()
        #expect(heir.agent.counts == nothingLeft)
    }
}
