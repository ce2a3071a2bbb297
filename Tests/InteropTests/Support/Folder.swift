import Foundation

/// A folder of one test's own, gone with it.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "hookswitch-interop-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        if ProcessInfo.processInfo.environment["INTEROP_KEEP"] == nil { try? FileManager.default.removeItem(atPath: path) }
    }

    func file(_ name: String) -> String { path + "/" + name }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }

    func folder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
        return file(name)
    }
}

/// Where things are.
enum Place {
    /// The test's own sources.
    static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    static let scenarios = tests.appending(path: "Scenarios")
    static let corpus = tests.deletingLastPathComponent().appending(path: "Corpus")

    static func scenario(_ name: String) -> String { scenarios.appending(path: name).path }

    /// The Python that `scripts/test` installs aiortc and pjsua2 into.
    static let python = tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/clients/bin/python").path

    /// The pictures of pages, which people look at.
    static let screenshots = tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/screenshots").path

    /// A certificate or key of the tests.
    static func certificate(_ name: String) -> String { corpus.appending(path: "certificates").appending(path: name).path }

    /// The built commands, beside the running test bundle.
    static let hookswitch = built("hookswitch"), hotline = built("Hotline")

    private static func built(_ name: String) -> String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: name).path
    }
}
