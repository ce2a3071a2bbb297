import Glibc

/// The sockets of another process, as the kernel shows its descriptors: to its own user and to root.
public enum ProcessSockets {
    /// Inodes of its sockets. Nil where there is no such process, or it may not be looked at.
    public static func inodes(of process: Int32) -> Set<UInt64>? {
        guard let folder = opendir("/proc/\(process)/fd") else { return nil }
        defer { closedir(folder) }
        var inodes: Set<UInt64> = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard let target = link("/proc/\(process)/fd/" + name), target.hasPrefix("socket:[") else { continue }
            if let inode = UInt64(target.dropFirst("socket:[".count).dropLast()) { inodes.insert(inode) }
        }
        return inodes
    }

    /// Whether it has the network namespace of this process. Nil as for `inodes`.
    public static func sharesNetwork(with process: Int32) -> Bool? {
        link("/proc/\(process)/ns/net").map { $0 == link("/proc/self/ns/net") }
    }

    private static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
