import Dispatch
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
            DispatchQueue.global().async { once.resume(SystemNames.addresses(of: host, port: port)) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(limit.wholeNanoseconds))) { once.resume([]) }
        }
    }

    private final class Once: Sendable {
        private let continuation: Mutex<CheckedContinuation<[SocketAddress], Never>?>
        init(_ continuation: CheckedContinuation<[SocketAddress], Never>) { self.continuation = Mutex(continuation) }
        func resume(_ addresses: [SocketAddress]) { continuation.withLock { $0.take() }?.resume(returning: addresses) }
    }
}
