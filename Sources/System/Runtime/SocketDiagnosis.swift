import CLinux
import Glibc
public import Primitives

/// Asks the kernel for the UDP sockets that are bound in this network namespace, of whichever process (sock_diag(7)).
public struct SocketDiagnosis: ~Copyable {
    /// A bound socket.
    public struct BoundSocket: Hashable, Sendable {
        /// The address and port that it is bound to.
        public var address: SocketAddress
        /// The number by which the descriptors of a process name it (``ProcessSockets``).
        public var inode: UInt64
    }

    /// Why the kernel does not tell. The description is one sentence for a person.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kernel, or who confines the process, permits no such question.
        case unavailable(code: Int32)
        /// The answer cannot be read.
        case broken(code: Int32)
        /// There are more sockets than ``mostSockets``.
        case tooMany

        public var description: String {
            switch self {
            case .unavailable(let code): "the kernel cannot be asked for its sockets (sock_diag): \(String(cString: strerror(code)))"
            case .broken(let code): "the kernel's list of sockets cannot be read: \(String(cString: strerror(code)))"
            case .tooMany: "there are more than \(SocketDiagnosis.mostSockets) UDP sockets on these ports"
            }
        }
    }

    /// A longer answer is refused.
    public static let mostSockets = 262_144
    /// The kernel's parts of an answer have 32 kB at most, and a socket takes more than 88 bytes of it.
    private static let mostInPart = 32_768 / 88

    private let netlink: FileDescriptorOwner
    private var part = [clinux_bound_socket](repeating: clinux_bound_socket(), count: mostInPart)

    /// - Throws: `.unavailable`.
    public init() throws(Failure) {
        let raw = clinux_diagnosis()
        guard raw >= 0 else { throw .unavailable(code: errno) }
        netlink = FileDescriptorOwner(raw)
    }

    /// Sockets of both families on ports of a range. The list is no snapshot: sockets that are bound or closed meanwhile may be missing, and
    /// seldom one beside them.
    ///
    /// - Throws: any ``Failure``. Another ``SocketDiagnosis`` is needed then: the rest of the answer may still be on its way.
    public mutating func udpSockets(on ports: ClosedRange<UInt16>) throws(Failure) -> [BoundSocket] {
        var found: [BoundSocket] = []
        for family in [AF_INET, AF_INET6] {
            guard clinux_ask_udp_sockets(netlink.raw, family, ports.lowerBound, ports.upperBound) == 0 else {
                throw .unavailable(code: errno)
            }
            while try readPart(into: &found) {}
        }
        return found
    }

    /// False behind the last part.
    private mutating func readPart(into found: inout [BoundSocket]) throws(Failure) -> Bool {
        var isDone: Int32 = 0
        let netlink = netlink.raw
        let count = part.withUnsafeMutableBufferPointer {
            clinux_read_udp_sockets(netlink, $0.baseAddress, UInt($0.count), &isDone)
        }
        guard count >= 0 else { throw errno == ENOENT || errno == EPERM ? .unavailable(code: errno) : .broken(code: errno) }
        guard found.count + count <= Self.mostSockets else { throw .tooMany }
        for socket in part[..<count] { found.append(BoundSocket(address: Self.address(of: socket), inode: UInt64(socket.inode))) }
        return isDone == 0
    }

    private static func address(of socket: clinux_bound_socket) -> SocketAddress {
        withUnsafeBytes(of: socket.address) { bytes in
            if Int32(socket.family) == AF_INET {
                return SocketAddress(IPAddress(v4: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))), port: socket.port)
            }
            let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            return SocketAddress(IPAddress(v6High: high, low: low), port: socket.port)
        }
    }
}
