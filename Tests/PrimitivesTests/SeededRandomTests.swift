import Primitives
import Testing

@Suite struct SeededRandomTests {
    /// The first numbers of the authors' own splitmix64.c from this seed.
    @Test func `the numbers are those of SplitMix64`() {
        var random = SeededRandom(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ]
        #expect(expected.allSatisfy { $0 == random.next() })
    }

    @Test func `a seed replays, and another seed does not`() {
        var one = SeededRandom(seed: 7), same = SeededRandom(seed: 7), other = SeededRandom(seed: 8)
        #expect((0..<100).allSatisfy { _ in one.next() == same.next() })
        #expect((0..<100).allSatisfy { _ in one.next() != other.next() })
        #expect(one.seed == 7)
    }
}
