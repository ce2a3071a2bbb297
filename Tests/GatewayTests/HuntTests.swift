import Primitives
import Testing

@testable import Gateway

@Suite struct HuntTests {
    private static func stages(_ group: RingGroup) -> [Hunt.Stage] {
        var hunt = Hunt(group), stages: [Hunt.Stage] = []
        while let stage = hunt.next() { stages.append(stage) }
        return stages
    }

    @Test func `all ring at once, and nobody follows`() {
        let group = RingGroup([.init("1"), .init("2"), .init("3")])
        #expect(Self.stages(group) == [.init(members: ["1", "2", "3"], endsOthers: false, next: nil)])
        #expect(!Hunt(group).isInTurn)
    }

    @Test func `those with a delay join by delay, in the order in which they are written, and the others go on`() {
        let group = RingGroup([
            .init("4", delay: .seconds(20)), .init("1"), .init("2", delay: .seconds(5)), .init("3", delay: .seconds(20)),
        ])
        #expect(
            Self.stages(group) == [
                .init(members: ["1"], endsOthers: false, next: .seconds(5)), .init(members: ["2"], endsOthers: false, next: .seconds(15)),
                .init(members: ["4", "3"], endsOthers: false, next: nil),
            ])
        #expect(!Hunt(group).isInTurn)
    }

    @Test func `where all have a delay the first rings at once`() {
        let stages = Self.stages(RingGroup([.init("1", delay: .seconds(5)), .init("2", delay: .seconds(7))]))
        #expect(stages.map(\.members) == [["1"], ["2"]] && stages.map(\.next) == [.seconds(2), nil])
    }

    @Test func `in turn each rings for its time, the last without an end, and delays do not count`() {
        let group = RingGroup([.init("1"), .init("2", delay: .seconds(99)), .init("3")], .inTurn(.seconds(10)))
        #expect(
            Self.stages(group) == [
                .init(members: ["1"], endsOthers: true, next: .seconds(10)), .init(members: ["2"], endsOthers: true, next: .seconds(10)),
                .init(members: ["3"], endsOthers: true, next: nil),
            ])
    }

    @Test func `a hunt is in turn while another member is left`() {
        var hunt = Hunt(RingGroup([.init("1"), .init("2")], .inTurn(.seconds(10))))
        #expect(hunt.isInTurn)
        _ = hunt.next()
        #expect(hunt.isInTurn)
        _ = hunt.next()
        #expect(!hunt.isInTurn && hunt.next() == nil)
    }

    @Test(arguments: [RingGroup.Strategy.all, .inTurn(.seconds(1))]) func `a group of nobody rings nobody`(strategy: RingGroup.Strategy) {
        #expect(Self.stages(RingGroup([], strategy)).isEmpty)
    }
}

@Suite struct LineScriptTests {
    @Test func `every so many calls are busy, and at once`() {
        let script = LineScript(.answer, after: .seconds(2), busyEvery: 3)
        let acts = (1...6).map { script.act(onCall: $0) }
        #expect(acts.map(\.act) == [.answer, .answer, .reject(486), .answer, .answer, .reject(486)])
        #expect(acts.map(\.after) == [.seconds(2), .seconds(2), .zero, .seconds(2), .seconds(2), .zero])
        #expect((1...9).allSatisfy { LineScript(.reject(603)).act(onCall: $0) == (.reject(603), .zero) })
    }
}
