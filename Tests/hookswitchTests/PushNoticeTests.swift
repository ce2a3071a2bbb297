import Foundation
import Gateway
import Primitives
import Testing
import UserAgent

@testable import hookswitch

/// What an operator hears of pushes that nobody took.
@Suite struct PushNoticeTests {
    /// A push service that takes nothing.
    private final class DeadService: PushSender {
        func send(_ message: PushMessage, failed: @escaping @Sendable (String) -> Void) { failed("the push service answered 410") }
    }

    /// Says these requests to a gateway, over UDP.
    private static func say(_ requests: [String], to port: UInt16) {
        let wire = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(wire) }
        var address = sockaddr_in()
        (address.sin_family, address.sin_port, address.sin_addr.s_addr) = (
            sa_family_t(AF_INET), port.bigEndian, UInt32(0x7F00_0001).bigEndian
        )
        withUnsafePointer(to: &address) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(wire, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        for request in requests { _ = Array(request.utf8).withUnsafeBytes { send(wire, $0.baseAddress, $0.count, 0) } }
    }

    private static func request(_ method: String, _ number: Int, _ headers: [String]) -> String {
        let lines = [
            "\(method) sip:1001@push.test SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKpush\(number)", "Max-Forwards: 70",
            "From: <sip:1001@push.test>;tag=1",
            "To: <sip:1001@push.test>", "Call-ID: push-\(number)", "CSeq: 1 \(method)",
        ]
        return (lines + headers + ["Content-Length: 0", "", ""]).joined(separator: "\r\n")
    }

    @Test func `a push that fails is told with its line and its cause, and without what the device is pushed by`() async throws {
        var configuration = GatewayConfiguration()
        configuration.domain = "push.test"
        (configuration.push.isOn, configuration.push.awake) = (true, .zero)
        configuration.access.trusted = [IPNetwork("127.0.0.0/8")!]
        configuration.media.ports = try FreePorts.block(of: 20, .v4, in: 12_000...19_999)
        configuration.lines = [LineConfiguration(number: "1001")]
        configuration.lines[0].isOpen = true
        let place = SocketAddress(.loopback, port: try FreePorts.block(of: 2, .v4).lowerBound)
        let journal = FileManager.default.temporaryDirectory.path + "/push-\(UUID()).jsonl"
        defer { try? FileManager.default.removeItem(atPath: journal) }
        var settings = GatewayServer.Settings(gateway: configuration, listeners: [.init(.udp, place)])
        (settings.mediaLanes, settings.push, settings.journalFile) = (1, DeadService(), journal)
        let (told, tells) = AsyncStream<(line: String, cause: String)>.makeStream()
        let server = try GatewayServer(settings) { if case .push(let line, let cause) = $0 { tells.yield((line, cause)) } }
        Self.say(
            [
                Self.request("REGISTER", 1, ["Contact: <sip:1001@127.0.0.1:9;pn-provider=acme;pn-prid=token-1>", "Expires: 60"]),
                Self.request("INVITE", 2, ["Contact: <sip:caller@127.0.0.1:9>"]),
            ], to: place.port)
        let push = try #require(await told.first { _ in true })
        #expect(push == ("1001", "the push service answered 410"))
        server.endAll()
        server.stop()
        let written = try String(contentsOfFile: journal, encoding: .utf8),
            line = written.split(separator: "\n").first { $0.contains("push.failed") }
        #expect(line?.contains("\"text\":\"1001\"") == true && line?.contains("answered 410") == true && !written.contains("token-1"))
    }
}
