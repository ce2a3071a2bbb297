import Glibc
import Primitives
import Synchronization
import Testing

@testable import Runtime

extension RealTime {
    /// Peers that reset and refuse, by the ten thousand, while the allocator overwrites what is freed: a use after free would end the
    /// process.
    ///
    /// Each test is a process of its own: the allocator's setting is for all of it.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct PeerResetTests {
        @Test func `connections out that are reset or refused`() async {
            await #expect(processExitsWith: .exitCode(42)) {
                overwriteFreedMemory()
                let lane = Bench.lane(), hangUp = try ResettingPeer(), dead = try SilentPeer().address
                var before = 0
                for round in 0..<200 {
                    if round == 1 { before = openDescriptors() }
                    let ends = Inbox(of: TCPConnection.End.self)
                    lane.sync { [lane] bench, now in
                        bench.held = [:]
                        for number in 0..<100 {
                            let remote = number % 5 == 0 ? dead : hangUp.address
                            bench.held["\(round).\(number)"] = try? TCPConnection(to: remote, on: lane, at: now) { connection, event, now in
                                if case .connected = event { connection.send([1, 2, 3], at: now) }
                                if let end = event.end { ends.put.yield(end) }
                            }
                        }
                    }
                    let seen = await ends.next(100)
                    guard seen.count == 100, seen.allSatisfy(isOfPeer) else { exit(1) }
                }
                exit(openDescriptors() <= before ? 42 : 2)
            }
        }

        @Test func `connections in that are reset with half a message`() async {
            await #expect(processExitsWith: .exitCode(42)) {
                overwriteFreedMemory()
                let lane = Bench.lane(), ends = Inbox(of: TCPConnection.End.self)
                let address = lane.sync { [lane] bench, _ in
                    let listener = try! TCPListener(bound: anyLoopbackPort, on: lane) { [unowned bench] accepted, now in
                        let connection = TCPConnection(accepted, on: lane, at: now) { [unowned bench] connection, event, _ in
                            guard let end = event.end else { return }
                            bench.held["\(ObjectIdentifier(connection))"] = nil
                            ends.put.yield(end)
                        }
                        bench.held["\(ObjectIdentifier(connection))"] = connection
                    }
                    bench.held["listener"] = listener
                    return listener.localAddress
                }!
                var before = 0
                for round in 0..<200 {
                    // What Dispatch and the runtime open once is there by then.
                    if round == 1 { before = openDescriptors() }
                    for number in 0..<100 {
                        let peer = try RawClient(to: address)
                        if number % 4 != 0 { peer.write([UInt8](repeating: 65, count: number)) }
                        if number % 8 == 0 { peer.shutdownWriting() }
                        peer.reset()
                    }
                    let seen = await ends.next(100)
                    guard seen.count == 100 else { exit(1) }
                }
                exit(openDescriptors() <= before && lane.sync { bench, _ in bench.held.count } == 1 ? 42 : 2)
            }
        }

        @Test func `DNS servers that truncate and then reset`() async {
            await #expect(processExitsWith: .exitCode(42)) {
                overwriteFreedMemory()
                let server = try TruncatingServer()
                var settings = DNSResolver.Settings()
                (settings.servers, settings.timeout, settings.tries) = ([server.address], .milliseconds(200), 1)
                guard let resolver = DNSResolver(settings) else { exit(1) }
                let answers = Inbox(of: DNSAnswer.self)
                var before = 0
                for number in 0..<2_000 {
                    if number == 1 { before = openDescriptors() }
                    resolver.ask(.a(Text("n\(number).test"))) { answers.put.yield($0) }
                    guard await answers.next()?.outcome == .failed else { exit(2) }
                }
                guard server.resets >= 2_000 else { exit(3) }
                exit(openDescriptors() <= before ? 42 : 4)
            }
        }
    }
}

/// As MALLOC_PERTURB_ does: every freed byte gets a pattern.
private func overwriteFreedMemory() {
    let perturb: Int32 = -6   // M_PERTURB, which Swift's Glibc does not have
    precondition(mallopt(perturb, 165) == 1)
}

@_silgen_name("mallopt") private func mallopt(_ parameter: Int32, _ value: Int32) -> Int32

private func openDescriptors() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}

private func isOfPeer(_ end: TCPConnection.End) -> Bool {
    switch end {
    case .connectFailed(let code), .broken(let code): [ECONNREFUSED, ECONNRESET, EPIPE].contains(code)
    default: false
    }
}

/// Accepts on a thread of its own and resets at once.
private final class ResettingPeer: Sendable {
    let address: SocketAddress

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(anyLoopbackPort.withSockaddr { bind(listener, $0, $1) } == 0 && listen(listener, 512) == 0)
        address = try #require(SocketAddress.read { getsockname(listener, $0, &$1) })
        try startThread {
            while true { resetConnection(accept(listener, nil, nil)) }
        }
    }
}

private func resetConnection(_ raw: Int32) {
    guard raw >= 0 else { return }
    var abrupt = linger(l_onoff: 1, l_linger: 0)
    setsockopt(raw, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    close(raw)
}

/// A DNS server that asks every client to come again over TCP, and resets it there.
private final class TruncatingServer: Sendable {
    let address: SocketAddress
    private let count = Atomic(0)
    var resets: Int { count.load(ordering: .relaxed) }

    init() throws {
        let (datagrams, listener, address) = try Self.socketsOfOnePort()
        self.address = address
        try startThread { Self.truncate(datagrams) }
        try startThread { [self] in
            while true {
                resetConnection(accept(listener, nil, nil))
                count.add(1, ordering: .relaxed)
            }
        }
    }

    /// The port that the kernel gives for UDP may be in use for TCP, by a connection of another test that ended a minute ago, say:
    /// another port is asked for then.
    private static func socketsOfOnePort() throws -> (datagrams: Int32, listener: Int32, address: SocketAddress) {
        for _ in 0..<100 {
            let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0), listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(anyLoopbackPort.withSockaddr { bind(datagrams, $0, $1) } == 0)
            let address = try #require(SocketAddress.read { getsockname(datagrams, $0, &$1) })
            if address.withSockaddr({ bind(listener, $0, $1) }) == 0, listen(listener, 512) == 0 { return (datagrams, listener, address) }
            close(datagrams)
            close(listener)
        }
        throw NoFreePort()
    }

    private struct NoFreePort: Error {}

    private static func truncate(_ socket: Int32) {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while true {
            var from = sockaddr_storage(), length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            withUnsafeMutablePointer(to: &from) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                    let count = recvfrom(socket, &buffer, buffer.count, 0, peer, &length)
                    guard count > 12 else { return }
                    // A response, truncated (RFC 1035 §4.1.1).
                    (buffer[2], buffer[3]) = (0x87, 0x80)
                    _ = sendto(socket, buffer, count, 0, peer, length)
                }
            }
        }
    }
}
