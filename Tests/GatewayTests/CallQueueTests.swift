import Audio
import Foundation
import Media
import Primitives
import Testing

@testable import Gateway

/// Queues as values: who rings for whom, and what callers hear.
@Suite struct CallQueueTests {
    private static let calls = (0..<4).map { _ in UUID() }
    private var queue = CallQueue(), settings = QueueSettings(members: ["1", "2", "3"])

    private func at(_ seconds: Int) -> Instant { .zero + .seconds(100 + seconds) }

    private mutating func offers(_ seconds: Int = 0, busy: Set<Text> = []) -> [CallQueue.Offer] {
        queue.offers(settings, at: at(seconds)) { !busy.contains($0) }
    }

    private mutating func enter(_ count: Int) { for call in Self.calls.prefix(count) { _ = queue.enter(call, limit: 3, at: at(0)) } }

    @Test mutating func `all that are free ring for the first, and nobody is left for the second`() {
        enter(2)
        #expect(offers(busy: ["2"]) == [.init(caller: Self.calls[0], members: ["1", "3"])])
        #expect(offers(busy: ["2"]).isEmpty)
        #expect(offers() == [.init(caller: Self.calls[1], members: ["2"])])
    }

    @Test mutating func `in turn each begins behind the last`() {
        settings.strategy = .inTurn
        enter(3)
        #expect(offers().map(\.members) == [["1"], ["2"], ["3"]])
        for call in Self.calls.prefix(3) { _ = queue.answered(call, by: nil, at: at(1)) }
        for call in Self.calls.prefix(2) { _ = queue.enter(call, limit: 3, at: at(2)) }
        #expect(offers(2, busy: ["1"]).map(\.members) == [["2"], ["3"]])
    }

    @Test mutating func `the longest idle comes first, and before all who has had no call`() {
        settings.strategy = .longestIdle
        queue.freed("1", at: at(-5))
        queue.freed("3", at: at(-9))
        enter(3)
        #expect(offers().map(\.members) == [["2"], ["3"], ["1"]])
    }

    @Test mutating func `who did not answer is left alone for a while, and the first caller keeps its place`() {
        settings.strategy = .inTurn
        enter(2)
        #expect(offers(busy: ["2", "3"]).map(\.caller) == [Self.calls[0]])
        queue.unanswered(Self.calls[0], pause: .seconds(5), at: at(0))
        #expect(offers(4, busy: ["2", "3"]).isEmpty)
        #expect(offers(5, busy: ["2", "3"]) == [.init(caller: Self.calls[0], members: ["1"])])
    }

    @Test mutating func `a full queue takes nobody, and every end is counted`() {
        enter(4)
        #expect(queue.callers.map(\.call) == Array(Self.calls.prefix(3)))
        #expect(queue.leave(Self.calls[0], isOverflow: false, at: at(7)) == .seconds(7))
        #expect(queue.leave(Self.calls[1], isOverflow: true, at: at(8)) == .seconds(8))
        #expect(queue.answered(Self.calls[2], by: "1", at: at(9)) == .seconds(9))
        #expect(queue.leave(Self.calls[2], isOverflow: false, at: at(9)) == nil)
        #expect(queue.counts == .init(entered: 4, answered: 1, abandoned: 1, overflowed: 2, waited: .seconds(9)))
    }

    // MARK: What a caller hears

    private static func prompt(_ sample: Int16) -> Menu.Prompt { .sound(WAV(sampleRate: 8_000, samples: [sample])) }
    private static func source(_ sample: Int16, loops: Bool = false) -> MediaSource { .samples([sample], sampleRate: 8_000, loops: loops) }

    private static let sounding: QueueSettings = {
        var settings = QueueSettings(members: ["1"])
        (settings.music, settings.positions, settings.wait) = (prompt(1), [prompt(11), prompt(12)], .seconds(50))
        settings.overflow = .mailbox("1900")
        return settings
    }()

    @Test func `the position is said, and then there is music, and the position again`() {
        var caller = QueueApplication(Self.sounding)
        #expect(caller.source == Self.source(1, loops: true) && caller.answered(at: at(0)) == [.enqueue])
        #expect(caller.told(.position(2), at: at(0)) == [.restart] && caller.source == Self.source(12))
        #expect(caller.sourceFinished(at: at(3)) == [.play] && caller.source == Self.source(1, loops: true))
        #expect(caller.told(.position(1), at: at(4)).isEmpty)
        #expect(caller.advance(to: at(30)) == [.restart, .lookForMembers] && caller.source == Self.source(11))
    }

    @Test func `members ring for their time, and are looked for again`() {
        var caller = QueueApplication(Self.sounding)
        _ = caller.answered(at: at(0))
        #expect(caller.told(.offer(["1"]), at: at(0)) == [.call(.group(RingGroup([.init("1")])))])
        #expect(caller.deadline == at(20) && caller.advance(to: at(20)) == [.cancelCall])
        #expect(caller.callFailed(.ringTimeout, at: at(20)) == [.unanswered] && caller.deadline == at(25))
    }

    @Test(arguments: [false, true]) func `who waits too long leaves, when nobody rings any more`(isRinging: Bool) {
        var caller = QueueApplication(Self.sounding)
        _ = caller.answered(at: at(0))
        if isRinging { _ = caller.told(.offer(["1"]), at: at(40)) }
        let left: [ApplicationStep] = [.leaveQueue(cause: "wait"), .play, .call(.number("1900"))]
        #expect(caller.advance(to: at(50)) == (isRinging ? [.cancelCall] : left))
        if isRinging { #expect(caller.callFailed(.ringTimeout, at: at(50)) == left) }
        #expect(caller.callFailed(.failed, at: at(51)) == [.hangUp(.failed)] && caller.deadline == nil)
    }
}
