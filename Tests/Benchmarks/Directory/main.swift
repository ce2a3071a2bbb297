// What a call directory costs: loaded from its files, kept in memory, asked for a number.
//
//   directory-bench ENTRIES FOLDER    prints "SECONDS PEAK KEPT HIT MISS LABEL": the load, the growth of resident memory in bytes for each
//                                     entry at its peak and after it, and nanoseconds for a blocked number, one that is not, and a label
//
// Half of the entries are numbers to block, half numbers to identify with one of a hundred thousand names. Both files are written first,
// and are read a piece at a time. Numbers are asked for in random order, so that no lookup finds its way warm.
import CallKit
import Dispatch
import Foundation
import Gateway

/// Kilobytes of a line of /proc/self/status.
func status(_ name: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.flatMap { Int($0.split(separator: " ")[safe: 1] ?? "") } ?? 0
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

func number(_ index: Int) -> Int64 { 390_000_000_000 + Int64(index) * 13 + Int64(index % 7) }

func write(_ entries: Int, to path: String, _ line: (Int) -> String) {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    guard let file = FileHandle(forWritingAtPath: path) else { fatalError("\(path) cannot be written") }
    var buffer = Data()
    for index in 0..<entries {
        buffer.append(contentsOf: line(index).utf8)
        if buffer.count > 1 << 20 || index == entries - 1 {
            file.write(buffer)
            buffer.removeAll(keepingCapacity: true)
        }
    }
    try? file.close()
}

/// Nanoseconds for one of `rounds` lookups of numbers that a generator of its own makes; how many were found goes to the check.
func measure(_ rounds: Int, _ entries: Int, _ lookup: (Int) -> Bool) -> (nanoseconds: Double, found: Int) {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    var found = 0
    let begin = DispatchTime.now().uptimeNanoseconds
    for _ in 0..<rounds {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        found += lookup(Int(state >> 33) % entries) ? 1 : 0
    }
    return (Double(DispatchTime.now().uptimeNanoseconds - begin) / Double(rounds), found)
}

guard CommandLine.arguments.count == 3, let entries = Int(CommandLine.arguments[1]), entries >= 1_000 else {
    FileHandle.standardError.write(Data("usage: directory-bench ENTRIES FOLDER\n".utf8))
    exit(2)
}
let half = entries / 2, folder = CommandLine.arguments[2]
write(half, to: folder + "/block.csv") { "+\(number($0))\n" }
write(half, to: folder + "/identify.csv") { "+\(number($0)),Somebody \($0 * 31 % 100_000)\n" }

let before = status("VmRSS")
let directories = CallDirectories()
let finished = DispatchSemaphore(value: 0)
let begin = DispatchTime.now().uptimeNanoseconds
directories.load([DirectorySource(name: "bench", block: folder + "/block.csv", identify: folder + "/identify.csv")]) { outcome in
    if let failure = outcome.failure { fatalError(failure) }
    finished.signal()
}
finished.wait()
let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
let peak = Double(status("VmHWM") - before) * 1_024 / Double(entries), kept = Double(status("VmRSS") - before) * 1_024 / Double(entries)
guard let data = directories.record(of: "bench")?.data, data.blockedCount == half, data.identifiedCount == half else {
    fatalError("not all is there")
}

let rounds = 1_000_000
let hit = measure(rounds, half) { data.isBlocked(number($0)) }
let miss = measure(rounds, half) { data.isBlocked(number($0) + 1) }
let label = measure(rounds, half) { data.label(of: number($0)) != nil }
precondition(hit.found == rounds && label.found == rounds && miss.found == 0, "the lookups do not find what is there")
print(seconds, peak, kept, hit.nanoseconds, miss.nanoseconds, label.nanoseconds)
