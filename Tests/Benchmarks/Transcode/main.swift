// A call of Opus and PCMU through the media engine, beside the libopus calls that it needs, with nothing else.
//
//   transcode-bench CALLS SECONDS COMPLEXITY
//
// Both directions talk all the time. Time and sockets are virtual: what is measured is the engine and the codecs, not the kernel. Prints
// one line "BARE OURS BYTES": microseconds of processor time for one second of one call each way, and resident bytes for one call.
import Audio
import CLinux
import Glibc
import Media
import Primitives
import RTP
import Runtime
import SDP

let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? -1 }
guard arguments.count == 3, arguments[0] > 0, arguments[1] > 0, (0...10).contains(arguments[2]) else {
    fatalError("usage: transcode-bench CALLS SECONDS COMPLEXITY")
}
let (calls, frames) = (arguments[0], arguments[1] * 50)
let settings = OpusSettings(complexity: Int32(arguments[2]))
let speech = Speech(frames: 500, settings: settings)

let bare = try bareCalls()
let before = residentBytes()
let bridges = try Bridges(calls: calls)
try bridges.run(frames: 100)   // past the first wait, and every buffer touched
let bytes = (residentBytes() - before) / calls
let start = processorTime()
try bridges.run(frames: frames)
let ours = processorTime() - start
print(Double(bare) / Double(calls) / Double(frames) * 50, Double(ours) / Double(calls) / Double(frames) * 50, bytes)

/// The encodes and decodes alone, in the order in which the bridge has them.
@MainActor func bareCalls() throws -> Int {
    let begin = try (0..<calls).map { _ in try Codecs(settings) }
    for frame in 0..<100 { for call in begin { try call.pass(speech, frame) } }
    let start = processorTime()
    for frame in 0..<frames { for call in begin { try call.pass(speech, frame) } }
    return processorTime() - start
}

func processorTime() -> Int {
    var usage = clinux_usage()
    clinux_get_usage(&usage)
    return Int(usage.user_microseconds + usage.system_microseconds)
}

func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    fgets(&line, 128, file)
    let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
    return (Int(fields[1]) ?? 0) * Int(getpagesize())
}
