import Foundation
import Gateway
import Primitives
import Rehearsal
import Synchronization

/// Many rehearsals on several threads, with what was done kept in a file.
struct Marathon {
    /// Calls of one rehearsal.
    static let callsOfOne = 100
    /// Seeds between two times at which the file is written.
    private static let chunk: UInt64 = 64
    /// Seeds that fail and are made short, at most.
    private static let mostFailures = 5
    /// Megabytes that memory may grow by, after the first tenth.
    private static let growth = 100.0

    private let count: Int
    private let last: UInt64
    private let threads: Int
    private let file: URL
    private var progress: Progress

    /// - Parameters:
    ///   - count: calls, in whole rehearsals.
    ///   - first: the seed of the first one.
    ///   - threads: rehearsals side by side.
    ///   - file: that it goes on from, where it has this seed.
    init(_ count: Int, from first: UInt64, threads: Int, file: URL) {
        (self.count, self.threads, self.file) = (count, threads, file)
        last = first + UInt64((count + Self.callsOfOne - 1) / Self.callsOfOne)
        progress = Progress(first: first, next: first)
        guard let data = try? Data(contentsOf: file), let kept = try? JSONDecoder().decode(Progress.self, from: data), kept.first == first
        else {
            return
        }
        progress = kept
        print("goes on at seed \(kept.next): \(kept.calls) calls are done")
    }

    /// - Returns: whether no seed failed, and memory stayed flat.
    mutating func run() throws -> Bool {
        while progress.next < last {
            let began = ContinuousClock.now, end = min(last, progress.next + Self.chunk)
            for (verdict, time) in Self.play(progress.next..<end, threads) {
                progress.add(verdict, milliseconds: time)
                if !verdict.isGood { fail(verdict) }
            }
            progress.next = end
            progress.seconds += Double((ContinuousClock.now - began).wholeMilliseconds) / 1_000
            try note()
        }
        return conclude()
    }

    private mutating func note() throws {
        let memory = Self.residentMegabytes
        progress.mostMemory = max(progress.mostMemory, memory)
        if progress.memoryAtFirst == nil, progress.calls >= count / 10 { progress.memoryAtFirst = memory }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(progress).write(to: file, options: .atomic)
        let rate = Int(Double(progress.calls) / max(0.001, progress.seconds))
        print("\(progress.calls) of \(count) calls, \(rate) a second, \(progress.failures.count) failures, \(Int(memory)) MB")
        fflush(nil)
    }

    private mutating func fail(_ verdict: RehearsalVerdict) {
        print(verdict.report)
        guard progress.failures.count < Self.mostFailures else { return }
        print("seed \(verdict.seed) fails; the shortest rehearsal that still does is looked for")
        fflush(nil)
        var shrinker = RehearsalShrinker { !Rehearsal($0).run().isGood }
        let test = shrinker.shrunk(RehearsalSettings(seed: verdict.seed)).test
        print(test)
        progress.failures.append(.init(seed: verdict.seed, report: verdict.report, test: test))
    }

    private static func play(_ seeds: Range<UInt64>, _ threads: Int) -> [(RehearsalVerdict, Double)] {
        let results = Mutex<[(RehearsalVerdict, Double)]>([]), next = Atomic(seeds.lowerBound)
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            while case let seed = next.add(1, ordering: .relaxed).oldValue, seed < seeds.upperBound {
                let began = ContinuousClock.now, verdict = Rehearsal(RehearsalSettings(seed: seed)).run()
                let time = Double((ContinuousClock.now - began).wholeNanoseconds) / 1e6
                results.withLock { $0.append((verdict, time)) }
            }
        }
        return results.withLock { $0 }.sorted { $0.0.seed < $1.0.seed }
    }

    private func conclude() -> Bool {
        let grown = progress.mostMemory - (progress.memoryAtFirst ?? progress.mostMemory), isFlat = grown <= Self.growth
        print(progress.text)
        if !isFlat { print("memory grew by \(Int(grown)) MB since a tenth of the calls") }
        let failed = progress.failures.count
        print(failed == 0 ? "no violation, nothing left over" : "failed: \(failed == Self.mostFailures ? "at least " : "")\(failed) seeds")
        return failed == 0 && isFlat
    }

    private static var residentMegabytes: Double {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return words.count > 1 ? Double(Int(words[1]) ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576 : 0
    }
}
