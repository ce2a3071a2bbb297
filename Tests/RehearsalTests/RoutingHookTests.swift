import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// A hook that decides the routing of each call, at once or in a later turn of the lane.
@Suite struct RoutingHookTests {
    /// Keeps the calls until the test decides.
    private final class Hook {
        var dialled: [Text] = []
        var waiting: [(CallVerdict, Instant) -> Void] = []
    }

    private let hook = Hook()
    private let stage: Stage
    private let caller: RawPeer, device: RawPeer

    init() {
        let hook = hook
        stage = Stage { _, environment in
            environment.routing = { call, completion in
                hook.dialled.append(call.dialled)
                hook.waiting.append(completion)
            }
        }
        (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
    }

    private func invite(_ uri: String = "sip:5000@hookswitch.test") {
        caller.request("INVITE", uri, call: "one", 1, body: caller.description("0"))
    }

    private func decide(_ decision: CallDecision) {
        hook.waiting.removeFirst()(CallVerdict(decision), stage.world.now)
        stage.run(seconds: 0.1)
    }

    private var statuses: [Int] { caller.heard.filter { $0.method == .invite }.compactMap(\.status) }

    @Test(arguments: [0.0, 3.0]) func `a call rings at the number that the hook names, as soon as it does`(delay: Double) throws {
        invite()
        stage.run(seconds: delay)
        #expect(statuses == [100] && device.request(.invite) == nil && hook.dialled == ["5000"])
        decide(.number("2000"))
        let invite = try device.received(.invite)
        device.answer(invite, 180)
        #expect(statuses == [100, 100, 180], "a 100 while the hook decides, and that of the leg, which its journal has")
        device.answer(invite, 200, body: device.description("0"))
        let answer = try #require(caller.final(.invite, 1))
        caller.request("ACK", "sip:5000@hookswitch.test", call: "one", 1, toTag: answer.to.tag)
        #expect(answer.status == 200 && stage.media.openLegs == 2)
        device.hangUp(invite)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test(arguments: [404, 486, 603]) func `a refusal of the hook is the caller's status`(status: Int) {
        invite(BridgedCall.line)
        stage.run(seconds: 3)
        decide(.refused(status: status))
        #expect(statuses == [100, status] && device.request(.invite) == nil && stage.events(.reportIncoming).isEmpty)
        caller.request("ACK", BridgedCall.line, call: "one", 1, toTag: caller.final(.invite, 1)?.to.tag)
        stage.expectQuiet()
    }

    @Test(arguments: [CallDecision.asDialled, .number("9196"), .refused(status: 404)])
    func `a call that was cancelled meanwhile leaves nothing, whatever the hook says`(decision: CallDecision) {
        invite(BridgedCall.line)
        stage.run(seconds: 1)
        caller.cancel("one")
        #expect(caller.final(.cancel, 1)?.status == 200 && statuses == [100, 487])
        caller.request("ACK", BridgedCall.line, call: "one", 1, toTag: caller.final(.invite, 1)?.to.tag)
        stage.run(seconds: 1)
        decide(decision)
        #expect(Set(statuses) == [100, 487] && device.request(.invite) == nil && stage.events(.reportIncoming).isEmpty)
        stage.expectQuiet()
    }

    @Test func `a call that the hook admits during a drain gets 503 with Retry-After`() {
        invite("sip:9196@hookswitch.test")
        stage.gateway.drain(at: stage.world.now)
        decide(.asDialled)
        #expect(statuses == [100, 503] && caller.final(.invite, 1)?.headers[.retryAfter] == "5")
        caller.request("ACK", "sip:9196@hookswitch.test", call: "one", 1, toTag: caller.final(.invite, 1)?.to.tag)
        stage.expectQuiet()
    }

    @Test func `two calls wait for the hook at once, and each gets its own decision`() {
        invite("sip:9196@hookswitch.test")
        let other = RawPeer(stage, 3)
        other.request("INVITE", "sip:9196@hookswitch.test", call: "two", 1, body: other.description("0"))
        hook.waiting.swapAt(0, 1)
        decide(.refused(status: 486))
        decide(.asDialled)
        #expect(other.final(.invite, 1)?.status == 486 && caller.final(.invite, 1)?.status == 200)
        other.request("ACK", "sip:9196@hookswitch.test", call: "two", 1, toTag: other.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:9196@hookswitch.test", call: "one", 1, toTag: caller.final(.invite, 1)?.to.tag)
        caller.request("BYE", "sip:9196@hookswitch.test", call: "one", 2, toTag: caller.final(.invite, 1)?.to.tag)
        stage.expectQuiet()
    }
}
