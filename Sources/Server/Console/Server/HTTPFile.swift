import Foundation

/// A file that is open, or the part of it that is still to be sent.
final class HTTPFile {
    /// The facts by which another content is known.
    let length: Int
    private let modified: timespec, inode: UInt64
    private let descriptor: Int32
    private var place = 0
    private(set) var left: Int

    /// nil for what cannot be read, or is no file.
    init?(path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        (length, modified, inode) = (Int(status.st_size), status.st_mtim, UInt64(status.st_ino))
        left = length
    }

    deinit { close(descriptor) }

    /// A strong entity tag (RFC 9110 §8.8.3).
    var tag: String {
        let parts = [UInt64(modified.tv_sec), UInt64(modified.tv_nsec), inode, UInt64(length)]
        return "\"\(parts.map { String($0, radix: 16) }.joined(separator: "-"))\""
    }

    /// The part that is wanted.
    func select(_ part: Range<Int>) { (place, left) = (part.lowerBound, part.count) }

    /// The next bytes; nil when the file has become shorter, or cannot be read any more.
    func piece(upTo most: Int) -> [UInt8]? {
        var isBroken = false
        let bytes = [UInt8](unsafeUninitializedCapacity: min(most, left)) { buffer, count in
            let found = pread(descriptor, buffer.baseAddress, buffer.count, off_t(place))
            (count, isBroken) = (max(0, found), found <= 0)
        }
        guard !isBroken else { return nil }
        (place, left) = (place + bytes.count, left - bytes.count)
        return bytes
    }
}
