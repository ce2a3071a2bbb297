import HTTP
import Primitives
import Runtime

/// One request to another gateway, from its first address that answers to the end of the answer, over a connection of its own.
///
/// Lane-confined. It keeps no timer: its owner calls `advance(to:)` when `deadline` has come.
final class NodeExchange {
    enum Event {
        case head(HTTPResponse)
        /// Never empty.
        case content([UInt8])
        /// The last event: nil where the answer is whole, else why it is not, in a few words for a person.
        case ended(String?)
    }

    /// The patience of a request.
    enum Patience {
        /// The whole answer has come within this time.
        case whole(Duration)
        /// The answer goes on, and says something within this time.
        case silence(Duration)

        fileprivate var time: Duration {
            switch self {
            case .whole(let time), .silence(let time): time
            }
        }
    }

    private enum State {
        /// Its addresses are not known yet. Next: `connecting`, `over`.
        case waiting
        /// Next: `asked`, `over`.
        case connecting
        /// Next: `over`.
        case asked
        /// Absorbing.
        case over
    }

    let node: NodeSettings.Node
    private unowned let lane: any LaneDoor
    private let request: [UInt8]
    private let trust: TLSContexts?
    private let patience: Patience
    private let receive: (Event, Instant) -> Void
    private var state = State.waiting
    private var rest: ArraySlice<SocketAddress> = []
    private var connection: (any StreamConnection)?
    private var reader: HTTPResponseReader
    private var limit: Instant

    /// - Parameter method: of the request, whose bytes are `request`.
    init(
        _ method: HTTPRequest.Method, _ request: [UInt8], to node: NodeSettings.Node, trusting trust: TLSContexts?, _ patience: Patience,
        on lane: any LaneDoor, at now: Instant, receive: @escaping (Event, Instant) -> Void
    ) {
        (self.node, self.request, self.trust, self.patience) = (node, request, trust, patience)
        (self.lane, self.receive, reader, limit) = (lane, receive, HTTPResponseReader(to: method), now + patience.time)
    }

    var isOver: Bool { if case .over = state { true } else { false } }
    var deadline: Instant? { isOver ? nil : min(limit, connection?.deadline ?? .distantFuture) }

    /// Calls the first of the addresses.
    func begin(at addresses: [SocketAddress], _ now: Instant) {
        guard case .waiting = state else { return }
        (state, rest) = (.connecting, addresses[...])
        callNext(at: now)
    }

    func advance(to now: Instant) {
        guard !isOver else { return }
        if limit <= now { return end("does not answer", at: now) }
        connection?.advance(to: now)
    }

    /// Ends it; no event follows.
    func close() {
        state = .over
        connection?.close()
        connection = nil
    }

    private func callNext(at now: Instant) {
        guard let address = rest.popFirst() else { return end("cannot be reached", at: now) }
        connection?.close()
        var limits = TCPConnection.Limits()
        (limits.connectTimeout, limits.writeTimeout) = (.seconds(2), .seconds(10))
        do throws(SocketError) { connection = try connect(to: address, limits, at: now) } catch { callNext(at: now) }
    }

    private func connect(to address: SocketAddress, _ limits: TCPConnection.Limits, at now: Instant) throws(SocketError)
        -> any StreamConnection
    {
        guard node.isSecure, let trust else {
            return try TCPConnection(to: address, limits: limits, on: lane, at: now) { [weak self] in self?.note($1, at: $2) }
        }
        return try TLSConnection(
            to: address, from: nil, session: trust.connect(to: node.host, naming: .web), limits: limits, on: lane, at: now
        ) { [weak self] in self?.note($1, at: $2) }
    }

    private func note(_ event: TCPConnection.Event, at now: Instant) {
        switch event {
        case .connected:
            guard case .connecting = state else { return }
            state = .asked
            connection?.send(request, at: now)
        case .received(let bytes):
            if case .silence(let time) = patience { limit = now + time }
            reader.receive(bytes)
            read(at: now)
        case .peerHalfClosed: finish(at: now)
        case .ended(.connectFailed): callNext(at: now)
        case .ended(.tls(let error)): end("has no certificate that is trusted: \(error)", at: now)
        case .ended: finish(at: now)
        }
    }

    private func read(at now: Instant) {
        while !isOver, let output = reader.next() {
            switch output {
            case .head(let head): receive(.head(head), now)
            case .content(let bytes): receive(.content(bytes), now)
            case .end: end(nil, at: now)
            case .broken: end("does not speak HTTP", at: now)
            }
        }
    }

    /// The connection has ended.
    private func finish(at now: Instant) {
        guard !isOver else { return }
        if case .end = reader.finish() { end(nil, at: now) } else { end("broke off", at: now) }
    }

    private func end(_ cause: String?, at now: Instant) {
        guard !isOver else { return }
        close()
        receive(.ended(cause), now)
    }
}
