import CallJournal
import Dispatch
import Gateway
import HTTP
import Primitives
import Runtime

/// The control interface of a gateway: HTTP on a lane of its own, over a socket in the file system and loopback addresses.
///
/// Thread-safe. It is made before the gateway, whose events it hears from the first on, and serves for as long as it is kept.
public final class ControlServer: Sendable {
    let lane: Lane<ControlHost>
    private let feed: EventFeed
    /// The TCP addresses that it listens on, with the ports that the kernel chose.
    public let addresses: [SocketAddress]

    /// - Parameters:
    ///   - path: of a socket that this user alone may open; nil: none.
    ///   - addresses: where it listens over TCP, or TLS. Without tokens whoever can reach them may do everything: loopback alone.
    ///   - tls: nil: TCP in the clear.
    ///   - tokens: of those who may ask over TCP; nil: there are none.
    ///   - origins: of pages besides its own that may open a WebSocket, as `https://console.example.test`.
    ///   - journal: the file whose end readers may go on in, before the gateway writes to it; nil: there is none.
    ///   - nodes: the other gateways that it answers for, too; nil: there are none.
    ///   - phone: what the page of the telephone registers at.
    ///   - version: of the program.
    public init(
        path: String?, addresses: [SocketAddress], tls: TLSContexts? = nil, tokens: AccessTokenFile? = nil, origins: Set<String> = [],
        journal: String? = nil, nodes: NodeSettings? = nil, phone: PhoneServer = PhoneServer(domain: "localhost"), version: String
    ) throws(SocketError) {
        let endpoints =
            (path.map { [HTTPServer.Endpoint.local(path: $0)] } ?? []) + addresses.map { tls == nil ? .tcp($0) : .tls($0) }
        lane = try Lane(label: "control", isPatient: true) { lane, _ throws(SocketError) in
            try ControlHost(
                endpoints, tls: tls,
                access: AccessControl(tokens, origins: OriginRule(others: origins), nodeSecret: nodes?.secret), nodes: nodes, phone: phone,
                version: version, on: lane)
        }
        feed = EventFeed { [weak lane] delay in
            guard delay > .zero else { return lane?.post { host, now in host.drain(at: now) } ?? () }
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(delay.wholeNanoseconds))) { [weak lane] in
                lane?.post { host, now in host.drain(at: now) }
            }
        }
        self.addresses = lane.sync { host, _ in Array(host.server.addresses.dropFirst(path == nil ? 0 : 1)) } ?? []
        let tail = journal.map { JournalReader.tail(of: $0, bytes: Self.tailLength) }
        lane.sync { [feed] host, _ in
            host.feed = feed
            host.api.records.journal = journal.map(JournalArchive.init)
            if let tail { host.api.hub.restore(tail) }
        }
    }

    deinit { lane.close() }

    /// Bytes of the journal's end that are read at the start.
    private static let tailLength = 8 << 20

    /// An event of the gateway's journal. On its signalling lane.
    public func note(_ event: borrowing JournalEvent) { feed.note(event) }

    /// The gateway runs.
    ///
    /// - Parameter reload: reads the configuration again, and does not wait for it.
    public func begin(_ gateway: any GatewayControl, reload: @escaping @Sendable () -> Void) {
        lane.post { host, _ in (host.api.gateway, host.api.reload) = (gateway, reload) }
    }

    /// The webhooks that it tells of.
    public func use(_ webhooks: any WebhookControl) { lane.post { host, _ in host.api.webhooks = webhooks } }

    /// Other gateways that it answers for. Nothing changes where it was made without any settings of them.
    public func use(_ nodes: [NodeSettings.Node]) { lane.post { host, _ in host.api.nodes?.use(nodes) } }

    /// Other certificates, for the connections that come.
    public func use(_ tls: TLSContexts) { lane.post { host, _ in host.server.tls = tls } }

    /// The gateway stops: what it told last still goes to those who listen, and nobody is let in any more.
    public func end() {
        lane.sync { host, now in
            host.drain(at: now)
            host.api.readers.endAll(at: now)
            host.server.stopListening()
        }
        lane.close()
    }
}

/// The resident of the lane of the control interface.
final class ControlHost: LaneResident {
    let api: ControlAPI
    let server: HTTPServer
    var feed: EventFeed?

    init(
        _ endpoints: [HTTPServer.Endpoint], tls: TLSContexts?, access: sending AccessControl, nodes: NodeSettings?, phone: PhoneServer,
        version: String, on lane: Lane<ControlHost>
    ) throws(SocketError) {
        let api = ControlAPI(version: version, access: access) { [weak lane] work in lane?.post { host, now in work(host.api, now) } }
        self.api = api
        api.nodes = nodes.map { NodeDesk($0, post: api.post, on: lane) }
        var routes = api.routes
        ConsoleRoutes.add(to: &routes, phone)
        server = try HTTPServer(
            endpoints, tls: tls, routes: routes, isCompressing: true, refusal: { Problem(unanswered: $0).reply },
            admit: { access.decide($0) }, on: lane)
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
