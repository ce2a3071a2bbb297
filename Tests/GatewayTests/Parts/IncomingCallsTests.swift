import CallKit
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway

/// INVITEs from outside of any dialog: answered, ringing, or refused with a status.
@Suite struct IncomingCallsTests {
    private static let guests = [IPNetwork("192.0.2.9/32")!]

    /// Lines: 2001 wants a password, 2002 has room for one call, 2003 is not to be disturbed, 2004 takes no calls, 2005 is a trunk that is
    /// not there.
    private static func parts(_ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Parts {
        Parts { configuration in
            configuration.access.trusted = [IPNetwork("192.0.2.0/29")!]
            configuration.access.guests = guests
            var secret = LineConfiguration(number: "2001")
            secret.password = "secret"
            configuration.lines += [
                secret, .devices("2002") { $0.maximumCalls = 1 }, .devices("2003") { $0.doNotDisturb.isOn = true },
                .devices("2004") { $0.takesCalls = false },
                .devices("2005") { $0.endpoint = .trunk(TrunkConfiguration(targets: [.init(host: "carrier.test")])) },
            ]
            change(&configuration)
        }
    }

    @Test(
        arguments: [
            ("9196", "<sip:1000@192.0.2.1>", 1, [100, 180, 200]), ("2000", "<sip:1000@192.0.2.1>", 1, [100]),
            ("3000", "<sip:1000@192.0.2.1>", 1, [480]),
            ("8888", "<sip:1000@192.0.2.1>", 1, [404]), ("%0a", "<sip:1000@192.0.2.1>", 1, [484]),
            ("2000%3Bx", "<sip:1000@192.0.2.1>", 1, [404]),
            ("2003", "<sip:1000@192.0.2.1>", 1, [100, 480]),
            ("2004", "<sip:1000@192.0.2.1>", 1, [100, 403]), ("2005", "<sip:1000@192.0.2.1>", 1, [503]),
            ("2002", "<sip:1000@192.0.2.1>", 1, [100, 486]),
            ("9196", "<sip:2001@gateway.test>", 9, [401]), ("9196", "<sip:1000@192.0.2.8>", 8, [401]),
            ("9196", "<sip:1000@192.0.2.9>", 9, [100, 180, 200]),
            ("*78", "<sip:2000@gateway.test>", 2, [100, 180, 200]), ("*7", "<sip:2000@gateway.test>", 2, [484]),
            ("*", "<sip:1000@192.0.2.1>", 1, [404]),
        ] as [(String, String, UInt32, [Int])])
    func `a call is answered, rings, or is refused`(number: String, sender: String, last: UInt32, statuses: [Int]) throws {
        let parts = Self.parts()
        try parts.register("2000")
        try parts.register("2002", over: .peer(3))
        try parts.call("2002", call: "first")
        let before = parts.wire.responses().count
        try parts.call(number, from: sender, over: .peer(last))
        #expect(parts.wire.responses()[before...].compactMap(\.status) == statuses)
    }

    @Test(
        arguments: [
            ("legs", [503], [.legs: 1]), ("rate", [503], [.callRate: 1]), ("ports", [100, 503], [.ports: 1]), ("draining", [503], [:]),
        ] as [(String, [Int], [RateControl.Cause: UInt64])])
    func `a call without room gets 503 with Retry-After, and is counted`(want: String, statuses: [Int], counts: [RateControl.Cause: UInt64])
        throws
    {
        let parts = Self.parts { configuration in
            if want == "legs" { configuration.limits.legs = 1 }
            if want == "rate" { configuration.limits.callsPerSecond = 1 }
            if want == "ports" { configuration.media.ports = 20_000...20_001 }
        }
        try parts.call("9196", from: "<sip:1000@192.0.2.9>", over: .peer(9), call: "first")
        if want == "draining" { parts.incomingCalls.drain() }
        let before = parts.wire.responses().count
        try parts.call("9196", from: "<sip:1000@192.0.2.9>", over: .peer(9), call: "second")
        #expect(parts.wire.responses()[before...].compactMap(\.status) == statuses && parts.admission.rateControl.counts == counts)
        #expect(parts.wire.responses().last?.headers[.retryAfter] == "5" && parts.table.legCount == 1)
    }

    @Test func `an offer without a common codec gets 488, and leaves nothing`() throws {
        let parts = Self.parts()
        #expect(try parts.call("9196", from: "<sip:2000@gateway.test>", body: Parts.description(formats: "99")) == nil)
        #expect(parts.wire.statuses() == [100, 488] && parts.table.legCount == 0 && parts.line("2000").features.outgoing.isEmpty)
    }

    @Test func `a merged INVITE gets 482, and the first call goes on`() throws {
        let parts = Self.parts()
        try parts.register("2000")
        let leg = try #require(try parts.call())
        let copy = try parts.session(Parts.request(.invite, "sip:2000@gateway.test", 2, body: Parts.description()))
        parts.incomingCalls.receive(copy)
        #expect(parts.wire.statuses() == [100, 482] && parts.table.leg(ofAttempt: copy.attempt) === leg)
    }

    @Test func `a call of a line's device is one of its conversations until it is over or refused`() throws {
        let parts = Self.parts(), sender = "<sip:2000@gateway.test>"
        let leg = try #require(try parts.call("9196", from: sender))
        #expect(parts.line("2000").features.outgoing == [leg.uuid] && leg.origin?.line === parts.line("2000"))
        try parts.call("2003", from: sender, call: "refused")
        try parts.register("2003", over: .peer(3))
        try parts.call("2003", from: sender, call: "again")
        #expect(parts.line("2000").features.outgoing == [leg.uuid])
        #expect(parts.line("2000").features.recents.calls.map(\.outcome) == [.unanswered, .unanswered])
    }

    @Test func `a call of a trunk is for the number that it dials, and belongs to no line of ours`() throws {
        let parts = Self.parts { configuration in
            var carrier = TrunkConfiguration(address: Flow.peer(20).remote)
            carrier.incomingRewrites = [NumberRewrite(pattern: NumberPattern("^39")!, strip: 2)]
            configuration.lines.append(.devices("carrier") { $0.endpoint = .trunk(carrier) })
        }
        parts.trunks.start()
        let leg = try #require(try parts.call("399196", from: "<sip:+4930@carrier.test>", over: .peer(20)))
        #expect(leg.line === parts.line("9196") && leg.trunk === parts.trunks.trunk(of: parts.line("carrier")))
        #expect(leg.origin?.handle.value == "+4930" && leg.origin?.line == nil && !leg.mayTransfer)
    }

    @Test func `a call that replaces another is taken while the gateway drains`() throws {
        let parts = Self.parts(), caller = try parts.talk().caller, session = try #require(caller.session)
        parts.incomingCalls.drain()
        let value = session.callID + ";to-tag=" + session.localTag + ";from-tag=" + (session.remoteTag ?? "")
        let before = parts.wire.responses().count
        let leg = try #require(try parts.call(call: "taker", headers: [(.replaces, value)]))
        #expect(parts.wire.responses()[before...].compactMap(\.status) == [100, 200] && leg.succession.replaces == caller.uuid)
    }

    @Test(arguments: [(false, [100], 1), (true, [100], 0)])
    func `devices that woke begin to ring, or join a call that rings`(isReported: Bool, statuses: [Int], reports: Int) throws {
        let parts = Self.parts()
        let session = try parts.session(Parts.request(body: Parts.description()))
        let leg = parts.dialling.makeLeg(of: session, from: CallerIdentity(user: "1000", host: "a.test"), on: parts.line("2000"))
        leg.origin = parts.origin("a")
        if isReported {
            parts.table.open(Bridge(caller: leg.uuid))
            leg.bridge = leg.uuid
            leg.line.provider.hookswitchReport(leg.uuid, update: leg.party.update) { _ in }
        }
        let before = parts.events(.reportIncoming).count
        parts.incomingCalls.devicesWoke(for: leg, [parts.device("2000")], isReported: isReported)
        #expect(parts.events(.reportIncoming).count - before == reports && parts.wire.requests(.invite).count == 1)
    }
}
