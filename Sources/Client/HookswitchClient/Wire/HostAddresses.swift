import Dispatch
import Glibc
import Primitives
import Runtime
import Synchronization

/// The addresses of a host, as the system finds them.
enum HostAddresses {
    /// Those that come within the time; empty where there are none.
    static func find(_ host: String, port: UInt16, within limit: Duration) async -> [SocketAddress] {
        if let address = IPAddress(host) { return [SocketAddress(address, port: port)] }
        return await withCheckedContinuation { continuation in
            let once = Once(continuation)
            DispatchQueue.global().async { once.resume(ask(host, port)) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(limit.wholeNanoseconds))) { once.resume([]) }
        }
    }

    private final class Once: Sendable {
        private let continuation: Mutex<CheckedContinuation<[SocketAddress], Never>?>
        init(_ continuation: CheckedContinuation<[SocketAddress], Never>) { self.continuation = Mutex(continuation) }
        func resume(_ addresses: [SocketAddress]) { continuation.withLock { $0.take() }?.resume(returning: addresses) }
    }

    /// Blocks.
    private static func ask(_ host: String, _ port: UInt16) -> [SocketAddress] {
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
