import Audio
import CallKit
import Foundation
import Media
import Primitives
import SDP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Calls that a program groups and takes apart (CXSetGroupCallAction): who hears whom, and that nobody ends by it.
@Suite struct GroupedCallTests {
    private let stage: SoundStage

    /// Calls to 6000 reach telephone 1, then telephone 3.
    init() {
        stage = SoundStage(telephones: 4) { configuration in
            for index in configuration.lines.indices { configuration.lines[index].maximumCalls = 4 }
            configuration.lines[1].maximumCalls = 1
            configuration.lines[3].maximumCalls = 1
            var ring = LineConfiguration(number: "6000")
            ring.endpoint = .group(
                RingGroup([.init(Telephone.line(1)), .init(Telephone.line(3))], .inTurn(.seconds(5))))
            configuration.lines.append(ring)
        }
        // One speaks, so that each of the others hears one voice.
        for telephone in stage.telephones.dropFirst() { telephone.signature = nil }
        for (telephone, codec) in zip(stage.telephones, [Codec.opus, .pcmu, .g722, .pcma]) { telephone.codecs = [codec] }
    }

    /// The calls of the line, in the order in which they began.
    private var calls: [UUID] {
        stage.journal.filter { $0.kind == .reportIncoming || $0.kind == .performStart }.compactMap(\.call?.uuid)
    }

    private func request(_ actions: TransactionOrder.Action...) throws {
        _ = try stage.gateway.request(TransactionOrder(actions: actions), at: stage.world.now)
        // A telephone records a second at a time.
        stage.run(seconds: 1.2)
        for telephone in stage.telephones { telephone.forgetHeard() }
        stage.run(seconds: 4)
    }

    /// What each of the first telephones hears: the first one's voice, or nothing.
    private func heard(_ count: Int) throws -> [SignatureVerdict.Sound] {
        try stage.telephones.prefix(count).map { try $0.verdict(expecting: stage.telephones[0]).sound }
    }

    private func hears(_ listener: Int) throws -> SignatureVerdict.Sound { try heard(listener + 1)[listener] }

    private func expectQuiet(_ failed: Int = 0) {
        #expect(stage.journal.count { $0.kind == .actionFailed } == failed)
        let left = stage.leftovers()
        #expect(left.isEmpty, "\(left) \(stage.ladder)")
    }

    @Test func `callers of an application are joined, are a conference with a third, and are two again`() throws {
        for telephone in stage.telephones.prefix(3) { telephone.call("9196") }
        stage.run(seconds: 1)
        let calls = calls
        try request(.setGroup(calls[1], with: calls[0]))
        #expect(try heard(3) == [.silence, .right, .silence], "the echo of the third is its own")
        try request(.setGroup(calls[2], with: calls[1]))
        #expect(try heard(3) == [.silence, .right, .right])
        try request(.setGroup(calls[1], with: nil))
        #expect(try heard(3) == [.silence, .silence, .right])
        stage.telephones[2].hangUp()
        stage.run(seconds: 1)
        #expect(stage.telephones.map(\.isUp) == [false, true, false, false], "the last of a conversation goes; who waits stays")
        stage.telephones[1].hangUp()
        expectQuiet()
    }

    @Test func `a call moves from one bridge to another, and who is left by it waits`() throws {
        stage.telephones[0].call("6000")
        stage.run(seconds: 1)
        stage.telephones[2].call("6000")
        stage.run(seconds: 1)
        let calls = calls
        try #require(calls.count == 4 && stage.telephones.allSatisfy(\.isUp))
        try request(.setGroup(calls[0], with: calls[2]))
        #expect(try hears(1) == .silence && hears(2) == .right && hears(3) == .right)
        stage.telephones[1].hangUp()
        stage.run(seconds: 1)
        stage.telephones[2].hangUp()
        stage.run(seconds: 1)
        stage.telephones[3].forgetHeard()
        stage.run(seconds: 4)
        #expect(try hears(3) == .right)
        stage.telephones[0].hangUp()
        stage.run(seconds: 1)
        #expect(stage.telephones.allSatisfy { !$0.isUp })
        expectQuiet()
    }

    @Test func `a call that waits alone is grouped again, and its conversation of one is forgotten`() throws {
        for telephone in stage.telephones.prefix(2) { telephone.call("9196") }
        stage.run(seconds: 1)
        let calls = calls
        try request(.setGroup(calls[1], with: calls[0]))
        try request(.setGroup(calls[1], with: nil))
        #expect(try hears(1) == .silence && stage.gateway.counts(at: stage.world.now).bridges == 2)
        try request(.setGroup(calls[1], with: calls[0]))
        #expect(try hears(1) == .right && stage.gateway.counts(at: stage.world.now).bridges == 1)
        stage.telephones[0].hangUp()
        expectQuiet()
    }

    @Test func `two far ends are joined and their nears go, in one transaction`() throws {
        stage.telephones[0].call("6000")
        stage.run(seconds: 1)
        stage.telephones[2].call("6000")
        stage.run(seconds: 1)
        let calls = calls
        try request(.setGroup(calls[0], with: calls[2]), .end(calls[1]), .end(calls[3]))
        #expect(stage.telephones.map(\.isUp) == [true, false, true, false])
        #expect(try hears(2) == .right)
        stage.telephones[2].hangUp()
        expectQuiet()
    }

    @Test func `in a conference who is muted is heard by nobody at its far end alone, and who holds hears nothing`() throws {
        for telephone in stage.telephones.prefix(3) { telephone.call("9196") }
        stage.run(seconds: 1)
        let calls = calls
        try request(.setGroup(calls[1], with: calls[0]), .setGroup(calls[2], with: calls[0]), .setMuted(calls[1], true))
        #expect(try hears(1) == .silence && hears(2) == .right)
        try request(.setMuted(calls[1], false), .setHeld(calls[2], true))
        #expect(try hears(1) == .right && stage.telephones[2].heard.isEmpty)
        try request(.setHeld(calls[2], false))
        #expect(try hears(1) == .right && hears(2) == .right)
        // The far end of one of three holds: the others go on.
        stage.telephones[2].hold()
        try request(.setMuted(calls[2], false))
        #expect(try hears(1) == .right)
        // Left with it, the other one is held.
        try request(.setGroup(calls[0], with: nil))
        #expect(stage.journal.last { $0.kind == .performHeld }?.call?.uuid == calls[1])
        stage.telephones[2].resume()
        stage.run(seconds: 1)
        for telephone in stage.telephones.prefix(3) { telephone.hangUp() }
        expectQuiet()
    }

    @Test func `calls of two lines are not grouped`() {
        stage.telephones[0].call("9196")
        stage.telephones[2].call("3900")
        stage.run(seconds: 1)
        let calls = calls
        #expect(throws: TransactionOrderError.refused(.unknownCallUUID)) {
            try stage.gateway.request(TransactionOrder(actions: [.setGroup(calls[0], with: calls[1])]), at: stage.world.now)
        }
        for telephone in stage.telephones { telephone.hangUp() }
        expectQuiet()
    }
}
