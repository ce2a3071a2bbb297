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

    /// Whether it gives the same again when it is read again, which a pipe does not. True where nothing is: reading tells why.
    public static func canBeReadAgain(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether a gateway has the journal open. False where that cannot be told, as for a pipe, or on another machine.
    public static func isBeingWritten(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }   // and lets the lock go that nobody else has
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// The files in the order in which they were written, as far as their first events tell: rotation gives the oldest the highest number.
    /// For that they are read; one alone is not.
    public static func inOrder(_ paths: [String]) -> [String] {
        guard paths.count > 1 else { return paths }
        let begun = paths.map { path -> (path: String, wall: UInt64) in (path, beginning(of: path) ?? .max) }
        return begun.enumerated().sorted { ($0.element.wall, $0.offset) < ($1.element.wall, $1.offset) }.map(\.element.path)
    }

    /// The file in which the last run begins: the journal's, or a rotated one. Where none has its beginning, the oldest there is.
    public static func fileOfLastRun(_ path: String) -> String {
        let mark = Data("\"kind\":\"\(JournalEvent.Kind.gatewayStarted.rawValue)\"".utf8)
        var file = path, index = 1
        while true {
            let data = try? Data(contentsOf: URL(filePath: file), options: .alwaysMapped)
            let older = "\(path).\(index)"
            if data?.range(of: mark, options: .backwards) != nil || access(older, F_OK) != 0 { return file }
            (file, index) = (older, index + 1)
        }
    }

    /// When the first event of a file was written, in nanoseconds since 1970; nil where there is none, or no file that can be read again.
    public static func beginning(of path: String) -> UInt64? { firstEvent(of: path)?.wall }

    /// The first event of a file; nil where there is none, or no file that can be read again.
    public static func firstEvent(of path: String) -> JournalEvent? {
        guard canBeReadAgain(path), let file = FileHandle(forReadingAtPath: path) else { return nil }
        guard let head = try? file.read(upToCount: JournalParser.longestLine) else { return nil }
        return parse(Array(head), name: path).events.first
    }
}
