import CallKit
import Foundation
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway

/// Calls that wait for sleeping devices, and their outcomes.
@Suite struct WakeUpsTests {
    let parts = Parts(
        listeners: [.init(.udp, SocketAddress(Parts.address, port: 5060)), .init(.tls, SocketAddress(Parts.address, port: 5061))]
    ) { configuration in
        configuration.push.isOn = true
        configuration.push.limit = .seconds(30)
        configuration.push.calls = 1
    }

    private static func contact(_ token: String, _ last: Int = 2) -> String {
        "<sip:phone@192.0.2.\(last):5060;pn-provider=acme;pn-prid=\(token)>"
    }

    /// A device registers, and may be woken by push from then on.
    private func register(_ sequence: UInt32, contact: String = Self.contact("one"), over flow: Flow = .peer(2)) throws {
        parts.wakeUps.registered(try parts.register("2000", over: flow, contact: contact, sequence))
    }

    /// A device registers, and its registration expires.
    private func fallAsleep() throws {
        try register(1)
        parts.wait(.seconds(7_201))
    }

    @Test func `a call waits unreported, and each sleeping device gets a push`() throws {
        try register(1, contact: Self.contact("two", 3), over: .peer(3))
        try fallAsleep()
        let leg = try #require(try parts.call())
        #expect(parts.pushes.map(\.identifier).sorted() == ["one", "two"])
        #expect(parts.pushes.allSatisfy { $0.provider == "acme" && $0.line == "2000" && $0.call == leg.uuid && $0.caller == "1000" })
        #expect(parts.wakeUps.isWaiting(leg.uuid) && parts.wakeUps.isUnreported(leg.uuid) && parts.events(.reportIncoming).isEmpty)
        #expect(parts.events(.pushSent).map { $0.details.number(.count) } == [2] && parts.wire.statuses() == [100])
    }

    // MARK: Outcomes

    @Test(arguments: [
        ("timeout", "timeout", 480), ("push fails", "push-failed", 480), ("cancel", "cancelled", 487), ("a user ends it", "ended", 603),
        ("wakes without TLS", "unreachable", 480),
    ])
    func `an unreported call ends with a cause, and leaves nothing`(outcome: String, cause: Text, status: Int) throws {
        try fallAsleep()
        let isSecure = outcome == "wakes without TLS"
        let leg = try #require(
            try parts.call(uri: isSecure ? "sips:2000@gateway.test" : nil, over: isSecure ? .peer(1, .tls, connection: 1) : .peer(1)))
        switch outcome {
        case "timeout":
            parts.wait(.seconds(30))
            #expect(parts.dueTimers() == [.wake])
            parts.wakeUps.stopWaiting(leg.uuid, "timeout")
        case "push fails": parts.wakeUps.pushFailed("410", for: try #require(parts.pushes.first))
        case "cancel":
            var cancel = Parts.request(.cancel)
            cancel.via = Parts.request().via
            parts.receive(cancel)
            parts.wakeUps.dropGone()
        case "a user ends it": parts.wakeUps.giveUp(leg.uuid, "ended", as: .declined)
        default: try register(2)
        }
        #expect(parts.wire.statuses() == [100, status])
        #expect(parts.events(.pushUnreported).map { $0.details.text(.cause) } == [cause])
        #expect(parts.wakeUps.waking.isEmpty && parts.table.legCount == 0 && parts.woken.isEmpty && parts.context.timers.count == 0)
    }

    @Test func `a device that registers is called once`() throws {
        try fallAsleep()
        let leg = try #require(try parts.call())
        try register(2)
        #expect(parts.woken.map(\.isReported) == [false] && parts.woken.first?.leg === leg && parts.woken.first?.callees.count == 1)
        leg.call.enter(.ringing)
        #expect(!parts.wakeUps.isUnreported(leg.uuid) && parts.unwoken.map(\.uuid) == [leg.uuid], "no other device will wake")
        try register(3, contact: "<sip:other@192.0.2.4:5060>", over: .peer(4))
        #expect(parts.woken.count == 1)
    }

    @Test func `sleeping devices are woken beside those that ring, and join them`() throws {
        try fallAsleep()
        try register(1, contact: "<sip:awake@192.0.2.3:5060>", over: .peer(3))
        let leg = try #require(try parts.call())
        #expect(parts.pushes.count == 1 && parts.wire.requests(.invite).count == 1 && parts.wire.statuses() == [100])
        #expect(parts.wakeUps.isWaiting(leg.uuid) && !parts.wakeUps.isUnreported(leg.uuid) && !parts.table.hasBridgeEvents)
        try register(2)
        #expect(parts.woken.map(\.isReported) == [true])
        #expect(parts.woken.first?.callees.map(\.target.user) == ["phone"], "a device that rings already is not called again")
        #expect(!parts.wakeUps.isWaiting(leg.uuid))
    }

    @Test func `a call that rings no more waits for no device`() throws {
        try fallAsleep()
        try register(1, contact: "<sip:awake@192.0.2.3:5060>", over: .peer(3))
        let leg = try #require(try parts.call())
        parts.wakeUps.dropGone()
        #expect(parts.wakeUps.isWaiting(leg.uuid))
        leg.end(.action)
        parts.wakeUps.dropGone()
        #expect(!parts.wakeUps.isWaiting(leg.uuid) && parts.events(.pushUnreported).isEmpty)
    }

    // MARK: Limits

    @Test func `waiting calls are limited, and one more is refused and counted`() throws {
        try fallAsleep()
        try parts.call(call: "first")
        #expect(try parts.call(call: "second") == nil)
        #expect(parts.wire.statuses() == [100, 480] && parts.admission.rateControl.counts == [.wakes: 1] && parts.pushes.count == 1)
    }

    @Test(arguments: [(true, true, true), (false, true, false), (true, false, false)])
    func `a line may wake devices where push is on and a device sleeps`(isOn: Bool, sleeps: Bool, mayWake: Bool) throws {
        let parts = Parts { $0.push.isOn = isOn }
        // Restored from the store, with push on or off.
        parts.line("2000").features.pushBindings = PushBindings([
            PushBinding(provider: "acme", identifier: "one", parameter: nil, keptUntil: .distantFuture)
        ])
        if !sleeps { try parts.register("2000", contact: Self.contact("one")) }
        #expect(parts.wakeUps.mayWake(parts.line("2000")) == mayWake && parts.wakeUps.mayPark(on: parts.line("2000")) == mayWake)
        #expect(!parts.wakeUps.mayWake(parts.line("3000")))
    }

    @Test func `push bindings are kept when they change`() throws {
        func kept() -> Int { parts.store.all.count { if case .pushBindings("2000", _) = $0 { true } else { false } } }
        try register(1)
        try register(2)
        #expect(kept() == 1)
        parts.wait(.seconds(1))
        try register(3)
        #expect(kept() == 2, "until later than before")
        parts.wakeUps.registered(Parts.request(.register, to: "sip:8888@gateway.test"))
        #expect(parts.store.all.count == 2)
    }

    @Test func `a failed push is journalled for its call, or else for its line`() throws {
        try fallAsleep()
        let leg = try #require(try parts.call()), push = try #require(parts.pushes.first)
        parts.wakeUps.pushFailed("410", for: push)
        parts.wakeUps.pushFailed("410", for: push)
        #expect(
            parts.events(.pushFailed).map(\.call) == [CallUUID(leg.uuid), nil] && parts.events(.pushFailed).allSatisfy { $0.line == "2000" }
        )
    }

    @Test(arguments: [(contact("one"), "*;+sip.pns=\"acme\""), ("<sip:phone@192.0.2.2:5060>", nil)] as [(String, Text?)])
    func `a REGISTER with push parameters gets Feature-Caps`(contact: String, capability: Text?) {
        var request = Parts.request(.register)
        request.headers.set(.contact, Text(contact))
        #expect(parts.wakeUps.capability(for: request) == capability && Parts().wakeUps.capability(for: request) == nil)
    }
}
