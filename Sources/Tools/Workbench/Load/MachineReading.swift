import Glibc
import Runtime

/// The kernel's figures of this process and its machine at one moment. A figure that it does not give is nil.
public struct MachineReading: Hashable, Sendable {
    /// Datagrams of the whole network namespace that were lost because a socket's buffer was full, of both families.
    public var receiveBufferErrors: UInt64?
    /// The same of what was to be sent.
    public var sendBufferErrors: UInt64?
    /// The busy time and the whole time of all cores, in ticks.
    public var busyTicks: UInt64?, allTicks: UInt64?
    /// The processor time of this process.
    public var processor: Duration
    /// Sockets, files and pipes; not those by which Dispatch waits for events, which it makes once and keeps.
    public var descriptors: Int?
    /// Memory of this process that is in use, in bytes.
    public var residentBytes: UInt64?

    /// Read anew from the kernel; takes some system calls.
    public static var now: MachineReading {
        let usage = ProcessResources.usage, (busy, all) = processorTicks ?? (nil, nil)
        return MachineReading(
            receiveBufferErrors: counter("RcvbufErrors"), sendBufferErrors: counter("SndbufErrors"), busyTicks: busy, allTicks: all,
            processor: usage.user + usage.system, descriptors: descriptorCount(), residentBytes: residentBytes())
    }

    /// Processors that this process may use.
    public static var cores: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// The text of a small file of the kernel's.
    public static func text(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0, bytes.count < 1 << 22 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func counter(_ name: String) -> UInt64? {
        guard let four = text(of: "/proc/net/snmp").flatMap({ snmp($0, "Udp", name) }) else { return nil }
        return four + (text(of: "/proc/net/snmp6").flatMap { snmp6($0, "Udp6" + name) } ?? 0)
    }

    /// A line of names and a line of values, both beginning with the protocol.
    static func snmp(_ text: String, _ protocolName: String, _ counter: String) -> UInt64? {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix(protocolName + ":") }.map { $0.split(separator: " ") }
        guard lines.count >= 2, let place = lines[0].firstIndex(of: Substring(counter)), place < lines[1].count else { return nil }
        return UInt64(lines[1][place])
    }

    static func snmp6(_ text: String, _ counter: String) -> UInt64? {
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.count == 2, words[0] == counter { return UInt64(words[1]) }
        }
        return nil
    }

    private static var processorTicks: (UInt64?, UInt64?)? {
        guard let line = text(of: "/proc/stat")?.split(separator: "\n").first else { return nil }
        let ticks = line.split(separator: " ").dropFirst().compactMap { UInt64($0) }
        guard ticks.count > 4 else { return nil }
        let all = ticks.prefix(8).reduce(0, +)
        return (all - ticks[3] - ticks[4], all)
    }

    /// Counts the descriptors of this process, or of another one of the same user.
    public static func descriptorCount(of process: String = "self") -> Int? {
        guard let folder = opendir("/proc/\(process)/fd") else { return nil }
        defer { closedir(folder) }
        var count = process == "self" ? -1 : 0   // the folder's own
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let place = link("/proc/\(process)/fd/" + name), !place.hasPrefix("anon_inode:") { count += 1 }
        }
        return count
    }

    private static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Reads the resident memory of this process, or of another one, in bytes.
    public static func residentBytes(of process: String = "self") -> UInt64? {
        let words = text(of: "/proc/\(process)/statm")?.split(separator: " ") ?? []
        return words.count > 1 ? UInt64(words[1]).map { $0 * UInt64(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}
