import CallJournal
import Foundation
import HTTP
import Primitives

// Events, one after the other, from any position that is kept: as Server-Sent Events (WHATWG HTML §9.2), or over WebSocket (RFC 6455).
extension ControlAPI {
    /// The subprotocol of events: a text for each. A client may offer it, or none.
    static let eventProtocol = "hookswitch.events.v1"
    /// Readers say nothing; what they say is small, and not heard.
    private static let socketLimits: WebSocketSession.Limits = {
        var limits = WebSocketSession.Limits()
        limits.message = 4_096
        return limits
    }()

    func addEvents(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/events") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let upgrade: WebSocketUpgrade?
                do throws(WebSocketUpgrade.Refusal) {
                    let isAsked = WebSocketUpgrade.isAsked(by: ask.request)
                    upgrade = try isAsked ? WebSocketUpgrade(ask.request, subprotocols: [Self.eventProtocol]) : nil
                } catch { return Self.reply(error) }
                try listen(ask, responder, over: upgrade)
                return nil
            }
        }
    }

    private func listen(_ ask: HTTPAsk, _ responder: HTTPResponder, over upgrade: WebSocketUpgrade?) throws(Problem) {
        var filter = try Self.filter(ask.request.target)
        filter.lines = ask.grant.lines
        // A browser that connects again says in this field where it was.
        let last = HTTPField.Name("Last-Event-ID").flatMap { ask.request.head.headerFields[$0] } ?? ask.request.target["after"]
        let start = try last.map { last throws(Problem) in try begin(behind: last, ask) }
        guard !readers.isFull else { throw Problem(.serviceUnavailable, "tooManyReaders", "\(EventReaders.most) read events already") }
        let way = EventWay(ask: ask, upgrade: upgrade, merged: start?.merged)
        guard let after = start?.own else {
            return tell(filter, from: .memory(after: nil, next: hub.nextNumber), way, responder, at: ask.now)
        }
        do throws(EventHub.Gone) {
            let next = try hub.number(behind: after)
            tell(filter, from: .memory(after: after, next: next), way, responder, at: ask.now)
        } catch { try replay(filter, after: after, orElse: error, way, responder) }
    }

    /// How a reader came, and what goes on to it.
    struct EventWay: Sendable {
        let ask: HTTPAsk
        let upgrade: WebSocketUpgrade?
        /// The place in the events of several gateways that it begins behind; nil: it said none.
        let merged: MergedPosition?
    }

    /// The place where a reader begins: in the events of several gateways, and in those of this one.
    ///
    /// - Throws: a problem where the text is no position of what is read.
    private func begin(behind text: String, _ ask: HTTPAsk) throws(Problem) -> (merged: MergedPosition?, own: EventPosition?) {
        guard let nodes = nodes(for: ask) else {
            guard let own = EventPosition(text) else { throw .badRequest("after: '\(text)' is no position, as 0123abcd.42") }
            return (nil, own)
        }
        guard let merged = MergedPosition(text) else {
            throw .badRequest(
                "after: '\(text)' is no position in the events of all gateways, as gateway-1:0123abcd.42,gateway-2:89abcdef.7")
        }
        return (merged, merged[nodes.settings.own])
    }

    /// The other gateways, whose events the reader gets, too; nil: those of this one alone.
    private func nodes(for ask: HTTPAsk) -> NodeDesk? {
        ask.grant.holder == .node || ask.request.target["node"] != nil ? nil : nodes
    }

    private func tell(_ filter: EventFilter, from start: EventReader.Start, _ way: EventWay, _ responder: HTTPResponder, at now: Instant) {
        let ask = way.ask
        readers.add(filter, from: start, at: now, mayListen: { [access] in access.holds(ask.grant, at: $0) }) { ended in
            guard let nodes = nodes(for: ask) else { return open(way, responder, at: now, ended: ended) }
            var reader: MergedReader?
            let outlet = open(way, responder, at: now) {
                reader?.close()
                ended()
            }
            guard let outlet else { return nil }
            let merged = MergedReader(outlet, after: way.merged, own: way.merged?[nodes.settings.own] ?? hub.position, ask, nodes, at: now)
            reader = merged
            nodes.add(merged, at: now)
            return .part(merged)
        }
    }

    private func open(_ way: EventWay, _ responder: HTTPResponder, at now: Instant, ended: @escaping () -> Void) -> EventReader.Outlet? {
        if let upgrade = way.upgrade {
            return responder.open(upgrade, limits: Self.socketLimits, at: now, receive: { _, _ in }, ended: ended).map { .socket($0) }
        }
        let stream = responder.stream(type: "text/event-stream", at: now, ended: ended)
        // Proxies pass a head on with its first content.
        stream?.send(Array("retry: 1000\n\n".utf8), at: now)
        return stream.map { .stream($0) }
    }

    /// Looks for the position in the journal's files, and begins there.
    private func replay(
        _ filter: EventFilter, after: EventPosition, orElse gone: EventHub.Gone, _ way: EventWay, _ responder: HTTPResponder
    ) throws(Problem) {
        guard let archive = records.journal, !hub.isAhead(after) else { throw Problem(gone: gone.oldest) }
        guard readers.beginSearch() else { throw .tooManyReplays }
        let later = parkToGoOn(responder), run = records.journalRun
        records.jobs.perform {
            let found = Result { () throws(JournalFileError) in try JournalReplay.find(after, in: archive, run, filter) }
            later { api, responder, now in
                api.readers.endSearch()
                switch found {
                case .success(.success(let replay)):
                    api.tell(filter, from: .journal(after: after, replay), way, responder, at: now)
                case .success(.failure(let gone)): responder.reply(Problem(gone: gone.oldest).reply, at: now)
                case .failure(let error): responder.reply(Problem(error).reply, at: now)
                }
            }
        }
    }

    static func reply(_ refusal: WebSocketUpgrade.Refusal) -> HTTPReply {
        switch refusal {
        case .malformed(let words): return Problem.badRequest(words).reply
        case .version:
            var reply = Problem(.upgradeRequired, "upgradeRequired", "the WebSocket that is spoken here is version 13").reply
            for field in WebSocketUpgrade.versionFields { reply.fields[field.name] = field.value }
            return reply
        }
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
            guard let found = EventType.named(String(name)) else {
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
