import Primitives
import Testing

@testable import UserAgent

@Suite struct GuessCounterTests {
    @Test func `guesses of a key are counted until its window is over`() {
        var counter = GuessCounter<String>(per: .seconds(60))
        for second in [0, 20, 40] { counter.guessed("a", at: .zero + .seconds(second)) }
        counter.guessed("b", at: .zero)
        let (count, left) = counter.guesses(of: "a", at: .zero + .seconds(59))
        #expect(count == 3 && left == .seconds(1))
        #expect(counter.guesses(of: "a", at: .zero + .seconds(60)).count == 0)
        #expect(counter.keys(with: 2, at: .zero + .seconds(59)).map(\.key) == ["a"])
        counter.guessed("a", at: .zero + .seconds(61))
        #expect(counter.guesses(of: "a", at: .zero + .seconds(61)).count == 1 && counter.count == 1)
    }

    @Test func `with more keys than are counted the oldest is forgotten, and a key that stays is not`() {
        var counter = GuessCounter<Int>(per: .seconds(60), keys: 4)
        for number in 1...6 { counter.guessed(number, at: .zero + .seconds(number)) }
        #expect(counter.count == 4)
        #expect((1...6).map { counter.guesses(of: $0, at: .zero + .seconds(7)).count } == [0, 0, 1, 1, 1, 1])
    }

    /// A flood from everywhere: each guess costs the same, however many sources there were (going through all of them for each takes
    /// minutes here).
    @Test(.timeLimit(.minutes(30))) func `a million keys cost no more than one each`() {
        var counter = GuessCounter<Int>(per: .seconds(60))
        for number in 0..<1_000_000 { counter.guessed(number, at: .zero + .microseconds(Int64(number))) }
        #expect(counter.count == 10_000)
    }
}
