import Primitives
import SIP
import Testing
import UserAgent

/// REFER to us (RFC 3515), as far as the user agent alone decides.
@Suite struct ReferTests {
    private final class Desk {
        let pair: Pair
        var transfer: TransferRequest?

        init() {
            pair = Pair(alice: { $0.allowedMethods += [.refer, .notify] }, bob: { $0.allowedMethods += [.refer, .notify] })
            pair.bob.also { [unowned self] session, event, now in
                guard case .transferRequested(let asked) = event else { return }
                transfer = asked
                session.accept(asked, at: now)
            }
        }

        /// The status of the answer to a REFER that alice's agent knows nothing of, and so will nothing know of its subscription.
        func refer(to target: Text, from call: InviteSession) throws -> Int? {
            var request = try pair.early(.refer, of: call, from: pair.alice, body: [])
            request.headers.append(.referTo, target)
            var status: Int?
            pair.link.drops = { packet in
                if let message = try? Message(parsing: packet.bytes), message.method == .refer { status = message.status }
                return false
            }
            pair.bob.agent.receive(request.serialized(), over: pair.bob.flow(to: pair.alice), at: pair.link.now)
            return status
        }

        var notifications: Int { pair.bob.traces.count { $0 == "> NOTIFY" } }
    }

    @Test func `who has forgotten its subscription hears no more of it, and the call stays`() throws {
        let desk = Desk(), (call, answered) = desk.pair.connected()
        #expect(try desk.refer(to: "<sip:carol@192.0.2.3>", from: call) == 202)
        desk.pair.link.run(seconds: 1)
        #expect(desk.notifications == 1 && desk.pair.bob.traces.contains("< 481 NOTIFY"))
        answered.report(try #require(desk.transfer), status: 180, at: desk.pair.link.now)
        answered.report(try #require(desk.transfer), status: 200, at: desk.pair.link.now)
        desk.pair.link.run(seconds: 1)
        #expect(desk.notifications == 1 && answered.state == .confirmed)
        desk.pair.bob.sessions[0].bye(at: desk.pair.link.now)
        desk.pair.finish()
    }

    /// RFC 3261 §19.1.4: an escape is the letter.
    @Test(arguments: [
        ("<sip:carol@192.0.2.3;method=%49NVITE>", 202), ("<sip:carol@192.0.2.3;method=INVITE;x=1?Subject=a>", 202), ("<sip:carol@192.0.2.3;method=BYE>", 501),
    ] as [(Text, Int)])
    func `only a call can be asked for`(target: Text, status: Int) throws {
        let desk = Desk(), (call, _) = desk.pair.connected()
        #expect(try desk.refer(to: target, from: call) == status)
        if status == 202 { #expect(desk.transfer?.target.parameters.contains("method" as StaticString) == false && desk.transfer?.target.headers == nil) }
        desk.pair.bob.sessions[0].bye(at: desk.pair.link.now)
        desk.pair.finish()
    }

    @Test func `a call that only rings is not transferred`() throws {
        let desk = Desk()
        desk.pair.bob.onIncoming = { session, now in session.respond(status: 180, at: now) }
        let call = desk.pair.alice.call(desk.pair.bob)
        desk.pair.link.run(seconds: 1)
        #expect(try desk.refer(to: "<sip:carol@192.0.2.3>", from: call) == 403)
        call.cancel(at: desk.pair.link.now)
        desk.pair.finish()
    }
}
