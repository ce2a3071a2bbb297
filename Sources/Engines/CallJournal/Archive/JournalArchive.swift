import Foundation
import Primitives

/// A journal with the files that were put aside, `journal.jsonl.1` being the youngest of those: read in pieces and never as a whole.
///
/// Any thread; a call may take as long as the disk takes.
public struct JournalArchive: Sendable {
    /// The run that writes the journal now: its lines are known also where the file that began it is gone.
    public struct Running: Sendable {
        public var label: String
        /// When it began, in nanoseconds since 1970-01-01 UTC.
        public var began: UInt64

        public init(label: String, began: UInt64) { (self.label, self.began) = (label, began) }
    }

    /// A place behind a line, to go on reading from.
    public struct Mark: Sendable {
        fileprivate var file: UInt64, offset: Int
        fileprivate var runs: JournalRuns
    }

    /// A line on its way to whoever reads.
    struct Line {
        let bytes: ArraySlice<UInt8>
        let head: JournalLineHead
        let run: JournalRun
        /// The name of the run as positions have it; nil where nobody knows it any more.
        let label: String?
        let mark: Mark
    }

    public let path: String
    private static let mostFiles = 100, pieceLength = 256 * 1_024

    public init(path: String) { self.path = path }

    /// Calls `each` with the lines, the oldest first, until it answers false. What is not finished yet, or is no event, is left out.
    func read(from mark: Mark? = nil, _ running: Running?, _ each: (borrowing Line) throws(JournalFileError) -> Bool)
        throws(JournalFileError)
    {
        var files = try open(), runs = JournalRuns(), isFirst = true
        defer { for file in files { close(file.descriptor) } }
        if let mark, let index = files.firstIndex(where: { $0.inode == mark.file }) {
            for file in files[..<index] { close(file.descriptor) }
            files.removeFirst(index)
            runs = mark.runs
            lseek(files[0].descriptor, off_t(mark.offset), SEEK_SET)
        }
        for file in files {
            let start = isFirst && mark?.file == file.inode ? mark?.offset ?? 0 : 0
            isFirst = false
            let goesOn = try Self.lines(of: file.descriptor, path, at: start) { bytes, end throws(JournalFileError) in
                guard let head = JournalLineHead(bytes) else { return true }
                runs.note(Self.event(bytes, head))
                let run = runs.current, label = Self.label(of: head, run, running)
                let mark = Mark(file: file.inode, offset: end, runs: runs)
                return try each(Line(bytes: bytes, head: head, run: run, label: label, mark: mark))
            }
            if !goesOn { return }
        }
    }

    /// The name of a line's run as positions have it; nil where nobody knows it any more.
    static func label(of head: JournalLineHead, _ run: JournalRun, _ running: Running?) -> String? {
        if run.identifier != nil { return run.label }
        return running.flatMap { head.wall >= $0.began ? $0.label : nil }
    }

    /// With the details where a run begins.
    static func event(_ bytes: ArraySlice<UInt8>, _ head: JournalLineHead) -> JournalEvent {
        guard head.kind == started else { return head.placeholder }
        return (try? JournalLine.parse(bytes)) ?? head.placeholder
    }

    static let started = Text(JournalEvent.Kind.gatewayStarted.rawValue)

    /// The oldest first. The youngest is opened first: where they are put aside meanwhile one of them is met twice, and none is missed.
    func open() throws(JournalFileError) -> [(descriptor: Int32, inode: UInt64)] {
        var files: [(descriptor: Int32, inode: UInt64)] = []
        for index in 0...Self.mostFiles {
            let name = index == 0 ? path : "\(path).\(index)", descriptor = Foundation.open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                guard index == 0 else { break }
                throw JournalFileError(operation: "read", path: path, code: errno)
            }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                !files.contains(where: { $0.inode == UInt64(status.st_ino) })
            else {
                close(descriptor)
                continue
            }
            files.append((descriptor, UInt64(status.st_ino)))
        }
        return files.reversed()
    }

    /// - Parameters:
    ///   - start: the place of the descriptor in the file.
    ///   - each: a line without its newline, and the place behind that. False: no more.
    static func lines(
        of descriptor: Int32, _ path: String, at start: Int,
        _ each: (ArraySlice<UInt8>, _ end: Int) throws(JournalFileError) -> Bool
    ) throws(JournalFileError) -> Bool {
        var rest: [UInt8] = [], place = start
        while true {
            let piece = try piece(of: descriptor, path)
            guard !piece.isEmpty else { return true }
            let bytes = rest.isEmpty ? piece : rest + piece
            var begin = 0
            while let end = newline(in: bytes, from: begin) {
                guard try each(bytes[begin..<end], place + end + 1) else { return false }
                begin = end + 1
            }
            place += begin
            // A line longer than any event is no event: its rest is skipped.
            rest = bytes.count - begin > JournalParser.longestLine ? [] : Array(bytes[begin...])
            if rest.isEmpty { place += bytes.count - begin }
        }
    }

    private static func piece(of descriptor: Int32, _ path: String) throws(JournalFileError) -> [UInt8] {
        var code: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: pieceLength) { buffer, count in
            var found = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            while found < 0, errno == EINTR { found = Foundation.read(descriptor, buffer.baseAddress, buffer.count) }
            (count, code) = (max(0, found), found < 0 ? errno : 0)
        }
        guard code == 0 else { throw JournalFileError(operation: "read", path: path, code: code) }
        return piece
    }

    private static func newline(in bytes: [UInt8], from begin: Int) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard begin < buffer.count, let base = buffer.baseAddress else { return nil }
            return memchr(base + begin, 0x0A, buffer.count - begin).map { $0 - UnsafeMutableRawPointer(mutating: base) }
        }
    }
}
