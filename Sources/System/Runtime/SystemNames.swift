import CLinux
import Glibc
public import Primitives

/// Names of hosts, as the system's own resolver finds them.
public enum SystemNames {
    /// The addresses of a host, the best first; empty where there are none. Blocks; not for a lane.
    public static func addresses(of host: String, port: UInt16) -> [SocketAddress] {
        if let address = IPAddress(host) { return [SocketAddress(address, port: port)] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else { return [] }
        defer { freeaddrinfo(found) }
        return sequence(first: found, next: { $0.pointee.ai_next }).compactMap { candidate in
            var storage = sockaddr_storage()
            memcpy(&storage, candidate.pointee.ai_addr, min(Int(candidate.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size))
            return SocketAddress(storage)
        }
    }
}
