import Foundation
import Rehearsal
import Testing

/// The model of calls in Tests/Model, by scripts/model: no order of events breaks a rule in it, and what the gateway does is what it may do.
@Suite(.timeLimit(.minutes(15))) struct ModelTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `no order of what networks, users and timers do breaks a rule`() throws {
        let checked = try Self.model([])
        #expect(checked.code == 0 && checked.output.contains("no rule can be broken"), "\(checked.output)")
    }

    @Test func `each fault that the model is given is found, by its rule`() throws {
        let checked = try Self.model(["--faults"])
        #expect(checked.code == 0 && checked.output.split(separator: "\n").count > 15, "\(checked.output)")
    }

    @Test func `the legs of rehearsals are the model's, and are not where a step is missing`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let journals = try (1...4).map { seed in
            let rehearsal = Rehearsal(RehearsalSettings(seed: UInt64(seed)))
            _ = rehearsal.run()
            let file = folder.appending(path: "\(seed).jsonl")
            try Data(rehearsal.journal).write(to: file)
            return file
        }
        let checked = try Self.model(journals.map { $0.path() })
        #expect(checked.code == 0 && checked.output.contains("are the model's"), "\(checked.output)")

        // The events after the first opened media stand one number lower, as if it had never been written.
        var lines = try String(contentsOf: journals[0], encoding: .utf8).split(separator: "\n").map(String.init)
        let missing = try #require(lines.firstIndex { $0.contains(#""kind":"media.opened""#) })
        lines.remove(at: missing)
        for index in missing..<lines.count {
            lines[index] = lines[index].replacing(#""seq":\#(index + 2),"#, with: #""seq":\#(index + 1),"#)
        }
        let broken = folder.appending(path: "broken.jsonl")
        try lines.joined(separator: "\n").write(to: broken, atomically: true, encoding: .utf8)
        let refused = try Self.model([broken.path()])
        #expect(refused.code == 1 && refused.output.contains("not the model's"), "\(refused.output)")
    }

    private static func model(_ arguments: [String]) throws -> (code: Int32, output: String) {
        let script = Process(), output = Pipe()
        script.executableURL = repository.appending(path: "scripts/model")
        script.arguments = arguments
        (script.standardOutput, script.standardError) = (output, output)
        try script.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        script.waitUntilExit()
        return (script.terminationStatus, text)
    }
}
