import Primitives

/// All that a journal has of a call, and of the calls that were joined with it.
public struct CallStory {
    public let record: CallDetailRecord
    public let events: [JournalEvent]
}

extension JournalArchive {
    /// Events of a story that are kept at most.
    private static let mostEvents = 100_000
    /// The line's requests so long before a call are of it.
    private static let prelude = Duration.milliseconds(100)

    /// - Parameters:
    ///   - call: the call, as the journal names it.
    ///   - lines: whose legs may be told; nil: all.
    /// - Returns: nil where there is no such call of these lines.
    public func story(of call: CallUUID, lines: Set<Text>?) throws(JournalFileError) -> CallStory? {
        guard let cast = try cast(of: call, lines) else { return nil }
        var history = CallHistory(), events: [JournalEvent] = []
        var numbers = cast.lines, last: UInt64 = 0, isOver = false
        try read(nil) { line throws(JournalFileError) in
            guard line.run.number == cast.run else { return line.run.number < cast.run }
            let head = line.head, isOurs = head.call.map(cast.calls.contains) ?? (head.time + Self.prelude >= cast.began)
            let isTold = lines?.contains(head.line) ?? true
            guard isOurs && isTold && (head.call != nil || numbers.contains(head.line)) || head.sequence == 1,
                let event = try? JournalLine.parse(line.bytes)
            else {
                history.note(head.placeholder)
                return true
            }
            history.note(event)
            isOver = events.count >= Self.mostEvents
            guard head.sequence > 1 || head.call != nil else { return true }
            events.append(event)
            if head.call != nil {
                numbers.insert(head.line)
                last = head.sequence
            }
            return !isOver
        }
        history.finish(isBeingWritten: JournalReader.isBeingWritten(path))
        guard let record = history.calls.first(where: { $0.legs.contains { $0.call == call } }) else { return nil }
        return CallStory(record: record, events: events.filter { $0.call != nil || $0.sequence <= last })
    }

    private struct Cast {
        var run: Int
        var calls: Set<CallUUID>
        var lines: Set<Text>
        var began: Instant
    }

    /// The run of a call, and the calls that were ever joined with it.
    private func cast(of call: CallUUID, _ lines: Set<Text>?) throws(JournalFileError) -> Cast? {
        var found: (run: Int, line: Text, began: Instant)?, joins: [JournalEvent] = [], run = 0
        let group = Text(JournalEvent.Kind.performGroup.rawValue)
        try read(nil) { line throws(JournalFileError) in
            if line.run.number != run {
                guard found == nil else { return false }
                (run, joins) = (line.run.number, [])
            }
            if line.head.call == call, found == nil { found = (run, line.head.line.detached, line.head.time) }
            if line.head.kind == group, let event = try? JournalLine.parse(line.bytes) { joins.append(event) }
            return true
        }
        guard let found, lines?.contains(found.line) ?? true else { return nil }
        return Cast(run: found.run, calls: Ladder.joined(with: [call], in: joins), lines: [found.line], began: found.began)
    }
}
