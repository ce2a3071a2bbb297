import Foundation

extension JournalReader {
    /// The end of a journal.
    public struct Tail: Sendable {
        /// The `gateway.started` of the run that the first of the events belongs to, where it is not among them and the file has it.
        public var start: JournalEvent?
        /// The last events, whole.
        public var events: [JournalEvent] = []
        /// There are events before these.
        public var isCut = false

        public init(start: JournalEvent? = nil, events: [JournalEvent] = [], isCut: Bool = false) {
            (self.start, self.events, self.isCut) = (start, events, isCut)
        }
    }

    /// Reads the last so many bytes of a journal. Without a file, or where it cannot be read, there is nothing.
    public static func tail(of path: String, bytes limit: Int) -> Tail {
        guard let data = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped), !data.isEmpty else { return Tail() }
        var offset = max(0, data.count - limit)
        if offset > 0 { offset = data[offset...].firstIndex(of: 0x0A).map { $0 + 1 } ?? data.count }
        var tail = Tail(events: parse(Array(data[offset...]), name: path).events, isCut: offset > 0)
        if let first = tail.events.first, first.kind != .gatewayStarted { tail.start = start(before: offset, in: data, path) }
        return tail
    }

    private static func start(before offset: Int, in data: Data, _ path: String) -> JournalEvent? {
        let mark = Data("\"kind\":\"\(JournalEvent.Kind.gatewayStarted.rawValue)\"".utf8)
        guard let found = data.range(of: mark, options: .backwards, in: 0..<offset) else { return nil }
        let begin = data[..<found.lowerBound].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let end = data[found.upperBound...].firstIndex(of: 0x0A).map { $0 + 1 } ?? data.count
        return parse(Array(data[begin..<end]), name: path).events.first
    }
}

extension JournalReader {
    /// The offset at which the last line begins that begins at an offset or before; 0 where there is none, or no file.
    public static func lineStart(in path: String, before offset: Int) -> Int {
        guard offset > 0, let file = FileHandle(forReadingAtPath: path) else { return 0 }
        let begin = max(0, offset - JournalParser.longestLine)
        guard (try? file.seek(toOffset: UInt64(begin))) != nil, let bytes = try? file.read(upToCount: offset - begin) else { return 0 }
        return bytes.lastIndex(of: 0x0A).map { begin + $0 + 1 - bytes.startIndex } ?? 0
    }
}
