import CallJournal
import Foundation
import Gateway
import HTTP
import Primitives
import Runtime

/// The control interface `/v1`: transactions, reads and events over HTTP.
///
/// Lane-confined, on a lane of its own: reads answer from the view that is folded from events, and what must ask the gateway is posted to
/// its lane and waited for by nobody.
final class ControlAPI {
    let hub: EventHub
    let desk: TransactionDesk
    let readers: EventReaders
    let access: AccessControl
    /// nil before the gateway runs.
    var gateway: (any GatewayControl)?
    /// Reads the configuration again; nil: it cannot.
    var reload: (@Sendable () -> Void)?
    /// nil: there can be none.
    var webhooks: (any WebhookControl)?
    /// nil: nobody said them.
    var settings: SettingsReport?
    /// The other gateways that it answers for, too; nil: there are none.
    var nodes: NodeDesk?
    let laneWaits = LaneWaits()
    let version: String
    /// Has work done on the API's lane. Any thread.
    typealias Post = @Sendable (@escaping @Sendable (ControlAPI, Instant) -> Void) -> Void
    let post: Post
    var lines = LineCache()
    var recents = RecentsCache()
    /// Reads of the journal.
    private(set) lazy var records = RecordsAPI(self)
    private var parked: [UInt64: HTTPResponder] = [:]
    private var lastParked: UInt64 = 0

    init(version: String, access: AccessControl = AccessControl(nil), post: @escaping Post) {
        (self.version, self.access, self.post) = (version, access, post)
        hub = EventHub()
        readers = EventReaders(hub)
        desk = TransactionDesk(hub)
        hub.onEvent = { [unowned self] event in
            desk.note(event)
            lines.note(event)
            recents.note(event)
            if event.kind == .gatewayStarted { records.noteStart(event) }
        }
        readers.read = { [unowned self] replay, reader in
            records.jobs.perform { [post] in
                let piece = Result { () throws(JournalFileError) in try replay.next() }
                post { api, now in api.readers.take(piece, for: reader, at: now) }
            }
        }
        hub.onProgress = { [unowned desk] in desk.advance(to: $0) }
    }

    var deadline: Instant? { [desk.deadline, readers.deadline, lines.due, recents.due, nodes?.deadline].compactMap(\.self).min() }

    func advance(to now: Instant) {
        desk.advance(to: now)
        readers.advance(to: now)
        nodes?.advance(to: now)
        fetchLines(at: now)
        fetchRecents(at: now)
    }

    var routes: HTTPRoutes {
        var routes = HTTPRoutes()
        addTransactions(to: &routes)
        addReads(to: &routes)
        addEvents(to: &routes)
        addLines(to: &routes)
        addServer(to: &routes)
        addWebhooks(to: &routes)
        addDocuments(to: &routes)
        AccessRoutes(access: access).add(to: &routes)
        records.add(to: &routes)
        TrunkRoutes(api: self).add(to: &routes)
        QueueRoutes(api: self).add(to: &routes)
        StreamRoutes(api: self).add(to: &routes)
        MailboxRoutes(api: self).add(to: &routes)
        RegistrationRoutes(api: self).add(to: &routes)
        HealthRoutes(api: self).add(to: &routes)
        SettingsRoutes(api: self).add(to: &routes)
        if let nodes { routes.widen(NodeRoutes(desk: nodes).widened) }
        return routes
    }

    /// Answers a request that may turn out a problem.
    func answer(_ ask: HTTPAsk, _ responder: HTTPResponder, _ body: () throws(Problem) -> HTTPReply?) {
        do throws(Problem) {
            if let reply = try body() { responder.reply(reply, at: ask.now) }
        } catch { responder.reply(error.reply, at: ask.now) }
    }

    /// Keeps a responder until the gateway has answered: the result may be called once, on any thread.
    func park(_ responder: HTTPResponder) -> @Sendable (@escaping @Sendable (HTTPResponder, Instant) -> Void) -> Void {
        let later = parkToGoOn(responder)
        return { body in later { _, responder, now in body(responder, now) } }
    }

    /// As ``park(_:)``, for an answer that needs more than the result.
    func parkToGoOn(
        _ responder: HTTPResponder
    ) -> @Sendable (@escaping @Sendable (ControlAPI, HTTPResponder, Instant) -> Void) -> Void {
        lastParked += 1
        let number = lastParked
        parked[number] = responder
        return { [post] body in
            post { api, now in
                if let responder = api.parked.removeValue(forKey: number) { body(api, responder, now) }
            }
        }
    }

    func running() throws(Problem) -> any GatewayControl {
        guard let gateway else { throw .notRunning }
        return gateway
    }

    /// A UUID of the path.
    func uuid(_ name: String, in ask: HTTPAsk) throws(Problem) -> UUID {
        guard let uuid = ask.parameters[name].flatMap(UUID.init) else {
            throw .badRequest("'\(ask.parameters[name] ?? "")' is no UUID")
        }
        return uuid
    }
}
