import Foundation
import Primitives
import Runtime

/// Answers no call as a telephone does: rings, and ends the call with a line of its own when the CANCEL comes; or answers at once, without
/// a description.
final class DumbTarget: Sendable {
    let address: SocketAddress
    private let socket: FileDescriptorOwner
    private let atCancel: String?

    init(atCancel: String?) throws {
        self.atCancel = atCancel
        socket = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: 0))
        address = socket.localAddress ?? SocketAddress(.loopback, port: 0)
        Thread.detachNewThread { [weak self] in while self?.answerNext() == true {} }
    }

    /// - Returns: false when nothing comes any more.
    private func answerNext() -> Bool {
        var question = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&question, 1, 10_000) > 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 65_536), sender = sockaddr_storage(), size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = withUnsafeMutablePointer(to: &sender) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { recvfrom(socket.raw, &bytes, bytes.count, 0, $0, &size) }
        }
        let lines = String(decoding: bytes[..<max(0, count)], as: UTF8.self).components(separatedBy: "\r\n"),
            method = lines[0].prefix { $0 != " " }
        for (status, cseq) in responses(to: String(method)) {
            let kept = lines.filter { line in ["Via:", "From:", "Call-ID:", "CSeq:"].contains(where: line.hasPrefix) }
                .map { $0.hasPrefix("CSeq:") ? $0.replacing("CANCEL", with: cseq) : $0 }
            let to = lines.first { $0.hasPrefix("To:") }.map { $0.contains("tag=") ? $0 : $0 + ";tag=dumb" } ?? ""
            let text = (["SIP/2.0 \(status)"] + kept + [to, "Contact: <sip:dumb@\(address)>", "Content-Length: 0", "", ""]).joined(
                separator: "\r\n")
            _ = withUnsafePointer(to: &sender) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(socket.raw, text, text.utf8.count, 0, $0, size) }
            }
        }
        return true
    }

    /// With the method that each is for.
    private func responses(to method: String) -> [(status: String, method: String)] {
        switch method {
        case "INVITE": [(atCancel == nil ? "200 OK" : "180 Ringing", "INVITE")]
        case "CANCEL": [("200 OK", "CANCEL"), (atCancel ?? "", "INVITE")]
        case "ACK": []
        default: [("200 OK", method)]
        }
    }
}
