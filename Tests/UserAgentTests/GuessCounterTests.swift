import Primitives
import Testing

@testable import UserAgent

@Suite struct GuessCounterTests {
    @Test func `a source with too many guesses is not listened to until its window is over`() {
        var counter = GuessCounter(limit: 3, per: .seconds(60))
        let source = IPAddress(v4: 1), other = IPAddress(v4: 2)
        for _ in 0..<3 { counter.guessed(source, at: .zero) }
        let (isBlocked, isOtherBlocked, isBlockedLater) = (
            counter.isBlocked(source, at: .zero + .seconds(59)), counter.isBlocked(other, at: .zero), counter.isBlocked(source, at: .zero + .seconds(60)))
        #expect(isBlocked && !isOtherBlocked && !isBlockedLater)
        counter.guessed(source, at: .zero + .seconds(61))
        #expect(counter.count == 1 && counter.guesses == 4 && counter.refused == 1)
    }

    @Test func `with more sources than are counted the oldest is forgotten, and a source that stays is not`() {
        var counter = GuessCounter(limit: 1, per: .seconds(60), sources: 4)
        for number in 1...6 { counter.guessed(IPAddress(v4: UInt32(number)), at: .zero + .seconds(Int64(number))) }
        let now = Instant.zero + .seconds(7)
        #expect(counter.count == 4)
        var blocked: [Bool] = []
        for number in 1...6 { blocked.append(counter.isBlocked(IPAddress(v4: UInt32(number)), at: now)) }
        #expect(blocked == [false, false, true, true, true, true])
    }

    /// A flood from everywhere: each guess costs the same, however many sources there were (going through all of them for each takes minutes here).
    @Test(.timeLimit(.minutes(1))) func `a million sources cost no more than one each`() {
        var counter = GuessCounter(limit: 20, per: .seconds(60))
        for number in 0..<1_000_000 { counter.guessed(IPAddress(v4: UInt32(number)), at: .zero + .microseconds(Int64(number))) }
        #expect(counter.count == 10_000 && counter.guesses == 1_000_000)
    }
}
