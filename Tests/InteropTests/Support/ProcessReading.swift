import Foundation
import Testing

/// What the kernel says that a process holds.
struct ProcessReading {
    var descriptors: Int
    /// kB that are resident.
    var memory: Int

    init(_ pid: Int32) {
        descriptors = KernelSockets.descriptorCount(of: pid)
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        memory = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// No more memory than what transactions hold for 32 seconds (8,000 of them 4 kB each), and no descriptor more once those that are
    /// being closed are.
    static func expectNoGrowth(of pid: Int32, since before: ProcessReading, _ location: SourceLocation = #_sourceLocation) async throws {
        let now = ProcessReading(pid)
        #expect(
            now.memory > 0 && now.memory - before.memory < 32_000, "\(before.memory) kB, then \(now.memory) kB", sourceLocation: location)
        try await eventually("no descriptor is left behind") { KernelSockets.descriptorCount(of: pid) <= before.descriptors }
    }
}
