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

    @Test(arguments: [("", 64.0), ("active;expires=100", 100.0), ("active", 180.0), ("active;expires=1", 60.0)])
    func `whoever takes a REFER and tells nothing more of it is not waited for for ever`(state: String, seconds: Double) throws {
        let bench = Bench { $0.allowedMethods += [.refer, .notify] }
        bench.phone.onIncoming = { session, now in session.respond(status: 200, body: Array("v=0 answer".utf8), at: now) }
        var request = RawRequest()
        request.body = "v=0 offer"
        bench.send(request.text)
        request.to += ";tag=\(try #require(bench.answers.last?.to.tag))"
        (request.method, request.body, request.via) = ("ACK", "", "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKack;rport")
        bench.send(request.text)
        let session = try #require(bench.phone.sessions.first), target = try URI(parsing: "sip:carol@192.0.2.3")
        #expect(session.refer(to: target, at: bench.link.now))
        bench.link.run(seconds: 0.1)
        bench.send(Message.response(to: try #require(bench.answers.last { $0.isRequest && $0.method == .refer }), status: 202).description)
        if !state.isEmpty {
            (request.method, request.sequence, request.via) = ("NOTIFY", 2, "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKnotify;rport")
            (request.headers, request.body, request.type) = (
                ["Event: refer", "Subscription-State: \(state)"], "SIP/2.0 100 Trying\r\n", "message/sipfrag"
            )
            bench.send(request.text)
        }
        bench.link.run(seconds: seconds - 1)
        #expect(!bench.phone.events.contains("transferProgress 408") && !session.refer(to: target, at: bench.link.now))
        bench.link.run(seconds: 2)
        #expect(bench.phone.events.contains("transferProgress 408") && session.refer(to: target, at: bench.link.now))
    }

    @Test func `a 202 that comes after the end of the call is waited for by nobody`() throws {
        let desk = Desk(), (call, _) = desk.pair.connected()
        #expect(call.refer(to: try URI(parsing: "sip:carol@192.0.2.3"), at: desk.pair.link.now))
        call.bye(at: desk.pair.link.now)
        desk.pair.finish()
    }

    /// RFC 3261 §19.1.4: an escape is the letter.
    @Test(
        arguments: [
            ("<sip:carol@192.0.2.3;method=%49NVITE>", 202), ("<sip:carol@192.0.2.3;method=INVITE;x=1?Subject=a>", 202),
            ("<sip:carol@192.0.2.3;method=BYE>", 501),
        ] as [(Text, Int)])
    func `only a call can be asked for`(target: Text, status: Int) throws {
        let desk = Desk(), (call, _) = desk.pair.connected()
        #expect(try desk.refer(to: target, from: call) == status)
        if status == 202 {
            #expect(desk.transfer?.target.parameters.contains("method" as StaticString) == false && desk.transfer?.target.headers == nil)
        }
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
