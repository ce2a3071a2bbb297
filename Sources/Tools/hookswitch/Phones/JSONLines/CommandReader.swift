import Foundation
import Primitives

/// Commands from a file, a line each, as they come.
///
/// The end of the file is the end of the commands and of nothing else. Its thread ends then, or with the process.
enum CommandReader {
    static func begin(_ descriptor: Int32, each: @escaping @Sendable (CommandLines.Line) -> Void) {
        // A terminal that is somebody else's just now says so with an error, and not by stopping the process.
        signal(SIGTTIN, SIG_IGN)
        Thread.detachNewThread {
            var lines = CommandLines(), buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = read(descriptor, &buffer, buffer.count), count > 0 || (count < 0 && errno == EINTR) {
                for line in lines.take(buffer[..<max(count, 0)]) { each(line) }
            }
            for line in lines.finish() { each(line) }
        }
    }
}

/// Cuts what comes into lines, and keeps less than one of them.
struct CommandLines {
    enum Line: Equatable, Sendable {
        case text(String)
        /// The beginning of a line that is too long.
        case tooLong(String)
    }

    static let longest = 1_024

    private var rest: [UInt8] = []
    private var isTooLong = false

    /// The lines that are complete now; empty ones are none.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Line] {
        var lines: [Line] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"): lines += finish()
            case _ where rest.count < Self.longest: rest.append(byte)
            default: isTooLong = true
            }
        }
        return lines
    }

    /// The file is over: what is left is a line, too.
    mutating func finish() -> [Line] {
        defer { (rest, isTooLong) = ([], false) }
        let text = String(decoding: rest, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if isTooLong { return [.tooLong(String(text.prefix(40)))] }
        return text.isEmpty ? [] : [.text(text)]
    }
}
