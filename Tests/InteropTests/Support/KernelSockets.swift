import Foundation

/// What the kernel says of sockets: the witness that the gateway's code cannot talk to.
enum KernelSockets {
    struct Socket: Hashable {
        var port: UInt16
        var inode: UInt64
    }

    /// UDP sockets of every process of this network namespace.
    static var udp: [Socket] { table("udp") + table("udp6") }

    /// UDP and TCP ports in use by anybody.
    static var boundPorts: Set<UInt16> { Set((udp + table("tcp") + table("tcp6")).map(\.port)) }

    /// UDP ports that a process holds a file descriptor of.
    static func udpPorts(of pid: Int32) -> Set<UInt16> {
        let inodes = socketInodes(of: pid)
        return Set(udp.filter { inodes.contains($0.inode) }.map(\.port))
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
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"), target.hasPrefix("socket:[") else { return nil }
                return UInt64(target.dropFirst(8).dropLast())
            })
    }

    /// `sl local_address rem_address st … inode`, addresses as hexadecimal `address:port`.
    private static func table(_ name: String) -> [Socket] {
        let text = (try? String(contentsOfFile: "/proc/net/\(name)", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, let port = fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }), let inode = UInt64(fields[9]) else { return nil }
            return Socket(port: port, inode: inode)
        }
    }
}
