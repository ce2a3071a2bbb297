import Foundation

/// A UDP socket on loopback for what no client would send.
final class UDPPeer: Sendable {
    let port: UInt16
    private let socket: Int32

    /// - Parameter wanted: 0 lets the kernel choose.
    init(port wanted: UInt16 = 0) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in(port: wanted), length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 ? getsockname(socket, $0, &length) : -1
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard result == 0 else { throw Unmet("no UDP socket: \(String(cString: strerror(errno)))") }
    }

    deinit { close(socket) }

    func send(_ bytes: [UInt8], to port: UInt16) {
        var address = sockaddr_in(port: port)
        _ = withUnsafePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The next datagram that matches, and drops those before it; nil when there is none in time.
    func receive(within limit: Duration = .seconds(5), where matches: (String) -> Bool = { _ in true }) -> String? {
        let end = ContinuousClock.now + limit
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let left = end - ContinuousClock.now, left > .zero {
            var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard Foundation.poll(&poll, 1, Int32(left.seconds * 1_000) + 1) > 0 else { return nil }
            let count = recv(socket, &buffer, buffer.count, 0)
            let text = String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
            if count > 0, matches(text) { return text }
        }
        return nil
    }

    /// Asks the gateway how it is; its answer's first line.
    func options(_ gateway: Gateway, tag: String = UUID().uuidString) -> String? {
        send(Array(request("OPTIONS", "9196", gateway, callID: tag).utf8), to: gateway.sipPort)
        return receive { $0.hasPrefix("SIP/2.0") && $0.contains(tag) }?.split(separator: "\r\n").first.map(String.init)
    }

    func request(
        _ method: String, _ user: String, _ gateway: Gateway, from caller: String = "tester", callID: String, contact: String? = nil,
        headers: [String] = [],
        body: String = ""
    ) -> String {
        let lines =
            [
                "\(method) sip:\(user)@\(gateway.address) SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:\(port);rport;branch=z9hG4bK\(callID)",
                "From: <sip:\(caller)@127.0.0.1>;tag=\(callID)", "To: <sip:\(user)@127.0.0.1>", "Call-ID: \(callID)", "CSeq: 1 \(method)",
                "Max-Forwards: 70",
                contact ?? "Contact: <sip:\(caller)@127.0.0.1:\(port)>",
            ] + headers + ["Content-Length: \(body.utf8.count)", "", body]
        return lines.joined(separator: "\r\n")
    }
}
