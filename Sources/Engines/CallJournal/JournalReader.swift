import Primitives

/// Reads journals back, strictly: a line that is not an event as the encoder writes it is reported and counted, and reading goes on.
public enum JournalReader {
    /// A line that could not be read.
    public struct BrokenLine: Equatable, Sendable, CustomStringConvertible {
        /// The name that the bytes were given.
        public let file: String
        /// Counts from 1.
        public let line: Int
        /// The fault of the line.
        public let cause: JournalLineError

        /// `journal.jsonl:17: …`
        public var description: String { "\(file):\(line): \(cause)" }
    }

    /// The content of a file.
    public struct Result: Sendable {
        /// The events that could be read, in the order of the file.
        public var events: [JournalEvent] = []
        /// The lines that could not.
        public var brokenLines: [BrokenLine] = []
    }

    /// Empty lines are skipped. A last line without a newline is broken even when it parses: the writer was killed in the middle of it.
    public static func parse(_ bytes: [UInt8], name: String) -> Result {
        var events: [JournalEvent] = []
        var parser = JournalParser(name: name)
        parser.feed(bytes) { events.append($0) }
        return Result(events: events, brokenLines: parser.finish())
    }
}

/// Reads a journal that comes in pieces; what is kept between two of them is less than a line.
public struct JournalParser {
    /// A line longer than this is broken: no event is.
    public static let longestLine = 1 << 20

    private let name: String
    /// The texts of the kinds that are read whole; nil: all.
    private let kinds: Set<Text>?
    private var line = 0
    private var rest: [UInt8] = []
    /// The lines so far that could not be read.
    private(set) var brokenLines: [JournalReader.BrokenLine] = []

    /// - Parameters:
    ///   - name: the file's, for the reports.
    ///   - kinds: events of others come as a `port.free` without details, with their number and times: nothing else of them is read. Nil: all
    ///     are read.
    public init(name: String, kinds: Set<JournalEvent.Kind>? = nil) {
        self.name = name
        self.kinds = kinds.map { Set($0.map { Text($0.rawValue) }) }
    }

    /// Bytes of a line that has not ended yet.
    var unfinishedBytes: Int { rest.count }

    /// Calls `each` for every event of the lines that this piece completes.
    public mutating func feed(_ bytes: [UInt8], each: (JournalEvent) -> Void) {
        var start = 0
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            if rest.isEmpty {
                read(bytes[start..<end], each)
            } else {
                rest += bytes[start..<end]
                read(rest[...], each)
                rest = []
            }
            start = end + 1
        }
        if rest.count <= Self.longestLine { rest += bytes[start...] }
    }

    /// The lines that could not be read, in all. What is left without a newline is one of them.
    public mutating func finish() -> [JournalReader.BrokenLine] {
        if !rest.isEmpty {
            line += 1
            brokenLines.append(.init(file: name, line: line, cause: .unfinished))
            rest = []
        }
        return brokenLines
    }

    private mutating func read(_ bytes: ArraySlice<UInt8>, _ each: (JournalEvent) -> Void) {
        line += 1
        guard !bytes.isEmpty else { return }
        do throws(JournalLineError) {
            guard bytes.count <= Self.longestLine else { throw .tooLong }
            if let kinds, let head = JournalLineHead(bytes), !kinds.contains(head.kind) {
                each(head.placeholder)
            } else {
                each(try JournalLine.parse(bytes))
            }
        } catch {
            brokenLines.append(.init(file: name, line: line, cause: error))
        }
    }
}
