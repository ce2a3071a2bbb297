import Foundation
import Primitives
import UserAgent

/// Reads a trace that may still be written: all that is there, and then what comes, also over rotations.
struct TraceSource: ~Copyable {
    private let path: String
    private var descriptor: Int32
    private let readsMedia: Bool
    private var reader: PcapngReader
    private var piece = [UInt8](repeating: 0, count: 256 * 1024)
    /// Messages that the files before this one lack.
    private var earlierDropped: UInt64 = 0

    /// - Parameter readsMedia: hands over RTP and RTCP, too.
    init(_ path: String, readsMedia: Bool = false) throws {
        (self.path, self.readsMedia, reader) = (path, readsMedia, PcapngReader(readsMedia: readsMedia))
        descriptor = try Self.open(path)
    }

    deinit { close(descriptor) }

    /// Messages that are missing in what was read so far.
    var dropped: UInt64 { earlierDropped + reader.dropped }

    /// Hands over what was written since the last time.
    mutating func poll(each: (TracedMessage) -> Void) throws {
        try readToEnd(each)
        while let next = try nextFile() {
            // Reads what was written between the last read and the rotation.
            try readToEnd(each)
            close(descriptor)
            (descriptor, earlierDropped, reader) = (next, dropped, PcapngReader(readsMedia: readsMedia))
            try readToEnd(each)
        }
    }

    private mutating func readToEnd(_ each: (TracedMessage) -> Void) throws {
        while true {
            let descriptor = descriptor, count = piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure.cannotRun("\(path): cannot be read (\(String(cString: strerror(errno))))") }
            guard count > 0 else { return }
            do throws(PcapngReader.ReadError) { try reader.feed(Array(piece[..<count]), each: each) } catch {
                throw Failure.bad("\(path): \(error)")
            }
        }
    }

    /// The file that stands at the path now, where it is another; nil while it is this one, or none.
    private func nextFile() throws -> Int32? {
        var here = stat(), there = stat()
        guard fstat(descriptor, &here) == 0, stat(path, &there) == 0, here.st_ino != there.st_ino || here.st_dev != there.st_dev else {
            return nil
        }
        return try Self.open(path)
    }

    private static func open(_ path: String) throws -> Int32 {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.cannotRun("\(path): cannot be read (\(String(cString: strerror(errno))))") }
        return descriptor
    }
}
