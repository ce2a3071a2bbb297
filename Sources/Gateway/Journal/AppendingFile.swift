import Foundation

/// Why a journal file cannot be used.
public struct JournalFileError: Error, Equatable, Sendable, CustomStringConvertible {
    public let operation: String
    public let path: String
    /// The `errno` of the system call.
    public let code: Int32

    /// Another process writes the file.
    static func taken(_ path: String) -> JournalFileError { JournalFileError(operation: "claim", path: path, code: EWOULDBLOCK) }

    public var description: String {
        self == .taken(path) ? "another hookswitch writes it" : "cannot \(operation) \(path): \(String(cString: strerror(code)))"
    }
}

/// A file that only grows, by whole batches: a batch that does not fit is taken back, so that no half line stays.
struct AppendingFile: ~Copyable {
    let path: String
    /// No other process may write it.
    private let isClaimed: Bool
    private var descriptor: Int32
    private(set) var size: Int
    /// A writer was killed in the middle of the last line: ours is not to be glued to it.
    private var endsMidLine = false

    init(path: String, isClaimed: Bool = false) throws(JournalFileError) {
        (self.path, self.isClaimed) = (path, isClaimed)
        (descriptor, size) = try Self.open(path, isClaimed: isClaimed)
        endsMidLine = Self.endsMidLine(path, size)
    }

    deinit { close(descriptor) }

    mutating func append(_ bytes: [UInt8]) throws(JournalFileError) {
        if endsMidLine {
            try write([0x0A])
            endsMidLine = false
        }
        try write(bytes)
    }

    private mutating func write(_ bytes: [UInt8]) throws(JournalFileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                if written > 0 { _ = ftruncate(descriptor, off_t(size)) }
                throw JournalFileError(operation: "write", path: path, code: code)
            }
            written += count
        }
        size += written
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
        (descriptor, size) = fresh
        endsMidLine = Self.endsMidLine(path, size)
    }

    private static func open(_ path: String, isClaimed: Bool) throws(JournalFileError) -> (Int32, Int) {
        let descriptor = Foundation.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw JournalFileError(operation: "open", path: path, code: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw JournalFileError(operation: "open", path: path, code: code)
        }
        // A pipe or a terminal is for whoever comes, and a file system that knows no locks is not the operator's fault.
        if isClaimed, status.st_mode & S_IFMT == S_IFREG, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            throw .taken(path)
        }
        return (descriptor, Int(status.st_size))
    }

    private static func endsMidLine(_ path: String, _ size: Int) -> Bool {
        guard size > 0, case let reader = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), reader >= 0 else { return false }
        defer { close(reader) }
        var last: UInt8 = 0x0A
        return pread(reader, &last, 1, off_t(size - 1)) == 1 && last != 0x0A
    }
}
