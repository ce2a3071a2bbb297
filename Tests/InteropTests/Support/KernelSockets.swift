import Foundation

/// What the kernel says of sockets: the witness that the gateway's code cannot talk to.
enum KernelSockets {
    struct Socket: Hashable {
        var port: UInt16
        var inode: UInt64
    }

    /// UDP sockets of every process of this network namespace.
    static var udp: [Socket] { table("udp") + table("udp6") }

    /// UDP and TCP ports that somebody has a socket on. What a connection leaves behind in TIME-WAIT has no inode and stops nobody from
    /// listening.
    static var boundPorts: Set<UInt16> { Set((udp + table("tcp") + table("tcp6")).filter { $0.inode != 0 }.map(\.port)) }

    /// UDP ports that a process holds a file descriptor of.
    static func udpPorts(of pid: Int32) -> Set<UInt16> {
        let inodes = socketInodes(of: pid)
        return Set(udp.filter { inodes.contains($0.inode) }.map(\.port))
    }

    /// TCP sockets, listeners included.
    static func tcpSocketCount(of pid: Int32) -> Int {
        let inodes = socketInodes(of: pid)
        return (table("tcp") + table("tcp6")).count { inodes.contains($0.inode) }
    }

    static func tcpPorts(of pid: Int32) -> Set<UInt16> {
        let inodes = socketInodes(of: pid)
        return Set((table("tcp") + table("tcp6")).filter { inodes.contains($0.inode) }.map(\.port))
    }

    /// File descriptors that a process has open.
    static func descriptorCount(of pid: Int32) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
    }

    private static func socketInodes(of pid: Int32) -> Set<UInt64> {
        let folder = "/proc/\(pid)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(
            names.compactMap { name in
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"),
                    target.hasPrefix("socket:[")
                else { return nil }
                return UInt64(target.dropFirst(8).dropLast())
            })
    }

    /// `sl local_address rem_address st … inode`, addresses as hexadecimal `address:port`.
    private static func table(_ name: String) -> [Socket] {
        return contents("/proc/net/\(name)").split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, let port = fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }),
                let inode = UInt64(fields[9])
            else { return nil }
            return Socket(port: port, inode: inode)
        }
    }

    /// The whole of a file of the kernel's, which says it has no length and gives a page at a time.
    private static func contents(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = [], page = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &page, page.count), count > 0 { bytes += page[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
