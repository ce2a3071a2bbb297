import Primitives
import SIP
import Testing

@testable import UserAgent

/// Which connections may be used the other way round, RFC 5923.
@Suite struct ReuseTests {
    /// A network that only notes.
    private final class Notes: SignallingNetwork {
        var sent: [Message] = []
        var reused: [String] = []

        func send(_ bytes: [UInt8], over flow: Flow) { if let message = try? Message(parsing: bytes) { sent.append(message) } }
        func reuse(_ flow: Flow, for host: Text, port: UInt16?) { reused.append("\(flow.connection) \(host) \(port ?? 0)") }
    }

    private let notes = Notes()

    private func agent(hasTLS: Bool) -> UserAgent {
        var configuration = UserAgentConfiguration()
        configuration.hasTLS = hasTLS
        return makeAgent(configuration, notes, SeededRandom(seed: 1))
    }

    private func flow(_ transport: Transport, connection: UInt64 = 7) -> Flow {
        Flow(
            transport: transport, local: SocketAddress(IPAddress(v4: 0xC000_0201), port: 5061),
            remote: SocketAddress(IPAddress(v4: 0xC633_6407), port: 40_000),
            connection: transport == .udp ? 0 : connection)
    }

    @Test(arguments: [(Transport.tls, ["7 proxy.example.test 5071"]), (.tcp, []), (.udp, [])])
    func `a request that asks for it over TLS is told to the network`(transport: Transport, expected: [String]) {
        var request = RawRequest()
        (request.method, request.via) = ("OPTIONS", "SIP/2.0/\(transport.name) proxy.example.test:5071;branch=z9hG4bK1;alias")
        agent(hasTLS: true).receive(Array(request.text.utf8), over: flow(transport), at: .zero)
        #expect(notes.reused == expected)
    }

    @Test(arguments: [(Transport.tls, true, true), (.tls, false, false), (.tcp, true, false)])
    func `we ask for it where we listen for TLS`(transport: Transport, hasTLS: Bool, asks: Bool) throws {
        let agent = agent(hasTLS: hasTLS)
        let target = try URI(parsing: "sip:peer@198.51.100.7")
        #expect(agent.makeVia(for: target, over: flow(transport)).asksForReuse == asks)
    }
}
