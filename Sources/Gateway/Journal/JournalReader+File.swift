import Foundation

extension JournalReader {
    /// Reads a whole file. Throws when it cannot be read; broken lines are in the result.
    public static func read(path: String) throws(JournalFileError) -> Result {
        var events: [JournalEvent] = []
        let brokenLines = try read(path: path) { events.append($0) }
        return Result(events: events, brokenLines: brokenLines)
    }

    /// Reads a file of any length piece by piece, and calls `each` for every event. Returns the broken lines.
    public static func read(path: String, each: (JournalEvent) -> Void) throws(JournalFileError) -> [BrokenLine] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalFileError(operation: "read", path: path, code: errno) }
        defer { close(descriptor) }
        var parser = JournalParser(name: path)
        var piece = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw JournalFileError(operation: "read", path: path, code: errno) }
            guard count > 0 else { return parser.finish() }
            parser.feed(Array(piece[..<count]), each: each)
        }
    }
}
