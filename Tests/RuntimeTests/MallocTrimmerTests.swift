import Foundation
import Testing

@testable import Runtime

extension RealTime {
    @Suite struct MallocTrimmerTests {
        @Test func `it is due when much is kept and little used, twice in a row, and then anew`() {
            let much: UInt64 = 100 << 20, little: UInt64 = 1 << 20
            func due(_ readings: [(used: UInt64, kept: UInt64)]) -> [Bool] {
                var judgement = MallocTrimmer.Judgement()
                return readings.map { judgement.isDue(.init(used: $0.used, kept: $0.kept)) }
            }
            #expect(due([(little, much), (little, much), (little, much), (little, much)]) == [false, true, false, true])
            #expect(due([(little, much), (2 * much, much), (little, much), (little, much)]) == [false, false, false, true])
            #expect(!due([(little / 2, little), (little / 2, little), (little / 2, little)]).contains(true), "not worth it")
        }

        @Test func `what was freed goes back to the kernel`() throws {
            let before = try resident()
            // Pieces below the size that is mapped on its own; the last one keeps the heap from shrinking by itself.
            var pieces = (0..<200_000).map { _ in UnsafeMutableRawPointer.allocate(byteCount: 1_000, alignment: 16) }
            for piece in pieces { piece.storeBytes(of: 1, as: Int.self) }
            let last = pieces.removeLast()
            defer { last.deallocate() }
            let crowded = try resident()
            #expect(crowded > before + 100_000_000)
            for piece in pieces { piece.deallocate() }
            #expect(MallocTrimmer.Reading.now.kept > 100_000_000)
            MallocTrimmer.giveBack()
            let after = try resident()
            #expect(after < crowded - 100_000_000)
        }

        /// In bytes.
        private func resident() throws -> Int {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
            return (Int(pages) ?? 0) * 4_096
        }
    }
}
