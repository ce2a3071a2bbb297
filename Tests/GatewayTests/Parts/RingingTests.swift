import CallKit
import Foundation
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway

/// Devices, scripts and forks that ring, and the 180 of their caller.
@Suite struct RingingTests {
    // MARK: Applications and scripts

    @Test func `an application sends 180 at once, and answers`() throws {
        let parts = Parts()
        let leg = try #require(try parts.call("9196"))
        #expect(parts.wire.statuses() == [100, 180, 200] && leg.state == .connected)
    }

    private static func scripted(_ script: LineScript) -> Parts { Parts { $0.lines[1].endpoint = .script(script) } }

    @Test(arguments: [
        (LineScript(.answer), [100, 180, 200]), (LineScript(.reject(603)), [100, 180, 603]), (LineScript(.reject(404)), [100, 180, 404]),
        (LineScript(.ring), [100, 180]), (LineScript(.answer, after: .seconds(3)), [100, 180]),
    ])
    func `a script answers, rejects or rings`(script: LineScript, statuses: [Int]) throws {
        let parts = Self.scripted(script)
        try parts.call("3000")
        #expect(parts.wire.statuses() == statuses)
    }

    @Test func `a script acts after its delay, on a call that still rings`() throws {
        let parts = Self.scripted(LineScript(.answer, after: .seconds(3)))
        let legs = try ["one", "two"].map { try #require(try parts.call("3000", call: $0)) }
        parts.wait(.milliseconds(2_999))
        #expect(parts.dueTimers().isEmpty)
        parts.wait(.milliseconds(1))
        #expect(parts.dueTimers() == [.application, .application])
        legs[1].end(.action)
        for leg in legs { parts.applications.advance(leg) }
        #expect(parts.wire.statuses().sorted() == [100, 100, 180, 180, 200, 603])
    }

    @Test func `every second call of a script is busy`() throws {
        let parts = Self.scripted(LineScript(.answer, busyEvery: 2))
        for call in ["a", "b", "c", "d"] as [Text] { try parts.call("3000", call: call) }
        #expect(parts.wire.statuses().filter { $0 >= 200 } == [200, 486, 200, 486])
    }

    // MARK: Devices

    @Test func `a caller gets one 180 when the first device rings, and another where headers are passed`() throws {
        let parts = Parts()
        try parts.register("2000")
        let caller = try #require(try parts.call())
        let callee = try #require(parts.table.callees(of: caller.uuid).first.flatMap(parts.table.leg))
        func rings(_ status: Int) -> [Int] {
            parts.ringing.rings(callee, Message.response(to: parts.wire.requests(.invite)[0], status: status, toTag: "a"))
            return parts.wire.statuses()
        }
        #expect(rings(181) == [100], "sent on, and nobody rings yet")
        #expect(rings(180) == [100, 180] && rings(183) == [100, 180])
        caller.passedHeaders = [(.subject, "late")]
        #expect(rings(180) == [100, 180, 180] && parts.wire.responses().last?.headers[.subject] == "late")
    }

    @Test(arguments: [(1, []), (2, [180, 180, 199])] as [(UInt32, [Int])])
    func `a caller that supports 199 has an early dialog with each of several forks`(devices: UInt32, told: [Int]) throws {
        let parts = Parts()
        for last in 2...(1 + devices) { try parts.register("2000", over: .peer(last)) }
        let caller = try #require(try parts.call(headers: [(.supported, "199")]))
        let callees = parts.table.callees(of: caller.uuid).compactMap(parts.table.leg)
        for callee in callees {
            parts.ringing.rings(callee, Message.response(to: parts.wire.requests(.invite)[0], status: 180, toTag: "a"))
        }
        parts.ringing.forkEnded(callees[0], EndCause(status: 486, reasons: [.q850(17)]))
        let own = parts.wire.responses().first { $0.status == 180 }?.to.tag
        let forks = parts.wire.responses().filter { $0.status != 100 && $0.to.tag != own }
        #expect(forks.compactMap(\.status) == told && Set(forks.compactMap(\.to.tag)).count == (devices == 1 ? 0 : 2))
        if devices == 2 { #expect(forks.last?.to.tag == forks.first?.to.tag && forks.last?.reasons.first?.cause == 17) }
    }

    @Test func `a contact of the line is shown by its name`() throws {
        let parts = Parts { $0.lines[0].addContact("1000", name: "Alice") }
        try parts.register("2000")
        let caller = try #require(try parts.call())
        #expect(parts.wire.requests(.invite).last?.from.displayName == "Alice" && caller.origin?.name == "Alice")
    }

    @Test func `no device joins a call that rings no more`() throws {
        let parts = Parts()
        let caller = try parts.talk().caller
        parts.ringing.join([parts.device("2000")], to: caller)
        #expect(parts.wire.requests(.invite).count == 1)
    }

    @Test(arguments: [("calling", 2), ("joined", 1), ("transferring", 2)])
    func `a device is called over its next flow while its caller waits`(state: String, invites: Int) throws {
        let parts = Parts()
        try parts.register("2000")
        let (caller, callee): (Leg, Leg)
        if state == "calling" {
            caller = try #require(try parts.call())
            callee = try #require(parts.table.callees(of: caller.uuid).first.flatMap(parts.table.leg))
        } else {
            (caller, callee) = try parts.talk()
        }
        var destination = parts.device("2000")
        destination.otherFlows = [parts.device("2000", over: .peer(4))]
        let failed = parts.leg(.outgoing, to: destination)
        failed.bridge = caller.bridge
        if state == "transferring", let bridge = caller.bridge {
            _ = parts.table.bridges[bridge]?.receive(.transfer(by: callee.uuid))
            parts.table.add(callee: failed.uuid, to: bridge)
        }
        parts.ringing.callOverNextFlow(insteadOf: failed)
        #expect(parts.wire.requests(.invite).count == invites)
        if invites == 2 { #expect(parts.wire.sent.last?.flow.remote == Flow.peer(4).remote) }
    }
}

/// The stages of ring groups.
@Suite struct RingGroupTests {
    /// Line 4000 is a group of 2000, 2001, … at 192.0.2.20, 192.0.2.21 …
    private static func parts(_ group: RingGroup, without: Set<Text> = [], _ change: (inout GatewayConfiguration) -> Void = { _ in }) throws
        -> Parts
    {
        let parts = Parts { configuration in
            configuration.lines = (2_000...2_003).map { .devices(Text($0)) } + [.devices("4000") { $0.endpoint = .group(group) }]
            change(&configuration)
        }
        for number in 2_000...2_003 where !without.contains(Text(number)) {
            try parts.register(Text(number), over: .peer(UInt32(number) - 1_980))
        }
        return parts
    }

    /// The last digits of the members that were called, in the order of the INVITEs.
    private static func called(_ parts: Parts) -> String {
        parts.wire.sent.filter { $0.message.isRequest && $0.message.method == .invite }.map { "\($0.flow.remote.address.low & 0xFF - 20)" }
            .joined()
    }

    private static func members(_ delays: Int...) -> [RingGroup.Member] {
        delays.enumerated().map { RingGroup.Member(Text(2_000 + $0.offset), delay: .seconds($0.element)) }
    }

    @Test(
        arguments: [
            (RingGroup(members(0, 0)), [], "01", nil), (RingGroup(members(0, 5, 8)), [], "0", 5),
            (RingGroup(members(0, 5, 8)), ["2000"], "1", 3),
            (RingGroup(members(0, 0), .inTurn(.seconds(10))), [], "0", 10),
            (RingGroup(members(0, 0), .inTurn(.seconds(10))), ["2000"], "1", nil),
            (RingGroup(members(0, 5)), ["2000", "2001"], "", nil),
        ] as [(RingGroup, Set<Text>, String, Int?)])
    func `the first stage with a device rings, and the next has its timer`(
        group: RingGroup, without: Set<Text>, called: String, next: Int?
    ) throws {
        let parts = try Self.parts(group, without: without)
        try parts.call("4000")
        #expect(Self.called(parts) == called && (parts.table.hasBridgeEvents) == (next == nil), "after the last stage the call may run out")
        guard let next else { return }
        parts.wait(.seconds(next) - .milliseconds(1))
        #expect(!parts.dueTimers().contains(.hunt))
        parts.wait(.milliseconds(1))
        #expect(parts.dueTimers().contains(.hunt))
    }

    @Test(arguments: [(RingGroup.Strategy.all, [CallSession.State.calling, .calling]), (.inTurn(.seconds(5)), [.ended, .calling])])
    func `a sequential hunt ends the stage before, and other groups do not`(strategy: RingGroup.Strategy, states: [CallSession.State])
        throws
    {
        let parts = try Self.parts(RingGroup(Self.members(0, 5), strategy))
        let caller = try #require(try parts.call("4000"))
        parts.ringing.hunt(for: caller.uuid)
        let callees = parts.table.callees(of: caller.uuid).compactMap(parts.table.leg)
        #expect(Self.called(parts) == "01" && callees.map(\.state) == states)
        if strategy != .all { #expect(callees[0].endCause == .ringTimeout) }
    }

    @Test func `a full member and one with Do Not Disturb are passed over`() throws {
        let parts = try Self.parts(RingGroup(Self.members(0, 0, 0))) { $0.lines[0].maximumCalls = 1 }
        parts.table.add(parts.leg(on: "2000"))
        _ = parts.line("2001").features.setDoNotDisturb(true)
        try parts.call("4000")
        #expect(Self.called(parts) == "2")
    }

    @Test func `members ring as long as there is room, and the refusal is counted`() throws {
        let parts = try Self.parts(RingGroup(Self.members(0, 0, 0))) { $0.limits.legs = 3 }
        try parts.call("4000")
        #expect(Self.called(parts) == "01" && parts.admission.rateControl.counts == [.legs: 1])
    }

    @Test func `the next stage rings at once when no callee is left`() throws {
        let parts = try Self.parts(RingGroup(Self.members(0, 50)))
        let caller = try #require(try parts.call("4000"))
        parts.ringing.huntOn(for: caller.uuid)
        #expect(Self.called(parts) == "01" && parts.ringing.hunts.isEmpty)
        parts.wait(.seconds(50))
        #expect(!parts.dueTimers().contains(.hunt), "there is nobody left")
    }

    @Test func `a hunt ends with the call of its caller`() throws {
        let parts = try Self.parts(RingGroup(Self.members(0, 5)))
        let caller = try #require(try parts.call("4000"))
        #expect(parts.ringing.hunts.count == 1)
        caller.end(.action)
        parts.ringing.hunt(for: caller.uuid)
        #expect(parts.ringing.hunts.isEmpty && Self.called(parts) == "0")
    }
}
