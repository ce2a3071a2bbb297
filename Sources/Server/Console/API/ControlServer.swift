import CallJournal
import Gateway
import HTTP
import Primitives
import Runtime

/// The control interface of a gateway: HTTP on a lane of its own, over a socket in the file system and loopback addresses.
///
/// Thread-safe. It is made before the gateway, whose events it hears from the first on, and serves for as long as it is kept.
public final class ControlServer: Sendable {
    private let lane: Lane<ControlHost>
    private let feed: EventFeed
    /// Where it listens over TCP, with the ports that the kernel chose.
    public let addresses: [SocketAddress]

    /// - Parameters:
    ///   - path: of a socket that this user alone may open; nil: none.
    ///   - addresses: of this machine's loopback: who can reach them may do everything.
    ///   - version: of the program.
    public init(path: String?, addresses: [SocketAddress], version: String) throws(SocketError) {
        let endpoints = (path.map { [HTTPServer.Endpoint.local(path: $0)] } ?? []) + addresses.map(HTTPServer.Endpoint.tcp)
        lane = try Lane(label: "control") { lane, _ throws(SocketError) in
            try ControlHost(endpoints, version: version, on: lane)
        }
        feed = EventFeed { [weak lane] in lane?.post { host, now in host.drain(at: now) } }
        self.addresses = lane.sync { host, _ in Array(host.server.addresses.dropFirst(path == nil ? 0 : 1)) } ?? []
        lane.sync { [feed] host, _ in host.feed = feed }
    }

    deinit { lane.close() }

    /// An event of the gateway's journal. On its signalling lane.
    public func note(_ event: borrowing JournalEvent) { feed.note(event) }

    /// The gateway runs.
    ///
    /// - Parameter reload: reads the configuration again, and does not wait for it.
    public func begin(_ gateway: any GatewayControl, reload: @escaping @Sendable () -> Void) {
        lane.post { host, _ in (host.api.gateway, host.api.reload) = (gateway, reload) }
    }

    /// The gateway stops: what it told last still goes to those who listen, and nobody is let in any more.
    public func end() {
        lane.sync { host, now in
            host.drain(at: now)
            host.api.endStreams(at: now)
            host.server.stopListening()
        }
        lane.close()
    }
}

/// What lives on the lane of the control interface.
final class ControlHost: LaneResident {
    let api: ControlAPI
    let server: HTTPServer
    var feed: EventFeed?

    init(_ endpoints: [HTTPServer.Endpoint], version: String, on lane: Lane<ControlHost>) throws(SocketError) {
        let api = ControlAPI(version: version) { [weak lane] work in lane?.post { host, now in work(host.api, now) } }
        self.api = api
        server = try HTTPServer(
            endpoints, routes: api.routes, notFound: Problem.notFound("there is no such path: /v1/server, /v1/calls, /v1/events …").reply,
            admit: LoopbackRule.refusal, on: lane)
    }

    var deadline: Instant? { [api.deadline, server.deadline].compactMap(\.self).min() }

    func advance(to now: Instant) {
        api.advance(to: now)
        server.advance(to: now)
    }

    /// Takes the events that wait.
    func drain(at now: Instant) {
        guard let (events, hasGap) = feed?.take() else { return }
        api.hub.accept(events, hasGap: hasGap, at: now)
    }
}

/// Who is let in without a token: whoever can open the socket in the file system, and programs of this machine. A page of another origin that
/// a browser shows here is neither.
enum LoopbackRule {
    /// nil: the request is let in.
    static func refusal(_ ask: HTTPAsk) -> HTTPReply? {
        guard !ask.isLocal else { return nil }
        let host = ask.request.head.authority ?? ""
        // A name of somebody else's that leads here, as in DNS rebinding, is none of this server's.
        guard names.contains(Self.name(of: host)) else {
            return Problem(.misdirectedRequest, "wrongHost", "this server is called by its loopback address, and not as '\(host)'").reply
        }
        guard let origin = ask.request.head.headerFields[.origin], origin != "http://\(host)" else { return nil }
        return Problem(.forbidden, "wrongOrigin", "a page of \(origin) may not ask here").reply
    }

    private static let names: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Without its port.
    private static func name(of host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return String(host[..<colon])
    }
}
