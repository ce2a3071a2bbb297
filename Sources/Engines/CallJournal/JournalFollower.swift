import Foundation
import Primitives

/// Reads a journal that is being written: all that is there, and then what comes, also over rotations.
///
/// A rotated file is read to its end under its new name, then the younger ones, as far as they are kept.
public struct JournalFollower: ~Copyable {
    private let path: String
    private var kinds: Set<JournalEvent.Kind>?
    private var descriptor: Int32
    private var parser: JournalParser
    private var position = 0
    /// When the last event was written that was read: nanoseconds since 1970.
    private var latest: UInt64 = 0
    /// Lines that could not be read, of the files before this one.
    private var earlierBrokenLines: [JournalReader.BrokenLine] = []
    private var piece = [UInt8](repeating: 0, count: 256 * 1024)
    /// The file before this one was deleted before it was read to its end: others between the two may be gone, too.
    public private(set) var hasLeftDeletedFile = false

    public init(path: String) throws(JournalFileError) {
        self.path = path
        descriptor = try Self.open(path)
        parser = JournalParser(name: path)
    }

    /// From a place in one of its files on: `path` itself, or a rotated one.
    ///
    /// - Parameters:
    ///   - path: the journal's.
    ///   - file: the one to begin in.
    ///   - offset: where a line begins.
    ///   - kinds: those of which more is wanted than their place, as ``JournalParser/init(name:kinds:)`` has it.
    public init(path: String, from file: String, offset: Int, kinds: Set<JournalEvent.Kind>? = nil) throws(JournalFileError) {
        (self.path, self.kinds) = (path, kinds)
        descriptor = try Self.open(file)
        parser = JournalParser(name: path, kinds: kinds)
        position = offset
        lseek(descriptor, off_t(offset), SEEK_SET)
    }

    /// From a place in a file that is open already, and which it closes.
    init(path: String, taking descriptor: Int32, at offset: Int) {
        (self.path, self.descriptor, position) = (path, descriptor, offset)
        parser = JournalParser(name: path)
        lseek(descriptor, off_t(offset), SEEK_SET)
    }

    deinit { close(descriptor) }

    /// Hands over what was written since the last time.
    public mutating func poll(each: (JournalEvent) -> Void) throws(JournalFileError) {
        while try pollPiece(each: each) {}
    }

    /// Hands over the lines that the next 256 kB end. False where there is nothing more.
    public mutating func pollPiece(each: (JournalEvent) -> Void) throws(JournalFileError) -> Bool {
        if try readPiece(each) { return true }
        guard let next = try nextFile() else { return false }
        // Lines that were written between the last read and the rotation.
        while try readPiece(each) {}
        earlierBrokenLines += parser.finish()
        var here = stat()
        hasLeftDeletedFile = fstat(descriptor, &here) != 0 || here.st_nlink == 0
        close(descriptor)
        (descriptor, parser, position) = (next, JournalParser(name: path, kinds: kinds), 0)
        return true
    }

    /// The file that is being read, by its inode, and where the first line begins that was not handed over.
    public var place: (file: UInt64, offset: Int) {
        var here = stat()
        return (fstat(descriptor, &here) == 0 ? UInt64(here.st_ino) : 0, position - parser.unfinishedBytes)
    }

    /// So far; a last line without an end is waited for.
    public var brokenLines: [JournalReader.BrokenLine] { earlierBrokenLines + parser.brokenLines }

    private mutating func readPiece(_ each: (JournalEvent) -> Void) throws(JournalFileError) -> Bool {
        while true {
            let descriptor = descriptor
            let count = piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw JournalFileError(operation: "read", path: path, code: errno) }
            guard count > 0 else { return false }
            position += count
            parser.feed(Array(piece[..<count])) { event in
                latest = event.wall
                each(event)
            }
            return true
        }
    }

    /// The file that was written after this one; nil while there is none, and where the path has none at the moment.
    private mutating func nextFile() throws(JournalFileError) -> Int32? {
        var here = stat()
        guard fstat(descriptor, &here) == 0 else { throw JournalFileError(operation: "read", path: path, code: errno) }
        guard let current = Self.status(path) else { return nil }
        if Self.isSame(current, here) {
            // Cut short, it is another journal from its beginning on.
            return Int(here.st_size) < position ? try Self.open(path) : nil
        }
        var younger = path, index = 1
        while let status = Self.status("\(path).\(index)") {
            if Self.isSame(status, here) { break }
            // The next file, if ours is gone, is the oldest that begins behind it.
            guard JournalReader.beginning(of: "\(path).\(index)") ?? 0 > latest else { break }
            (younger, index) = ("\(path).\(index)", index + 1)
        }
        return try Self.open(younger)
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func isSame(_ one: stat, _ other: stat) -> Bool { one.st_ino == other.st_ino && one.st_dev == other.st_dev }

    private static func open(_ path: String) throws(JournalFileError) -> Int32 {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalFileError(operation: "read", path: path, code: errno) }
        return descriptor
    }
}
