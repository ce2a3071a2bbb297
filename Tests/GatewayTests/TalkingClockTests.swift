import Audio
import Gateway
import Media
import Primitives
import RTP
import Testing

@testable import TalkingClock

/// The sample of an application of a program's own, through the public protocol alone.
@Suite struct TalkingClockTests {
    private static let numbers = (0..<60).map { WAV(sampleRate: 8_000, samples: [Int16($0)]) }

    private func source(_ number: Int16) -> MediaSource { .samples([number], sampleRate: 8_000, loops: false) }

    @Test func `it says the hour, then the minute, and hangs up; a key begins again`() throws {
        var clock = TalkingClock(numbers: Self.numbers) { (14, 35) }
        #expect(clock.start(at: .zero) == [.answer] && clock.answered(at: .zero) == [.restart] && clock.source == source(14))
        #expect(clock.sourceFinished(at: .zero) == [.restart] && clock.source == source(35))
        #expect(clock.heard(try #require(DTMFDigit("5")), at: .zero) == [.restart] && clock.source == source(14))
        _ = clock.sourceFinished(at: .zero)
        #expect(clock.sourceFinished(at: .zero) == [.hangUp(.normalClearing)])
    }

    @Test func `a line that has one is the same as another with one of that name`() {
        let clock = LineEndpoint.Application.custom("clock") { _ in TalkingClock(numbers: []) { (0, 0) } }
        #expect(clock == .custom("clock") { _ in TalkingClock(numbers: []) { (1, 1) } })
        #expect(clock != .custom("other") { _ in TalkingClock(numbers: []) { (0, 0) } } && clock.name == "clock" && clock != .echo)
    }
}
