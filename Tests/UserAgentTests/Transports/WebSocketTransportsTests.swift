import Glibc
import Primitives
import Runtime
import SIP
import Testing

@testable import UserAgent

/// Transports that listen for WebSockets, or open them.
private struct WebStation {
    let lane: Lane<SignallingHost<NotingEndpoint>>
    let listeners: [Transports.Listener]
    private let arrivals: AsyncStream<Arrival>

    init(
        _ transports: [Transport], _ contexts: TLSContexts? = nil, own: TLSContexts? = nil,
        adjust: @Sendable (inout Transports.Configuration) -> Void = { _ in }
    ) throws(SocketError) {
        let (stream, note) = AsyncStream<Arrival>.makeStream()
        arrivals = stream
        var configuration = Transports.Configuration(listeners: transports.map { .init($0, SocketAddress(.loopback, port: 0)) })
        adjust(&configuration)
        lane = try Lane(label: "web") { [configuration] lane, _ throws(SocketError) in
            SignallingHost(transports: try Transports(configuration, tls: contexts, webSocketTLS: own, on: lane)) {
                NotingEndpoint(transports: $0, note: note)
            }
        }
        listeners = lane.sync { host, _ in host.transports.listeners }!
    }

    /// One that opens WebSockets.
    static func client(_ contexts: TLSContexts? = nil) throws(SocketError) -> WebStation {
        try WebStation([], contexts) { $0.opensWebSockets = true }
    }

    func next() async -> Arrival? {
        for await arrival in arrivals { return arrival }
        return nil
    }

    func send(_ text: String, over flow: Flow) { lane.sync { host, _ in host.endpoint.send(Array(text.utf8), over: flow) } }
    var counts: Transports.Counts { lane.sync { host, _ in host.transports.counts }! }
    func wait(_ duration: Duration) { lane.sync { host, now in host.transports.advance(to: now + duration) } }
    func close(_ flow: Flow) { lane.sync { host, _ in host.transports.close(flow) } }
    func isOpen(_ flow: Flow) -> Bool { lane.sync { host, _ in host.transports.isOpen(flow) }! }

    func flow(to other: WebStation, _ transport: Transport) -> Flow {
        let address = other.listeners.first { $0.transport == transport }!.address
        return Flow(
            transport: transport, local: SocketAddress(.loopback, port: 0), remote: address,
            peer: transport == .wss ? "gateway.example.test" : .empty)
    }
}

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct WebSocketTransportsTests {
        @Test(arguments: [Transport.ws, .wss]) func `messages go both ways over one connection that the client opened`(transport: Transport)
            async throws
        {
            let server = try WebStation([.ws, .wss], tlsContexts()), client = try WebStation.client(tlsContexts())
            client.send(request(1), over: client.flow(to: server, transport))
            client.send(request(2), over: client.flow(to: server, transport))
            let first = try #require(await server.next()), second = try #require(await server.next())
            #expect([first.text, second.text] == [request(1), request(2)])
            #expect(first.flow.transport == transport && first.flow.connection != 0 && first.flow.connection == second.flow.connection)
            server.send(request(3), over: first.flow)
            #expect(await client.next()?.text == request(3))
            #expect(client.counts.opened == 1 && server.counts.accepted == 1)
        }

        @Test func `secure WebSockets may have a certificate of their own`() async throws {
            let server = try WebStation([.wss], tlsContexts("stranger.pem"), own: tlsContexts())
            let client = try WebStation.client(tlsContexts())
            client.send(request(1), over: client.flow(to: server, .wss))
            #expect(await server.next()?.text == request(1))
        }

        @Test func `a server opens none, and tells so`() async throws {
            let one = try WebStation([.ws]), other = try WebStation([.ws])
            one.send(request(1), over: one.flow(to: other, .ws))
            #expect(await one.next()?.isFailure == true)
            #expect(one.counts.opened == 0 && one.counts.failed == 1)
        }

        @Test func `the end of a connection is told, and nothing leads to its client any more`() async throws {
            let server = try WebStation([.ws]), client = try WebStation.client()
            client.send(request(1), over: client.flow(to: server, .ws))
            let flow = try #require(await server.next()).flow
            client.close(client.flow(to: server, .ws))
            while let arrival = await server.next(), !arrival.isFailure {}
            #expect(!server.isOpen(flow) && server.counts.connections == 0)
            var anew = flow
            anew.connection = 0
            server.send(request(2), over: anew)
            #expect(await server.next()?.isFailure == true)
        }

        @Test func `a client that does not answer a ping is let go, and one that does stays`() async throws {
            let server = try WebStation([.ws]), client = try WebStation.client()
            client.send(request(1), over: client.flow(to: server, .ws))
            let flow = try #require(await server.next()).flow
            let mute = try PlainPeer(SOCK_STREAM, to: server.listeners[0].address)
            mute.write(
                "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sip\r\n\r\n")
            #expect(mute.read().hasPrefix("HTTP/1.1 101 "))
            // One more message: the handshake of the mute one is older.
            client.send(request(2), over: client.flow(to: server, .ws))
            #expect(await server.next()?.text == request(2))
            server.wait(.seconds(26))
            client.send(request(3), over: client.flow(to: server, .ws))
            #expect(await server.next()?.text == request(3))
            server.wait(.seconds(47))
            let failure = try #require(await server.next())
            #expect(failure.isFailure && failure.flow.connection != flow.connection)
            #expect(server.isOpen(flow))
        }

        @Test func `a proxy's word on who connected is believed where the settings say so, and limits still go by the connection`()
            async throws
        {
            let proxies = [try #require(IPNetwork("127.0.0.0/8"))]
            let server = try WebStation([.ws]) { [proxies] in
                $0.webSocketProxies = proxies
                $0.maximumConnectionsPerSource = 1
            }
            let peer = try PlainPeer(SOCK_STREAM, to: server.listeners[0].address)
            peer.write(
                "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sip\r\n"
                    + "X-Forwarded-For: 198.51.100.9\r\n\r\n")
            #expect(peer.read().hasPrefix("HTTP/1.1 101 "))
            // A frame in the clear mask: text of three bytes.
            peer.write("\u{01}")
            peer.finish()
            while let arrival = await server.next() {
                #expect(arrival.flow.remote.address == IPAddress("198.51.100.9"))
                if arrival.isFailure { break }
            }
            // Nothing is left of the one connection that a source may have.
            let next = try PlainPeer(SOCK_STREAM, to: server.listeners[0].address)
            next.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(next.readAll().hasPrefix("HTTP/1.1 426 "))
        }

        @Test func `HTTP that is no handshake is answered, counted and ended`() async throws {
            let server = try WebStation([.ws])
            let peer = try PlainPeer(SOCK_STREAM, to: server.listeners[0].address)
            peer.write("GET /favicon.ico HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = peer.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 426 ") && answer.contains("SIP over WebSocket"))
            #expect(server.counts.malformed == 1)
        }
    }
}
