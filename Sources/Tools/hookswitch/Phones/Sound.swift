import Audio
import Foundation
import Media
import Primitives
import RTP
import Runtime
import Workbench

/// The sound that a telephone of ours plays.
enum Sound {
    /// Like speech, and like no other call's.
    case speech
    case echo
    case tone(Double)
    case recording(WAV)

    /// From `--play` and `--tone`.
    ///
    /// - Parameter otherwise: where neither is given.
    /// - Throws: what is wrong with the file, exit code 3.
    init(play: String?, tone: Double?, otherwise: Sound) throws {
        if play != nil, tone != nil { throw Failure.usage("--play and --tone exclude each other") }
        if let tone, !(100...3_800).contains(tone) {
            throw Failure.usage("--tone takes a frequency from 100 to 3800 Hz, got \(Bounded.short(tone))")
        }
        self = try tone.map { .tone($0) } ?? play.map { .recording(try Self.load($0.named(by: "--play"))) } ?? otherwise
    }

    /// - Parameter repeats: a recording starts again when it is over.
    func source(repeats: Bool) -> MediaSource {
        switch self {
        case .speech:
            let random = SystemRandom()
            return .samples(
                SpeechLikeSignal.samples(seed: random.next(), seconds: 20), sampleRate: SpeechLikeSignal.sampleRate, loops: true)
        case .echo: return .echo
        case .tone(let frequency): return .tone(Tone(frequency))
        case .recording(let wav): return .samples(wav.samples, sampleRate: wav.sampleRate, loops: repeats)
        }
    }

    /// The sound that an echo of it is heard as; nil where it cannot be told.
    var echo: CallScript.Expectation? {
        switch self {
        case .speech, .recording: .echo
        case .tone(let frequency): .tone(frequency)
        case .echo: nil
        }
    }

    /// Gives the expectation of a sound: it says what is listened for.
    func expectation(of sound: ExpectedSound) -> CallScript.Expectation {
        switch sound {
        case .sound: .sound
        case .prompt: .prompt
        case .echo: echo ?? .echo
        case .nothing: .nothing
        }
    }

    private static func load(_ path: String) throws -> WAV {
        do throws(UnplayableFile) { return try WAV(playable: path) } catch { throw Failure.cannotRun(error.description) }
    }
}

/// Why a file cannot be played: one sentence for a person.
struct UnplayableFile: Error, CustomStringConvertible {
    var description: String
}

extension WAV {
    /// Reads a WAV or Ogg Opus file, at a rate that every codec takes.
    init(playable path: String) throws(UnplayableFile) {
        do throws(WAVFileError) { try self.init(contentsOf: path) } catch { throw UnplayableFile(description: error.description) }
        guard !samples.isEmpty else { throw UnplayableFile(description: "\(path) has no sound in it") }
        if [8_000, 16_000, 24_000, 48_000].contains(sampleRate) { return }
        guard let converted = try? resampled(to: sampleRate < 16_000 ? 16_000 : 48_000) else {
            throw UnplayableFile(
                description:
                    "\(path) has \(sampleRate) samples a second, which cannot be converted; 8000, 16000 and 48000 can be played as they are"
            )
        }
        self = converted
    }
}

extension CallRecord {
    /// The result with the best that can be said of what was played.
    func judged(_ sound: Sound) -> CallResult { result(ifEchoed: sound.echo) }
}
