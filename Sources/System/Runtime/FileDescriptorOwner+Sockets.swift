import CLinux
import Glibc
public import Primitives

extension FileDescriptorOwner {
    /// A non-blocking UDP socket, bound. IPv6 sockets take IPv6 only, so that a v4 and a v6 socket can share a port.
    ///
    /// - Parameters:
    ///   - address: port 0 lets the kernel choose.
    ///   - reusePort: several sockets of this user may bind the same port and share its load (SO_REUSEPORT).
    public static func udp(bound address: SocketAddress, reusePort: Bool = false) throws(SocketError) -> FileDescriptorOwner {
        let socket = try make(.udp, for: address)
        if reusePort { _ = clinux_set_reuse_port(socket.raw, 1) }
        try socket.bind(to: address, .udp)
        return socket
    }

    /// A non-blocking listening TCP socket.
    public static func tcp(listening address: SocketAddress, backlog: Int32) throws(SocketError) -> FileDescriptorOwner {
        let socket = try make(.tcp, for: address)
        // Without it a restart would have to wait until the connections of the last run have left TIME_WAIT.
        _ = clinux_set_reuse_address(socket.raw, 1)
        try socket.bind(to: address, .tcp)
        guard listen(socket.raw, backlog) == 0 else { throw SocketError("listen on", .tcp, address) }
        return socket
    }

    /// A non-blocking listening socket in the file system, for this user alone. What is at the path is replaced where it is a socket.
    static func local(listening path: String, backlog: Int32) throws(SocketError) -> FileDescriptorOwner {
        let socket = try local(path)
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
        // The file gets the rights of the socket: there is no moment in which others could open it.
        fchmod(socket.raw, 0o600)
        guard withLocalAddress(path, { Glibc.bind(socket.raw, $0, $1) }) == 0 else {
            throw .failedPath(operation: "bind", path, code: errno)
        }
        guard listen(socket.raw, backlog) == 0 else { throw .failedPath(operation: "listen on", path, code: errno) }
        return socket
    }

    /// A socket that is connected to one in the file system.
    public static func local(connecting path: String, isBlocking: Bool = true) throws(SocketError) -> FileDescriptorOwner {
        let socket = try local(path)
        guard withLocalAddress(path, { Glibc.connect(socket.raw, $0, $1) }) == 0 else {
            throw .failedPath(operation: "connect to", path, code: errno)
        }
        if isBlocking { _ = fcntl(socket.raw, F_SETFL, 0) }
        return socket
    }

    private static func local(_ path: String) throws(SocketError) -> FileDescriptorOwner {
        let raw = clinux_socket(AF_UNIX, Int32(SOCK_STREAM.rawValue))
        guard raw >= 0 else { throw .failedPath(operation: "open", path, code: errno) }
        return FileDescriptorOwner(raw)
    }

    /// The address of a socket in the file system has room for 107 bytes: a longer path is named by the descriptor of its folder.
    /// - Returns: the status of `body`, with `errno`.
    private static func withLocalAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        guard path.utf8.count >= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return withShortAddress(path, body) }
        let slash = path.lastIndex(of: "/") ?? path.startIndex, folder = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return -1 }
        let status = withShortAddress("/proc/self/fd/\(folder)\(path[slash...])", body), code = errno
        close(folder)
        errno = code
        return status
    }

    private static func withShortAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return -1
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// A TCP socket whose connection has begun; the socket becomes writable when it stands or has failed.
    static func tcp(connecting remote: SocketAddress, from local: IPAddress?) throws(SocketError) -> FileDescriptorOwner {
        let socket = try make(.tcp, for: remote)
        if let local { try socket.bind(to: SocketAddress(local, port: 0), .tcp) }
        let status = remote.withSockaddr { Glibc.connect(socket.raw, $0, $1) }
        guard status == 0 || errno == EINPROGRESS else { throw SocketError("connect to", .tcp, remote) }
        return socket
    }

    /// Sets the remote end of a UDP socket, so that it takes datagrams from there only and `send` needs no address.
    public borrowing func connect(to remote: SocketAddress) throws(SocketError) {
        guard remote.withSockaddr({ Glibc.connect(raw, $0, $1) }) == 0 else { throw SocketError("connect to", .udp, remote) }
    }

    /// The address that the socket is bound to, with the port that the kernel chose.
    public var localAddress: SocketAddress? { SocketAddress.read { getsockname(raw, $0, &$1) } }

    private static func make(_ kind: SocketError.Kind, for address: SocketAddress) throws(SocketError) -> FileDescriptorOwner {
        let type = kind == .udp ? SOCK_DGRAM : SOCK_STREAM
        let raw = clinux_socket(address.address.family.domain, Int32(type.rawValue))
        guard raw >= 0 else { throw SocketError("open", kind, address) }
        let socket = FileDescriptorOwner(raw)
        if address.address.family == .v6 { _ = clinux_set_v6_only(raw, 1) }
        return socket
    }

    private borrowing func bind(to address: SocketAddress, _ kind: SocketError.Kind) throws(SocketError) {
        guard address.withSockaddr({ Glibc.bind(raw, $0, $1) }) == 0 else { throw SocketError("bind", kind, address) }
    }
}
