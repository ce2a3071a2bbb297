import Rehearsal
import Testing

/// Hours of calls with a relay in front of the ports, as the kernel's stands there, and the same hours without it.
@Suite struct RelaySoakTests {
    @Test(arguments: [1, 2] as [UInt64])
    func `calls have the same media, figure for figure, whether a relay passes on their packets or not`(seed: UInt64) {
        let with = Self.soak(seed, hasPacketRelay: true), without = Self.soak(seed, hasPacketRelay: false)
        #expect(with.relayed > 100, "seed \(seed): \(with.relayed) packets went by the relay")
        #expect(without.relayed == 0)
        #expect(with.isGood, "seed \(seed): \(with.violations) \(with.leaks)")
        #expect(with.heard == without.heard, "seed \(seed)")
        #expect(with.media == without.media && with.media != 0, "seed \(seed)")
    }

    private static func soak(_ seed: UInt64, hasPacketRelay: Bool) -> SoakVerdict {
        var settings = SoakSettings(seed: seed)
        (settings.waves, settings.calls, settings.talk, settings.hasPacketRelay) = (1, 4, .seconds(90), hasPacketRelay)
        return Soak(settings).run { _ in }
    }
}
