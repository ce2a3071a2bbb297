import Audio

import Foundation
import Testing

/// What the clients play.
enum Recordings {
    /// Four seconds of 440 Hz in A-law, raw, as sipp plays it.
    static let tonePCMA: [UInt8] = (0..<32_000).map { index in
        G711.encodeA(Int16(8_000 * sin(2 * Double.pi * 440 * Double(index) / 8_000)))
    }

    /// A minute of 440 Hz as a WAV that baresip plays.
    static func tone(in folder: Folder) throws -> String {
        let samples = (0..<48_000 * 60).map { Int16(8_000 * sin(2 * Double.pi * 440 * Double($0) / 48_000)) }
        try Data(WAV(sampleRate: 48_000, samples: samples).serialized()).write(to: URL(filePath: folder.file("tone.wav")))
        return folder.file("tone.wav")
    }

    static let firstText = "The quick brown fox jumps over the lazy dog, and seven wizards mix a potion of old beer."
    static let secondText = "Please call Stella, and ask her to bring six spoons of fresh snow peas and five thick slabs of cheese."

    /// Speech at 48 kHz in a file to be played, once or over and over, for longer than a test takes; returns it once.
    static func speech(_ text: String, voice: String, repeating: Bool, in folder: Folder, as name: String) async throws -> WAV {
        let raw = folder.file("raw-\(name)"), spoken = folder.file("spoken-\(name)")
        _ = try await Program.run("/usr/bin/espeak-ng", ["-v", voice, "-s", "190", "-w", raw, text])
        _ = try await Program.run("/usr/bin/sox", [raw, "-r", "48000", "-c", "1", "-b", "16", spoken, "gain", "-n", "-6"])
        _ = try await Program.run("/usr/bin/sox", [spoken, folder.file(name)] + (repeating ? ["repeat", "9"] : ["pad", "0", "60"]))
        return try read(spoken)
    }

    static func read(_ file: String) throws -> WAV {
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: file)))
        // Still being written.
        if bytes.count > 44, bytes[40..<44] == [0, 0, 0, 0] { bytes.replaceSubrange(40..<44, with: [255, 255, 255, 255]) }
        do { return try WAV(parsing: bytes) } catch { throw Unmet("\(file): \(error)") }
    }

    /// What was heard is what the other said, and not what oneself said.
    static func expect(_ heard: WAV, is said: WAV, isNot own: WAV) throws {
        try expect(piece: heard.resampled(to: 8_000), isOf: said, isNotOf: own)
    }

    /// A piece that was heard is of what the other says over and over, and not of what oneself does.
    static func expect(piece heard: WAV, isOf said: WAV, isNotOf own: WAV) throws {
        let found = try found(heard, in: said)
        #expect(found.matches, "what the other says has \(found)")
        let echo = try Recordings.found(heard, in: own, from: 0.5)
        #expect(echo.found <= 1, "it hears itself: \(echo)")
    }

    /// The same for the last three seconds: a browser's microphone may begin late, and a machine that is busy stands still at the start.
    static func expect(endOf heard: WAV, isOf said: WAV, isNotOf own: WAV) throws {
        let end = WAV(sampleRate: heard.sampleRate, samples: Array(heard.samples.suffix(3 * heard.sampleRate)))
        try expect(piece: end.resampled(to: 8_000), isOf: said, isNotOf: own)
    }

    /// The half seconds of a piece at 8 kHz, each looked for anywhere in a text that is said over and over: sound that tears again and again,
    /// as it does where a machine stands still, is found all the same. Silent ones do not count. Measured with this speech: torn three times
    /// a second, by up to half a second, half of them are found; of other speech none (0.43 at most).
    ///
    /// - Parameters:
    ///   - piece: what was heard, at 8 kHz.
    ///   - said: the text, once.
    ///   - likeness: the score from which on a half second is found; other speech never reaches 0.5.
    static func found(_ piece: WAV, in said: WAV, from likeness: Double = 0.6) throws -> HalfSeconds {
        let halves = stride(from: 0, through: piece.samples.count - 4_000, by: 4_000).map { Array(piece.samples[$0..<$0 + 4_000]) }
        let energies = halves.map { $0.reduce(0) { $0 + Double($1) * Double($1) } }, loudest = energies.max() ?? 0
        let spoken = zip(halves, energies).filter { $0.1 > max(loudest / 30, 4_000 * 100) }.map(\.0)
        let once = try said.resampled(to: 8_000).samples, text = once + once.prefix(4_000)
        let scores = try spoken.map { try SignalCorrelation(sent: $0, received: text, sampleRate: 8_000, maximumDelay: 20_000).score }
        return HalfSeconds(spoken: scores.count, found: scores.count { $0 > likeness })
    }

    /// How alike a piece is to a text that is said over and over.
    static func likeness(_ piece: WAV, toAnyOf said: WAV) throws -> SignalCorrelation {
        let once = try said.resampled(to: 8_000).samples
        return try SignalCorrelation(sent: piece.samples, received: once + once + once, sampleRate: 8_000, maximumDelay: 20_000)
    }
}

/// How many half seconds of a recording are of a text.
struct HalfSeconds: CustomStringConvertible {
    var spoken: Int
    var found: Int

    var matches: Bool { spoken >= 3 && Double(found) >= 0.4 * Double(spoken) }
    var description: String { "\(found) of \(spoken) half seconds" }
}
