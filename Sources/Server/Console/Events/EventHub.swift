import CallJournal
import HTTP
import Primitives

/// The events that a reader wants.
struct EventFilter: Sendable {
    /// nil: all. A name that ends in `.*` is all of a kind.
    var types: Set<EventType>?
    var line: Text?
    var call: CallUUID?
    /// Those that the reader may hear of; nil: all, and what concerns no line.
    var lines: Set<Text>?

    func takes(_ event: PublicEvent) -> Bool {
        (types?.contains(event.type) ?? true) && (line.map { $0 == event.line } ?? true) && (call.map { $0 == event.call } ?? true)
            && (lines?.contains(event.line) ?? true)
    }
}

/// All events that are told outside: the last of them in memory, the view that is folded from them, and those who listen.
///
/// Lane-confined. A reader takes up where it left off, or is told that it cannot (`gone`); it never misses one unawares.
final class EventHub {
    /// Events that a reader may be behind, at least.
    static let mostKept = 20_000

    /// The position is not kept any more, or is none of this server's.
    struct Gone: Error { var oldest: EventPosition? }

    private var fold = EventFold()
    private var kept: [PublicEvent] = []
    /// The number of the first kept event, of all that were ever told; a hole counts as one.
    private var firstNumber = 0
    /// The start of the current run, in nanoseconds since 1970-01-01 UTC; nil: its event is not known.
    private(set) var started: UInt64?
    /// Events before the first kept one are gone.
    private var isCut = false
    private var readers: [UInt64: Reader] = [:]
    private var lastReader: UInt64 = 0
    /// Called behind each batch: somebody may wait for what it brought.
    var onProgress: ((Instant) -> Void)?
    /// Called with each event of the journal, told or not.
    var onEvent: ((borrowing JournalEvent) -> Void)?

    private struct Reader {
        var filter: EventFilter
        var previous: EventPosition?
        let take: (_ json: [UInt8], _ event: PublicEvent, _ now: Instant) -> Void
        let end: (_ now: Instant) -> Void
    }

    var view: CallsView { fold.view }
    /// The position of the last journal event, public or not.
    var position: EventPosition? { fold.position }

    /// The end of the journal, before the gateway runs: whoever was cut off by a restart goes on in it.
    func restore(_ tail: JournalReader.Tail) {
        isCut = true
        if let start = tail.start { fold.begin(start) } else if tail.events.first?.kind != .gatewayStarted { return }
        for event in tail.events { accept(event, at: .zero) }
    }

    /// - Parameter hasGap: events before these were lost: nobody who listens can go on.
    func accept(_ events: [JournalEvent], hasGap: Bool = false, at now: Instant) {
        if hasGap { cut(at: now) }
        for event in events { accept(event, at: now) }
        onProgress?(now)
    }

    private func accept(_ event: JournalEvent, at now: Instant) {
        let run = fold.position?.run, told = fold.note(event)
        if fold.position?.run != run { started = nil }
        if event.kind == .gatewayStarted { started = event.wall }
        if let told { tell(told, at: now) }
        onEvent?(event)
    }

    private func tell(_ event: PublicEvent, at now: Instant) {
        kept.append(event)
        if kept.count > Self.mostKept + Self.mostKept / 4 {
            firstNumber += kept.count - Self.mostKept
            kept.removeFirst(kept.count - Self.mostKept)
            isCut = true
        }
        var encoded: PublicEvent.Encoded?
        for (id, reader) in readers where reader.filter.takes(event) {
            let json = encoded ?? event.encoded()
            encoded = json
            readers[id]?.previous = event.position
            reader.take(json.json(after: reader.previous), event, now)
        }
    }

    private func cut(at now: Instant) {
        firstNumber += kept.count + 1
        (kept, isCut) = ([], true)
        let all = readers.values
        readers = [:]
        for reader in all { reader.end(now) }
    }

    /// Begins to listen to what comes.
    ///
    /// - Parameters:
    ///   - after: the position of the event before it in this reader's stream; nil: there is none.
    ///   - take: an event, for this reader; called on the lane.
    ///   - end: the reader must begin anew, because events were lost.
    func listen(
        _ filter: EventFilter, after previous: EventPosition?,
        take: @escaping (_ json: [UInt8], _ event: PublicEvent, _ now: Instant) -> Void, end: @escaping (_ now: Instant) -> Void
    ) -> UInt64 {
        lastReader += 1
        readers[lastReader] = Reader(filter: filter, previous: previous, take: take, end: end)
        return lastReader
    }

    func forget(_ reader: UInt64) { readers[reader] = nil }

    /// The position is none that was told so far.
    func isAhead(_ position: EventPosition) -> Bool {
        self.position.map { position.run == $0.run && position.sequence > $0.sequence } ?? false
    }

    /// The number of the next event that is told.
    var nextNumber: Int { firstNumber + kept.count }

    /// The number of the first event behind a position. All behind it are kept.
    func number(behind after: EventPosition) throws(Gone) -> Int {
        let gone = Gone(oldest: kept.first?.position)
        if isAhead(after) { throw gone }
        // Between two that are told there are events of the journal that are not: a position may name one of those.
        if let index = kept.lastIndex(where: { $0.position.run == after.run && $0.position.sequence <= after.sequence }) {
            return firstNumber + index + 1
        }
        if after == position { return nextNumber }
        guard let first = kept.firstIndex(where: { $0.position.run == after.run }) else { throw gone }
        // A run whose first event is kept is whole.
        guard first > 0 || !isCut || kept[first].position.sequence == 1 else { throw gone }
        return firstNumber + first
    }

    /// The next events from a number on, none at the end; nil where they are not kept any more.
    func events(from number: Int, atMost count: Int) -> ArraySlice<PublicEvent>? {
        guard number >= firstNumber else { return nil }
        return kept.dropFirst(number - firstNumber).prefix(count)
    }
}
