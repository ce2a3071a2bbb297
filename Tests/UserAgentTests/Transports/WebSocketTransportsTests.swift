import Glibc
import Primitives
import Runtime
import SIP
import Testing

@testable import UserAgent

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct WebSocketTransportsTests {
        @Test(arguments: [Transport.ws, .wss]) func `messages go both ways over one connection that the client opened`(transport: Transport)
            async throws
        {
            let server = try ListeningStation([.ws, .wss], tlsContexts()), client = try ListeningStation.client(tlsContexts())
            client.send(request(1), over: client.flow(to: server, over: transport))
            client.send(request(2), over: client.flow(to: server, over: transport))
            let first = try #require(await server.next()), second = try #require(await server.next())
            #expect([first.text, second.text] == [request(1), request(2)])
            #expect(first.flow.transport == transport && first.flow.connection != 0 && first.flow.connection == second.flow.connection)
            server.send(request(3), over: first.flow)
            #expect(await client.next()?.text == request(3))
            #expect(client.counts.opened == 1 && server.counts.accepted == 1)
        }

        @Test func `secure WebSockets may have a certificate of their own`() async throws {
            let server = try ListeningStation([.wss], tlsContexts("stranger.pem"), own: tlsContexts())
            let client = try ListeningStation.client(tlsContexts())
            client.send(request(1), over: client.flow(to: server, over: .wss))
            #expect(await server.next()?.text == request(1))
        }

        @Test func `a server opens none, and tells so`() async throws {
            let one = try ListeningStation([.ws]), other = try ListeningStation([.ws])
            one.send(request(1), over: one.flow(to: other, over: .ws))
            #expect(await one.next()?.isFailure == true)
            #expect(one.counts.opened == 0 && one.counts.failed == 1)
        }

        @Test func `the end of a connection is told, and nothing leads to its client any more`() async throws {
            let server = try ListeningStation([.ws]), client = try ListeningStation.client()
            client.send(request(1), over: client.flow(to: server, over: .ws))
            let flow = try #require(await server.next()).flow
            client.close(client.flow(to: server, over: .ws))
            while let arrival = await server.next(), !arrival.isFailure {}
            #expect(!server.isOpen(flow) && server.counts.connections == 0)
            var anew = flow
            anew.connection = 0
            server.send(request(2), over: anew)
            #expect(await server.next()?.isFailure == true)
        }

        @Test func `a connection that is asked for carries its own messages alone`() async throws {
            let server = try ListeningStation([.ws]), client = try ListeningStation.client(), way = client.flow(to: server, over: .ws)
            let own = try (1...2).map { _ in try #require(client.connect(way)) }
            var seen: [String?: Flow] = [:]
            for (number, flow) in (own + [way, way]).enumerated() { client.send(request(number), over: flow) }
            for _ in 0..<4 {
                let arrival = try #require(await server.next())
                seen[arrival.text] = arrival.flow
            }
            #expect(Set(seen.values.map(\.connection)).count == 3 && seen[request(2)] == seen[request(3)], "\(seen)")
            server.send(request(9), over: try #require(seen[request(1)]))
            #expect(await client.next()?.flow == own[1], "what comes back names the connection")
            client.close(own[0])
            #expect(!client.isOpen(own[0]) && client.isOpen(own[1]))
        }

        @Test func `a server that turns a WebSocket away has refused it`() async throws {
            let server = try ListeningStation([.ws]) { $0.maximumConnectionsPerSource = 0 }, client = try ListeningStation.client()
            client.send(request(1), over: try #require(client.connect(client.flow(to: server, over: .ws))))
            while let arrival = await client.next(), !arrival.isFailure {}
            #expect(client.counts.ends.refused == 1 && client.counts.ends.total == 1 && server.counts.refused == 1)
        }

        @Test func `a server that hangs up, and one that answers no ping, are counted apart`() async throws {
            let server = try ListeningStation([.ws]), client = try ListeningStation.client()
            for number in 1...2 {
                let flow = try #require(client.connect(client.flow(to: server, over: .ws)))
                client.send(request(number), over: flow)
                // The end of the first comes before the second.
                var arrival = await server.next()
                while let came = arrival, came.text != request(number) { arrival = await server.next() }
                let seen = try #require(arrival).flow
                server.send(request(number), over: seen)
                #expect(await client.next()?.text == request(number))
                // Both at once: no pong can come in between.
                if number == 1 { server.close(seen) } else { client.lane.sync { $0.transports.jump([26, 47], from: $1) } }
                while let farewell = await client.next(), !farewell.isFailure {}
            }
            let ends = client.counts.ends
            #expect(ends.closedByPeer == 1 && ends.unanswered == 1 && ends.total == 2, "\(ends)")
        }

        @Test func `a client that does not answer a ping is let go, and one that does stays`() async throws {
            let server = try ListeningStation([.ws]), client = try ListeningStation.client()
            client.send(request(1), over: client.flow(to: server, over: .ws))
            let flow = try #require(await server.next()).flow
            let mute = try PlainPeer(SOCK_STREAM, to: server.listeners[0].address)
            mute.write(
                "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sip\r\n\r\n")
            #expect(mute.read().hasPrefix("HTTP/1.1 101 "))
            // One more message: the handshake of the mute one is older.
            client.send(request(2), over: client.flow(to: server, over: .ws))
            #expect(await server.next()?.text == request(2))
            server.wait(.seconds(26))
            client.send(request(3), over: client.flow(to: server, over: .ws))
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
            let server = try ListeningStation([.ws]) { [proxies] in
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
            let server = try ListeningStation([.ws])
            let peer = try PlainPeer(SOCK_STREAM, to: server.listeners[0].address)
            peer.write("GET /favicon.ico HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = peer.readAll()
            #expect(answer.hasPrefix("HTTP/1.1 426 ") && answer.contains("SIP over WebSocket"))
            #expect(server.counts.malformed == 1)
        }
    }
}

extension Transports {
    /// Lets the clock run ahead, to so many seconds after `now`.
    fileprivate func jump(_ seconds: [Int], from now: Instant) { for second in seconds { advance(to: now + .seconds(second)) } }
}
