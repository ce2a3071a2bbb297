import Foundation
import Gateway
import Primitives
import Runtime

/// What an orchestrator and a monitor ask a gateway over HTTP: `/metrics`, `/health/live` and `/health/ready`.
///
/// Thread-safe, on a lane of its own that asks the signalling lane. It answers for as long as it is kept, and holds nothing of a call.
public final class MonitorServer: Sendable {
    private let lane: Lane<MonitorListener>
    /// Where it listens, with the port that the kernel chose.
    public let address: SocketAddress

    /// - Parameter figures: called on the server's lane; nil before the gateway runs, and when it has stopped.
    public convenience init(listening address: SocketAddress, figures: @escaping @Sendable () -> GatewayFigures?) throws(SocketError) {
        try self.init(listening: address) { path in Self.answer(to: path, figures) }
    }

    /// - Parameter answer: to a GET of a path; called on the server's lane.
    public init(listening address: SocketAddress, answer: @escaping @Sendable (String) -> HTTPResponse) throws(SocketError) {
        lane = try Lane(label: "monitor") { lane, _ throws(SocketError) in try MonitorListener(address, on: lane, answer: answer) }
        self.address = lane.sync { desk, _ in desk.address } ?? address
    }

    deinit { lane.close() }

    private static func answer(to path: String, _ figures: () -> GatewayFigures?) -> HTTPResponse {
        guard ["/metrics", "/health/live", "/health/ready"].contains(path) else {
            return HTTPResponse(404, "There are /metrics, /health/live and /health/ready.\n")
        }
        guard let figures = figures() else { return HTTPResponse(503, "not running\n") }
        switch path {
        case "/metrics": return HTTPResponse(200, PrometheusText(figures).text, type: "text/plain; version=0.0.4; charset=utf-8")
        case "/health/ready": return figures.isDraining ? HTTPResponse(503, "draining\n") : HTTPResponse(200, "ready\n")
        // Alive is who answers: a gateway that drains is, and must not be restarted for it.
        default: return HTTPResponse(200, "live\n")
        }
    }
}

/// The connections of a monitor server: one request each, bounded in number, size and time. Lives on its lane.
final class MonitorListener: LaneResident {
    /// At a time; for one more the one goes that has waited longest, of those without a whole request where there are such.
    static let mostConnections = 64
    /// From the accepting to the last byte of the answer.
    static let timeout = Duration.seconds(10)

    private struct MonitorConnection {
        var tcp: TCPConnection
        var head = HTTPRequestHead()
        var due: Instant
        var isAnswered = false
    }

    private unowned let lane: any LaneDoor
    private let answer: (String) -> HTTPResponse
    /// Where it listens, with the port that the kernel chose.
    private(set) var address: SocketAddress
    private var listener: TCPListener?
    private var connections: [UInt64: MonitorConnection] = [:]
    private var last: UInt64 = 0

    init(_ address: SocketAddress, on lane: any LaneDoor, answer: @escaping (String) -> HTTPResponse) throws(SocketError) {
        (self.lane, self.answer, self.address) = (lane, answer, address)
        let listener = try TCPListener(bound: address, on: lane) { [unowned self] accepted, now in accept(accepted, at: now) }
        (self.listener, self.address) = (listener, listener.localAddress)
    }

    var deadline: Instant? { connections.values.lazy.map(\.due).min() }

    func advance(to now: Instant) {
        for (id, connection) in connections where connection.due <= now { drop(id) }
    }

    private func drop(_ id: UInt64) { connections.removeValue(forKey: id)?.tcp.close() }

    private func accept(_ accepted: consuming TCPListener.Accepted, at now: Instant) {
        makeRoom()
        last += 1
        let id = last
        let tcp = TCPConnection(accepted, on: lane, at: now) { [unowned self] _, event, now in receive(event, from: id, at: now) }
        connections[id] = MonitorConnection(tcp: tcp, due: now + Self.timeout)
    }

    /// Who only holds a connection must not keep an orchestrator from asking.
    private func makeRoom() {
        guard connections.count >= Self.mostConnections else { return }
        let silent = connections.filter { !$0.value.isAnswered }
        if let oldest = (silent.isEmpty ? connections : silent).keys.min() { drop(oldest) }
    }

    private func receive(_ event: TCPConnection.Event, from id: UInt64, at now: Instant) {
        switch event {
        case .received(let bytes): received(bytes, from: id, at: now)
        case .peerHalfClosed: if connections[id]?.isAnswered == false { drop(id) }
        case .ended: connections[id] = nil
        case .connected: break
        }
    }

    private func received(_ bytes: [UInt8], from id: UInt64, at now: Instant) {
        guard var connection = connections[id] else { return }
        let verdict = connection.head.receive(bytes)
        connection.isAnswered = verdict != .incomplete
        connections[id] = connection
        switch verdict {
        case .incomplete: return
        case .get(let path, let isHead): connection.tcp.send(answer(path).serialized(at: Date(), withoutBody: isHead), at: now)
        case .refused(let status): connection.tcp.send(HTTPResponse(status, "").serialized(at: Date()), at: now)
        }
        connection.tcp.finish(at: now)
    }
}
