import CNetworkNamespace
import Foundation
import Primitives
import Synchronization

/// A network of its own, without a name: it is gone when its last descriptor is closed, and with this process at the latest.
final class Namespace: Sendable {
    struct Failure: Error {
        var message: String
    }

    private let descriptor: Int32

    /// An empty one, with lo up.
    init() throws {
        descriptor = Self.onThread { network_namespace_make() }
        guard descriptor >= 0 else { throw Failure(message: "no network namespace: errno \(-descriptor)") }
        try ip("link set lo up")
    }

    deinit { close(descriptor) }

    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let result = Mutex<Result?>(nil), done = DispatchSemaphore(value: 0)
        Thread {
            let made = body()
            result.withLock { $0 = made }
            done.signal()
        }.start()
        done.wait()
        return result.withLock { $0! }
    }

    /// On a thread that is in this network.
    func within<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let descriptor = descriptor
        return try Self.onThread {
            Result {
                let entered = network_namespace_enter(descriptor)
                guard entered == 0 else { throw Failure(message: "no way into the namespace: errno \(-entered)") }
                return try body()
            }
        }.get()
    }

    /// Runs iproute2's command in it.
    func ip(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["nsenter", "--net=\(path)", "ip"] + arguments.split(separator: " ").map(String.init)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(message: "ip \(arguments): \(process.terminationStatus)") }
    }

    private var path: String { "/proc/\(getpid())/fd/\(descriptor)" }

    /// A cable from here to another network. Addresses as `10.1.0.1/24`; the far end's interface is eth0.
    func connect(_ interface: String, _ addresses: [String], to other: Namespace, _ others: [String]) throws {
        try ip("link add \(interface) type veth peer name eth0 netns \(other.path)")
        for (namespace, name, addresses) in [(self, interface, addresses), (other, "eth0", others)] {
            for address in addresses { try namespace.ip("address add \(address) dev \(name)" + (address.contains(":") ? " nodad" : "")) }
            try namespace.ip("link set \(name) up")
        }
    }

    /// The number of an interface.
    func index(of interface: String) throws -> UInt32 { try within { if_nametoindex(interface) } }
}

/// A UDP socket of a namespace.
final class End: Sendable {
    let address: SocketAddress
    private let descriptor: Int32

    convenience init(_ address: String, in namespace: Namespace) throws {
        let address = SocketAddress(address)!
        try self.init(
            address, try namespace.within { socket(address.address.family == .v6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM.rawValue), 0) })
    }

    private init(_ address: SocketAddress, _ descriptor: Int32) throws {
        (self.address, self.descriptor) = (address, descriptor)
        guard Self.withKernel(address, { bind(descriptor, $0, $1) }) == 0 else { throw Namespace.Failure(message: "bind: errno \(errno)") }
    }

    /// On a free port of this machine's loopback.
    static func onLoopback() throws -> End {
        for port in UInt16(30_500)..<31_000 {
            let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            if let end = try? End(SocketAddress(.loopback, port: port), descriptor) { return end }
        }
        throw Namespace.Failure(message: "no free port")
    }

    deinit { close(descriptor) }

    func send(_ packet: [UInt8], to remote: SocketAddress) throws {
        let sent = Self.withKernel(remote) { sendto(descriptor, packet, packet.count, 0, $0, $1) }
        guard sent == packet.count else { throw Namespace.Failure(message: "sendto: errno \(errno)") }
    }

    /// The next datagram; nil where none has come for so long.
    func receive(within milliseconds: Int32 = 5_000) -> [UInt8]? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), packet = [UInt8](repeating: 0, count: 2_000)
        guard poll(&waiting, 1, milliseconds) == 1 else { return nil }
        let count = recv(descriptor, &packet, packet.count, 0)
        return count < 0 ? nil : Array(packet[..<count])
    }

    private static func withKernel<Result>(_ address: SocketAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var v4 = sockaddr_in(), v6 = sockaddr_in6()
        let bytes = Frame.bytes(of: address.address)
        func call<Kernel>(_ kernel: inout Kernel) -> Result {
            withUnsafeMutableBytes(of: &kernel) { body($0.bindMemory(to: sockaddr.self).baseAddress!, socklen_t($0.count)) }
        }
        if address.address.family == .v4 {
            (v4.sin_family, v4.sin_port) = (sa_family_t(AF_INET), address.port.bigEndian)
            withUnsafeMutableBytes(of: &v4.sin_addr) { $0.copyBytes(from: bytes) }
            return call(&v4)
        }
        (v6.sin6_family, v6.sin6_port) = (sa_family_t(AF_INET6), address.port.bigEndian)
        withUnsafeMutableBytes(of: &v6.sin6_addr) { $0.copyBytes(from: bytes) }
        return call(&v6)
    }
}
