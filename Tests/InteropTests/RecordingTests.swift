import Audio
import Testing

/// The ear of these tests: it knows torn speech again, and takes no other speech for it.
@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
    /// Milliseconds that are missing after each 350 that are there.
    @Test(arguments: [0, 60, 450]) func `torn speech is found, and other speech is not`(missing: Int) async throws {
        let folder = try Folder()
        let said = try await Recordings.speech(Recordings.firstText, voice: "en-us", repeating: true, in: folder, as: "first.wav")
        let other = try await Recordings.speech(Recordings.secondText, voice: "en-gb", repeating: true, in: folder, as: "second.wav")
        let once = try said.resampled(to: 8_000).samples, whole = once + once + once
        let pieces = stride(from: 0, to: whole.count - 8_000, by: 8 * (350 + missing)).map { whole[$0..<$0 + 8 * 350] }
        let heard = WAV(sampleRate: 8_000, samples: Array(pieces.joined().prefix(24_000)))
        #expect(heard.samples.count == 24_000)
        #expect(try Recordings.found(heard, in: said).matches)
        let wrong = try Recordings.found(heard, in: other, from: 0.5)
        #expect(wrong.found == 0 && wrong.spoken >= 4)
    }

    @Test func `silence is nobody's speech`() async throws {
        let folder = try Folder()
        let said = try await Recordings.speech(Recordings.firstText, voice: "en-us", repeating: true, in: folder, as: "first.wav")
        #expect(try !Recordings.found(WAV(sampleRate: 8_000, samples: [Int16](repeating: 0, count: 24_000)), in: said).matches)
    }
}
