import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// The legs, their partners, and the conversations of a line.
@Suite struct CallTableTests {
    let parts = Parts { $0.limits.legs = 4 }
    private var table: CallTable { parts.table }

    // MARK: Legs

    @Test func `a leg is found by its call, its media and its attempt, until it is discarded`() {
        let leg = parts.leg()
        leg.origin = parts.origin("attempt")
        #expect(table.leg(leg.uuid) == nil)
        table.add(leg)
        #expect(table.leg(leg.uuid) === leg && table.leg(of: leg.media.id) === leg && table.leg(ofAttempt: "attempt") === leg)
        #expect(leg.line.legs[leg.uuid] === leg && table.legCount == 1)
        table.discard(leg)
        #expect(table.leg(leg.uuid) == nil && table.leg(of: leg.media.id) == nil && table.leg(ofAttempt: "attempt") == nil)
        #expect(leg.line.legs.isEmpty && table.legCount == 0 && table.lingeringCount == 0 && leg.state == .ended)
    }

    @Test func `the next attempt with the same Call-ID and tag outlives the one before`() {
        let (old, new) = (parts.leg(), parts.leg())
        for leg in [old, new] {
            leg.origin = parts.origin("attempt")
            table.add(leg)
        }
        table.discard(old)
        #expect(table.leg(ofAttempt: "attempt") === new)
    }

    @Test(arguments: [nil, UUID()]) func `a call of the recents that goes on is found by the name that it has there`(name: UUID?) {
        let (old, new) = (parts.leg(), parts.leg())
        for leg in [old, new] {
            leg.origin = parts.origin("attempt")
            leg.origin?.recentID = name
            table.add(leg)
        }
        #expect(table.recentLeg(name ?? old.uuid) === (name == nil ? old : new) && table.recentLeg(UUID()) == nil)
        table.discard(old)
        #expect(table.recentLeg(name ?? new.uuid) === new && table.recentLeg(old.uuid) == nil)
        table.discard(new)
        #expect(table.recentLeg(name ?? new.uuid) == nil)
    }

    @Test(arguments: [(0, true, true), (2, true, true), (3, false, true), (4, false, false)])
    func `a call to devices needs room for two legs, and one to an application for one`(legs: Int, devices: Bool, echo: Bool) {
        for _ in 0..<legs { table.add(parts.leg()) }
        #expect(table.hasRoom(forCallTo: parts.line("2000")) == devices && table.hasRoom(forCallTo: parts.line("9196")) == echo)
        #expect(table.hasRoom == (legs < 4) && table.hasRoom(ending: 1))
    }

    @Test func `a leg lingers until its signalling is over, and its dialog is remembered for 32 seconds`() throws {
        let session = try parts.session(Parts.request()), leg = parts.leg(session: session)
        let dialog = DialogIdentifier(callID: session.callID, localTag: session.localTag, remoteTag: "any")
        table.add(leg)
        table.discard(leg)
        table.sweepLingering()
        #expect(table.lingeringCount == 1)
        session.respond(status: 486, at: parts.context.now)
        table.sweepLingering()
        #expect(table.lingeringCount == 0)
        #expect(table.endedDialogs.contains(dialog, at: parts.context.now + .milliseconds(31_999)))
        #expect(!table.endedDialogs.contains(dialog, at: parts.context.now + .seconds(32)))
    }

    @Test func `ended legs are taken once, in the order of their ends, and ends are counted`() {
        let (first, second) = (parts.leg(), parts.leg())
        table.noteEnd(of: second)
        table.noteEnd(of: first)
        #expect(table.takeEnded().map(\.uuid) == [second.uuid, first.uuid] && table.takeEnded().isEmpty)
        for end in [CallEnd.action, .reset, .action] { table.count(end) }
        #expect(table.endCounts == [.action: 2, .reset: 1])
    }

    @Test func `the media of a discarded leg is added to the totals`() throws {
        let leg = parts.leg(), now = parts.context.now
        table.add(leg)
        try leg.media.reserve(.one, at: now)
        leg.media.configure(at: now, codecs: "PCMU")
        try leg.media.open(MediaPlan(localAddress: Parts.address, audio: .pcmu(), source: .relay), near: nil, at: now)
        leg.media.start(at: now)
        parts.wait(.seconds(1))
        table.discard(leg)
        #expect(table.mediaTotals.packetsSent == 50 && parts.plane.openLegs == 0)
    }

    @Test(arguments: [0, 9] as [UInt64]) func `packets that the kernel relayed and dropped are in the journal`(dropped: UInt64) throws {
        let leg = try parts.talk().caller, now = parts.context.now
        leg.media.note(armed: RelayArming(number: 1), at: now)
        leg.media.note(taken: RelayArming(number: 1, packets: 7, dropped: dropped), .change, at: now)
        let taken = try #require(parts.events(.mediaTaken).first).details
        #expect(taken.number(.packets) == 7 && taken.text(.cause) == "change" && taken.number(.count) == (dropped == 0 ? nil : 9))
    }

    // MARK: Partners

    /// The legs of one bridge by their names, in the state that the events lead to. `t` is the target of a transfer.
    private func bridged(_ events: String) -> [String: Leg] {
        let legs = ["caller": parts.leg(), "a": parts.leg(.outgoing), "b": parts.leg(.outgoing), "t": parts.leg(.outgoing)]
        func uuid(_ name: String) -> UUID { legs[name]!.uuid }
        let bridge = Bridge(caller: uuid("caller"))
        for name in ["caller", "a", "b"] { legs[name]!.bridge = bridge.id }
        for name in ["a", "b"] { bridge.add(callee: uuid(name)) }
        for leg in legs.values { table.add(leg) }
        table.open(bridge)
        for event in events.split(separator: " ") {
            switch event {
            case "answer": _ = bridge.receive(.calleeConnected(uuid("a")))
            case "joined": _ = bridge.receive(.callerConnected)
            case "transfer":
                _ = bridge.receive(.transfer(by: uuid("caller")))
                legs["t"]!.bridge = bridge.id
                table.add(callee: uuid("t"), to: bridge.id)
            case "taken": _ = bridge.receive(.calleeConnected(uuid("t")))
            case "hangup": _ = bridge.receive(.ended(uuid("caller"), .normalClearing))
            default: Issue.record("\(event)")
            }
        }
        return legs
    }

    @Test(arguments: [
        ("", "caller - a+b, a - caller, b - caller"), ("answer", "caller a a, a caller caller, b - -"),
        ("answer joined", "caller a a, a caller caller, b - -"),
        ("answer joined transfer", "caller a a, a caller caller, t - a"),
        ("answer joined transfer taken", "caller - -, a t t, t a a"), ("hangup", "caller - -, a - -"),
    ])
    func `a leg has a peer once it talks, and partners before that`(events: String, expected: String) {
        let legs = bridged(events)
        func names(_ found: [Leg]) -> String {
            found.isEmpty ? "-" : found.compactMap { leg in legs.first { $0.value === leg }?.key }.joined(separator: "+")
        }
        for row in expected.components(separatedBy: ", ") {
            let words = row.split(separator: " ").map(String.init), leg = legs[words[0]]!
            #expect(names([table.peer(of: leg)].compactMap(\.self)) == words[1], "peer of \(words[0])")
            #expect(names(table.partners(of: leg)) == words[2], "partners of \(words[0])")
        }
    }

    @Test func `a leg that replaces another has the peer of that one, or the caller that it rings for`() {
        let legs = bridged(""), taker = parts.leg()
        taker.succession.replaces = legs["b"]!.uuid
        #expect(table.peer(of: taker) === legs["caller"])
        let talking = bridged("answer joined")
        taker.succession.replaces = talking["caller"]!.uuid
        #expect(table.peer(of: taker) === talking["a"])
    }

    @Test func `the shortest limit of the lines that talk counts, and the partner's line comes first`() {
        let parts = Parts { configuration in
            configuration.lines = [
                .devices("2000") { $0.mediaTimeout = .seconds(30) }, .devices("3000") { $0.mediaTimeout = .seconds(20) }, .devices("4000"),
            ]
        }
        let caller = parts.leg(on: "2000"), callee = parts.leg(.outgoing, on: "2000"), bridge = Bridge(caller: caller.uuid)
        caller.origin = parts.origin("a", line: parts.line("3000"))
        for leg in [caller, callee] {
            leg.bridge = bridge.id
            parts.table.add(leg)
        }
        bridge.add(callee: callee.uuid)
        parts.table.open(bridge)
        func lines(_ leg: Leg) -> [Text] { parts.table.linesTalking(on: leg).map(\.configuration.number) }
        #expect(lines(caller) == ["2000", "3000"] && lines(callee) == ["3000", "2000"])
        #expect(parts.table.shortest(\.configuration.mediaTimeout, on: callee) == .seconds(20))
        #expect(parts.table.shortest(\.configuration.maximumDuration, on: callee) == nil)
        let alone = parts.leg(on: "4000")
        #expect(lines(alone) == ["4000"] && parts.table.shortest(\.configuration.mediaTimeout, on: alone) == nil)
    }

    @Test(arguments: [
        (device: "3000", mayTransfer: true, isOwn: false, line: "3000"), ("3000", false, false, "-"), ("3000", true, true, "-"),
        ("-", true, false, "-"),
    ])
    func `a leg reaches the line of its device, unless the device sent the call on`(
        device: String, mayTransfer: Bool, isOwn: Bool, line: String
    ) {
        var destination = parts.device(Text(device))
        if device == "-" { destination.device = nil }
        let leg = parts.dialling.makeLeg(to: destination, on: parts.line("2000"))
        leg.session = parts.dialling.invite(from: leg, to: destination, offer: [])
        leg.mayTransfer = mayTransfer
        leg.session?.isToOurselves = isOwn
        #expect(table.lineReached(by: leg)?.configuration.number ?? "-" == Text(line))
    }

    @Test(arguments: [(origin: "3000", isKnown: false, line: "3000"), ("-", true, "2000"), ("-", false, "-")])
    func `the far end of a caller is of the calling line, or of the line that From proves`(origin: String, isKnown: Bool, line: String) {
        let leg = parts.leg(on: "9196")
        leg.origin = parts.origin("a", line: origin == "-" ? nil : parts.line(Text(origin)))
        leg.party = CallerIdentity(user: "2000", host: Parts.domain, isKnown: isKnown)
        #expect(table.lineOfFarEnd(of: leg)?.configuration.number ?? "-" == Text(line))
    }

    // MARK: Conversations

    @Test func `two legs of one bridge are one conversation, and a leg that is handed on is none`() {
        let line = parts.line("2000"), bridge = UUID()
        let legs = (0..<3).map { _ in parts.leg() }
        for leg in legs { table.add(leg) }
        (legs[0].bridge, legs[1].bridge) = (bridge, bridge)
        #expect(table.conversations(of: line) == 2 && table.conversations(of: line, beside: bridge) == 1)
        legs[2].succession.isHandedOn = true
        #expect(table.conversations(of: line) == 1)
    }

    @Test func `calls of its devices at other lines are conversations of a line`() {
        let line = parts.line("2000"), begun = parts.leg(on: "3000"), taken = parts.leg(.outgoing, on: "3000")
        for leg in [begun, taken] { table.add(leg) }
        line.features.outgoing.insert(begun.uuid)
        line.features.taken.insert(taken.uuid)
        #expect(table.conversations(of: line) == 2)
        begun.bridge = UUID()
        #expect(table.conversations(of: line, beside: begun.bridge) == 1)
    }

    @Test(arguments: [(1, 0, false), (1, 1, true), (2, 1, false), (2, 2, true)])
    func `a line is full at its limit of conversations`(limit: Int, calls: Int, isFull: Bool) {
        let parts = Parts { $0.lines[0].maximumCalls = limit }, line = parts.line("2000")
        for _ in 0..<calls { parts.table.add(parts.leg()) }
        #expect(parts.table.isFull(line) == isFull && parts.table.mayRing(line, for: parts.leg(on: "3000")) == !isFull)
    }

    @Test func `a line with Do Not Disturb does not ring as a member of a group`() {
        let line = parts.line("2000")
        _ = line.features.setDoNotDisturb(true)
        #expect(!table.mayRing(line, for: parts.leg(on: "3000")))
    }

    @Test func `a conversation that is handed on is a surplus call group of a full line`() throws {
        let parts = Parts { $0.lines[0].maximumCalls = 1 }, line = parts.line("2000")
        try parts.register("2000")
        let leg = try #require(try parts.call())
        #expect(parts.table.surplusGroups(of: line) == 0)
        leg.succession.isHandedOn = true
        #expect(parts.table.surplusGroups(of: line) == 1)
    }

    // MARK: Bridges

    @Test func `events of several bridges are worked off in the order in which they came`() throws {
        let bridges = (0..<2).map { _ in Bridge(caller: UUID()) }, callees = (0..<2).map { _ in UUID() }
        for (bridge, callee) in zip(bridges, callees) {
            bridge.add(callee: callee)
            table.open(bridge)
        }
        table.tell(bridges[1].id, .calleeConnected(callees[1]))
        table.tell(bridges[0].id, .calleeConnected(callees[0]))
        table.tell(bridges[1].id, .callerConnected)
        #expect(table.hasBridgeEvents)
        var order: [UUID] = []
        while let step = table.nextBridgeStep() {
            order.append(step.bridge)
            #expect(step.outputs == (order.count < 3 ? [.answer(step.bridge)] : []))
        }
        #expect(order == [bridges[1].id, bridges[0].id, bridges[1].id] && !table.hasBridgeEvents)
        #expect(table.bridges[bridges[1].id]?.state == .joined(with: callees[1]))
    }

    @Test func `a bridge that is gone hears nothing, and a leg that was to join it ends`() {
        let other = UUID()
        table.tell(UUID(), .dialled)
        table.tell(nil, .dialled)
        #expect(!table.hasBridgeEvents)
        table.tellOrEnd(UUID(), .replaced(UUID(), by: other))
        #expect(table.nextBridgeStep()?.outputs == [.end(other, .failed)])
    }

    @Test func `a bridge is forgotten once it has ended, and not before`() {
        let bridge = Bridge(caller: UUID())
        table.open(bridge)
        table.forgetIfEnded(bridge.id)
        #expect(table.isCalling(bridge.id))
        table.tell(bridge.id, .ended(bridge.caller, .failed))
        _ = table.nextBridgeStep()
        table.forgetIfEnded(bridge.id)
        #expect(table.bridges.isEmpty)
    }
}

extension NegotiatedAudio {
    /// PCMU with a peer at 192.0.2.1.
    static func pcmu(_ hold: RemoteHold = .none) -> NegotiatedAudio {
        let codec = NegotiatedCodec(codec: .pcmu, receivePayloadType: 0, sendPayloadType: 0)
        return NegotiatedAudio(
            codecs: [codec], remoteRTP: SocketAddress(IPAddress(v4: 0xC000_0201), port: 4_000), rtcpMux: true, remoteHold: hold)
    }
}
