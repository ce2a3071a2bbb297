import Dispatch
import Glibc
import Primitives
import Testing

@testable import Runtime

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct UDPSocketTests {
        @Test(arguments: [anyLoopbackPort, anyLoopbackPortV6])
        func `datagrams arrive whole, in order, with both addresses`(address: SocketAddress) async throws {
            let inbox = Inbox(of: UDPSocket.Datagram.self)
            let lane = Bench.lane()
            let (server, client) = try pair(on: lane, address, inbox)
            try lane.sync { bench, _ throws(SocketError) in
                for number in 0..<200 { try bench.get("client", as: UDPSocket.self).send([UInt8(number)], to: server) }
            }
            let got = await inbox.next(200)
            #expect(got.map(\.bytes) == (0..<200).map { [UInt8($0)] })
            #expect(Set(got.map(\.source)) == [client])
            #expect(Set(got.map(\.destination)) == [server])
        }

        @Test func `a socket on the wildcard tells which address was called and answers from it`() async throws {
            let asked = Inbox(of: UDPSocket.Datagram.self)
            let answered = Inbox(of: UDPSocket.Datagram.self)
            let lane = Bench.lane()
            let port = try lane.sync { [lane] bench, _ throws(SocketError) in
                let server = try UDPSocket(bound: SocketAddress(.anyV4, port: 0), on: lane) { datagram, _ in asked.put.yield(datagram) }
                bench.held["server"] = server
                bench.held["client"] = try UDPSocket(bound: anyLoopbackPort, on: lane) { datagram, _ in answered.put.yield(datagram) }
                return server.localAddress.port
            }!
            let second = SocketAddress(IPAddress(v4: 0x7F00_0002), port: port)
            try lane.sync { bench, _ throws(SocketError) in try bench.get("client", as: UDPSocket.self).send([1], to: second) }
            let question = try #require(await asked.next())
            #expect(question.destination == second)
            try lane.sync { bench, _ throws(SocketError) in
                try bench.get("server", as: UDPSocket.self).send([2], to: question.source, from: question.destination.address)
            }
            #expect(await answered.next()?.source == second)
        }

        @Test func `a port that is taken is a sentence`() throws {
            let lane = Bench.lane()
            let taken = try lane.sync { [lane] bench, _ throws(SocketError) in
                let socket = try UDPSocket(bound: anyLoopbackPort, on: lane) { _, _ in }
                bench.held["first"] = socket
                return socket.localAddress
            }!
            let error = #expect(throws: SocketError.addressInUse(.udp, taken)) {
                try lane.sync { [lane] _, _ throws(SocketError) in _ = try UDPSocket(bound: taken, on: lane) { _, _ in } }
            }
            #expect(error?.description == "UDP \(taken) is already in use by another program")
        }

        @Test func `a closed socket frees its port though somebody still holds it`() async throws {
            let lane = Bench.lane()
            let address = try lane.sync { [lane] bench, _ throws(SocketError) in
                let socket = try UDPSocket(bound: anyLoopbackPort, on: lane) { _, _ in }
                bench.held["closed"] = socket
                socket.close()
                return socket.localAddress
            }!
            #expect((try? FileDescriptorOwner.udp(bound: address).raw) != nil)
            #expect(lane.sync { bench, _ in bench.held.count } == 1)
        }

        @Test func `an address of another machine cannot be bound`() {
            let elsewhere = SocketAddress(IPAddress("192.0.2.1")!, port: 5060)
            let lane = Bench.lane()
            #expect(throws: SocketError.noSuchAddress(.udp, elsewhere)) {
                try lane.sync { [lane] _, _ throws(SocketError) in _ = try UDPSocket(bound: elsewhere, on: lane) { _, _ in } }
            }
        }

        @Test func `what cannot be sent is an error and is counted`() throws {
            let lane = Bench.lane()
            let counts = try lane.sync { [lane] bench, _ throws(SocketError) in
                let socket = try UDPSocket(bound: anyLoopbackPort, on: lane) { _, _ in }
                #expect(throws: SocketError.self) { try socket.send([UInt8](repeating: 0, count: 70_000), to: socket.localAddress) }
                #expect(throws: SocketError.self) { try socket.send([0], to: SocketAddress(.anyV6, port: 9)) }
                return socket.counts
            }
            #expect(counts?.sendFailures == 1)
            #expect(counts?.sent == 0)
        }

        private func pair(on lane: Lane<Bench>, _ address: SocketAddress, _ inbox: Inbox<UDPSocket.Datagram>) throws(SocketError) -> (
            SocketAddress, SocketAddress
        ) {
            try lane.sync { [lane] bench, _ throws(SocketError) in
                let server = try UDPSocket(bound: address, on: lane) { datagram, _ in inbox.put.yield(datagram) }
                let client = try UDPSocket(bound: address, on: lane) { _, _ in }
                bench.held = ["server": server, "client": client]
                return (server.localAddress, client.localAddress)
            }!
        }
    }
}

extension RealTime {
    @Suite struct LocalAddressTests {
        @Test func `loopback is among the addresses of this machine`() {
            let loopback = LocalAddresses.all.first { $0.address == .loopback }
            #expect(loopback?.isUp == true)
            #expect(loopback?.isLoopback == true)
        }

        @Test(arguments: [IPAddress.loopback, IPAddress("::1")!])
        func `loopback is reached from loopback`(remote: IPAddress) {
            #expect(LocalAddresses.used(towards: remote) == remote)
        }

        @Test func `the kernel tells its ephemeral ports`() throws {
            let range = try #require(EphemeralPortRange.current)
            let socket = try FileDescriptorOwner.udp(bound: anyLoopbackPort)
            let chosen = socket.localAddress
            #expect(range.contains(try #require(chosen).port))
        }
    }
}

extension RealTime {
    @Suite struct SocketAddressKernelTests {
        @Test(arguments: ["192.0.2.7:5060", "[2001:db8::1:2]:65535", "0.0.0.0:0", "[::]:1"])
        func `an address goes to the kernel and comes back`(text: String) {
            let address = SocketAddress(text)!
            #expect(SocketAddress(address.storage) == address)
        }

        @Test func `other families are no address`() { #expect(SocketAddress(sockaddr_storage()) == nil) }
    }
}

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct SignalTrapTests {
        @Test func `a hang-up that was ignored stays ignored where that is wanted`() async {
            await #expect(processExitsWith: .exitCode(42)) {
                signal(SIGHUP, unsafeBitCast(1, to: __sighandler_t.self))   // SIG_IGN
                let trap = SignalTrap(on: DispatchQueue(label: "signals"), leavesIgnoredHangup: true) { _ in }
                var action = sigaction()
                sigaction(SIGHUP, nil, &action)
                let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
                withExtendedLifetime(trap) { exit(isIgnored ? 42 : 1) }
            }
        }

        @Test func `the first signal drains, the second stops, a hang-up reloads`() async {
            await #expect(processExitsWith: .exitCode(42)) {
                let inbox = Inbox(of: SignalTrap.Request.self)
                let trap = SignalTrap(on: DispatchQueue(label: "signals"), together: .zero) { inbox.put.yield($0) }
                var seen: [SignalTrap.Request?] = []
                for number in [SIGHUP, SIGTERM, SIGINT] {
                    kill(getpid(), number)
                    seen.append(await inbox.next())
                }
                withExtendedLifetime(trap) {}
                exit(seen == [.reload, .drain, .stop] ? 42 : 1)
            }
        }

        @Test func `signals that come together are one`() {
            var stops = StopRequests(together: .milliseconds(300))
            let asked: [SignalTrap.Request?] = [0, 0, 299, 300, 301].map { stops.receive(at: .zero + .seconds(1) + .milliseconds($0)) }
            #expect(asked == [.drain, nil, nil, .stop, .stop])
        }
    }
}
