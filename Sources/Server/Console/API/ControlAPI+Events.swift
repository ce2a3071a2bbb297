import CallJournal
import Foundation
import HTTP
import Primitives

// Events, one after the other, from any position that is kept: as Server-Sent Events (WHATWG HTML §9.2).
extension ControlAPI {
    /// A stream without events says that it is alive.
    static let heartbeat = Duration.seconds(15)
    static let mostReaders = 200

    func addEvents(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/events") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                try listen(ask, responder)
                return nil
            }
        }
    }

    private func listen(_ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) {
        var filter = try Self.filter(ask.request.target)
        filter.lines = ask.grant.lines
        // A browser that connects again says in this field where it was.
        let last = HTTPField.Name("Last-Event-ID").flatMap { ask.request.head.headerFields[$0] } ?? ask.request.target["after"]
        let after = try last.map { last throws(Problem) in
            guard let position = EventPosition(last) else { throw .badRequest("after: '\(last)' is no position, as 0123abcd.42") }
            return position
        }
        guard hub.readerCount < Self.mostReaders else { throw Problem(.serviceUnavailable, "tooManyReaders", "200 read events already") }
        do { try hub.check(after) } catch { throw Problem(gone: error.oldest) }
        var reader: UInt64?
        let stream = responder.stream(type: "text/event-stream", at: ask.now) { [weak self] in
            guard let self, let reader else { return }
            hub.forget(reader)
            streams[reader] = nil
        }
        guard let stream else { return }
        // Proxies pass a head on with its first content.
        stream.send(Array("retry: 1000\n\n".utf8), at: ask.now)
        reader = try? hub.listen(filter, after: after, at: ask.now) { json, event, now in
            stream.send(Self.frame(json, event), at: now)
        } end: { [weak self] now in
            stream.end(at: now)
            if let reader { self?.streams[reader] = nil }
        }
        if let reader { streams[reader] = stream }
        nextHeartbeat = nextHeartbeat ?? ask.now + Self.heartbeat
    }

    private static func frame(_ json: [UInt8], _ event: PublicEvent) -> [UInt8] {
        Array("id: \(event.position)\nevent: \(event.type.rawValue)\ndata: ".utf8) + json + [0x0A, 0x0A]
    }

    func beat(at now: Instant) {
        guard let due = nextHeartbeat, due <= now else { return }
        for stream in streams.values { stream.send(Array(":\n\n".utf8), at: now) }
        nextHeartbeat = streams.isEmpty ? nil : now + Self.heartbeat
    }

    /// Nothing more comes.
    func endStreams(at now: Instant) {
        for stream in streams.values { stream.end(at: now) }
        streams = [:]
    }

    private static func filter(_ target: RequestTarget) throws(Problem) -> EventFilter {
        var filter = EventFilter()
        if let types = target["types"] { filter.types = try self.types(types) }
        filter.line = target["line"].map { Text($0) }
        if let call = target["call"] {
            guard let uuid = UUID(uuidString: call) else { throw .badRequest("call: '\(call)' is no UUID") }
            filter.call = CallUUID(uuid)
        }
        return filter
    }

    /// `call.*,violation`
    private static func types(_ text: String) throws(Problem) -> Set<EventType> {
        var types: Set<EventType> = []
        for name in text.split(separator: ",") {
            let found =
                name.hasSuffix(".*")
                ? EventType.allCases.filter { $0.rawValue.hasPrefix(name.dropLast()) }
                : EventType(rawValue: String(name)).map { [$0] } ?? []
            guard !found.isEmpty else {
                throw .badRequest(
                    "types: there is no event '\(name)'; there are \(EventType.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            types.formUnion(found)
        }
        return types
    }
}

extension Problem {
    /// The reader is too far behind: it takes a snapshot, and goes on from its position.
    init(gone oldest: EventPosition?) {
        let rest = oldest.map { "; the oldest that is kept is \($0)" } ?? ""
        self.init(.gone, "gone", "events after this position are not kept any more\(rest): take /v1/snapshot, and go on from its position")
        self.oldest = oldest?.description
    }
}
