import Rehearsal
import Testing

/// A rehearsal that fails is made short before it is shown.
@Suite struct RehearsalShrinkerTests {
    @Test func `calls that the failure does not need are left out`() {
        var shrinker = RehearsalShrinker { settings in
            let calls = settings.only ?? Set(0..<settings.calls)
            return calls.isSuperset(of: [17, 42, 43])
        }
        let short = shrinker.shrunk(RehearsalSettings(seed: 9))
        #expect(short.only == [17, 42, 43] && short.faults == LinkFaults() && !short.regroups && shrinker.tries < 100)
        #expect(short.test.contains("settings.only = [17, 42, 43]") && short.test.contains("RehearsalSettings(seed: 9)"))
    }

    @Test func `faults that the failure needs stay`() {
        var shrinker = RehearsalShrinker { $0.faults != LinkFaults() && $0.regroups }
        let short = shrinker.shrunk(RehearsalSettings(seed: 9))
        #expect(short.faults == nil && short.regroups && short.bindFailures == 0 && short.only?.count == 1)
    }

    /// Two BYEs that cross stand for a failure: two calls at most are needed for it.
    @Test func `a rehearsal that is played is made short`() throws {
        func hasCrossedByes(_ settings: RehearsalSettings) -> Bool { Rehearsal(settings).run().tally.crossedByes > 0 }
        let seed = try #require((1...20).first { hasCrossedByes(RehearsalSettings(seed: $0)) })
        var shrinker = RehearsalShrinker(most: 60, fails: hasCrossedByes)
        let short = shrinker.shrunk(RehearsalSettings(seed: seed))
        #expect((1...10).contains(short.only?.count ?? 100) && hasCrossedByes(short), "\(short.test)")
    }
}
