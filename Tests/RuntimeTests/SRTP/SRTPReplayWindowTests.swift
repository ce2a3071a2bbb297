import Runtime
import Testing

@Suite struct SRTPReplayWindowTests {
    private func window(_ highest: UInt64) -> SRTPReplayWindow {
        var window = SRTPReplayWindow()
        window.accept(highest)
        return window
    }

    /// RFC 3711 appendix A.
    static let edges: [(UInt64, UInt16, UInt64)] = [
        (10, 11, 11),
        (10, 9, 9),
        (10, 40_000, 40_000),
        (65_535, 0, 65_536),
        (65_536, 65_535, 65_535),
        (98_304, 0, 65_536),
        (98_305, 0, 131_072),
        (0x2_0005, 0xFFF0, 0x1_FFF0),
        (0x2_FFF0, 5, 0x3_0005),
    ]

    @Test(arguments: edges)
    func `a sequence number is the nearest index to the highest`(highest: UInt64, sequence: UInt16, index: UInt64) {
        #expect(window(highest).index(of: sequence) == index)
    }

    @Test func `the first packet has rollover counter 0`() { #expect(SRTPReplayWindow().index(of: 65_000) == 65_000) }

    @Test func `128 indices are remembered`() throws {
        var window = window(1_000)
        try window.check(873)
        window.accept(873)
        #expect(throws: SRTPRefusal.replayed) { try window.check(873) }
        #expect(throws: SRTPRefusal.tooOld) { try window.check(872) }
        window.accept(1_127)
        #expect(throws: SRTPRefusal.replayed) { try window.check(1_000) }
        window.accept(100_000)
        try window.check(99_999)
        #expect(throws: SRTPRefusal.tooOld) { try window.check(1_127) }
    }
}
