import Foundation

/// A listening TCP socket on loopback, at a port that the kernel chose. Closed with its last reference, or by `close`.
final class ListeningSocket: @unchecked Sendable {
    let raw: Int32
    let port: UInt16

    init() {
        raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = raw
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(raw, $0, size)
                listen(raw, 16)
                getsockname(raw, $0, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Wakes whoever accepts on it, too.
    deinit {
        shutdown(raw, Int32(SHUT_RDWR))
        close(raw)
    }
}
