import Primitives
import Runtime
import SIP
import UserAgent

/// A trunk line at work: finds its servers, keeps us registered there, and knows which of them answer. Lives on the signalling lane.
final class Trunk {
    let configuration: TrunkConfiguration
    let line: Text
    let surroundings: Surroundings
    var pool = ServerPool()
    private var locations: [Location]
    var registration: Registration?
    var nextHealth: Instant?
    /// Being taken back.
    var leaving: Registration?
    /// While registered, where the way is kept open.
    var keeper: FlowKeeper?
    /// Ways that a registration has tried since it last succeeded.
    private var triedFlows: [Flow] = []
    private(set) var isLeaving = false
    /// The trunk of the same line before it was configured anew: it registers no more, and takes its registration back before ours begins.
    private var predecessor: Trunk?
    private weak var successor: Trunk?
    /// The last notice about each subject.
    private var told: [Text: TrunkNotice] = [:]
    /// The status of the last answer to our REGISTER; nil until there is one.
    var registrationStatus: Int?
    /// The Service-Route: hops of our requests while we are registered (RFC 3608).
    var serviceRoutes: [NameAddress] = []
    /// This gateway registers it and checks its servers: no other one does.
    var isHeld: Bool
    /// The gateway that does, where several share a store; nil: none has been heard of.
    var lease: TrunkLease?
    /// Whether the one that has the lease is heard by the carrier.
    var reach = Reach.fine
    /// Servers that did not answer the last check.
    var silent: Set<String> = []
    /// The state that other gateways were told last.
    var toldState: TrunkState?

    /// The state of one target.
    private struct Location {
        let target: TrunkConfiguration.Target
        var isSought = false
        var servers: [ServerLocation.Server] = []
        /// When it is asked for again.
        var due: Instant?
    }

    /// Out of use for so long after it did not answer, unless it says otherwise.
    private static let rest: Duration = .seconds(30)

    /// Parts of the gateway that trunks use.
    struct Surroundings {
        let context: GatewayContext
        let userAgent: UserAgent
        let network: any SignallingNetwork
        let locator: ServerLocator
        /// Hears what becomes of trunks where it changes.
        let onNotice: ((TrunkNotice) -> Void)?
    }

    init(_ configuration: TrunkConfiguration, line: Text, _ surroundings: Surroundings) {
        (self.configuration, self.line, self.surroundings) = (configuration, line, surroundings)
        locations = configuration.targets.map { Location(target: $0) }
        isHeld = !surroundings.context.leasesTrunks || !configuration.isLeased
    }

    /// Looks for the servers, and registers as soon as there is one.
    func start(at now: Instant) {
        for index in locations.indices { locate(index, at: now) }
        if isHeld { beginChecks(at: now) }
    }

    /// Registers again, where it has: our address is another.
    func renewContact(at now: Instant) { registration?.renewContact(at: now) }

    /// Takes the place of another trunk of the line, which leaves.
    func succeed(_ old: Trunk, at now: Instant) {
        let waitedFor = old.predecessor
        old.leave(at: now)
        if let busy = [old, waitedFor].compactMap(\.self).first(where: \.isBusy) { (predecessor, busy.successor) = (busy, self) }
        start(at: now)
    }

    /// Takes the registration back, and looks for servers no more.
    func leave(at now: Instant) {
        isLeaving = true
        (keeper, nextHealth, predecessor, reach) = (nil, nil, nil, .fine)
        for index in locations.indices { locations[index].due = nil }
        unregister(at: now)
    }

    func unregister(at now: Instant) {
        if let registration { (leaving, self.registration) = (registration, nil) }
        leaving?.unregister(at: now)
    }

    /// Its registration is still being taken back.
    var isBusy: Bool { leaving != nil }

    var registrationState: TrunkSummary.Registration {
        guard configuration.registration != nil else { return .none }
        let isRegistered = isHeld ? registration?.isRegistered : lease?.state.isRegistered
        return isRegistered == true ? .registered : .unregistered
    }

    var deadline: Instant? {
        var next = min(nextHealth ?? .distantFuture, keeper?.deadline ?? .distantFuture)
        for index in locations.indices { next = min(next, locations[index].due ?? .distantFuture) }
        next = min(next, reach.due ?? .distantFuture)
        return next == .distantFuture ? nil : next
    }

    func advance(to now: Instant) {
        for index in locations.indices where locations[index].due.map({ $0 <= now }) == true { locate(index, at: now) }
        if let due = nextHealth, due <= now { checkHealth(at: now) }
        if let due = keeper?.deadline, due <= now {
            perform(keeper?.advance(to: now, random: surroundings.context.randomNumber) ?? [], at: now)
        }
        if let due = reach.due, due <= now { advanceReach(to: now) }
    }

    /// The ways to its servers and what they are called there, the best first. Empty while none is known.
    func hops(at now: Instant) -> [(flow: Flow, host: Text, port: UInt16?)] {
        pool.order(at: now, random: surroundings.context.randomNumber).compactMap { member in
            let (host, port) = name(of: member)
            return surroundings.locator.listeners.flow(to: member).map { ($0, host, port) }
        }
    }

    /// The host in request URIs: the trunk's domain, or the server as configured.
    func name(of member: ServerPool.Member) -> (host: Text, port: UInt16?) {
        configuration.domain.map { ($0, nil) } ?? (member.name, member.port)
    }

    private func flows(at now: Instant) -> [Flow] { hops(at: now).map(\.flow) }

    /// A server of it did or did not answer.
    func note(_ flow: Flow, failure: Int?, _ response: Message?, at now: Instant) {
        guard failure != nil else { return pool.answered(flow.remote, flow.transport) }
        let asked = response?.retryAfter
        pool.failed(flow.remote, flow.transport, until: now + (asked.map { .seconds(Int64(min($0, 3_600))) } ?? Self.rest))
    }

    /// Whether a call over this flow comes from it: from a server of it, also one that has our registration and is not named any more, or
    /// from a network that is its own.
    func sends(_ flow: Flow) -> Bool {
        isOurs(flow) || configuration.sources.contains { $0.contains(flow.remote.address) }
            || pool.members.contains { $0.server.address == flow.remote && ($0.server.transport == flow.transport) }
    }

    func write(_ state: TrunkNotice.State, at now: Instant, _ details: JournalEvent.Details) {
        var details = details
        details[.cause] = .init(state.rawValue)
        surroundings.context.journal.record(.trunkState, line: line, at: now, details)
        tell(TrunkNotice(line: line, state: state, details))
        tellOthers()
    }

    /// A notice that would come with every refresh and every attempt is given once.
    private func tell(_ notice: TrunkNotice) {
        guard told.updateValue(notice, forKey: notice.subject) != notice else { return }
        surroundings.onNotice?(notice)
    }

    // MARK: Servers

    private func locate(_ index: Int, at now: Instant) {
        let target = locations[index].target
        guard !locations[index].isSought else { return }
        locations[index].due = nil
        locations[index].isSought = true
        surroundings.locator.locate(ServerLocation.Domain(host: target.host, port: target.port, transport: target.transport)) {
            [weak self] result, now in
            self?.found(result, index, at: now)
        }
    }

    /// Without an answer of DNS the known addresses stay: an old address is better than none.
    private func found(_ result: ServerLocation.Result, _ index: Int, at now: Instant) {
        locations[index].isSought = false
        guard !isLeaving else { return }
        if !IPAddress.isText(locations[index].target.host) { locations[index].due = now + result.timeToLive }
        if !(result.hasFailed && result.servers.isEmpty) { locations[index].servers = result.servers }
        pool.set(locations.flatMap(Self.members))
        if let lease, !isHeld { noteSilent(lease.state.silent, before: []) }
        guard !locations[index].servers.isEmpty else { return write(.unresolved, at: now, [.text: .init(locations[index].target.host)]) }
        write(.resolved, at: now, [.text: .init(pool.members.map(\.serverName).joined(separator: " "))])
        if registration == nil { register(at: now) }
    }

    private static func members(_ location: Location) -> [ServerPool.Member] {
        location.servers.map { server in
            var server = server
            // The target's place before that of DNS.
            server.priority += location.target.priority << 33
            server.weight = max(server.weight, 0) * location.target.weight
            return ServerPool.Member(server, name: location.target.host, port: location.target.port)
        }
    }

    // MARK: Registration

    func register(at now: Instant) {
        guard isHeld, !isLeaving, !isBusy, predecessor?.isBusy != true, let wanted = configuration.registration,
            let flow = flows(at: now).first
        else {
            return
        }
        let user = configuration.contactUser(line: line)
        let host = configuration.recordHost
        var request = OutgoingRegistration(
            registrar: URI(host: host.host, port: host.port), flow: flow,
            address: NameAddress(uri: URI(user: user, host: host.host, port: host.port)))
        (request.contactUser, request.expires, request.asksToKeepAlive) = (user, wanted.expires, wanted.keepAlive != nil)
        request.credentials = credentials
        let registration = surroundings.userAgent.register(request, at: now) { [unowned self] registration, event, now in
            did(event, registration, at: now)
        }
        registration.otherFlow = { [unowned self] registration, status, now in otherFlow(than: registration.request.flow, status, at: now) }
        self.registration = registration
    }

    private func predecessorLeft(at now: Instant) {
        predecessor = nil
        if registration == nil { register(at: now) }
    }

    var credentials: Credentials? {
        configuration.user.flatMap { user in configuration.password.map { Credentials(username: user, password: $0) } }
    }

    private func did(_ event: RegistrationEvent, _ registration: Registration, at now: Instant) {
        let remote = registration.request.flow.remote
        switch event {
        case .registered(let seconds, let response):
            keep(registration.request.flow, agreed: response.via, at: now)
            (triedFlows, registrationStatus) = ([], 200)
            noteReach(true, at: now)
            serviceRoutes = response.serviceRoutes
            note(registration.request.flow, failure: nil, nil, at: now)
            write(.registered, at: now, [.count: .init(Int(seconds)), .remote: .init(remote.description)])
        case .failed(let status, let response, let delay):
            (registrationStatus, keeper, serviceRoutes) = (status, nil, [])
            if status == 408 || status == 503 { note(registration.request.flow, failure: status, response, at: now) }
            noteReach(response != nil, at: now)
            // After the wait every way is open again.
            if delay > .zero { triedFlows = [] }
            write(
                .refused, at: now,
                [.status: .init(status), .remote: .init(remote.description), .count: .init(Int(delay.wholeMilliseconds / 1_000))])
        case .unregistered(let status):
            leaving = nil
            if isHeld || isLeaving { (registrationStatus, serviceRoutes) = (nil, []) }
            defer {
                successor?.predecessorLeft(at: now)
                if self.registration == nil { register(at: now) }
            }
            write(.unregistered, at: now, [.status: .init(status), .remote: .init(remote.description)])
        }
    }

    private func otherFlow(than flow: Flow, _ status: Int, at now: Instant) -> Flow? {
        triedFlows.append(flow)
        note(flow, failure: status, nil, at: now)
        return flows(at: now).first { !triedFlows.contains($0) }
    }

    // MARK: The way kept open

    /// Begins anew with each registration only where there is none: what was asked is not forgotten.
    private func keep(_ flow: Flow, agreed via: Via, at now: Instant) {
        guard !isLeaving, keeper == nil, let interval = configuration.registration?.keepAlive else { return }
        keeper = FlowKeeper(interval, over: flow.transport, agreed: via, at: now, random: surroundings.context.randomNumber)
    }

    /// A CRLF or a STUN message, over a flow of whomever. True when it came over the registration's.
    func receiveKeepAlive(_ bytes: [UInt8], over flow: Flow, at now: Instant) -> Bool {
        guard isOurs(flow) else { return false }
        perform(keeper?.receive(bytes) ?? [], at: now)
        return true
    }

    /// Requests over that flow are not answered any more.
    func lost(_ flow: Flow) { if isOurs(flow) { keeper = nil } }

    private func isOurs(_ flow: Flow) -> Bool {
        registration.map { $0.request.flow.transport == flow.transport && $0.request.flow.remote == flow.remote } ?? false
    }

    private func perform(_ outputs: [FlowKeeper.Output], at now: Instant) {
        guard let flow = registration?.request.flow else { return }
        for output in outputs {
            switch output {
            case .send(let bytes): surroundings.network.send(bytes, over: flow)
            case .failed:
                keeper = nil
                write(.flowFailed, at: now, [.remote: .init(flow.remote.description)])
                giveUp(flow, at: now)
            }
        }
    }

    /// Nothing comes over it any more: what waits there fails, and what was registered over it is registered anew.
    private func giveUp(_ flow: Flow, at now: Instant) {
        if flow.transport.isReliable { surroundings.network.close(flow) } else { surroundings.userAgent.failed(flow, at: now) }
    }
}

extension Message {
    /// All of them or none: a way that lacks one leads elsewhere. Strict routers (no `lr`) are not supported.
    fileprivate var serviceRoutes: [NameAddress] {
        let routes = addresses(.serviceRoute)
        return routes.count == headers.elements(.serviceRoute).count && routes.allSatisfy(\.uri.isLooseRouter) ? routes : []
    }
}

extension IPAddress {
    fileprivate static func isText(_ host: Text) -> Bool { IPAddress(host.withoutBrackets) != nil }
}
