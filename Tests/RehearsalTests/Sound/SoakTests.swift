import Foundation
import Gateway
import Primitives
import Rehearsal
import Testing

/// Ten hours of talk. In a process of its own, so that nobody else's memory is counted.
@Suite struct SoakTests {
    @Test(.timeLimit(.minutes(30)))
    func `ten hours of calls under hold, re-INVITE and codec change leave memory and descriptors where they were`() async {
        let drawn = ProcessInfo.processInfo.environment["HOOKSWITCH_SEED"] ?? "\(UInt64.random(in: 1...1_000_000))"
        print("soak: seed \(drawn) (replay with HOOKSWITCH_SEED=\(drawn))")
        setenv("HOOKSWITCH_SOAK_SEED", drawn, 1)
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let seed = ProcessInfo.processInfo.environment["HOOKSWITCH_SOAK_SEED"].flatMap(UInt64.init) ?? 1
            var settings = SoakSettings(seed: seed), memory: [Int] = [], descriptors: [Int] = []
            settings.waves = 10
            let verdict = Soak(settings).run { _ in
                memory.append(residentBytes())
                descriptors.append(openDescriptors())
            }
            let hours = Double(verdict.tally.talked.wholeMilliseconds) / 3_600_000
            print(
                "soak: seed \(seed) (replay with HOOKSWITCH_SEED=\(seed)), \(hours) h talked, \(verdict.tally), \(verdict.heard) packets heard"
            )
            print("soak: resident kB behind each hour \(memory.map { $0 / 1_024 }), descriptors \(descriptors)")
            for line in verdict.violations.map(\.description) + verdict.leaks { print("soak: \(line)") }
            // The first hours fill what is kept for reuse.
            let growth = memory[memory.count - 1] - memory[2]
            for (isGood, fault) in [
                (verdict.isGood, "the audit or the leak gate found something"), (hours >= 9.5, "too little was talked"),
                (verdict.tally.offers > 1_000 && verdict.heard > 20_000, "nothing happened"),
                (growth < 2 << 20, "memory grew by \(growth) bytes in the last seven hours"),
                (Set(descriptors.dropFirst()).count == 1, "descriptors are not at the baseline"),
            ] where !isGood { print("soak FAILED: \(fault)") }
            print("soak is over")
        }
        // What a process said that did not exit as it should is not to be had: it exits well, and says what was not.
        let said = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        print(said)
        #expect(said.contains("soak is over") && !said.contains("soak FAILED"), "\(said)")
    }
}

private func residentBytes() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4_096
}

private func openDescriptors() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0 }
