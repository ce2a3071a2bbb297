import Foundation
import Gateway
import HTTP
import Primitives
import Runtime

/// A server of HTTP/1.1 on a lane: its connections, bounded in number, size and time, and the answers of its routes.
///
/// Lane-confined, as all that its routes touch.
final class HTTPServer: LaneResident {
    /// An address or a path to listen on.
    enum Endpoint: Hashable, Sendable {
        case tcp(SocketAddress)
        case tls(SocketAddress)
        /// A socket in the file system, which the user of the process alone may open.
        case local(path: String)
    }

    /// The limits of its clients.
    struct Limits: Sendable {
        /// At a time; for one more the one goes that has waited longest of those that have asked nothing.
        var connections = 256
        /// From the first byte of a request, or the beginning of the connection, to the whole of it.
        var requestTimeout = Duration.seconds(10)
        /// From an answer to the next request.
        var idleTimeout = Duration.seconds(60)
        var request = HTTPRequestReader.Limits()

        init() {}
    }

    private unowned let lane: any LaneDoor
    private let routes: HTTPRoutes
    private let limits: Limits
    private let isCompressing: Bool
    private let refusal: (HTTPResponse.Status) -> HTTPReply
    private let admit: (HTTPAsk) -> AccessControl.Decision
    private var listeners: [TCPListener] = []
    private(set) var connections: [UInt64: HTTPConnection] = [:]
    private var last: UInt64 = 0
    /// The certificates for new connections.
    var tls: TLSContexts?
    var counts = HTTPCounts()
    /// With the ports that the kernel chose, in the order of the endpoints.
    private(set) var addresses: [SocketAddress] = []

    /// Binds and listens.
    ///
    /// - Parameters:
    ///   - endpoints: where it listens.
    ///   - tls: of the sessions of TLS endpoints.
    ///   - routes: what it answers.
    ///   - limits: of all clients.
    ///   - isCompressing: content goes in gzip to clients that take it, where it pays.
    ///   - refusal: the answer to what no route answers: no such path, no such method, or no request as HTTP has it.
    ///   - admit: who may do what; asked before a route.
    ///   - lane: the lane that it lives on.
    init(
        _ endpoints: [Endpoint], tls: TLSContexts? = nil, routes: HTTPRoutes, limits: Limits = Limits(), isCompressing: Bool = false,
        refusal: @escaping (HTTPResponse.Status) -> HTTPReply = { HTTPReply($0) },
        admit: @escaping (HTTPAsk) -> AccessControl.Decision = { _ in .granted(.everything) },
        on lane: any LaneDoor
    ) throws(SocketError) {
        (self.lane, self.tls, self.routes, self.limits, self.refusal) = (lane, tls, routes, limits, refusal)
        (self.admit, self.isCompressing) = (admit, isCompressing)
        for endpoint in endpoints {
            let listener = try listen(endpoint)
            listeners.append(listener)
            addresses.append(listener.localAddress)
        }
    }

    private func listen(_ endpoint: Endpoint) throws(SocketError) -> TCPListener {
        switch endpoint {
        case .tcp(let address):
            try TCPListener(bound: address, on: lane) { [unowned self] in accept($0, isLocal: false, isSecure: false, at: $1) }
        case .tls(let address):
            try TCPListener(bound: address, on: lane) { [unowned self] in accept($0, isLocal: false, isSecure: true, at: $1) }
        case .local(let path):
            try TCPListener(path: path, on: lane) { [unowned self] in accept($0, isLocal: true, isSecure: false, at: $1) }
        }
    }

    /// Connections that are open.
    var connectionCount: Int { connections.count }

    var deadline: Instant? { connections.values.lazy.compactMap(\.deadline).min() }

    func advance(to now: Instant) {
        for connection in connections.values {
            if let due = connection.due, due <= now {
                counts.late += 1
                drop(connection)
            } else {
                if connection.state == .upgraded, let socket = connection.socket { advance(socket, of: connection, to: now) }
                connection.wire?.advance(to: now)
                if let next = connection.nextPiece, next <= now { pump(connection, at: now) }
            }
        }
    }

    /// Takes no more connections; those that are open live on.
    func stopListening() {
        for listener in listeners { listener.close() }
    }
}

// MARK: Connections

extension HTTPServer {
    private func accept(_ accepted: consuming TCPListener.Accepted, isLocal: Bool, isSecure: Bool, at now: Instant) {
        guard makeRoom() else { return counts.crowdedOut += 1 }
        counts.connections += 1
        last += 1
        let id = last,
            connection = HTTPConnection(id, from: accepted.remote, isLocal: isLocal, isSecure: isSecure, limits.request)
        connection.due = now + limits.requestTimeout
        connections[id] = connection
        var patience = TCPConnection.Limits()
        (patience.writeTimeout, patience.unsentBytes) = (.seconds(10), HTTPConnection.mostUnsent)
        if isSecure {
            guard let tls, tls.canServe else { return connections[id] = nil }
            connection.wire = TLSConnection(accepted, session: tls.accept(), limits: patience, on: lane, at: now) {
                [unowned self] _, event, now in receive(event, from: id, at: now)
            }
        } else {
            connection.wire = TCPConnection(accepted, limits: patience, on: lane, at: now) { [unowned self] _, event, now in
                receive(event, from: id, at: now)
            }
        }
    }

    /// Closes an idle connection where there are too many. False where none is idle.
    private func makeRoom() -> Bool {
        guard connections.count >= limits.connections else { return true }
        guard let oldest = connections.values.filter(\.isExpendable).min(by: { $0.id < $1.id }) else { return false }
        counts.crowdedOut += 1
        drop(oldest)
        return true
    }

    /// Another lane goes on with its wire; nil: it is over.
    func giveUp(_ connection: HTTPConnection) -> (any StreamConnection)? {
        guard connections.removeValue(forKey: connection.id) != nil else { return nil }
        defer { connection.wire = nil }
        (connection.state, connection.due) = (.finishing, nil)
        return connection.wire
    }

    func drop(_ connection: HTTPConnection) {
        connections[connection.id] = nil
        (connection.state, connection.due) = (.finishing, nil)
        (connection.file, connection.nextPiece) = (nil, nil)
        connection.wire?.close()
        connection.leave()
    }

    private func receive(_ event: TCPConnection.Event, from id: UInt64, at now: Instant) {
        guard let connection = connections[id] else { return }
        switch event {
        case .connected: break
        case .received(let bytes): received(bytes, from: connection, at: now)
        case .peerHalfClosed:
            connection.isHalfClosed = true
            switch connection.state {
            case .waiting: finish(connection, at: now)
            case .streaming: if connection.file == nil { drop(connection) }
            case .upgraded: drop(connection)
            case .handling, .finishing: break
            }
        case .ended(let end):
            // A client that was told to come again is counted already.
            if end == .stalled, connection.state != .upgraded || connection.ended != nil { counts.noteStalled(connection) }
            connections[id] = nil
            (connection.file, connection.nextPiece) = (nil, nil)
            connection.leave()
        }
    }

    private func received(_ bytes: [UInt8], from connection: HTTPConnection, at now: Instant) {
        if connection.state == .upgraded, let socket = connection.socket { return received(bytes, over: socket, of: connection, at: now) }
        guard connection.state == .waiting || connection.state == .handling else { return }
        if connection.state == .waiting, connection.reader.isBetweenRequests { connection.due = now + limits.requestTimeout }
        connection.reader.receive(bytes)
        // Requests that are pipelined wait for the answer before them, as far as there is room.
        guard connection.reader.waitingCount <= limits.request.head + limits.request.body + 4_096 else { return drop(connection) }
        serve(connection, at: now)
    }

    /// The next request, where the one before has its answer.
    private func serve(_ connection: HTTPConnection, at now: Instant) {
        // An answer that comes at once calls for the next request: in this loop, and not in one within it.
        guard !connection.isServing else { return }
        connection.isServing = true
        defer { connection.isServing = false }
        while connection.state == .waiting, let output = connection.reader.next() {
            switch output {
            case .wantsContinue: send(HTTPWriter.continues, to: connection, at: now)
            case .refused(let status):
                counts.refused += 1
                connection.begin(nil)
                answer(connection.id, refusal(status), at: now)
            case .request(let request):
                counts.requests += 1
                connection.begin(request)
                dispatch(request, from: connection, at: now)
            }
        }
    }

    private func dispatch(_ request: IncomingRequest, from connection: HTTPConnection, at now: Instant) {
        let responder = HTTPResponder(self, connection.id, request.head.method)
        switch routes.match(request) {
        case .found(let route, let parameters):
            var ask = HTTPAsk(
                request: request, parameters: parameters, isLocal: connection.isLocal, isSecure: connection.isSecure,
                source: connection.source, now: now)
            switch admit(ask) {
            case .refused(let refusal): responder.reply(refusal, at: now)
            case .granted(let grant):
                ask.grant = grant
                route.run(ask, responder)
            }
        case .otherMethods(let methods):
            let allowed = methods.contains(.get) ? methods + [.head] : methods
            var reply = request.head.method == .options ? HTTPReply(.noContent) : refusal(.methodNotAllowed)
            reply.fields[.allow] = (allowed + [.options]).map(\.rawValue).joined(separator: ", ")
            responder.reply(reply, at: now)
        case .none: responder.reply(refusal(.notFound), at: now)
        }
    }
}

// MARK: Answers

extension HTTPServer {
    func answer(_ id: UInt64, _ reply: HTTPReply, at now: Instant) {
        guard let connection = connections[id], connection.state == .handling else { return }
        let exchange = connection.exchange, stays = exchange.keepsAlive && !connection.isHalfClosed
        let reply = isCompressing ? reply.coded(for: exchange) : reply
        counts.answers.note(exchange.method, reply.status)
        send(HTTPWriter.bytes(of: reply, to: exchange.method ?? .get, keepsAlive: stays, date: Self.date), to: connection, at: now)
        guard stays else { return finish(connection, at: now) }
        connection.state = .waiting
        connection.due = now + (connection.reader.isBetweenRequests ? limits.idleTimeout : limits.requestTimeout)
        serve(connection, at: now)
    }

    /// All that leaves goes this way, and is counted.
    func send(_ bytes: [UInt8], to connection: HTTPConnection, at now: Instant) {
        counts.sentBytes += UInt64(bytes.count)
        connection.wire?.send(bytes, at: now)
    }

    static var date: String { Runtime.WallClock.header(unixSeconds: Int(Runtime.WallClock.now / 1_000_000_000)) }

    func finish(_ connection: HTTPConnection, at now: Instant) {
        (connection.state, connection.due) = (.finishing, nil)
        connection.wire?.finish(at: now)
    }

    func beginStream(_ id: UInt64, type: String, at now: Instant, ended: @escaping () -> Void) -> HTTPStream? {
        guard let connection = connections[id], connection.state == .handling, !connection.isHalfClosed else { return nil }
        connection.state = .streaming
        connection.ended = ended
        let fields: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        counts.answers.note(connection.exchange.method, .ok)
        send(HTTPWriter.streamHead(.ok, fields, isOld: connection.exchange.isOld, date: Self.date), to: connection, at: now)
        if connection.exchange.method == .head {
            endStream(id, at: now)
            return nil
        }
        return HTTPStream(self, id)
    }

    func send(_ bytes: [UInt8], over id: UInt64, at now: Instant) {
        guard let connection = connections[id], connection.state == .streaming, let wire = connection.wire, !bytes.isEmpty else { return }
        guard wire.unsentCount + bytes.count <= HTTPStream.mostUnsent else {
            counts.noteStalled(connection)
            return drop(connection)
        }
        send(HTTPWriter.piece(bytes, isOld: connection.exchange.isOld), to: connection, at: now)
    }

    func endStream(_ id: UInt64, at now: Instant) {
        guard let connection = connections[id], connection.state == .streaming else { return }
        connection.ended = nil
        send(HTTPWriter.streamEnd(isOld: connection.exchange.isOld), to: connection, at: now)
        finish(connection, at: now)
    }
}
