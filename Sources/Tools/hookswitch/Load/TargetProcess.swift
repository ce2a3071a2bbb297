import Foundation
import Workbench

/// The process of the gateway under load, where it runs on this machine: its descriptors and its memory.
struct TargetProcess {
    private let process: String
    private let descriptors: Int?, resident: UInt64?
    private var trend = MemoryTrend(allowance: 4_000)

    /// Descriptors that a process opens with its first calls and keeps: pools, queues, a file.
    private static let keptDescriptors = 16

    /// - Throws: exit code 3 where there is no such process, or it is somebody else's.
    init(_ number: Int) throws {
        process = "\(number)"
        (descriptors, resident) = (MachineReading.descriptorCount(of: process), MachineReading.residentBytes(of: process))
        guard descriptors != nil, resident != nil else {
            throw Failure.cannotRun("--target-pid \(number): there is no such process, or it may not be looked at")
        }
    }

    mutating func note(_ snapshot: LoadSnapshot) {
        trend.note(
            resident: MachineReading.residentBytes(of: process), over: snapshot.judged, up: snapshot.progress.active, at: snapshot.elapsed)
    }

    /// After the run; waits a while for what is still being closed.
    func settled(within limit: TimeInterval = 10) -> LeakReport {
        let end = Date(timeIntervalSinceNow: limit)
        while let excess, excess > 0, Date() < end { Thread.sleep(forTimeInterval: 0.1) }
        var report = LeakReport(leftovers: [])
        let resident = MachineReading.residentBytes(of: process)
        if resident == nil { report.leftovers.append("gateway: its process is gone") }
        if let excess, excess > 0 { report.leftovers.append("gateway: \(excess + Self.keptDescriptors) more descriptors than before") }
        if trend.isGrowing, let bytes = trend.perCall {
            report.leftovers.append("gateway: \(Int(bytes)) bytes of memory more with every call")
        }
        report.targetMemory = MemoryFigures(before: self.resident, after: resident, perCall: trend.perCall)
        return report
    }

    private var excess: Int? {
        MachineReading.descriptorCount(of: process).flatMap { now in descriptors.map { now - $0 - Self.keptDescriptors } }
    }
}
