import ArgumentParser
import Foundation
import Primitives

/// The destination of results. A result that cannot be written is reported, and not lost.
enum StandardOutput {
    static let readerHasGone = ExitCode(.readerHasGone)

    /// Writes the text and a newline, for a person: what a stranger wrote in it is no command to a terminal.
    /// - Throws: a `Failure` with exit code 3; `readerHasGone`, without a word, when nobody reads any more.
    static func print(_ text: String, to descriptor: Int32 = STDOUT_FILENO) throws { try write(text.sanitized + "\n", to: descriptor) }

    /// Writes the text and a newline, for a program, or with colours of ours.
    static func printExactly(_ text: String) throws { try write(text + "\n", to: STDOUT_FILENO) }

    static func write(_ text: String, to descriptor: Int32) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE { throw readerHasGone }
            guard count > 0 else {
                throw Failure.cannotRun("standard output cannot be written: \(String(cString: strerror(count < 0 ? errno : ENOSPC)))")
            }
            rest = rest.dropFirst(count)
        }
    }
}

/// The one shape of `--json` output: sorted keys, one object, one newline.
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try StandardOutput.printExactly(String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// One object on one line, keys sorted: the shape of `--json` where there are several.
func printJSONLine(_ value: some Encodable) throws { try StandardOutput.write(try jsonLine(value), to: STDOUT_FILENO) }

/// The object with a newline.
func jsonLine(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
}
