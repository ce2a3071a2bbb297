import Glibc
import HTTP
import Primitives
import Runtime
import Synchronization

/// The parts of an answer, in their order.
enum WireNews: Sendable {
    case head(status: Int), content([UInt8]), end
    /// The last.
    case failed(HookswitchClient.ConnectionError)
}

/// Bytes of an answer that its reader has not taken yet. Thread-safe.
final class WireBacklog: Sendable {
    private let count = Atomic(0)
    func add(_ bytes: Int) -> Int { count.add(bytes, ordering: .relaxed).newValue }
    func remove(_ bytes: Int) { count.subtract(bytes, ordering: .relaxed) }
}

/// A request, and who hears of its answer.
struct ClientOrder: Sendable {
    let place: ClientPlace
    /// Tried one after the other.
    let addresses: [SocketAddress]
    let method: HTTPRequest.Method
    let bytes: [UInt8]
    let end: Instant
    let silence: Duration?
    let backlog: WireBacklog
    let tell: AsyncStream<WireNews>.Continuation
}

/// The resident of a client's lane: the connections of its requests.
final class ClientHost: LaneResident {
    private weak var lane: Lane<ClientHost>?
    private var exchanges: [UInt64: ClientExchange] = [:]
    private var last: UInt64 = 0

    init(_ lane: Lane<ClientHost>) { self.lane = lane }

    deinit { for exchange in exchanges.values { exchange.fail(.hungUp(exchange.name)) } }

    var deadline: Instant? { exchanges.values.compactMap(\.deadline).min() }

    func advance(to now: Instant) { for exchange in exchanges.values { exchange.advance(to: now) } }

    func begin(_ order: ClientOrder, at now: Instant) {
        guard let lane else { return }
        last += 1
        let id = last
        order.tell.onTermination = { [weak lane] _ in lane?.post { host, _ in host.forget(id) } }
        let exchange = ClientExchange(order, on: lane)
        exchanges[id] = exchange
        exchange.begin(at: now)
    }

    private func forget(_ id: UInt64) { exchanges.removeValue(forKey: id)?.close() }
}

/// One request and its answer, over a connection of their own. Lives on the client's lane.
final class ClientExchange {
    private let order: ClientOrder
    private unowned let lane: Lane<ClientHost>
    private var rest: ArraySlice<SocketAddress>
    private var connection: (any StreamConnection)?
    private var reader: HTTPResponseReader
    private var hasHead = false
    private var isOver = false

    init(_ order: ClientOrder, on lane: Lane<ClientHost>) {
        (self.order, self.lane, rest) = (order, lane, order.addresses[...])
        reader = HTTPResponseReader(to: order.method)
    }

    var name: String { order.place.name }

    var deadline: Instant? {
        guard !isOver else { return nil }
        return [connection?.deadline, isUnderWay ? nil : order.end].compactMap(\.self).min()
    }

    /// An answer without an end has its head: only silence ends it.
    private var isUnderWay: Bool { hasHead && order.silence != nil }

    func advance(to now: Instant) {
        if !isOver, !isUnderWay, order.end <= now { return fail(.timedOut(name)) }
        connection?.advance(to: now)
    }

    /// Tries the next address.
    func begin(at now: Instant) {
        var limits = TCPConnection.Limits()
        limits.idleTimeout = order.silence ?? order.end - now
        limits.unsentBytes = max(limits.unsentBytes, order.bytes.count)
        do throws(SocketError) { connection = try connect(limits, at: now) } catch { return failed(error.cause, at: now) }
        connection?.send(order.bytes, at: now)
    }

    private func connect(_ limits: TCPConnection.Limits, at now: Instant) throws(SocketError) -> any StreamConnection {
        switch order.place {
        case .socket(let path):
            return try TCPConnection(path: path, limits: limits, on: lane, at: now) { [weak self] in self?.note($1, at: $2) }
        case .server(let host, _, let tls):
            let address = rest.removeFirst()
            guard let tls else {
                return try TCPConnection(to: address, limits: limits, on: lane, at: now) { [weak self] in self?.note($1, at: $2) }
            }
            return try TLSConnection(
                to: address, from: nil, session: tls.connect(to: host, naming: .web), limits: limits, on: lane, at: now
            ) { [weak self] in self?.note($1, at: $2) }
        }
    }

    /// It never stood there: the next address is tried, where there is one.
    private func failed(_ reason: String, at now: Instant) {
        if rest.isEmpty { fail(.unreachable(name, reason: reason)) } else { begin(at: now) }
    }

    private func note(_ event: TCPConnection.Event, at now: Instant) {
        guard !isOver else { return }
        switch event {
        case .connected: break
        case .received(let bytes):
            reader.receive(bytes)
            read()
        case .peerHalfClosed: finish()
        case .ended(.connectFailed(let code)): failed(String(cString: strerror(code)), at: now)
        case .ended(.tls(let error)): fail(Self.failure(error, name, order.place))
        case .ended(.idle), .ended(.stalled): fail(.timedOut(name))
        case .ended: finish()
        }
    }

    private static func failure(_ error: TLSError, _ name: String, _ place: ClientPlace) -> HookswitchClient.ConnectionError {
        switch error {
        case .untrusted(let reason): .untrusted(name, reason: reason)
        case .wrongName(let expected): .wrongName(expected)
        case .tooSlow: .timedOut(name)
        case .broken(let reason): .noTLS(name, reason: reason)
        default: .noTLS(name, reason: error.description)
        }
    }

    private func read() {
        while !isOver, let output = reader.next() {
            switch output {
            case .head(let head):
                hasHead = true
                order.tell.yield(.head(status: head.status.code))
            case .content(let bytes):
                guard order.backlog.add(bytes.count) <= ClientWire.mostUnread else { return fail(.tooLong(name)) }
                order.tell.yield(.content(bytes))
            case .end: end(.end)
            case .broken: fail(.notHTTP(name))
            }
        }
    }

    /// The gateway says nothing more.
    private func finish() { if reader.finish() == .end { end(.end) } else { fail(.hungUp(name)) } }

    func fail(_ error: HookswitchClient.ConnectionError) { end(.failed(error)) }

    private func end(_ news: WireNews) {
        guard !isOver else { return }
        close()
        order.tell.yield(news)
        order.tell.finish()
    }

    func close() {
        isOver = true
        connection?.close()
    }
}
