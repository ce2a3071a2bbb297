import Glibc
import Primitives
import Runtime
import Testing

@testable import UserAgent

/// Settings by the certificates in Tests/Corpus.
func tlsContexts(_ identity: String? = "server.pem", clients: String? = nil) throws(TLSError) -> TLSContexts {
    let folder = "/" + "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/") + "/Corpus/certificates/"
    var settings = TLSSettings()
    settings.identities = identity.map { [.init(certificate: folder + $0, key: folder + "leaf.key")] } ?? []
    (settings.serverAuthorities, settings.clientAuthorities) = (folder + "ca.pem", clients.map { folder + $0 })
    return try TLSContexts(settings)
}

/// Says something and then farewell (close_notify), and leaves its connection standing.
private final class LeavingClient: Sendable {
    private let descriptor: FileDescriptorOwner

    init(saying text: String, to address: SocketAddress) throws {
        descriptor = FileDescriptorOwner(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let raw = descriptor.raw
        try #require(address.withSockaddr { connect(raw, $0, $1) } == 0)
        var session = try tlsContexts().connect(to: "gateway.example.test")
        _ = session.start()
        Self.write(session.takeOutput(), to: raw)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !session.isEstablished {
            let count = recv(raw, &buffer, buffer.count, 0)
            try #require(count > 0)
            _ = session.receive(Array(buffer[..<count]))
            Self.write(session.takeOutput(), to: raw)
        }
        _ = session.send(Array(text.utf8))
        session.finish()
        Self.write(session.takeOutput(), to: raw)
    }

    private static func write(_ bytes: [UInt8], to raw: Int32) {
        #expect(Glibc.send(raw, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }
}

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct TLSTransportsTests {
        @Test func `messages and answers go over one connection`() async throws {
            let caller = try ListeningStation([.tls], tlsContexts()), callee = try ListeningStation([.tls], tlsContexts())
            caller.send(request(1), over: caller.flow(to: callee))
            caller.send(request(2), over: caller.flow(to: callee))
            let first = try #require(await callee.next()), second = try #require(await callee.next())
            #expect([first.text, second.text] == [request(1), request(2)])
            #expect(first.flow.transport == .tls && first.flow.connection != 0 && first.flow.local == callee.address)
            callee.send(request(3), over: first.flow)
            let back = try #require(await caller.next())
            #expect(back.text == request(3))
            #expect(back.flow.peer == "gateway.example.test" && back.flow.local == caller.address)
            #expect(caller.counts.opened == 1 && callee.counts.accepted == 1)
        }

        /// RFC 5923 §9: what was proved for one domain is not proved for another at the same address.
        @Test func `a connection is for the domain that its certificate names`() async throws {
            let caller = try ListeningStation([.tls], tlsContexts()), callee = try ListeningStation([.tls], tlsContexts())
            caller.send(request(1), over: caller.flow(to: callee))
            #expect(await callee.next()?.text == request(1))
            caller.send(request(2), over: caller.flow(to: callee, "localhost"))
            #expect(await callee.next()?.text == request(2))
            #expect(caller.counts.opened == 2)
            caller.send(request(3), over: caller.flow(to: callee, "elsewhere.example.test"))
            let failure = try #require(await caller.next())
            #expect(failure.isFailure && failure.flow.peer == "elsewhere.example.test")
            #expect(caller.counts.handshakesFailed == 1)
        }

        @Test(arguments: ["expired.pem", "stranger.pem", "wildcard.pem"])
        func `nothing is said to a server that is not who it should be`(certificate: String) async throws {
            let caller = try ListeningStation([.tls], tlsContexts()), callee = try ListeningStation([.tls], tlsContexts(certificate))
            caller.send(request(1), over: caller.flow(to: callee))
            #expect(await caller.next()?.isFailure == true)
            while callee.counts.connections > 0 { callee.wait(.seconds(20)) }
            #expect(await callee.next()?.isFailure == true, "no message before the end")
        }

        @Test func `a failure says who opened the connection, though its peer has no name`() async throws {
            let caller = try ListeningStation([.tls], tlsContexts()), callee = try ListeningStation([.tls], tlsContexts("stranger.pem"))
            let (failures, told) = AsyncStream<Bool>.makeStream()
            for station in [caller, callee] {
                station.lane.sync { host, _ in host.transports.onTLSFailure = { _, _, isOurs in told.yield(isOurs) } }
            }
            caller.send(request(1), over: caller.flow(to: callee, ""))
            var isOurs = failures.makeAsyncIterator()
            let first = await isOurs.next(), second = await isOurs.next()
            #expect(first != second)
        }

        @Test func `a client without the certificate that is demanded is not listened to`() async throws {
            let caller = try ListeningStation([.tls], tlsContexts("stranger.pem")),
                callee = try ListeningStation([.tls], tlsContexts(clients: "ca.pem"))
            caller.send(request(1), over: caller.flow(to: callee))
            #expect(await callee.next()?.isFailure == true)
            #expect(callee.counts.handshakesFailed == 1)
        }

        @Test func `a peer that does not speak TLS is hung up on`() async throws {
            let station = try ListeningStation([.tls], tlsContexts())
            let peer = try PlainPeer(SOCK_STREAM, to: station.address)
            peer.write(request(1))
            _ = peer.readAll()
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.handshakesFailed == 1 && station.counts.connections == 0)
        }

        @Test func `a handshake that drips is given up`() async throws {
            let station = try ListeningStation([.tls], tlsContexts())
            let peer = try PlainPeer(SOCK_STREAM, to: station.address)
            peer.write("\u{16}")
            while station.counts.accepted == 0 { await Task.yield() }
            station.wait(TLSConnection.handshakeTimeout)
            #expect(peer.readAll() == "")
            #expect(station.counts.handshakesFailed == 1)
        }

        @Test func `one source has only so many handshakes at a time`() async throws {
            let station = try ListeningStation([.tls], tlsContexts()) { $0.maximumHandshakesPerSource = 3 }
            let peers = try (0..<4).map { _ in try PlainPeer(SOCK_STREAM, to: station.address) }
            while station.counts.accepted + station.counts.refused < 4 { await Task.yield() }
            #expect(station.counts.refused == 1)
            station.wait(TLSConnection.handshakeTimeout)
            let later = try PlainPeer(SOCK_STREAM, to: station.address)
            while station.counts.accepted < 4 { await Task.yield() }
            #expect(station.counts.refused == 1, "the others have gone")
            withExtendedLifetime((peers, later)) {}
        }

        @Test(arguments: [("gateway.example.test", true), ("127.0.0.1", true), ("carrier.example.test", false)])
        func `who proves its name takes requests to its own port over the connection that it opened`(host: Text, isReused: Bool)
            async throws
        {
            let caller = try ListeningStation([.tls], tlsContexts()), callee = try ListeningStation([.tls], tlsContexts(clients: "ca.pem"))
            caller.send(request(1), over: caller.flow(to: callee))
            let flow = try #require(await callee.next()).flow
            callee.lane.sync { host2, _ in host2.transports.reuse(flow, for: host, port: caller.address.port) }
            callee.send(request(2), over: callee.flow(to: caller, host))
            if isReused { #expect(await caller.next()?.text == request(2)) }
            #expect(callee.counts.opened == (isReused ? 0 : 1), "another connection only where the name was not proved")
            #expect(callee.counts.accepted == 1)
        }

        @Test func `who has shown no certificate is not believed`() async throws {
            let caller = try ListeningStation([.tls], tlsContexts()), callee = try ListeningStation([.tls], tlsContexts())
            caller.send(request(1), over: caller.flow(to: callee))
            let flow = try #require(await callee.next()).flow
            callee.lane.sync { host, _ in host.transports.reuse(flow, for: "gateway.example.test", port: caller.address.port) }
            callee.send(request(2), over: callee.flow(to: caller))
            #expect(await caller.next()?.text == request(2))
            #expect(callee.counts.opened == 1)
        }

        @Test func `who has said farewell is lost at once, though its connection stands`() async throws {
            // However slow this machine is, its own half stays open for as long as the test looks.
            let station = try ListeningStation([.tls], tlsContexts()) { $0.connection.lingerTimeout = .seconds(600) }
            let leaver = try LeavingClient(saying: request(1), to: station.address)
            let flow = try #require(await station.next()).flow
            let failure = try #require(await station.next())
            #expect(failure.isFailure)
            #expect(failure.flow == flow)
            #expect(station.counts.connections == 1, "the connection stands")
            station.send("SIP/2.0 200 OK", over: flow)
            #expect(await station.next()?.isFailure == true, "nothing is swallowed")
            withExtendedLifetime(leaver) {}
        }

        @Test func `another certificate is for the connections that come`() async throws {
            let caller = try ListeningStation([.tls], tlsContexts()), callee = try ListeningStation([.tls], tlsContexts())
            caller.send(request(1), over: caller.flow(to: callee))
            let flow = try #require(await callee.next()).flow
            let changed = try tlsContexts("second.pem")
            callee.lane.sync { host, _ in host.transports.tls = changed }
            callee.send(request(2), over: flow)
            #expect(await caller.next()?.text == request(2), "the old connection stands")
            caller.send(request(3), over: caller.flow(to: callee, "second.example.test"))
            #expect(await callee.next()?.text == request(3))
        }
    }
}
