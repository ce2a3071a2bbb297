import CKernelRelay
import Primitives

/// One direction of a relayed call, as its packets arrive: our address and the latched source's, of one family.
public struct RelayKey: Hashable, Sendable {
    /// Our address, to which they are sent, and theirs.
    public var local: SocketAddress, remote: SocketAddress

    /// Packets from `remote` to `local`, both in one family.
    public init(local: SocketAddress, remote: SocketAddress) {
        precondition(local.address.family == remote.address.family, "packets have one family")
        (self.local, self.remote) = (local, remote)
    }

    init(_ key: kernel_relay_key) {
        let isV6 = key.family == 6
        local = SocketAddress(IPAddress(key.local_address, isV6: isV6), port: UInt16(bigEndian: key.local_port))
        remote = SocketAddress(IPAddress(key.remote_address, isV6: isV6), port: UInt16(bigEndian: key.remote_port))
    }

    var kernel: kernel_relay_key {
        kernel_relay_key(
            local_address: local.address.kernelBytes, remote_address: remote.address.kernelBytes, local_port: local.port.bigEndian,
            remote_port: remote.port.bigEndian, family: local.address.family == .v6 ? 6 : 4)
    }
}

extension IPAddress {
    /// Sixteen bytes as C has them.
    typealias KernelBytes = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )

    /// Network order; an IPv4 address in the first four bytes.
    var kernelBytes: KernelBytes {
        let halves = family == .v6 ? (high.bigEndian, low.bigEndian) : (UInt64(UInt32(truncatingIfNeeded: low).bigEndian), 0)
        return unsafeBitCast(halves, to: KernelBytes.self)
    }

    init(_ bytes: KernelBytes, isV6: Bool) {
        let (first, second) = unsafeBitCast(bytes, to: (UInt64, UInt64).self)
        if isV6 {
            self.init(v6High: UInt64(bigEndian: first), low: UInt64(bigEndian: second))
        } else {
            self.init(v4: UInt32(bigEndian: UInt32(truncatingIfNeeded: first)))
        }
    }
}
