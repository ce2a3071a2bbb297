// What SRTP costs, beside libsrtp2 under the same keys.
//
//   srtp-bench SUITE ROUNDS      prints the processor time in microseconds for one packet of 172 bytes: "LIBSRTP2 OURS", protected and
// checked again
import CSRTPOracle
import Glibc
import Primitives
import Runtime

let packetCount = 172

func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Microseconds for one packet each way: half of what there and back cost together.
@MainActor func measure(_ rounds: Int, _ thereAndBack: (UnsafeMutableRawBufferPointer) -> Int) -> Double {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
    defer { buffer.deallocate() }
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    (buffer[0], buffer[11]) = (0x80, 9)
    var sequence: UInt16 = 0
    func run(_ count: Int) {
        for _ in 0..<count {
            buffer.storeBytes(of: sequence.bigEndian, toByteOffset: 2, as: UInt16.self)
            sequence &+= 1
            let left = thereAndBack(buffer)
            precondition(left == packetCount, "a packet was lost")
        }
    }
    run(rounds / 10)
    let before = processorTime()
    run(rounds)
    return (processorTime() - before) * 1e6 / Double(rounds) / 2
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let suite = SRTPSuite(rawValue: arguments[1]), let rounds = Int(arguments[2]), rounds >= 10 else {
    let usage = "usage: srtp-bench \(SRTPSuite.allCases.map(\.rawValue).joined(separator: "|")) ROUNDS\n"
    _ = usage.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(2)
}
var random = SystemRandomNumberGenerator()
let key = SRTPKey(suite, using: &random)
let material = key.withMaterial { Array($0) }
let number = Int32(SRTPSuite.allCases.firstIndex(of: suite) ?? 0)
guard let theirSender = oracle_session(number, material, 1), let theirReceiver = oracle_session(number, material, 0) else {
    fatalError("libsrtp2 has no \(suite.rawValue)")
}
let theirs = measure(rounds) {
    Int(oracle_unprotect(theirReceiver, $0.baseAddress, oracle_protect(theirSender, $0.baseAddress, Int32(packetCount))))
}
let (sender, receiver) = (SRTPSender(key), SRTPReceiver(key))
let ours = measure(rounds) { buffer in
    guard let count = try? sender.protect(buffer, count: packetCount) else { return -1 }
    return (try? receiver.unprotect(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))) ?? -1
}
print(theirs, ours)
