import HTTP
import Primitives

/// One of those who listen to events: its outlet, and how far it is. Lane-confined.
final class EventReader {
    /// The way on which a reader gets its events.
    enum Outlet {
        /// As WHATWG HTML §9.2 has it.
        case stream(HTTPStream)
        /// A text for each event.
        case socket(HTTPWebSocket)
        /// A reader of several gateways, whose part of this one it is.
        case part(MergedReader)

        func send(_ json: [UInt8], _ event: PublicEvent, at now: Instant) {
            switch self {
            case .stream, .socket: send(json, id: event.position.description, type: event.type.rawValue, at: now)
            case .part(let reader): reader.tell(json, at: event.position, event.type.rawValue, now)
            }
        }

        /// Sends an event as it is, with the position of a reader that comes again.
        func send(_ json: [UInt8], id: String, type: String, at now: Instant) {
            switch self {
            case .stream(let stream): stream.send(Array("id: \(id)\nevent: \(type)\ndata: ".utf8) + json + [0x0A, 0x0A], at: now)
            case .socket(let socket): socket.send(text: json, at: now)
            case .part: assertionFailure("an event of several gateways is no part")
            }
        }

        /// Says that the stream is alive; a WebSocket has its pings.
        func beat(at now: Instant) {
            switch self {
            case .stream(let stream): stream.send(Array(":\n\n".utf8), at: now)
            case .socket: break
            case .part(let reader): reader.outlet.beat(at: now)
            }
        }

        func end(_ code: WebSocketCloseCode, at now: Instant) {
            switch self {
            case .stream(let stream): stream.end(at: now)
            case .socket(let socket): socket.close(code, at: now)
            case .part(let reader):
                reader.close()
                reader.outlet.end(code, at: now)
            }
        }

        var unsentCount: Int {
            switch self {
            case .stream(let stream): stream.unsentCount
            case .socket(let socket): socket.unsentCount
            case .part(let reader): reader.outlet.unsentCount
            }
        }

        /// It is a WebSocket, or ends in one.
        var isSocket: Bool {
            switch self {
            case .stream: false
            case .socket: true
            case .part(let reader): reader.outlet.isSocket
            }
        }
    }

    /// The beginning of a stream.
    enum Start {
        /// From the event of this number on, which is in memory, or comes next.
        case memory(after: EventPosition?, next: Int)
        /// Behind a position, from the journal's files.
        case journal(after: EventPosition, JournalReplay)
    }

    enum Source {
        /// From the event of this number on. Next: `live`.
        case memory(next: Int)
        /// Next: `memory`.
        case journal(JournalReplay)
        /// As the listener of this number.
        case live(UInt64)
    }

    /// Bytes that may wait for a client that is behind, before it gets more.
    private static let mostUnsent = 256 << 10

    let outlet: Outlet
    let filter: EventFilter
    let mayListen: (Instant) -> Bool
    var source: Source
    /// The last event of its stream; nil: there was none.
    private(set) var previous: EventPosition?
    /// The last line of the journal that was read for it.
    private(set) var position = EventPosition(run: "", sequence: 0)
    private var waiting: ArraySlice<JournalReplay.Told> = []
    /// When to see how far the client and the journal are; nil: there is nothing to wait for.
    var nextLook: Instant?
    /// A piece of the journal is on its way.
    var isReading = false
    /// The journal had nothing more.
    var isAtEnd = false
    /// Nothing follows: lines of the journal are missing.
    private(set) var isCut = false
    /// When the journal had something last.
    private(set) var lastProgress: Instant

    init(_ outlet: Outlet, _ filter: EventFilter, from start: Start, at now: Instant, mayListen: @escaping (Instant) -> Bool) {
        (self.outlet, self.filter, self.mayListen, lastProgress) = (outlet, filter, mayListen, now)
        switch start {
        case .memory(let after, let next): (source, previous) = (.memory(next: next), after)
        case .journal(let after, let replay): (source, previous, position) = (.journal(replay), after, after)
        }
    }

    var isReplaying: Bool { if case .journal = source { true } else { false } }
    var hasSentAll: Bool { waiting.isEmpty }

    /// The next event that it lacks; nil where there is none, and while the client must read first.
    func nextTold() -> JournalReplay.Told? { outlet.unsentCount < Self.mostUnsent ? waiting.popFirst() : nil }

    func take(_ piece: JournalReplay.Piece, at now: Instant) {
        (isReading, isCut, isAtEnd) = (false, piece.isCut, piece.isLast && piece.position == nil)
        if let last = piece.events.last { previous = last.event.position }
        if let position = piece.position { (self.position, lastProgress) = (position, now) }
        waiting = piece.events[...]
    }

    /// Takes events of the memory.
    func take(_ events: ArraySlice<PublicEvent>) {
        var told: [JournalReplay.Told] = []
        for event in events where filter.takes(event) {
            told.append(.init(json: event.encoded().json(after: previous), event: event))
            previous = event.position
        }
        waiting = told[...]
    }
}
