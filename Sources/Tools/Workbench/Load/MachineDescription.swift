import Glibc

/// The machine on which a run was made.
public struct MachineDescription: Codable, Hashable, Sendable {
    /// As the kernel names it; nil where it does not.
    public var processor: String?
    public var cores: Int
    public var memoryBytes: UInt64?
    /// Name and release.
    public var kernel: String

    public static var this: MachineDescription {
        var name = utsname()
        uname(&name)
        let pages = UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))), size = UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
        return MachineDescription(
            processor: MachineReading.text(of: "/proc/cpuinfo").flatMap(model), cores: MachineReading.cores,
            memoryBytes: pages > 0 ? pages * size : nil,
            kernel: "\(string(of: &name.sysname)) \(string(of: &name.release))")
    }

    /// One line for a person.
    public var text: String {
        let memory = memoryBytes.map { "\(Number.text(Double($0) / 1_073_741_824)) GB" }
        return ([processor, cores.counted("core", "cores")] + [memory, kernel]).compactMap(\.self).joined(separator: ", ")
    }

    /// `model name	: …` of `/proc/cpuinfo`.
    static func model(in text: String) -> String? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":", maxSplits: 1).last.map { String($0.drop { $0 == " " }) }
    }

    private static func string<Field>(of field: inout Field) -> String {
        withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
