import Primitives

/// Reads journals back, strictly: a line that is not an event as the encoder writes it is reported and counted, and reading goes on.
public enum JournalReader {
    /// A line that could not be read.
    public struct BrokenLine: Equatable, Sendable, CustomStringConvertible {
        public let file: String
        /// Counts from 1.
        public let line: Int
        public let cause: JournalLineError

        /// `journal.jsonl:17: …`
        public var description: String { "\(file):\(line): \(cause)" }
    }

    public struct Result: Sendable {
        public var events: [JournalEvent] = []
        public var brokenLines: [BrokenLine] = []
    }

    /// Empty lines are skipped. A last line without a newline is broken even when it parses: the writer was killed in the middle of it.
    public static func parse(_ bytes: [UInt8], name: String) -> Result {
        var result = Result()
        var start = 0
        var number = 0
        while start < bytes.count {
            number += 1
            let end = bytes[start...].firstIndex(of: 0x0A)
            let line = bytes[start..<(end ?? bytes.count)]
            start = (end ?? bytes.count) + 1
            if line.isEmpty { continue }
            do throws(JournalLineError) {
                guard end != nil else { throw .unfinished }
                result.events.append(try JournalLine.parse(line))
            } catch {
                result.brokenLines.append(BrokenLine(file: name, line: number, cause: error))
            }
        }
        return result
    }
}
