import Primitives
import Runtime
import SIP
import UserAgent

/// Locates the servers of a domain by DNS (RFC 3263). Answers come later, over the lane. Lives on the signalling lane.
final class ServerLocator {
    private let context: GatewayContext
    private let lines: LineTable
    let listeners: Listeners
    /// Asks DNS; the answer comes back by `receive(_:of:)` with the same number. Nil: names are not resolved.
    private let resolve: ((DNSQuestion, UInt64) -> Void)?
    private var queries: [UInt64: (DNSAnswer, Instant) -> Void] = [:]
    private var lastQuery: UInt64 = 0
    /// Queries that failed at once because there were too many at a time.
    private(set) var refusedQueries: UInt64 = 0

    init(_ context: GatewayContext, _ lines: LineTable, _ listeners: Listeners, resolve: ((DNSQuestion, UInt64) -> Void)?) {
        (self.context, self.lines, self.listeners, self.resolve) = (context, lines, listeners, resolve)
    }

    // MARK: DNS

    var openQueries: Int { queries.count }

    /// As many as the resolver takes.
    private static let mostQueries = DNSResolver.Settings().maximumQuestions

    /// Without a resolver the answer is a failure, and comes at once.
    private func ask(_ question: DNSQuestion, completion: @escaping (DNSAnswer, Instant) -> Void) {
        guard let resolve else { return completion(DNSAnswer(.failed), context.now) }
        guard queries.count < Self.mostQueries else {
            refusedQueries += 1
            return completion(DNSAnswer(.failed), context.now)
        }
        lastQuery += 1
        queries[lastQuery] = completion
        resolve(question, lastQuery)
    }

    /// The handler of the answer; nil where nobody waits for it.
    func completion(of query: UInt64) -> ((DNSAnswer, Instant) -> Void)? { queries.removeValue(forKey: query) }

    // MARK: Domains

    /// Asks until everything is known. The answer comes at once where there is nothing to ask.
    func locate(_ domain: ServerLocation.Domain, completion: @escaping (ServerLocation.Result, Instant) -> Void) {
        let search = ServerSearch(ServerLocation(domain, transports: listeners.transports, families: listeners.families), completion)
        proceed(search, search.location.start())
    }

    private func proceed(_ search: ServerSearch, _ questions: [DNSQuestion]) {
        if let result = search.location.result { return search.finish(result, at: context.now) }
        for question in questions {
            ask(question) { [unowned self] answer, _ in proceed(search, search.location.receive(answer, to: question)) }
        }
    }

    /// To a number of our own domain, which may be a name that no server knows: to where we listen ourselves. One way alone: what is said
    /// there is said by whom the number reaches, and by another way it would be the same again.
    private func wayHere(to uri: URI, over transport: Transport?, after flow: Flow) -> Flow? {
        guard uri.targetHost.equalsIgnoringCase(context.configuration.domain) else { return nil }
        let found = listeners.direct.filter { (transport == nil || $0.transport == transport) && isMeant($0, by: uri) }
        let near = found.filter { $0.address.address.family == flow.remote.address.family }
        let best = near.isEmpty ? found : near
        guard let listener = best.first(where: { !$0.transport.isSecure }) ?? best.first else { return nil }
        // Our certificate has our name, and not our address.
        let peer = listener.transport.isSecure ? context.configuration.domain : .empty
        return Flow(transport: listener.transport, local: listener.address, remote: listener.reachable, peer: peer)
    }

    /// A name means all that we listen to, or what has its port. An address may be that of others as well, and means what has just its
    /// port; without a port it means us where the user is a number of ours: it is an address of record then.
    private func isMeant(_ listener: Transports.Listener, by uri: URI) -> Bool {
        let own = listener.address
        guard let address = uri.targetAddress else { return uri.port == nil || uri.port == own.port }
        guard own.port == uri.port ?? listener.transport.standardPort || uri.port == nil && isNumberOfOurs(uri) else { return false }
        return own.address == address || own.address.isAny && own.address.family == address.family
            || context.configuration.advertise.address == address
    }

    private func isNumberOfOurs(_ uri: URI) -> Bool {
        lines.routing.dialledNumber(uri).flatMap { lines.line(for: $0, host: uri.host) } != nil
    }

    /// The ways to a URI that somebody else named, such as in a 3xx: from the sockets that we have, those of its own family of addresses
    /// first.
    func locate(_ uri: URI, after flow: Flow, completion: @escaping ([Flow], Instant) -> Void) {
        let named = uri.transport.flatMap { name in listeners.transports.first { $0.text.equalsIgnoringCase(name) } }
        let isUnknown = uri.transport != nil && named == nil
        let isSecure = uri.scheme == .sips
        guard !isUnknown, !isSecure || listeners.transports.contains(.tls) else { return completion([], context.now) }
        let transport = isSecure ? Transport.tls : named
        if let here = wayHere(to: uri, over: transport, after: flow) { return completion([here], context.now) }
        locate(ServerLocation.Domain(host: uri.targetHost, port: uri.port, transport: transport)) { [unowned self] result, now in
            let flows = result.servers.compactMap { listeners.flow(to: ServerPool.Member($0, name: uri.host)) }.filter {
                !isSecure || $0.transport.isSecure
            }
            let family = flow.remote.address.family
            completion(
                flows.filter { $0.remote.address.family == family } + flows.filter { $0.remote.address.family != family }, context.now)
        }
    }
}

/// One search, for as long as queries of it are open.
private final class ServerSearch {
    var location: ServerLocation
    private var completion: ((ServerLocation.Result, Instant) -> Void)?

    init(_ location: ServerLocation, _ completion: @escaping (ServerLocation.Result, Instant) -> Void) {
        (self.location, self.completion) = (location, completion)
    }

    /// Once, however many answers still come.
    func finish(_ result: ServerLocation.Result, at now: Instant) {
        let completion = completion
        self.completion = nil
        completion?(result, now)
    }
}
