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

    private(set) var view = CallsView()
    private var runs = JournalRuns()
    private var kept: [PublicEvent] = []
    /// The position of the last journal event, public or not.
    private(set) var position: EventPosition?
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

    var readerCount: Int { readers.count }

    /// The end of the journal, before the gateway runs: whoever was cut off by a restart goes on in it.
    func restore(_ tail: JournalReader.Tail) {
        isCut = true
        if let start = tail.start { runs.note(start) } else if tail.events.first?.kind != .gatewayStarted { return }
        for event in tail.events { accept(event, at: .zero) }
    }

    /// - Parameter hasGap: events before these were lost: nobody who listens can go on.
    func accept(_ events: [JournalEvent], hasGap: Bool = false, at now: Instant) {
        if hasGap { cut(at: now) }
        for event in events { accept(event, at: now) }
        onProgress?(now)
    }

    private func accept(_ event: JournalEvent, at now: Instant) {
        if runs.note(event) { started = nil }
        if event.kind == .gatewayStarted { started = event.wall }
        let run = runs.current.label
        position = EventPosition(run: run, sequence: event.sequence)
        if let type = view.note(event) {
            var told = PublicEvent(event, type, run: run)
            if let call = event.call.flatMap({ view.calls[$0] }) { told.add(call) }
            tell(told, at: now)
        }
        onEvent?(event)
    }

    private func tell(_ event: PublicEvent, at now: Instant) {
        kept.append(event)
        if kept.count > Self.mostKept + Self.mostKept / 4 {
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
        kept = []
        isCut = true
        let all = readers.values
        readers = [:]
        for reader in all { reader.end(now) }
    }

    /// Begins to listen: first what came after a position, then what comes.
    ///
    /// - Parameters:
    ///   - after: nil: only what comes.
    ///   - take: an event, for this reader; called on the lane, for what is there already within this call.
    ///   - end: the reader must begin anew, because events were lost.
    func listen(
        _ filter: EventFilter, after: EventPosition?, at now: Instant,
        take: @escaping (_ json: [UInt8], _ event: PublicEvent, _ now: Instant) -> Void, end: @escaping (_ now: Instant) -> Void
    ) throws(Gone) -> UInt64 {
        lastReader += 1
        var reader = Reader(filter: filter, previous: after, take: take, end: end)
        if let after {
            for event in try events(after: after) where filter.takes(event) {
                take(event.encoded().json(after: reader.previous), event, now)
                reader.previous = event.position
            }
        }
        readers[lastReader] = reader
        return lastReader
    }

    /// Whether a reader can begin behind the position.
    func check(_ after: EventPosition?) throws(Gone) { if let after { _ = try events(after: after) } }

    func forget(_ reader: UInt64) { readers[reader] = nil }

    /// The kept events behind a position, in their order.
    private func events(after: EventPosition) throws(Gone) -> ArraySlice<PublicEvent> {
        let gone = Gone(oldest: kept.first?.position)
        if let position, after.run == position.run, after.sequence > position.sequence { throw gone }
        // Between two that are told there are events of the journal that are not: a position may name one of those.
        if let index = kept.lastIndex(where: { $0.position.run == after.run && $0.position.sequence <= after.sequence }) {
            return kept[(index + 1)...]
        }
        if after == position { return [] }
        guard let first = kept.firstIndex(where: { $0.position.run == after.run }) else { throw gone }
        // A run whose first event is kept is whole.
        guard first > 0 || !isCut || kept[first].position.sequence == 1 else { throw gone }
        return kept[first...]
    }
}
