import Foundation
import HTTP
import Primitives
import Runtime

/// Requests to the other gateways, and the streams that are merged of theirs.
///
/// Lane-confined. A gateway that could not be reached is not asked again for a moment, so that nobody waits for it with each request.
final class NodeDesk {
    /// The reason why a gateway gave no answer, in a few words for a person.
    struct Failure: Error { let words: String }

    /// Requests at a time.
    static let most = 256
    /// Bytes of an answer.
    private static let longest = 32 << 20
    /// The time for which a gateway that could not be reached is taken to be away.
    private static let pause = Duration.seconds(1)

    private(set) var settings: NodeSettings
    private unowned let lane: any LaneDoor
    /// Has a name looked up, off the lane.
    private let resolve: (NodeSettings.Node, _ then: @escaping @Sendable ([SocketAddress]) -> Void) -> Void
    private let post: ControlAPI.Post
    private var exchanges: [UInt64: NodeExchange] = [:]
    private var last: UInt64 = 0
    private var away: [String: (until: Instant, failure: Failure)] = [:]
    private var readers: [UInt64: MergedReader] = [:]

    init(_ settings: NodeSettings, post: @escaping ControlAPI.Post, on lane: any LaneDoor) {
        (self.settings, self.post, self.lane) = (settings, post, lane)
        let jobs = JobQueue(label: "control.nodes")
        resolve = { node, then in jobs.perform { then(SystemNames.addresses(of: node.host, port: node.port)) } }
    }

    var deadline: Instant? {
        [exchanges.values.compactMap(\.deadline).min(), readers.values.compactMap(\.deadline).min()].compactMap(\.self).min()
    }

    func advance(to now: Instant) {
        for exchange in exchanges.values { exchange.advance(to: now) }
        for reader in readers.values { reader.advance(to: now) }
        exchanges = exchanges.filter { !$0.value.isOver }
    }

    /// Other gateways, for the requests and the readers that come.
    func use(_ nodes: [NodeSettings.Node]) {
        settings = NodeSettings(own: settings.own, nodes: nodes, secret: settings.secret, trust: settings.trust)
        away = [:]
    }

    // MARK: Requests

    /// Begins a request for a client; nil: too many go on.
    ///
    /// - Parameter grant: the rights of the client.
    func begin(
        _ method: HTTPRequest.Method, _ target: String, body: [UInt8] = [], _ fields: HTTPFields = [:], for grant: AccessGrant,
        at node: NodeSettings.Node, _ patience: NodeExchange.Patience, now: Instant,
        receive: @escaping (NodeExchange.Event, Instant) -> Void
    ) -> UInt64? {
        guard exchanges.count < Self.most else { return nil }
        var fields = fields
        (fields[.authorization], fields[AccessGrant.field]) = ("Bearer \(settings.secret)", grant.told)
        last += 1
        let id = last
        exchanges[id] = NodeExchange(
            method, node.bytes(method, target, fields, body: body), to: node, trusting: settings.trust, patience, on: lane, at: now,
            receive: receive)
        if let address = IPAddress(node.host) {
            exchanges[id]?.begin(at: [SocketAddress(address, port: node.port)], now)
        } else {
            resolve(node) { [post] addresses in post { api, now in api.nodes?.exchanges[id]?.begin(at: addresses, now) } }
        }
        return id
    }

    /// Ends a request; no event of it follows.
    func end(_ request: UInt64) { exchanges.removeValue(forKey: request)?.close() }

    /// Asks one of them for a whole answer.
    func ask(
        _ node: NodeSettings.Node, _ method: HTTPRequest.Method, _ target: String, body: [UInt8] = [], _ fields: HTTPFields = [:],
        for grant: AccessGrant, within time: Duration, now: Instant, then: @escaping (Result<HTTPReply, Failure>, Instant) -> Void
    ) {
        if let away = away[node.name], now < away.until { return then(.failure(away.failure), now) }
        var reply = HTTPReply(.ok), id: UInt64?
        id = begin(method, target, body: body, fields, for: grant, at: node, .whole(time), now: now) { [weak self] event, now in
            switch event {
            case .head(let head): (reply.status, reply.fields) = (head.status, head.headerFields)
            case .content(let bytes):
                reply.body += bytes
                guard reply.body.count > Self.longest, let self, let id else { return }
                end(id)
                then(.failure(Failure(words: "answers at too great a length")), now)
            case .ended(let cause?):
                let failure = Failure(words: cause)
                self?.away[node.name] = (now + Self.pause, failure)
                then(.failure(failure), now)
            case .ended(nil): then(.success(reply.passedOn), now)
            }
        }
        if id == nil { then(.failure(Failure(words: "is asked by too many already")), now) }
    }

    /// Asks all of them, and tells when the last has answered.
    func askAll(
        _ method: HTTPRequest.Method, _ target: String, body: [UInt8] = [], _ fields: HTTPFields = [:], for grant: AccessGrant,
        within time: Duration, now: Instant, then: @escaping ([(node: String, reply: Result<HTTPReply, Failure>)], Instant) -> Void
    ) {
        var replies: [(node: String, reply: Result<HTTPReply, Failure>)] = [], left = settings.others.count
        guard left > 0 else { return then([], now) }
        for node in settings.others {
            ask(node, method, target, body: body, fields, for: grant, within: time, now: now) { reply, now in
                replies.append((node.name, reply))
                left -= 1
                if left == 0 { then(replies.sorted { $0.node < $1.node }, now) }
            }
        }
    }

    // MARK: Streams

    /// Begins to read the others' events for a reader.
    func add(_ reader: MergedReader, at now: Instant) {
        last += 1
        let id = last
        readers[id] = reader
        reader.onEnd = { [weak self] in self?.readers[id] = nil }
        reader.begin(at: now)
    }
}

extension HTTPReply {
    /// The answer of another gateway, without what is of its connection alone (RFC 9110 §7.6.1).
    fileprivate var passedOn: HTTPReply {
        var reply = self
        for name in [HTTPField.Name.connection, .contentLength, .transferEncoding, .date] { reply.fields[name] = nil }
        return reply
    }
}
