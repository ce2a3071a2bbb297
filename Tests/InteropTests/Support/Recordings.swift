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

    /// How alike the two are, at 8 kHz.
    static func likeness(_ sent: WAV, _ received: WAV) throws -> SignalCorrelation {
        let left = try sent.resampled(to: 8_000), right = try received.resampled(to: 8_000)
        return try SignalCorrelation(sent: left.samples, received: right.samples, sampleRate: 8_000)
    }

    /// What was heard is what the other said, and not what oneself said.
    static func expect(_ heard: WAV, is said: WAV, isNot own: WAV) throws {
        let likeness = try likeness(said, heard)
        #expect(likeness.matches, "\(likeness)")
        let echo = try Recordings.likeness(own, heard)
        #expect(echo.score < 0.3, "it hears itself: \(echo)")
    }

    /// A piece that was heard is of what the other says over and over, and not of what oneself does.
    static func expect(piece heard: WAV, isOf said: WAV, isNotOf own: WAV) throws {
        let likeness = try likeness(heard, toAnyOf: said)
        #expect(likeness.score > 0.6, "\(likeness)")
        let echo = try Recordings.likeness(heard, toAnyOf: own)
        #expect(echo.score < 0.35, "it hears itself: \(echo)")
    }

    /// The same for the last three seconds: a browser's microphone may begin late, and a machine that is busy stands still at the start.
    static func expect(endOf heard: WAV, isOf said: WAV, isNotOf own: WAV) throws {
        let end = WAV(sampleRate: heard.sampleRate, samples: Array(heard.samples.suffix(3 * heard.sampleRate)))
        try expect(piece: end.resampled(to: 8_000), isOf: said, isNotOf: own)
    }

    /// How alike a piece is to a text that is said over and over.
    static func likeness(_ piece: WAV, toAnyOf said: WAV) throws -> SignalCorrelation {
        let once = try said.resampled(to: 8_000).samples
        return try SignalCorrelation(sent: piece.samples, received: once + once + once, sampleRate: 8_000, maximumDelay: 20_000)
    }
}
