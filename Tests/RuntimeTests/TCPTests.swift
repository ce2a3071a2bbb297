import Glibc
import Primitives
import Runtime
import Testing

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct TCPTests {
        @Test(arguments: [anyLoopbackPort, anyLoopbackPortV6])
        func `bytes go both ways`(address: SocketAddress) async throws {
            let pair = try Pair(on: Bench.lane(), address)
            #expect(await pair.client.next()?.isConnected == true)
            pair.send("client", Array("ping".utf8))
            #expect(await pair.server.bytes(4) == Array("ping".utf8))
            pair.send("server", Array("pong".utf8))
            #expect(await pair.client.bytes(4) == Array("pong".utf8))
        }

        @Test func `what is sent before the connection stands waits for it`() async throws {
            let pair = try Pair(on: Bench.lane(), firstWords: Array("early".utf8))
            #expect(await pair.server.bytes(5) == Array("early".utf8))
        }

        @Test func `more than the kernel buffers is kept and leaves in order`() async throws {
            var limits = TCPConnection.Limits()
            limits.unsentBytes = 64 << 20
            let pair = try Pair(on: Bench.lane(), limits: limits)
            let block = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 8) }
            for _ in 0..<16 { pair.send("client", block) }
            let got = await pair.server.bytes(16 << 20)
            #expect(got.count == 16 << 20)
            #expect((0..<16).allSatisfy { Array(got[($0 << 20)..<(($0 + 1) << 20)]) == block })
            #expect(pair.lane.sync { bench, _ in bench.get("client", as: TCPConnection.self).unsentCount } == 0)
        }

        @Test func `a peer that does not read is cut off at the cap`() async throws {
            var limits = TCPConnection.Limits()
            limits.unsentBytes = 1 << 20
            let silent = try SilentPeer()
            let inbox = Inbox(of: TCPConnection.Event.self)
            let lane = Bench.lane()
            try lane.sync { [lane, limits] bench, now throws(SocketError) in
                bench.held["client"] = try TCPConnection(to: silent.address, limits: limits, on: lane, at: now) { _, event, _ in
                    inbox.put.yield(event)
                }
            }
            #expect(await inbox.next()?.isConnected == true)
            lane.sync { bench, now in
                let client = bench.get("client", as: TCPConnection.self)
                for _ in 0..<256 where !client.isClosed { client.send([UInt8](repeating: 0, count: 1 << 18), at: now) }
            }
            #expect(await inbox.next()?.end == .stalled)
            #expect(lane.sync { bench, _ in bench.get("client", as: TCPConnection.self).unsentCount } == 0)
        }

        @Test func `what waits longer than the write time-out ends the connection`() async throws {
            var limits = TCPConnection.Limits()
            limits.unsentBytes = 64 << 20
            let silent = try SilentPeer()
            let inbox = Inbox(of: TCPConnection.Event.self)
            let lane = Bench.lane()
            try lane.sync { [lane, limits] bench, now throws(SocketError) in
                bench.held["client"] = try TCPConnection(to: silent.address, limits: limits, on: lane, at: now) { _, event, _ in
                    inbox.put.yield(event)
                }
            }
            #expect(await inbox.next()?.isConnected == true)
            let deadline = lane.sync { bench, now in
                let client = bench.get("client", as: TCPConnection.self)
                client.send([UInt8](repeating: 0, count: 32 << 20), at: now)
                #expect(client.deadline == now + .seconds(30))
                client.advance(to: now + .seconds(29))
                #expect(!client.isClosed)
                client.advance(to: now + .seconds(30))
                return client.deadline
            }
            #expect(deadline == .some(nil))
            #expect(await inbox.next()?.end == .stalled)
        }

        @Test func `an idle connection ends when its time is over and not before`() async throws {
            let pair = try Pair(on: Bench.lane())
            #expect(await pair.client.next()?.isConnected == true)
            pair.lane.sync { bench, _ in
                let client = bench.get("client", as: TCPConnection.self)
                let due = client.deadline!
                client.advance(to: due + .nanoseconds(-1))
                #expect(!client.isClosed)
                client.advance(to: due)
            }
            #expect(await pair.client.next()?.end == .idle)
            #expect(await pair.server.next()?.isPeerFinished == true)
        }

        @Test func `after the peer's last byte an answer still leaves`() async throws {
            let pair = try Pair(on: Bench.lane(), acceptsRaw: true)
            let raw = try RawClient(to: pair.address)
            raw.write(Array("question".utf8))
            raw.shutdownWriting()
            let events = await pair.server.gather { $0.contains { $0.isPeerFinished } }
            #expect(events.first?.bytes == Array("question".utf8))
            pair.send("server", Array("answer".utf8))
            #expect(raw.read(6) == Array("answer".utf8))
            pair.lane.sync { bench, now in
                let server = bench.get("server", as: TCPConnection.self)
                server.advance(to: now + .seconds(600))
                #expect(!server.isClosed)
                server.finish(at: now)
                #expect(server.isClosed)
            }
            #expect(await pair.server.next()?.end == .finished)
            #expect(raw.read(1) == [])
        }

        @Test func `nobody listening is told as a refusal`() async throws {
            let free = try SilentPeer().address
            let inbox = Inbox(of: TCPConnection.Event.self)
            let lane = Bench.lane()
            try lane.sync { [lane] bench, now throws(SocketError) in
                bench.held["client"] = try TCPConnection(to: free, on: lane, at: now) { _, event, _ in inbox.put.yield(event) }
            }
            #expect(await inbox.next()?.end == .connectFailed(code: ECONNREFUSED))
        }

        @Test func `a connection that does not come to stand times out`() async throws {
            // A listener whose backlog is full leaves further SYNs unanswered.
            let full = try SilentPeer(backlog: 0)
            let fillers = (0..<4).map { _ in RawClient(beginning: full.address) }
            let inbox = Inbox(of: TCPConnection.Event.self)
            let lane = Bench.lane()
            try lane.sync { [lane] bench, now throws(SocketError) in
                let client = try TCPConnection(to: full.address, on: lane, at: now) { _, event, _ in inbox.put.yield(event) }
                bench.held["client"] = client
                #expect(client.deadline == now + .seconds(5))
                client.advance(to: now + .seconds(5))
            }
            #expect(await inbox.next()?.end == .connectFailed(code: ETIMEDOUT))
            withExtendedLifetime(fillers) {}
        }

        @Test func `a reset is told, and nothing after it`() async throws {
            let pair = try Pair(on: Bench.lane(), acceptsRaw: true)
            let raw = try RawClient(to: pair.address)
            raw.write([1])
            #expect(await pair.server.bytes(1) == [1])
            raw.reset()
            #expect(await pair.server.next()?.end == .broken(code: ECONNRESET))
            pair.send("server", [2])
            pair.lane.sync { bench, _ in #expect(bench.get("server", as: TCPConnection.self).isClosed) }
        }

        @Test func `a listener's port that is taken is a sentence`() throws {
            let silent = try SilentPeer()
            let lane = Bench.lane()
            let error = #expect(throws: SocketError.addressInUse(.tcp, silent.address)) {
                try lane.sync { [lane] _, _ throws(SocketError) in _ = try TCPListener(bound: silent.address, on: lane) { _, _ in } }
            }
            #expect(error?.description == "TCP \(silent.address) is already in use by another program")
        }

        @Test func `a closed listener refuses and its connections live`() async throws {
            let pair = try Pair(on: Bench.lane())
            pair.send("client", [1])
            #expect(await pair.server.bytes(1) == [1])
            pair.lane.sync { bench, _ in bench.get("listener", as: TCPListener.self).close() }
            pair.send("client", [2])
            #expect(await pair.server.bytes(1) == [2])
            while RawClient(beginning: pair.address).connects { await Task.yield() }
        }
    }
}
