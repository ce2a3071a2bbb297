import Foundation
import HTTP
import Primitives

/// A reader of the events of several gateways: those of this one, which are given to it, and those of the others, which it reads over HTTP.
///
/// Lane-confined. Each event goes on as it comes, with a position in the events of all. Those of one gateway keep their order, and none is
/// left out. A gateway that is away is told of, and read on behind its last event when it is back.
final class MergedReader {
    /// News of a gateway, among its events.
    enum News: String, CaseIterable {
        /// A gateway does not answer. Its events wait, or are lost with it.
        case lost = "node.lost"
        /// A gateway answers again; `isWhole` says whether its events go on behind the last.
        case back = "node.back"
        /// Events of it are not kept any more: a reader takes a snapshot.
        case gap = "node.gap"
    }

    fileprivate enum State {
        /// Next: `asking`, `listening`.
        case waiting(until: Instant)
        /// Its position is asked for. Next: `listening`, `waiting`.
        case asking(UInt64)
        /// Next: `waiting`.
        case listening(UInt64)
    }

    fileprivate struct Source {
        let node: NodeSettings.Node
        var state: State
        var events = EventStreamReader()
        var content: [UInt8] = []
        var isRefused = false
        var isLost = false
    }

    /// The time from a cut to the next connection, and from a look at a reader that is slow to the next.
    private static let pause = (lost: Duration.seconds(1), slow: Duration.milliseconds(50))
    /// A gateway that says nothing for longer is away: it says each 15 s that it is there.
    private static let silence = Duration.seconds(20)
    /// Bytes that may wait for the reader, before the others are read no further.
    private static let mostUnsent = 256 << 10

    let outlet: EventReader.Outlet
    private unowned let desk: NodeDesk
    private let grant: AccessGrant
    /// The items of the query that the others are asked, too.
    private let query: [(name: String, value: String)]
    private var sources: [Source]
    private var position: MergedPosition
    /// The last event that was told; nil at the beginning.
    private var previous: String?
    private var isOver = false
    /// Called once, when it is over.
    var onEnd: () -> Void = {}

    /// - Parameters:
    ///   - outlet: the reader's.
    ///   - own: the position that this gateway's part begins behind; nil: nothing was told so far.
    init(_ outlet: EventReader.Outlet, after: MergedPosition?, own: EventPosition?, _ ask: HTTPAsk, _ desk: NodeDesk, at now: Instant) {
        (self.outlet, self.desk, grant) = (outlet, desk, ask.grant)
        query = ask.request.target.query.filter { ["types", "line", "call"].contains($0.name) }
        position = after ?? MergedPosition()
        previous = after?.description
        if let own { position[desk.settings.own] = own }
        sources = desk.settings.others.map { Source(node: $0, state: .waiting(until: now)) }
    }

    var deadline: Instant? {
        sources.compactMap { if case .waiting(let until) = $0.state { until } else { nil } }.min()
    }

    func begin(at now: Instant) { advance(to: now) }

    func advance(to now: Instant) {
        for index in sources.indices {
            guard !isOver, case .waiting(let until) = sources[index].state, until <= now else { continue }
            guard outlet.unsentCount < Self.mostUnsent else { sources[index].state = .waiting(until: now + Self.pause.slow); continue }
            connect(index, at: now)
        }
    }

    /// Ends all connections; the outlet is not touched.
    func close() {
        guard !isOver else { return }
        isOver = true
        for source in sources { if let request = source.request { desk.end(request) } }
        sources = []
        onEnd()
    }

    // MARK: This gateway

    /// An event of this gateway.
    func tell(_ json: [UInt8], at own: EventPosition, _ type: String, _ now: Instant) {
        tell(MergedEvent(json: json, position: own, type: type), of: desk.settings.own, at: now)
    }

    private func tell(_ event: MergedEvent, of node: String, at now: Instant) {
        position[node] = event.position
        let id = position.description
        outlet.send(event.json(id: id, after: previous, of: node), id: id, type: event.type, at: now)
        previous = id
    }

    // MARK: The others

    private func connect(_ index: Int, at now: Instant) {
        let source = sources[index]
        (sources[index].events, sources[index].content, sources[index].isRefused) = (EventStreamReader(), [], false)
        if let after = position[source.node.name] {
            let request = begin(target(after), source.node, .silence(Self.silence), at: now)
            sources[index].state = request.map { .listening($0) } ?? .waiting(until: now + Self.pause.lost)
        } else {
            // Without a position a cut before its first event would hide those that came meanwhile.
            let request = begin("/v1/server", source.node, .whole(.seconds(2)), at: now)
            sources[index].state = request.map { .asking($0) } ?? .waiting(until: now + Self.pause.lost)
        }
    }

    private func begin(_ target: String, _ node: NodeSettings.Node, _ patience: NodeExchange.Patience, at now: Instant) -> UInt64? {
        desk.begin(.get, target, [.accept: "text/event-stream, application/json"], for: grant, at: node, patience, now: now) {
            [weak self] in self?.note($0, of: node.name, at: $1)
        }
    }

    private func target(_ after: EventPosition) -> String {
        let items = query + [("after", after.description)]
        return "/v1/events?" + items.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ value: String) -> String { value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? value }

    private func note(_ event: NodeExchange.Event, of node: String, at now: Instant) {
        guard !isOver, let index = sources.firstIndex(where: { $0.node.name == node }) else { return }
        switch (event, sources[index].state) {
        case (.head(let head), .listening): begin(index, head, at: now)
        case (.head(let head), _): sources[index].isRefused = head.status != .ok
        case (.content(let bytes), .listening) where !sources[index].isRefused: read(bytes, index, at: now)
        case (.content(let bytes), _): sources[index].content += bytes
        case (.ended(nil), .asking): takePosition(index, at: now)
        case (.ended(nil), .listening) where sources[index].isRefused: refused(index, at: now)
        case (.ended(let cause), _): lose(index, cause ?? "ended its stream", at: now)
        }
    }

    private func takePosition(_ index: Int, at now: Instant) {
        struct Server: Decodable { var position: String? }
        let server = try? JSONDecoder().decode(Server.self, from: Data(sources[index].content))
        guard !sources[index].isRefused, let found = server?.position.flatMap({ EventPosition($0) }) else {
            return lose(index, "does not say where its events are", at: now)
        }
        position[sources[index].node.name] = found
        if sources[index].isLost { tell(.back, index, [("isWhole", "false")], at: now) }
        sources[index].isLost = false
        connect(index, at: now)
    }

    private func begin(_ index: Int, _ head: HTTPResponse, at now: Instant) {
        sources[index].isRefused = head.status != .ok
        guard head.status == .ok, sources[index].isLost else { return }
        sources[index].isLost = false
        tell(.back, index, [("isWhole", "true")], at: now)
    }

    /// The answer to the request for its events was a problem.
    private func refused(_ index: Int, at now: Instant) {
        struct Answer: Decodable { var status: Int, code: String, oldest: String? }
        let problem = try? JSONDecoder().decode(Answer.self, from: Data(sources[index].content))
        guard problem?.status == 410 else { return lose(index, "answers \(problem?.code ?? "what is no problem")", at: now) }
        position[sources[index].node.name] = nil
        tell(.gap, index, problem?.oldest.map { [("oldest", $0)] } ?? [], at: now)
        connect(index, at: now)
    }

    private func read(_ bytes: [UInt8], _ index: Int, at now: Instant) {
        let name = sources[index].node.name
        sources[index].events.receive(bytes)
        while !isOver, let output = sources[index].events.next() {
            guard case .event(let json) = output else {
                if output == .broken { return lose(index, "does not tell events", at: now) }
                continue
            }
            guard let event = MergedEvent(json: Array(json.utf8)) else { return lose(index, "does not tell events", at: now) }
            tell(event, of: name, at: now)
        }
        // The reader takes less than comes: this gateway's connection waits, and not its events.
        if !isOver, outlet.unsentCount >= Self.mostUnsent { wait(index, until: now + Self.pause.slow) }
    }

    private func wait(_ index: Int, until time: Instant) {
        if let request = sources[index].request { desk.end(request) }
        sources[index].state = .waiting(until: time)
    }

    private func lose(_ index: Int, _ cause: String, at now: Instant) {
        wait(index, until: now + Self.pause.lost)
        guard !sources[index].isLost else { return }
        sources[index].isLost = true
        tell(.lost, index, [("cause", cause)], at: now)
    }

    private func tell(_ news: News, _ index: Int, _ data: [(String, String)], at now: Instant) {
        let id = position.description
        let json = MergedEvent.news(news, of: sources[index].node.name, id: id, after: previous, data)
        outlet.send(json, id: id, type: news.rawValue, at: now)
        previous = id
    }
}

extension MergedReader.Source {
    fileprivate var request: UInt64? {
        switch state {
        case .waiting: nil
        case .asking(let request), .listening(let request): request
        }
    }
}
