public import Glibc
public import Primitives

extension IPAddress.Family {
    /// AF_INET or AF_INET6.
    public var domain: Int32 { self == .v4 ? AF_INET : AF_INET6 }
}

extension SocketAddress {
    /// The address that the kernel wrote; nil for other address families. Scope identifiers of link-local addresses are not kept.
    public init?(_ storage: sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            let v4 = withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in.self) }
            self.init(IPAddress(v4: UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
        case AF_INET6:
            let v6 = withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
            let halves = withUnsafeBytes(of: v6.sin6_addr) { bytes in
                (
                    UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            self.init(IPAddress(v6High: halves.0, low: halves.1), port: UInt16(bigEndian: v6.sin6_port))
        default: return nil
        }
    }

    /// The address as the kernel takes it.
    public var storage: sockaddr_storage {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { bytes in
            switch address.family {
            case .v4:
                var v4 = sockaddr_in()
                v4.sin_family = sa_family_t(AF_INET)
                v4.sin_port = port.bigEndian
                v4.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.low).bigEndian
                bytes.storeBytes(of: v4, as: sockaddr_in.self)
            case .v6:
                var v6 = sockaddr_in6()
                v6.sin6_family = sa_family_t(AF_INET6)
                v6.sin6_port = port.bigEndian
                withUnsafeMutableBytes(of: &v6.sin6_addr) { address in
                    address.storeBytes(of: self.address.high.bigEndian, as: UInt64.self)
                    address.storeBytes(of: self.address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
                }
                bytes.storeBytes(of: v6, as: sockaddr_in6.self)
            }
        }
        return storage
    }

    /// The address as a pointer and a length, for one system call.
    public func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        let length = socklen_t(address.family == .v4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
        return withUnsafePointer(to: storage) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) } }
    }

    /// Lets a system call write an address; nil when the call failed or wrote no IP address.
    static func read(_ call: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        return status < 0 ? nil : SocketAddress(storage)
    }
}
