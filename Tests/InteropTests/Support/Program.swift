import Foundation

/// A real program that a test runs: its lines as events, its exit, and its end by its pid.
final class Program: Sendable {
    let name: String
    /// Lines of both outputs, in the order in which they came.
    let lines = EventLog<String>()
    private let exit = EventLog<Int32>()
    private let process = Process()

    var pid: Int32 { process.processIdentifier }

    init(_ path: String, _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]) throws {
        name = URL(filePath: path).lastPathComponent
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        var all = ProcessInfo.processInfo.environment
        for (key, value) in environment { all[key] = value }
        all["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = all
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        read(pipe.fileHandleForReading)
        process.terminationHandler = { [exit] in exit.append($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus) }
        try process.run()
    }

    deinit { kill() }

    private func read(_ handle: FileHandle) {
        let lines = self.lines, splitter = LineSplitter()
        handle.readabilityHandler = { handle in
            let data = handle.availableData
            for line in splitter.feed(data) { lines.append(line) }
            guard data.isEmpty else { return }
            handle.readabilityHandler = nil
            lines.close()
        }
    }

    /// The first line from `start` on that contains `text`.
    @discardableResult
    func line(containing text: String, from start: Int = 0, within limit: Duration = .seconds(20)) async throws -> String {
        guard let line = await lines.first(from: start, within: limit, where: { $0.contains(text) }) else {
            throw Unmet("\(name) did not say '\(text)' within \(limit).\(transcript)")
        }
        return line
    }

    /// Its exit code; negative: the signal that ended it. All its lines are there then.
    @discardableResult
    func exitCode(within limit: Duration) async throws -> Int32 {
        guard let code = await exit.first(within: limit, where: { _ in true }) else {
            throw Unmet("\(name) did not end within \(limit).\(transcript)")
        }
        _ = await lines.first(within: .seconds(5)) { _ in false }
        return code
    }

    var isRunning: Bool { process.isRunning }

    func signal(_ number: Int32) {
        if process.isRunning { Foundation.kill(pid, number) }
    }

    func kill() { signal(SIGKILL) }

    /// What it said last, for a failure's text.
    var transcript: String {
        let said = lines.all.suffix(40)
        return said.isEmpty ? " It said nothing." : " It said:\n  " + said.joined(separator: "\n  ")
    }

    /// Runs to its end and gives what it said.
    static func run(_ path: String, _ arguments: [String], in folder: String? = nil, within limit: Duration = .seconds(30)) async throws -> (code: Int32, lines: [String]) {
        let program = try Program(path, arguments, in: folder)
        defer { program.kill() }
        return (try await program.exitCode(within: limit), program.lines.all)
    }
}

/// Bytes to lines. Used by one reader at a time.
private final class LineSplitter: @unchecked Sendable {
    private var rest: [UInt8] = []

    func feed(_ data: Data) -> [String] {
        if data.isEmpty, !rest.isEmpty {
            defer { rest = [] }
            return [String(decoding: rest, as: UTF8.self)]
        }
        rest += data
        var pieces = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Array(pieces.removeLast())
        return pieces.map { String(decoding: $0, as: UTF8.self) }
    }
}
