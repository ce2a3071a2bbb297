import Foundation
import Testing

/// The plug-in as an app's package has it: the example was built by it.
@Suite struct CallSourcesTests {
    private static let products = URL(filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/")
        .deletingLastPathComponent()

    private struct Outcome {
        let status: Int32
        let text: String
    }

    /// Runs a program to its end, with what it writes to both outputs.
    private func run(_ program: URL, _ arguments: [String]) async throws -> Outcome {
        let process = Process(), output = Pipe()
        (process.executableURL, process.arguments) = (program, arguments)
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, text: String(decoding: text, as: UTF8.self))
    }

    private func copy(_ arguments: [String]) async throws -> Outcome {
        try await run(Self.products.appending(path: "CopySources"), arguments)
    }

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "call-sources-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test func `an app as Xcode has it runs: its outlets, targets, timers, observers, pushes and publishers`() async throws {
        let outcome = try await run(Self.products.appending(path: "call-sources-example"), [])
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(outcome.status == 0)
        #expect(lines.filter { !$0.hasPrefix("info") } == ["tick 1", "tick 2", "ringing for 1001", "ended"])
        #expect(lines.contains("info [com.example.phone:app] ringing: true"))
    }

    @Test func `a host's main.swift takes the place of the app's entry point, and launches its delegate`() async throws {
        let outcome = try await run(Self.products.appending(path: "call-host-example"), [])
        #expect(outcome.status == 0 && outcome.text == "launched 1\n")
    }

    @Test func `an error of the compiler names the app's own file and line`() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "Calls.swift"), copied = folder.appending(path: "Calls.copy.swift")
        try "import Foundation\n\n@objc class Calls: NSObject {\n    @objc func end() { missing() }\n}\n".write(
            to: source, atomically: true, encoding: .utf8)
        #expect(try await copy(["library", source.path, copied.path]).status == 0)
        let compiler = try await run(
            URL(filePath: "/usr/bin/env"),
            ["swiftc", "-typecheck", "-swift-version", "5", "-I", Self.products.appending(path: "Modules").path, copied.path])
        #expect(compiler.status != 0)
        #expect(compiler.text.contains("\(source.path):4:24: error: cannot find 'missing' in scope"), "\(compiler.text)")
    }

    @Test func `a copy that is as it was keeps its date`() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "A.swift"), copied = folder.appending(path: "A.copy.swift")
        try "let a = 1".write(to: source, atomically: true, encoding: .utf8)
        _ = try await copy(["library", source.path, copied.path])
        let long = Date(timeIntervalSince1970: 1_000_000)
        try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: copied.path)
        _ = try await copy(["library", source.path, copied.path])
        #expect(try FileManager.default.attributesOfItem(atPath: copied.path)[.modificationDate] as? Date == long)
        try "let a = 2".write(to: source, atomically: true, encoding: .utf8)
        _ = try await copy(["library", source.path, copied.path])
        #expect(try String(contentsOf: copied, encoding: .utf8).hasSuffix("let a = 2"))
    }

    @Test(
        arguments: [
            ([], "the arguments are"), (["app"], "the arguments are"), (["library", "a.swift"], "the arguments are"),
            (["library", "/missing.swift", "/tmp/b"], "cannot read /missing.swift"),
            (["executable", #filePath, "/missing/folder/b"], "cannot write /missing/folder/b"),
        ] as [([String], String)]) func `what cannot be done is one line and code 2`(arguments: [String], reason: String) async throws
    {
        let outcome = try await copy(arguments)
        #expect(outcome.status == 2 && outcome.text.contains(reason) && outcome.text.split(separator: "\n").count == 1)
    }
}
