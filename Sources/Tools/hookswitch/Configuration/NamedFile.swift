import Foundation
import Glibc

/// Files and folders that somebody named, and why they cannot be had where they cannot.
enum NamedFile {
    /// The words to say behind the name, with the system's words for the cause.
    struct Unreadable: Error { var text: String }

    /// The longest text: longer than any that somebody wrote.
    private static let longest = 64 << 20

    /// To the end and not by its length, which a pipe has none of.
    static func text(of path: String) throws(Unreadable) -> String {
        guard let text = String(validating: try bytes(of: path), as: UTF8.self) else { throw Unreadable(text: "is not UTF-8 text") }
        return text
    }

    private static func bytes(of path: String) throws(Unreadable) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable }
        defer { close(descriptor) }
        var bytes: [UInt8] = [], piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= longest else { throw Unreadable(text: "is longer than \(longest >> 20) MB") }
        }
    }

    private static var unreadable: Unreadable { Unreadable(text: "cannot be read (\(String(cString: strerror(errno))))") }

    /// With all folders above it that are not there.
    /// - Throws: a `Failure` with exit code 3.
    static func makeFolder(_ path: String) throws {
        do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
            let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code.rawValue
            throw Failure.cannotRun(
                "the folder \(path) cannot be made (\(code.map { String(cString: strerror($0)) } ?? error.localizedDescription))")
        }
    }
}
