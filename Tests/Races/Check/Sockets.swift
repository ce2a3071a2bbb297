import Glibc
import Primitives
import Runtime

/// Two lanes that talk by UDP and TCP on loopback; other threads post what is sent, opened, finished and closed.
func raceSockets(_ run: Run) throws -> [Figure] {
    let tallies = SocketTallies()
    let server = Lane<Desk>(label: "server") { lane, _ in Desk(lane, tallies) }
    let client = Lane<Desk>(label: "client", hasPoller: true) { lane, _ in Desk(lane, tallies) }
    guard let address = try server.sync({ desk, _ throws(SocketError) in try desk.serve() }) else { return [("services", 0)] }
    onThreads(3) { number in
        var random = run.random(number)
        while !run.isOver {
            let draw = Int.random(in: 0..<100, using: &random)
            client.post { desk, now in desk.act(draw, towards: address, at: now) }
            if draw < 5 { _ = client.sync { desk, _ in desk.connectionCount } }
            if draw % 8 == 0 { usleep(200) }
        }
        if number == 0 { client.close() }
    }
    server.close()
    return [
        ("datagrams", tallies.datagrams.count), ("connections", tallies.connections.count), ("pieces", tallies.pieces.count),
        ("ends", tallies.ends.count),
    ]
}

private struct SocketTallies: Sendable { let datagrams = Tally(), connections = Tally(), pieces = Tally(), ends = Tally() }

/// Where both services of the server are.
private struct Services: Sendable { let udp: SocketAddress, tcp: SocketAddress }

/// The sockets of one lane.
private final class Desk: LaneResident {
    private unowned let lane: Lane<Desk>
    private let tallies: SocketTallies
    private var udp: UDPSocket?
    private var listener: TCPListener?
    private var connections: [ObjectIdentifier: TCPConnection] = [:]
    private static let loopback = SocketAddress(.loopback, port: 0), mostConnections = 8

    init(_ lane: Lane<Desk>, _ tallies: SocketTallies) { (self.lane, self.tallies) = (lane, tallies) }

    var connectionCount: Int { connections.count }
    var deadline: Instant? { connections.values.compactMap(\.deadline).min() }
    func advance(to now: Instant) { for connection in connections.values { connection.advance(to: now) } }

    /// Answers each datagram and each piece of a connection with the same bytes.
    func serve() throws(SocketError) -> Services {
        let udp = try UDPSocket(bound: Self.loopback, on: lane) { [unowned self] datagram, _ in
            tallies.datagrams.add()
            try? self.udp?.send(datagram.bytes, to: datagram.source)
        }
        let listener = try TCPListener(bound: Self.loopback, on: lane) { [unowned self] accepted, now in
            keep(
                TCPConnection(accepted, on: lane, at: now) { [unowned self] connection, event, now in
                    heard(event, by: connection, at: now)
                    if case .received(let bytes) = event { connection.send(bytes, at: now) }
                    if case .peerHalfClosed = event { connection.finish(at: now) }
                })
        }
        (self.udp, self.listener) = (udp, listener)
        return Services(udp: udp.localAddress, tcp: listener.localAddress)
    }

    /// One step of the client, by the number drawn.
    func act(_ draw: Int, towards services: Services, at now: Instant) {
        switch draw {
        case 0..<50: try? openUDP()?.send([UInt8](repeating: 7, count: 200), to: services.udp)
        case 50..<53:
            udp?.close()
            udp = nil
        case 53..<65: connect(to: services.tcp, at: now)
        case 65..<90: connections.values.first?.send([UInt8](repeating: 9, count: 3_000), at: now)
        case 90..<95: connections.values.first?.finish(at: now)
        default: if let connection = connections.values.first { drop(connection) }
        }
    }

    private func openUDP() throws(SocketError) -> UDPSocket? {
        if udp == nil { udp = try UDPSocket(bound: Self.loopback, on: lane) { [tallies] _, _ in tallies.datagrams.add() } }
        return udp
    }

    private func connect(to address: SocketAddress, at now: Instant) {
        guard connections.count < Self.mostConnections else { return }
        let connection = try? TCPConnection(to: address, on: lane, at: now) { [unowned self] connection, event, now in
            heard(event, by: connection, at: now)
        }
        if let connection { keep(connection) }
    }

    private func keep(_ connection: TCPConnection) {
        connections[ObjectIdentifier(connection)] = connection
        tallies.connections.add()
    }

    private func drop(_ connection: TCPConnection) {
        connection.close()
        connections[ObjectIdentifier(connection)] = nil
    }

    private func heard(_ event: TCPConnection.Event, by connection: TCPConnection, at now: Instant) {
        switch event {
        case .received: tallies.pieces.add()
        case .ended:
            tallies.ends.add()
            connections[ObjectIdentifier(connection)] = nil
        case .connected, .peerHalfClosed: break
        }
    }
}
