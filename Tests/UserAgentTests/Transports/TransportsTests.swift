import Glibc
import Primitives
import Runtime
import SIP
import Testing

@testable import UserAgent

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct TransportsTests {
        @Test(arguments: [IPAddress.loopback, IPAddress("::1")!])
        func `a datagram comes with its flow, and an answer goes back over it`(address: IPAddress) async throws {
            let station = try Station(address)
            let peer = try PlainPeer(SOCK_DGRAM, to: station.udp)
            peer.write("hello")
            let arrival = try #require(await station.next())
            #expect(arrival.text == "hello")
            #expect(arrival.flow == Flow(transport: .udp, local: station.udp, remote: peer.local))
            station.send("back", over: arrival.flow)
            #expect(peer.read() == "back")
        }

        @Test(arguments: [IPAddress.loopback, IPAddress("::1")!, .anyV4])
        func `a datagram that finds nobody comes back, and what is sent and received meanwhile is not lost`(address: IPAddress) async throws
        {
            let station = try Station(address)
            let here = address.isAny ? SocketAddress(.loopback, port: station.udp.port) : station.udp
            let peer = try PlainPeer(SOCK_DGRAM, to: here), gone = try PlainPeer(SOCK_DGRAM, to: here).local
            for number in 0..<20 {
                station.send("to nobody \(number)", over: station.flow(to: gone, .udp))
                station.send("to somebody", over: station.flow(to: peer.local, .udp))
                peer.write("hello \(number)")
                #expect(peer.read() == "to somebody")
            }
            var returned: [String] = [], came: [String] = []
            while returned.count + came.count < 40, let arrival = await station.next() {
                if let text = arrival.portUnreachable { returned.append(text) } else { came.append(arrival.text ?? "a failure") }
            }
            #expect(returned == (0..<20).map { "to nobody \($0)" } && came == (0..<20).map { "hello \($0)" })
            let counts = station.counts.datagrams
            #expect(counts.portUnreachable == 20 && counts.sent == 40 && counts.sendFailures == 0 && counts.receiveFailures == 0)
        }

        @Test func `what is too long for a datagram fails nobody else's requests to the same address`() async throws {
            let station = try Station(), peer = try PlainPeer(SOCK_DGRAM, to: station.udp), flow = station.flow(to: peer.local, .udp)
            let long = String(repeating: "a", count: 70_000)
            station.send("SIP/2.0 400 " + long, over: flow)
            station.wait(.zero)
            peer.write("hello")
            #expect(await station.next()?.text == "hello")
            station.send("INVITE " + long, over: flow)
            station.wait(.zero)
            peer.write("again")
            #expect(await station.next()?.text == "again" && station.counts.failed == 2)
        }

        @Test func `on the wildcard the flow names the address that was called`() async throws {
            let station = try Station(.anyV4)
            let called = SocketAddress(IPAddress(v4: 0x7F00_0003), port: station.udp.port)
            let peer = try PlainPeer(SOCK_DGRAM, to: called)
            peer.write("hello")
            let flow = try #require(await station.next()).flow
            #expect(flow.local == called)
            station.send("back", over: flow)
            // The peer's socket is connected: it takes an answer from the called address only.
            #expect(peer.read() == "back")
        }

        @Test func `a datagram tells how long it lay unread while the lane was busy, and a stream's message does not`() async throws {
            let station = try Station(), peer = try PlainPeer(SOCK_DGRAM, to: station.udp),
                stream = try PlainPeer(SOCK_STREAM, to: station.tcp)
            station.lane.sync { _, _ in
                peer.write("hello")
                let written = MonotonicClock.now
                while MonotonicClock.now < written + .milliseconds(10) {}
            }
            #expect(await station.next()?.text == "hello")
            stream.write(request(1, body: ""))
            #expect(await station.next()?.text == request(1, body: ""))
            let backlogs = try #require(station.lane.sync { host, _ in host.endpoint.backlogs })
            #expect(
                backlogs.count == 2 && backlogs[0] >= .milliseconds(9) && backlogs[0] < .seconds(60) && backlogs[1] == .zero, "\(backlogs)")
        }

        @Test func `several messages of one segment come one by one`() async throws {
            let station = try Station()
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            let messages = (1...20).map { request($0, body: $0 == 3 ? "some body\r\n" : "") }
            peer.write(messages.joined())
            for message in messages { #expect(await station.next()?.text == message) }
        }

        @Test func `a message that comes byte by byte is one message`() async throws {
            let station = try Station()
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            let message = request(1, body: "v=0\r\n")
            for byte in message.utf8 { peer.write(String(UnicodeScalar(byte))) }
            #expect(await station.next()?.text == message)
            #expect(station.counts.accepted == 1)
        }

        @Test func `the CRLF that answers our ping is told, the connection lives on, and closing it is told as its failure`() async throws {
            let station = try Station(), listener = try PlainListener(), flow = station.flow(to: listener.address)
            station.send("\r\n\r\n", over: flow)
            try await listener.withNextAsync { write, read in
                #expect(read() == "\r\n\r\n")
                write("\r\n")
                let pong = try #require(await station.next())
                #expect(pong.text == "\r\n" && pong.flow.remote == listener.address)
                // A lone line end is no message that is half here: nothing is given up for it.
                write("\r\n")
                station.wait(.seconds(40))
                #expect(station.counts.malformed == 0 && station.counts.connections == 1)
                station.lane.sync { host, _ in host.transports.close(flow) }
                #expect(read() == "")
            }
            station.wait(.zero)
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.connections == 0)
        }

        @Test func `a double CRLF is answered with one, between messages too`() async throws {
            let station = try Station()
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write("\r\n\r\n")
            #expect(peer.read() == "\r\n")
            peer.write(request(1) + "\r\n\r\n" + request(2))
            #expect(peer.read() == "\r\n")
            #expect(await station.next()?.text == request(1))
            #expect(await station.next()?.text == request(2))
        }

        @Test func `an answer goes back over its connection, and so does a request to the same peer`() async throws {
            let station = try Station()
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write(request(1))
            let flow = try #require(await station.next()).flow
            #expect(flow.connection != 0)
            #expect(flow.remote == peer.local)
            #expect(flow.local == station.tcp)
            station.send("answer", over: flow)
            #expect(peer.read() == "answer")
            station.send("request", over: station.flow(to: peer.local))
            #expect(peer.read() == "request")
            #expect(station.counts.opened == 0)
        }

        @Test func `a connection is opened once and used again`() async throws {
            let station = try Station()
            let listener = try PlainListener()
            #expect(!station.isConnected(station.flow(to: listener.address)))
            station.send("one ", over: station.flow(to: listener.address))
            station.send("two", over: station.flow(to: listener.address))
            var got = "", carrier: UInt64 = 0
            listener.withNext { write, read in
                while got.count < 7 { got += read() }
                #expect(station.isConnected(station.flow(to: listener.address)))
                carrier = station.carrier(of: station.flow(to: listener.address))
                write(request(9))
            }
            #expect(got == "one two")
            let flow = try #require(await station.next()).flow
            // Not the port that the connection happens to have: the one that Via and Contact may name.
            #expect(flow.local == station.tcp)
            #expect(flow.remote == listener.address)
            #expect(station.counts.opened == 1 && flow.connection == carrier)
            // The peer has closed, and nothing is owed to it.
            let failure = try #require(await station.next())
            #expect(failure.isFailure)
            #expect(failure.flow == flow)
            #expect(!station.isConnected(station.flow(to: listener.address)))
        }

        @Test func `nobody there is told, and later`() async throws {
            let station = try Station()
            let nobody = try PlainListener().address
            station.send("x", over: station.flow(to: nobody))
            let arrival = try #require(await station.next())
            #expect(arrival.isFailure)
            #expect(arrival.flow.remote == nobody)
            #expect(station.counts.connections == 0)
        }

        @Test(arguments: [
            Flow(transport: .tcp, local: SocketAddress(.loopback, port: 5060), remote: SocketAddress(.loopback, port: 9), connection: 77),
            Flow(transport: .tls, local: SocketAddress(.loopback, port: 5061), remote: SocketAddress(.loopback, port: 9)),
            Flow(transport: .udp, local: SocketAddress(.anyV6, port: 5060), remote: SocketAddress(IPAddress("::1")!, port: 9)),
            Flow(transport: .tcp, local: SocketAddress(IPAddress("192.0.2.1")!, port: 5060), remote: SocketAddress(.loopback, port: 9)),
        ])
        func `a flow that is not there is told, and later`(flow: Flow) async throws {
            let station = try Station()
            station.send("x", over: flow)
            let arrival = try #require(await station.next())
            #expect(arrival.isFailure)
            #expect(arrival.flow == flow)
        }

        @Test func `only a connection that breaks or is never made counts as failed`() async throws {
            let station = try Station()
            let leaver = try PlainPeer(SOCK_STREAM, to: station.tcp)
            leaver.write(request(1))
            _ = await station.next()
            leaver.finish()
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.failed == 0)
            let silent = try PlainPeer(SOCK_STREAM, to: station.tcp)
            silent.write(request(2))
            _ = await station.next()
            station.wait(.seconds(3_600))
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.failed == 0)
            station.send("x", over: station.flow(to: SocketAddress(.loopback, port: 9)))
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.failed == 1)
        }

        @Test func `a transport knows for which addresses it has a UDP socket`() throws {
            let station = try Station()
            let answers = station.lane.sync { host, _ in
                [IPAddress.loopback, IPAddress("::1")!].map { host.transports.speaksUDP(with: $0) }
            }
            #expect(answers == [true, false])
        }

        @Test func `a stream that cannot be cut is answered and closed`() async throws {
            let station = try Station()
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write(request(1) + request(2).replacing("Content-Length: 0", with: "Content-Length: many") + request(3))
            #expect(await station.next()?.text == request(1))
            let answer = peer.readAll()
            #expect(answer.hasPrefix("SIP/2.0 400 "))
            #expect(answer.contains("CSeq: 2 OPTIONS"))
            #expect(station.counts.malformed == 1)
            peer.finish()
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.connections == 0)
        }

        @Test func `where strangers hear nothing, a stream that cannot be cut is closed without a word`() async throws {
            let station = try Station()
            station.lane.sync { host, _ in host.endpoint.isSilent = true }
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write(request(1).replacing("Content-Length: 0\r\n", with: ""))
            #expect(peer.readAll() == "")
            #expect(station.counts.malformed == 1)
        }

        @Test func `where strangers hear nothing, a ping is answered after something else was`() async throws {
            let station = try Station()
            station.lane.sync { host, _ in host.endpoint.isSilent = true }
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write("\r\n\r\n" + request(1))
            station.send("SIP/2.0 200 OK", over: try #require(await station.next()).flow)
            #expect(peer.read() == "SIP/2.0 200 OK")
            peer.write("\r\n\r\n")
            #expect(peer.read() == "\r\n")
        }

        @Test func `a message that drips for too long is given up`() async throws {
            // Far apart, for a machine on which a moment takes seconds.
            let station = try Station { $0.messageTimeout = .seconds(600) }
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write(request(1) + "OPTIONS sip:")
            _ = await station.next()
            station.wait(.seconds(300))
            #expect(station.counts.malformed == 0)
            station.wait(.seconds(600))
            #expect(peer.readAll() == "")
            #expect(station.counts.malformed == 1)
        }

        @Test func `who leaves in the middle of a message is not waited for`() async throws {
            let station = try Station { $0.connection.lingerTimeout = .seconds(3_600) }
            let leaver = try PlainPeer(SOCK_STREAM, to: station.tcp)
            leaver.write("OPTIONS sip:x SIP/2.0\r\nVia: ")
            leaver.finish()
            #expect(leaver.readAll() == "")
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.connections == 0)
        }

        @Test func `a connection that its peer has closed is left at once where nothing is to be answered, and counts no more`()
            async throws
        {
            let station = try Station { ($0.connection.lingerTimeout, $0.maximumConnectionsPerSource) = (.seconds(600), 1) }
            for number in 1...3 {
                let leaver = try PlainPeer(SOCK_STREAM, to: station.tcp)
                leaver.write(request(number))
                let flow = try #require(await station.next()).flow
                station.send("SIP/2.0 200 OK", over: flow)
                leaver.finish()
                #expect(leaver.readAll() == "SIP/2.0 200 OK")
                let failure = await station.next()
                #expect(failure?.isFailure == true && failure?.flow == flow)
            }
            #expect(station.counts.connections == 0 && station.counts.refused == 0 && station.counts.failed == 0)
        }

        @Test func `a connection that its peer has closed stays until everything is answered, and counts`() async throws {
            let station = try Station { ($0.connection.lingerTimeout, $0.maximumConnectionsPerSource) = (.seconds(600), 1) }
            station.owe(true)
            let waiting = try PlainPeer(SOCK_STREAM, to: station.tcp)
            waiting.write(request(1))
            let flow = try #require(await station.next()).flow
            waiting.finish()
            let farewell = try #require(await station.next())
            #expect(farewell.isFarewell && farewell.flow == flow && !station.isOpen(flow), "requests hear that it is over, answers do not")
            station.wait(.seconds(1_200))
            station.send("SIP/2.0 180 Ringing", over: flow)
            #expect(waiting.read() == "SIP/2.0 180 Ringing")
            #expect(try PlainPeer(SOCK_STREAM, to: station.tcp).readAll() == "" && station.counts.refused == 1)
            station.owe(false)
            station.send("SIP/2.0 200 OK", over: flow)
            #expect(waiting.readAll() == "SIP/2.0 200 OK" && station.counts.connections == 0)
        }

        @Test func `a connection that its peer has closed is left when there will be no answer`() async throws {
            let station = try Station { $0.connection.lingerTimeout = .seconds(600) }
            station.owe(true)
            let waiting = try PlainPeer(SOCK_STREAM, to: station.tcp)
            waiting.write(request(1))
            let flow = try #require(await station.next()).flow
            waiting.finish()
            while station.isOpen(flow) { await Task.yield() }
            station.owe(false)
            station.wait(.seconds(600))
            #expect(waiting.readAll() == "" && station.counts.connections == 0)
        }

        @Test func `a connection that says nothing is closed sooner than one that fell silent`() async throws {
            let station = try Station()
            let silent = try PlainPeer(SOCK_STREAM, to: station.tcp)
            let fallenSilent = try PlainPeer(SOCK_STREAM, to: station.tcp)
            fallenSilent.write("\r\n\r\n")
            #expect(fallenSilent.read() == "\r\n")
            while station.counts.accepted < 2 { await Task.yield() }
            station.wait(.seconds(30))
            #expect(silent.readAll() == "")
            #expect(station.counts.malformed == 1)
            fallenSilent.write(request(1))
            #expect(await station.next()?.text == request(1))
        }

        @Test func `an idle connection is closed and told`() async throws {
            let station = try Station()
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write(request(1))
            let flow = try #require(await station.next()).flow
            station.wait(.seconds(3_000))
            #expect(station.counts.connections == 1)
            station.wait(.seconds(3_600))
            #expect(peer.readAll() == "")
            let failure = await station.next()
            #expect(failure?.isFailure == true)
            #expect(failure?.flow == flow)
        }

        @Test func `one source has so many connections and no more`() async throws {
            let station = try Station { $0.maximumConnectionsPerSource = 2 }
            let first = try PlainPeer(SOCK_STREAM, to: station.tcp)
            let second = try PlainPeer(SOCK_STREAM, to: station.tcp)
            let third = try PlainPeer(SOCK_STREAM, to: station.tcp)
            #expect(third.readAll() == "")
            #expect(station.counts.refused == 1)
            for (number, peer) in [first, second].enumerated() {
                peer.write(request(number))
                #expect(await station.next()?.text == request(number))
            }
            first.finish()
            #expect(first.readAll() == "")
            let fourth = try PlainPeer(SOCK_STREAM, to: station.tcp)
            fourth.write(request(4))
            var next = await station.next()
            while next?.isFailure == true { next = await station.next() }
            #expect(next?.text == request(4))
        }

        @Test func `a source that is trusted has as many connections as there are`() async throws {
            let station = try Station {
                ($0.maximumConnectionsPerSource, $0.maximumHandshakesPerSource, $0.trusted) = (2, 1, [IPNetwork("127.0.0.0/8")!])
            }
            for number in 1...4 {
                let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
                peer.write(request(number))
                var next = await station.next()
                while next?.isFailure == true { next = await station.next() }
                #expect(next?.text == request(number))
            }
            #expect(station.counts.refused == 0)
        }

        @Test func `all sources together have so many connections, and then we open none`() async throws {
            let station = try Station { $0.maximumConnections = 1 }
            let peer = try PlainPeer(SOCK_STREAM, to: station.tcp)
            peer.write(request(1))
            _ = await station.next()
            #expect(try PlainPeer(SOCK_STREAM, to: station.tcp).readAll() == "")
            station.send("x", over: station.flow(to: try PlainListener().address))
            #expect(await station.next()?.isFailure == true)
            #expect(station.counts.connections == 1)
        }

        @Test func `a port that is taken is one sentence`() throws {
            let station = try Station()
            let error = #expect(throws: SocketError.self) {
                try Station { $0.listeners = [.init(.udp, SocketAddress(.loopback, port: 0)), .init(.tcp, station.tcp)] }
            }
            #expect(error?.description == "TCP \(station.tcp) is already in use by another program")
        }

        @Test(arguments: [Transport.udp, .tcp])
        func `two user agents reach each other over real sockets`(transport: Transport) async throws {
            let server = try agentLane()
            let client = try agentLane()
            let target = server.sync { host, _ in host.transports.listeners.first { $0.transport == transport }!.address }!
            let status = await withCheckedContinuation { continuation in
                client.post { host, now in
                    let local = host.transports.listeners.first { $0.transport == transport }!.address
                    let uri = URI(user: nil, host: "127.0.0.1", port: target.port, parameters: [:])
                    let options = OutgoingOptions(
                        target: uri, flow: Flow(transport: transport, local: local, remote: target), from: NameAddress(uri: uri),
                        to: NameAddress(uri: uri))
                    host.endpoint.options(options, at: now) { status, _, _ in continuation.resume(returning: status) }
                }
            }
            #expect(status == 200)
        }

        private func agentLane() throws(SocketError) -> Lane<SignallingHost<UserAgent>> {
            try Lane(label: "agent") { lane, _ throws(SocketError) in
                let any = SocketAddress(.loopback, port: 0)
                let transports = try Transports(.init(listeners: [.init(.udp, any), .init(.tcp, any)]), on: lane)
                return SignallingHost(transports: transports) {
                    UserAgent(configuration: UserAgentConfiguration(), network: $0, random: SystemRandom())
                }
            }
        }
    }
}
