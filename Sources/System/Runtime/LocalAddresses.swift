import Glibc
public import Primitives

/// The addresses of this machine.
public enum LocalAddresses {
    /// An address of an interface; an interface may have several.
    public struct Interface: Hashable, Sendable {
        /// As the kernel calls it: `eth0`.
        public var name: String
        /// The address, without its network.
        public var address: IPAddress
        /// Whether the interface is switched on.
        public var isUp: Bool
        /// Whether only this machine can use it.
        public var isLoopback: Bool
    }

    /// Every IP address of every interface, in the kernel's order; empty when the kernel does not tell.
    public static var all: [Interface] {
        var head: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&head) == 0 else { return [] }
        defer { freeifaddrs(head) }
        return sequence(first: head) { $0?.pointee.ifa_next }.compactMap { $0.flatMap { interface($0.pointee) } }
    }

    /// The address that this machine would send from towards `remote`; nil when it has no route. Sends no packet.
    public static func used(towards remote: IPAddress) -> IPAddress? {
        let wildcard = SocketAddress(remote.family == .v4 ? .anyV4 : .anyV6, port: 0)
        do throws(SocketError) {
            let socket = try FileDescriptorOwner.udp(bound: wildcard)
            // Any port will do: connecting a datagram socket only looks up the route.
            try socket.connect(to: SocketAddress(remote, port: 9))
            return socket.localAddress?.address
        } catch {
            return nil
        }
    }

    private static func interface(_ entry: ifaddrs) -> Interface? {
        guard let pointer = entry.ifa_addr else { return nil }
        let family = Int32(pointer.pointee.sa_family)
        guard family == AF_INET || family == AF_INET6 else { return nil }
        var storage = sockaddr_storage()
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size)) }
        guard let address = SocketAddress(storage)?.address else { return nil }
        let isUp = entry.ifa_flags & UInt32(IFF_UP) != 0
        return Interface(name: String(cString: entry.ifa_name), address: address, isUp: isUp, isLoopback: address.isLoopback)
    }
}

/// The ports that the kernel gives to sockets that ask for any: a pool of ports should keep clear of them.
public enum EphemeralPortRange {
    /// Nil where the kernel does not tell.
    public static var current: ClosedRange<UInt16>? { read("/proc/sys/net/ipv4/ip_local_port_range") }

    static func read(_ path: String) -> ClosedRange<UInt16>? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = fread(&buffer, 1, buffer.count, file)
        return parse(Text(buffer[..<count]))
    }

    /// Two numbers with white space between them.
    static func parse(_ text: Text) -> ClosedRange<UInt16>? {
        let numbers = text.bytes.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A }.map { Text($0).integer(UInt16.self) }
        guard numbers.count == 2, let low = numbers[0], let high = numbers[1], low <= high else { return nil }
        return low...high
    }
}
