import CallJournal
import HTTP
import Primitives

/// Those who listen to events over HTTP: by Server-Sent Events, or by WebSocket. Lane-confined.
///
/// A reader that is behind gets events from memory or from the journal's files as fast as it takes them, and goes over to those that come
/// within one turn of the lane.
final class EventReaders {
    static let most = 200
    /// Readers at a time that get events from the journal's files, or for whom a position is looked for there.
    static let mostReplays = 8
    /// A stream without events says that it is alive. A WebSocket has its pings.
    static let heartbeat = Duration.seconds(15)
    /// The time after which it is seen whether a client has taken some, and whether the journal has more.
    private static let pause = (client: Duration.milliseconds(10), journal: Duration.milliseconds(50))
    /// The time in which the journal must come up to the events in memory.
    private static let patience = Duration.seconds(5)

    private let hub: EventHub
    private var readers: [UInt64: EventReader] = [:]
    private var last: UInt64 = 0
    private var nextHeartbeat: Instant?
    /// Searches for positions in the journal's files.
    private var searches = 0
    /// Readers that were refused because as many replays went on as there may be.
    private(set) var refusedReplays: UInt64 = 0
    /// Has the next piece of a replay read elsewhere, and handed to `take` with the number.
    var read: (_ replay: JournalReplay, _ reader: UInt64) -> Void = { _, _ in }

    init(_ hub: EventHub) { self.hub = hub }

    var count: Int { readers.count }
    /// Readers by the way on which they get their events.
    var counts: (streams: Int, sockets: Int) {
        let sockets = readers.values.count(where: \.outlet.isSocket)
        return (count - sockets, sockets)
    }
    var isFull: Bool { count + searches >= Self.most }
    /// Replays that go on.
    var replays: Int { searches + readers.values.count(where: \.isReplaying) }
    /// Readers that are behind, and must take what they have before they get more.
    var waiting: Int { readers.values.count { !$0.hasSentAll } }
    var deadline: Instant? { readers.values.compactMap(\.nextLook).min().map { min($0, nextHeartbeat ?? $0) } ?? nextHeartbeat }

    // MARK: Coming and going

    /// Takes the place of a replay, for a search; false: there is none.
    func beginSearch() -> Bool {
        guard replays < Self.mostReplays else {
            refusedReplays += 1
            return false
        }
        searches += 1
        return true
    }

    func endSearch() { searches -= 1 }

    /// Begins to tell a reader events.
    ///
    /// - Parameters:
    ///   - start: where its stream begins.
    ///   - mayListen: asked now and then; whoever may no longer is closed with 1008.
    ///   - open: makes the outlet, which tells once when its reader has gone; nil when it has gone already.
    func add(
        _ filter: EventFilter, from start: EventReader.Start, at now: Instant, mayListen: @escaping (Instant) -> Bool = { _ in true },
        open: (_ ended: @escaping () -> Void) -> EventReader.Outlet?
    ) {
        last += 1
        let number = last
        var hasGone = false
        let outlet = open { [weak self] in
            hasGone = true
            self?.forget(number)
        }
        guard let outlet, !hasGone else { return }
        readers[number] = EventReader(outlet, filter, from: start, at: now, mayListen: mayListen)
        nextHeartbeat = nextHeartbeat ?? now + Self.heartbeat
        goOn(number, at: now)
    }

    private func forget(_ number: UInt64) {
        guard let reader = readers.removeValue(forKey: number) else { return }
        if case .live(let listener) = reader.source { hub.forget(listener) }
    }

    private func end(_ number: UInt64, _ code: WebSocketCloseCode, at now: Instant) {
        let outlet = readers[number]?.outlet
        forget(number)
        outlet?.end(code, at: now)
    }

    /// Nothing more comes.
    func endAll(at now: Instant) { for number in Array(readers.keys) { end(number, .goingAway, at: now) } }

    func advance(to now: Instant) {
        for (number, reader) in readers {
            if let due = reader.nextLook, due <= now { goOn(number, at: now) }
        }
        guard let due = nextHeartbeat, due <= now else { return }
        for (number, reader) in readers {
            if !reader.mayListen(now) {
                end(number, .policyViolation, at: now)
            } else {
                reader.outlet.beat(at: now)
            }
        }
        nextHeartbeat = readers.isEmpty ? nil : now + Self.heartbeat
    }

    // MARK: Catching up

    /// Sends what the reader takes, and has more brought.
    private func goOn(_ number: UInt64, at now: Instant) {
        while let reader = readers[number] {
            reader.nextLook = nil
            while readers[number] != nil, let told = reader.nextTold() { reader.outlet.send(told.json, told.event, at: now) }
            guard readers[number] != nil else { return }
            guard reader.hasSentAll else { return reader.nextLook = now + Self.pause.client }
            switch reader.source {
            case .live: return
            case .memory(let next): goOn(reader, number, inMemoryFrom: next, at: now)
            case .journal(let replay):
                guard let next = try? hub.number(behind: reader.position) else { return goOn(reader, number, in: replay, at: now) }
                reader.source = .memory(next: next)
            }
        }
    }

    private func goOn(_ reader: EventReader, _ number: UInt64, in replay: JournalReplay, at now: Instant) {
        guard !reader.isReading else { return }
        // Connected again, the reader is told whether something is gone.
        guard !reader.isCut else { return end(number, .tryAgainLater, at: now) }
        guard reader.isAtEnd else {
            reader.isReading = true
            return read(replay, number)
        }
        guard now - reader.lastProgress < Self.patience else { return end(number, .tryAgainLater, at: now) }
        (reader.isAtEnd, reader.nextLook) = (false, now + Self.pause.journal)
    }

    /// A piece that was read.
    func take(_ piece: Result<JournalReplay.Piece, JournalFileError>, for number: UInt64, at now: Instant) {
        guard let reader = readers[number] else { return }
        guard case .success(let piece) = piece else { return end(number, .tryAgainLater, at: now) }
        reader.take(piece, at: now)
        goOn(number, at: now)
    }

    /// Events of the memory in one piece.
    private static let pieceLength = 256

    private func goOn(_ reader: EventReader, _ number: UInt64, inMemoryFrom next: Int, at now: Instant) {
        guard let events = hub.events(from: next, atMost: Self.pieceLength) else { return end(number, .tryAgainLater, at: now) }
        guard events.isEmpty else {
            reader.take(events)
            return reader.source = .memory(next: next + events.count)
        }
        reader.source = .live(
            hub.listen(reader.filter, after: reader.previous) { json, event, now in
                reader.outlet.send(json, event, at: now)
            } end: { [weak self] now in
                self?.end(number, .tryAgainLater, at: now)
            })
    }
}
