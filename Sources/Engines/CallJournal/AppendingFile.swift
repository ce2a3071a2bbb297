import Foundation
import Primitives

/// Why a journal file cannot be used.
public struct JournalFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The operation that failed: `open`, `write` ...
    public let operation: String
    /// The file.
    public let path: String
    /// The `errno` of the system call.
    public let code: Int32

    public init(operation: String, path: String, code: Int32) { (self.operation, self.path, self.code) = (operation, path, code) }

    /// Another process writes the file.
    static func taken(_ path: String) -> JournalFileError { JournalFileError(operation: "claim", path: path, code: EWOULDBLOCK) }

    public var description: String {
        if self == .taken(path) { return "another hookswitch writes it" }
        // The kernel's words for a pipe without a reader, and for a socket, are "No such device or address".
        return code == ENXIO ? "nobody reads it" : "cannot \(operation) \(path): \(String(cString: strerror(code)))"
    }
}

/// A file that grows by whole batches: a batch that does not fit is taken back, so that no half line stays.
/// A pipe takes nothing back: there the half line is ended. It has no size, and a reader that takes nothing is not waited for longer than
/// `timeout`.
struct AppendingFile: ~Copyable {
    /// With a reader that takes nothing at the moment, and with one that is slow, for each batch.
    private static let timeout = (standing: Duration.seconds(1), slow: Duration.seconds(10))

    let path: String
    /// No other process may write it.
    private let isClaimed: Bool
    private var descriptor: Int32
    private var isFile: Bool
    private(set) var size: Int
    /// The place in the file at which our own lines begin; another process wrote those before it.
    private var ownStart: Int
    /// The place at which the line begins that stands at the end in the place of others.
    private var standIn: Int?
    /// A writer was killed in the middle of the last line: ours is not to be glued to it.
    private var endsMidLine = false

    init(path: String, isClaimed: Bool = false) throws(JournalFileError) {
        (self.path, self.isClaimed) = (path, isClaimed)
        (descriptor, isFile, size) = try Self.open(path, isClaimed: isClaimed)
        ownStart = size
        endsMidLine = Self.endsMidLine(path, size)
    }

    deinit { close(descriptor) }

    mutating func append(_ bytes: [UInt8]) throws(JournalFileError) {
        if endsMidLine {
            try write([0x0A])
            (endsMidLine, ownStart) = (false, size)
        }
        try write(bytes)
        standIn = nil
    }

    private mutating func write(_ bytes: [UInt8]) throws(JournalFileError) {
        let limit = ContinuousClock.now + Self.timeout.slow
        var written = 0, end = ContinuousClock.now + Self.timeout.standing
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count < 0, errno == EINTR || errno == EAGAIN && canWrite(until: end) { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                if written > 0, ftruncate(descriptor, off_t(size)) != 0 { endsMidLine = true }
                throw JournalFileError(operation: "write", path: path, code: code)
            }
            written += count
            if !isFile { end = min(ContinuousClock.now + Self.timeout.standing, limit) }
        }
        if isFile { size += written }
    }

    /// Leaves `errno` as EAGAIN.
    private func canWrite(until end: ContinuousClock.Instant) -> Bool {
        defer { errno = EAGAIN }
        var question = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let rest = (end - .now).wholeMilliseconds
        guard rest > 0 else { return false }
        let count = poll(&question, 1, Int32(rest))
        return count > 0 || count < 0 && errno == EINTR
    }

    /// Opens the path again when it no longer names this file. True when that was so.
    mutating func reopenIfLost() throws(JournalFileError) -> Bool {
        var here = stat()
        var there = stat()
        let isThere = stat(path, &there) == 0
        if fstat(descriptor, &here) == 0, isThere, here.st_ino == there.st_ino, here.st_dev == there.st_dev { return false }
        try replaceDescriptor()
        return true
    }

    /// `path` becomes `path.1`, that becomes `path.2` and so on; the oldest goes.
    mutating func rotate(keeping count: Int) throws(JournalFileError) {
        for index in stride(from: count, to: 0, by: -1) {
            let source = index == 1 ? path : "\(path).\(index - 1)"
            guard rename(source, "\(path).\(index)") == 0 || errno == ENOENT else {
                throw JournalFileError(operation: "rotate", path: source, code: errno)
            }
        }
        if count == 0 { unlink(path) }
        try replaceDescriptor()
    }

    func synchronize() { fsync(descriptor) }

    private mutating func replaceDescriptor() throws(JournalFileError) {
        let fresh = try Self.open(path, isClaimed: isClaimed)
        close(descriptor)
        (descriptor, isFile, size) = fresh
        (ownStart, standIn) = (size, nil)
        endsMidLine = Self.endsMidLine(path, size)
    }

    private static func open(_ path: String, isClaimed: Bool) throws(JournalFileError) -> (descriptor: Int32, isFile: Bool, size: Int) {
        // A pipe that nobody reads would keep the start waiting, and one that is not read fast enough the end.
        let descriptor = Foundation.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o640)
        guard descriptor >= 0 else { throw JournalFileError(operation: "open", path: path, code: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw JournalFileError(operation: "open", path: path, code: code)
        }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        // A pipe or a terminal is for whoever comes, and a file system that knows no locks is not the operator's fault.
        if isClaimed, isFile, !claim(descriptor) {
            close(descriptor)
            throw .taken(path)
        }
        return (descriptor, isFile, isFile ? Int(status.st_size) : 0)
    }

    /// Claims the file. A process that only looks whether the file is claimed holds it for a moment, so it is tried again.
    private static func claim(_ descriptor: Int32) -> Bool {
        for _ in 0..<5 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return true }
            usleep(2_000)
        }
        return false
    }

    // MARK: In the place of the last lines

    var hasStandIn: Bool { standIn != nil }

    /// Writes a line over the last lines of ours, or over the one that stands there in their place. The file keeps its length.
    /// - Parameter line: makes it of the lines that it takes the place of; none where it takes that of an earlier one.
    /// - Returns: these lines; nil where nothing was written.
    mutating func overwriteEnd(with line: ([UInt8]) -> [UInt8]) -> [UInt8]? {
        // A new descriptor is opened: Linux appends to a file that was opened for it, whatever the place is that it is told.
        guard isFile, !endsMidLine, case let file = Foundation.open(path, O_RDWR | O_CLOEXEC), file >= 0 else { return nil }
        defer { close(file) }
        guard isSame(file), let start = standIn ?? lastLines(of: file) else { return nil }
        let before = Self.read(file, from: start, to: size), replaced = standIn == nil ? before : []
        let bytes = line(replaced).dropLast(), room = size - start - 1
        guard before.count > room, bytes.count <= room else { return nil }
        let whole = bytes + [UInt8](repeating: 0x20, count: room - bytes.count) + [0x0A]
        guard Self.write(whole[...], to: file, at: start) else {
            _ = Self.write(before[...], to: file, at: start)
            return nil
        }
        standIn = start
        return replaced
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to file: Int32, at start: Int) -> Bool {
        bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(start)) } == bytes.count
    }

    /// Room for a line that tells of a loss, with the longest numbers; and how far back a place is looked for.
    private static let standInLength = 256, farthest = 64 * 1024

    private func isSame(_ file: Int32) -> Bool {
        var here = stat(), there = stat()
        return fstat(descriptor, &here) == 0 && fstat(file, &there) == 0 && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    /// The place at which the last lines begin that are long enough together.
    private func lastLines(of file: Int32) -> Int? {
        let first = max(ownStart, size - Self.farthest), bytes = Self.read(file, from: first, to: size)
        let latest = bytes.count - Self.standInLength
        guard latest >= 0 else { return nil }
        if let newline = bytes[..<latest].lastIndex(of: 0x0A) { return first + newline + 1 }
        return first == ownStart ? ownStart : nil
    }

    private static func read(_ file: Int32, from start: Int, to end: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: max(0, end - start)) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, buffer.count, off_t(start)))
        }
    }

    private static func endsMidLine(_ path: String, _ size: Int) -> Bool {
        guard size > 0, case let reader = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), reader >= 0 else { return false }
        defer { close(reader) }
        var last: UInt8 = 0x0A
        return pread(reader, &last, 1, off_t(size - 1)) == 1 && last != 0x0A
    }
}
