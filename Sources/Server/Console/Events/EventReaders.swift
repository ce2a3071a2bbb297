import HTTP
import Primitives

/// Those who listen to events over HTTP: by Server-Sent Events, or by WebSocket. Lane-confined.
final class EventReaders {
    /// The way on which a reader gets its events.
    enum Outlet {
        /// As WHATWG HTML §9.2 has it.
        case stream(HTTPStream)
        /// A text for each event.
        case socket(HTTPWebSocket)

        fileprivate func send(_ json: [UInt8], _ event: PublicEvent, at now: Instant) {
            switch self {
            case .stream(let stream):
                let head = Array("id: \(event.position)\nevent: \(event.type.rawValue)\ndata: ".utf8)
                stream.send(head + json + [0x0A, 0x0A], at: now)
            case .socket(let socket): socket.send(text: json, at: now)
            }
        }

        fileprivate func end(_ code: WebSocketCloseCode, at now: Instant) {
            switch self {
            case .stream(let stream): stream.end(at: now)
            case .socket(let socket): socket.close(code, at: now)
            }
        }
    }

    static let most = 200
    /// A stream without events says that it is alive. A WebSocket has its pings.
    static let heartbeat = Duration.seconds(15)

    private let hub: EventHub
    private var outlets: [UInt64: (outlet: Outlet, mayListen: (Instant) -> Bool)] = [:]
    private var nextHeartbeat: Instant?

    init(_ hub: EventHub) { self.hub = hub }

    /// Readers by the way on which they get their events.
    var counts: (streams: Int, sockets: Int) {
        let sockets = outlets.values.count { if case .socket = $0.outlet { true } else { false } }
        return (outlets.count - sockets, sockets)
    }

    var isFull: Bool { hub.readerCount >= Self.most }
    var deadline: Instant? { nextHeartbeat }

    /// A reader that may go while it gets what is there already.
    private final class Reader {
        var number: UInt64?
        var isOver = false
    }

    /// Begins to tell a reader events.
    ///
    /// - Parameters:
    ///   - after: a position that the hub has checked.
    ///   - mayListen: asked now and then; whoever may no longer is closed with 1008.
    ///   - open: makes the outlet, which tells once when its reader has gone; nil when it has gone already.
    func add(
        _ filter: EventFilter, after: EventPosition?, at now: Instant, mayListen: @escaping (Instant) -> Bool = { _ in true },
        open: (_ ended: @escaping () -> Void) -> Outlet?
    ) {
        let reader = Reader()
        let outlet = open { [weak self] in
            reader.isOver = true
            self?.forget(reader)
        }
        guard let outlet else { return }
        reader.number = try? hub.listen(filter, after: after, at: now) { json, event, now in
            outlet.send(json, event, at: now)
        } end: { [weak self] now in
            outlet.end(.tryAgainLater, at: now)
            self?.forget(reader)
        }
        guard let number = reader.number, !reader.isOver else { return forget(reader) }
        outlets[number] = (outlet, mayListen)
        nextHeartbeat = nextHeartbeat ?? now + Self.heartbeat
    }

    private func forget(_ reader: Reader) {
        guard let number = reader.number else { return }
        hub.forget(number)
        outlets[number] = nil
    }

    func advance(to now: Instant) {
        guard let due = nextHeartbeat, due <= now else { return }
        for (number, (outlet, mayListen)) in outlets {
            if !mayListen(now) {
                hub.forget(number)
                outlets[number] = nil
                outlet.end(.policyViolation, at: now)
            } else if case .stream(let stream) = outlet {
                stream.send(Array(":\n\n".utf8), at: now)
            }
        }
        nextHeartbeat = outlets.isEmpty ? nil : now + Self.heartbeat
    }

    /// Nothing more comes.
    func endAll(at now: Instant) {
        let all = outlets.values
        outlets = [:]
        for (outlet, _) in all { outlet.end(.goingAway, at: now) }
    }
}
