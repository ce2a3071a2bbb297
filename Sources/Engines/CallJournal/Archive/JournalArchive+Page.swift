import Primitives

/// Some lines of a journal, each a JSON object with its `position` as the first member.
public struct JournalPage: Sendable {
    public var bytes: [UInt8] = []
    public var count = 0
    /// `run.seq` of the last line that was looked at: the next page begins behind it. nil: there are no lines.
    public var last: String?
    /// There are more lines.
    public var hasMore = false
    /// The end of the last line.
    public var mark: JournalArchive.Mark?
}

extension JournalArchive {
    /// Bytes of a page, but for its last line.
    private static let mostBytes = 4 << 20

    /// Lines that are wanted.
    public struct Choice: Sendable {
        /// nil: of all lines, and of none.
        public var lines: Set<Text>?
        /// nil: of all calls, and of none.
        public var call: CallUUID?
        public var limit: Int

        public init(lines: Set<Text>? = nil, call: CallUUID? = nil, limit: Int) {
            (self.lines, self.call, self.limit) = (lines, call, limit)
        }

        func takes(_ head: JournalLineHead) -> Bool {
            (lines?.contains(head.line) ?? true) && (call.map { $0 == head.call } ?? true)
        }
    }

    /// - Parameters:
    ///   - after: the position behind which the page begins; nil: the oldest line.
    ///   - mark: where the line of this position ends, when that is known.
    ///   - choice: the lines that are wanted, and how many.
    ///   - running: the run that is being written; nil: none.
    /// - Returns: nil where lines behind this position are gone.
    public func page(
        after: (run: String, sequence: UInt64)?, mark: Mark? = nil, _ choice: Choice, _ running: Running?
    ) throws(JournalFileError) -> JournalPage? {
        var page = JournalPage(), isReached = after == nil || mark != nil, isGone = false
        try read(from: mark, running) { line throws(JournalFileError) in
            guard let label = line.label else { return true }
            if !isReached, let after {
                guard label == after.run else { return true }
                // Lines between the position and the first that is there are gone, unless this one begins its run.
                isGone = line.head.sequence > after.sequence + 1 && line.head.sequence > 1
                isReached = true
            }
            if let after, label == after.run, line.head.sequence <= after.sequence { return !isGone }
            guard !isGone else { return false }
            guard page.count < choice.limit, page.bytes.count < Self.mostBytes else {
                page.hasMore = true
                return false
            }
            page.note(line, label, isTaken: choice.takes(line.head))
            return true
        }
        if let after, !isGone, isReached, page.last == nil { page.last = "\(after.run).\(after.sequence)" }
        return isGone || !isReached ? nil : page
    }
}

extension JournalPage {
    fileprivate mutating func note(_ line: borrowing JournalArchive.Line, _ label: String, isTaken: Bool) {
        let position = "\(label).\(line.head.sequence)"
        (last, mark) = (position, line.mark)
        guard isTaken else { return }
        count += 1
        bytes += "{\"position\":\"\(position)\",".utf8
        bytes += line.bytes.dropFirst()
        bytes.append(0x0A)
    }
}
