import ArgumentParser
import Gateway

/// Journal files on the command line.
enum JournalFiles {
    /// Reads them piece by piece as one journal. The broken lines.
    /// - Parameter command: whose arguments they are.
    static func read(_ paths: [String], by command: String, each: (JournalEvent) -> Void) throws -> [JournalReader.BrokenLine] {
        try inOrder(paths, of: command).flatMap { try read($0, each: each) }
    }

    static func read(_ path: String, each: (JournalEvent) -> Void) throws -> [JournalReader.BrokenLine] {
        do { return try JournalReader.read(path: path, each: each) } catch { throw Failure.cannotRun("\(path): cannot be read") }
    }

    /// In the order in which they were written.
    static func inOrder(_ paths: [String], of command: String) throws -> [String] {
        let paths = try paths.map { try $0.named(by: command) }
        if paths.count > 1, let pipe = paths.first(where: { !JournalReader.canBeReadAgain($0) }) {
            throw Failure.cannotRun("\(pipe): is no file, and cannot be put in order with others: give it alone")
        }
        return JournalReader.inOrder(paths)
    }

    /// - Throws: exit code 1 where there are some.
    static func complain(of lines: [JournalReader.BrokenLine]) throws {
        guard let first = lines.first else { return }
        Hookswitch.complain("\(lines.count) lines cannot be read, the first is \(first)")
        throw ExitCode(1)
    }
}
