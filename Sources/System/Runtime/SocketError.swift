import Glibc
public import Primitives

/// Why a socket could not be made, bound or connected. The description is one sentence for a person.
public enum SocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The protocol of the socket.
    public enum Kind: String, Hashable, Sendable { case udp = "UDP", tcp = "TCP" }

    /// Another socket is bound there.
    case addressInUse(Kind, SocketAddress)
    /// The process may not use the port: one below 1024, mostly.
    case permissionDenied(Kind, SocketAddress)
    /// The address to bind is not one of this machine's.
    case noSuchAddress(Kind, SocketAddress)
    /// The kernel has no such address family (IPv6 switched off).
    case familyUnavailable(Kind, SocketAddress)
    /// The process, or the machine, has no descriptor left.
    case tooManyDescriptors
    /// Any other failure: what was tried, and `errno`.
    case failed(operation: String, Kind, SocketAddress, code: Int32)

    /// A socket in the file system: what was tried, its path, and `errno`.
    case failedPath(operation: String, String, code: Int32)

    init(_ operation: String, _ kind: Kind, _ address: SocketAddress, code: Int32 = errno) {
        self =
            switch code {
            case EADDRINUSE: .addressInUse(kind, address)
            case EACCES, EPERM: .permissionDenied(kind, address)
            case EADDRNOTAVAIL: .noSuchAddress(kind, address)
            case EAFNOSUPPORT: .familyUnavailable(kind, address)
            case EMFILE, ENFILE: .tooManyDescriptors
            default: .failed(operation: operation, kind, address, code: code)
            }
    }

    /// The kernel's words for it, where nothing better is known; else as the description.
    public var cause: String {
        switch self {
        case .failed(_, _, _, let code), .failedPath(_, _, let code): String(cString: strerror(code))
        default: description
        }
    }

    public var description: String {
        switch self {
        case .addressInUse(let kind, let address): "\(kind.rawValue) \(address) is already in use by another program"
        case .permissionDenied(let kind, let address): "no permission to use \(kind.rawValue) \(address)"
        case .noSuchAddress(let kind, let address): "cannot use \(kind.rawValue) \(address): this machine has no address \(address.address)"
        case .familyUnavailable(let kind, let address):
            "cannot use \(kind.rawValue) \(address): this machine has no \(address.address.family == .v6 ? "IPv6" : "IPv4")"
        case .tooManyDescriptors: "too many open files: raise the limit of open files (ulimit -n)"
        case .failed(let operation, let kind, let address, let code):
            "cannot \(operation) \(kind.rawValue) \(address): \(String(cString: strerror(code)))"
        case .failedPath(let operation, let path, let code): "cannot \(operation) the socket \(path): \(String(cString: strerror(code)))"
        }
    }
}
