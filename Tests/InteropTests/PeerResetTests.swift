import Foundation
import Primitives
import Runtime
import Testing

extension Strains {
    /// Connections that peers reset, by the ten thousand, against a gateway whose allocator overwrites what is freed: a use after free
    /// would end it.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct PeerResetTests {
        private static let overwriting = ["MALLOC_PERTURB_": "165"]

        @Test func `fifty thousand connections that are reset harm no call and leave nothing`() async throws {
            var setup = Gateway.Setup()
            setup.tls = []
            let gateway = try await Gateway.start(setup, environment: Self.overwriting)
            let before = ProcessReading(gateway.program.pid)
            let calls = Sipp.Plan(
                scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(20), target: "9196", calls: 10, rate: 10,
                duration: 40_000, limit: 120)
            let callers = try Sipp(calls, to: gateway)
            defer { callers.program.kill() }
            let hello = try Self.clientHello()
            let (plain, secure) = (gateway.sipPort, gateway.tlsPort)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try Self.reset(40_000, to: plain) { Self.pieces[$0 % Self.pieces.count]($0) } }
                group.addTask { try Self.reset(10_000, to: secure) { $0 % 2 == 0 ? hello : Array(hello.prefix($0 % hello.count)) } }
                try await group.waitForAll()
            }
            #expect(try UDPPeer().options(gateway) == "SIP/2.0 200 OK", "\(gateway.program.transcript)")
            try await callers.succeeds(within: .seconds(120))
            try await ProcessReading.expectNoGrowth(of: gateway.program.pid, since: before)
            let journal = try await gateway.stop(within: .seconds(60))
            #expect(journal.packets.count == 10 && journal.packets.values.allSatisfy { $0.received > 1_500 }, "the calls had their sound")
        }

        @Test func `connections to devices that reset or refuse them`() async throws {
            let others = try await Ports.take(2), resetting = try ResettingServer(port: others[0])
            var setup = Gateway.Setup()
            setup.others = others
            setup.lines.append(#"{ number: "3001", open: true }"#)
            let gateway = try await Gateway.start(setup, environment: Self.overwriting), peer = try UDPPeer()
            let before = ProcessReading(gateway.program.pid)
            for number in 0..<1_000 {
                let contact = "Contact: <sip:3001@127.0.0.1:\(others[number % 5 == 0 ? 1 : 0]);transport=tcp>"
                let register = peer.request("REGISTER", "3001", gateway, from: "3001", callID: "register-\(number)", contact: contact)
                peer.send(Array(register.utf8), to: gateway.sipPort)
                #expect(peer.receive { $0.contains("register-\(number)") }?.hasPrefix("SIP/2.0 200") == true, "registration \(number)")
                // The ports of a call rest for a while: most of these are texts.
                let isCall = number % 100 == 0
                let request = peer.request(
                    isCall ? "INVITE" : "MESSAGE", "3001", gateway, callID: "call-\(number)",
                    headers: ["Content-Type: \(isCall ? "application/sdp" : "text/plain")"],
                    body: isCall ? Self.offer : "hello")
                peer.send(Array(request.utf8), to: gateway.sipPort)
                let answer = peer.receive { $0.contains("call-\(number)") && !$0.hasPrefix("SIP/2.0 1") }
                #expect(answer?.hasPrefix("SIP/2.0 480") == true, "request \(number): \(answer ?? "")")
            }
            #expect(resetting.count >= 800, "\(resetting.count) connections came")
            try await ProcessReading.expectNoGrowth(of: gateway.program.pid, since: before)
            try await gateway.stop(within: .seconds(60))
        }

        private static let offer = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0\r\n"

        /// Half a request, nothing, an ACK of no call, a whole request whose answer finds nobody, a ping.
        private static let pieces: [@Sendable (Int) -> [UInt8]] = [
            { _ in Array("OPTIONS sip:me@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1;branch=z9".utf8) },
            { _ in [] },
            { message("ACK", $0) }, { message("OPTIONS", $0) }, { message("INVITE", $0) },
            { _ in Array("\r\n\r\n".utf8) },
        ]

        private static func message(_ method: String, _ number: Int) -> [UInt8] {
            let lines = [
                "\(method) sip:9196@127.0.0.1 SIP/2.0", "Via: SIP/2.0/TCP 127.0.0.1:5060;branch=z9hG4bKreset\(number)",
                "From: <sip:reset@127.0.0.1>;tag=\(number)",
                "To: <sip:9196@127.0.0.1>", "Call-ID: reset-\(number)", "CSeq: 1 \(method)", "Max-Forwards: 70", "Content-Length: 0", "",
                "",
            ]
            return Array(lines.joined(separator: "\r\n").utf8)
        }

        /// Each from an address of its own within 127.0.0.0/8: one address may have 256 connections.
        private static func reset(_ count: Int, to port: UInt16, saying words: (Int) -> [UInt8]) throws {
            for number in 0..<count { try TCPPeer(port: port, from: 0x7F01_0001 + UInt32(number % 50_000)).reset(after: words(number)) }
        }

        private static func clientHello() throws -> [UInt8] {
            var settings = TLSSettings()
            settings.serverAuthorities = Place.certificate("ca.pem")
            var session = try TLSContexts(settings).connect(to: "127.0.0.1")
            _ = session.start()
            return session.takeOutput()
        }
    }
}

/// Accepts on a thread of its own and resets at once, as long as it is kept.
private final class ResettingServer: Sendable {
    private let connections = EventLog<Void>()
    private let socket: Int32
    var count: Int { connections.end }

    init(port: UInt16) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // What an earlier test left in TIME-WAIT there is no matter.
        var (address, yes) = (sockaddr_in(port: port), Int32(1))
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        let result = withUnsafePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0, listen(socket, 512) == 0 else { throw Unmet("nothing listens on \(port): \(String(cString: strerror(errno)))") }
        Thread.detachNewThread { [socket, connections] in
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                TCPPeer(adopting: connection).reset(after: [])
                connections.append(())
            }
        }
    }

    deinit { shutdown(socket, Int32(SHUT_RDWR)) }
}
