import Foundation
import Gateway
import Primitives
import Runtime

/// What an orchestrator and a monitor ask a gateway over HTTP: `/metrics`, `/health/live` and `/health/ready`.
///
/// Thread-safe, on a lane of its own that asks the signalling lane. It answers for as long as it is kept, and holds nothing of a call.
public final class MonitorServer: Sendable {
    private let lane: Lane<MonitorDesk>
    /// Where it listens, with the port that the kernel chose.
    public let address: SocketAddress

    /// - Parameter figures: called on the server's lane; nil before the gateway runs, and when it has stopped.
    public convenience init(listening address: SocketAddress, figures: @escaping @Sendable () -> GatewayFigures?) throws(SocketError) {
        try self.init(listening: address) { path in Self.answer(to: path, figures) }
    }

    /// - Parameter answer: to a GET of a path; called on the server's lane.
    public init(listening address: SocketAddress, answer: @escaping @Sendable (String) -> HTTPAnswer) throws(SocketError) {
        lane = try Lane(label: "monitor") { lane, _ throws(SocketError) in try MonitorDesk(address, on: lane, answer: answer) }
        self.address = lane.sync { desk, _ in desk.address } ?? address
    }

    deinit { lane.close() }

    private static func answer(to path: String, _ figures: () -> GatewayFigures?) -> HTTPAnswer {
        guard ["/metrics", "/health/live", "/health/ready"].contains(path) else {
            return HTTPAnswer(404, "There are /metrics, /health/live and /health/ready.\n")
        }
        guard let figures = figures() else { return HTTPAnswer(503, "not running\n") }
        switch path {
        case "/metrics": return HTTPAnswer(200, PrometheusText(figures).text, type: "text/plain; version=0.0.4; charset=utf-8")
        case "/health/ready": return figures.isDraining ? HTTPAnswer(503, "draining\n") : HTTPAnswer(200, "ready\n")
        // Alive is who answers: a gateway that drains is, and must not be restarted for it.
        default: return HTTPAnswer(200, "live\n")
        }
    }
}

/// The connections of a monitor server: one question each, bounded in number, size and time. Lives on its lane.
final class MonitorDesk: LaneResident {
    /// At a time; for one more the one goes that has waited longest, of those without a question where there are such.
    static let mostConnections = 64
    /// From the accepting to the last byte of the answer.
    static let patience = Duration.seconds(10)

    private struct Visitor {
        var connection: TCPConnection
        var question = HTTPQuestion()
        var due: Instant
        var isAnswered = false
    }

    private unowned let lane: any LaneDoor
    private let answer: (String) -> HTTPAnswer
    /// Where it listens, with the port that the kernel chose.
    private(set) var address: SocketAddress
    private var listener: TCPListener?
    private var visitors: [UInt64: Visitor] = [:]
    private var last: UInt64 = 0

    init(_ address: SocketAddress, on lane: any LaneDoor, answer: @escaping (String) -> HTTPAnswer) throws(SocketError) {
        (self.lane, self.answer, self.address) = (lane, answer, address)
        let listener = try TCPListener(bound: address, on: lane) { [unowned self] accepted, now in accept(accepted, at: now) }
        (self.listener, self.address) = (listener, listener.localAddress)
    }

    var deadline: Instant? { visitors.values.lazy.map(\.due).min() }

    func advance(to now: Instant) {
        for (id, visitor) in visitors where visitor.due <= now { drop(id) }
    }

    private func drop(_ id: UInt64) { visitors.removeValue(forKey: id)?.connection.close() }

    private func accept(_ accepted: consuming TCPListener.Accepted, at now: Instant) {
        makeRoom()
        last += 1
        let id = last
        let connection = TCPConnection(accepted, on: lane, at: now) { [unowned self] _, event, now in visitor(id, did: event, at: now) }
        visitors[id] = Visitor(connection: connection, due: now + Self.patience)
    }

    /// Who only holds a connection must not keep an orchestrator from asking.
    private func makeRoom() {
        guard visitors.count >= Self.mostConnections else { return }
        let silent = visitors.filter { !$0.value.isAnswered }
        if let oldest = (silent.isEmpty ? visitors : silent).keys.min() { drop(oldest) }
    }

    private func visitor(_ id: UInt64, did event: TCPConnection.Event, at now: Instant) {
        switch event {
        case .received(let bytes): received(bytes, from: id, at: now)
        case .peerFinished: if visitors[id]?.isAnswered == false { drop(id) }
        case .ended: visitors[id] = nil
        case .connected: break
        }
    }

    private func received(_ bytes: [UInt8], from id: UInt64, at now: Instant) {
        guard var visitor = visitors[id] else { return }
        let verdict = visitor.question.receive(bytes)
        visitor.isAnswered = verdict != .incomplete
        visitors[id] = visitor
        switch verdict {
        case .incomplete: return
        case .get(let path, let isHead): visitor.connection.send(answer(path).serialized(at: Date(), withoutBody: isHead), at: now)
        case .refused(let status): visitor.connection.send(HTTPAnswer(status, "").serialized(at: Date()), at: now)
        }
        visitor.connection.finish(at: now)
    }
}
