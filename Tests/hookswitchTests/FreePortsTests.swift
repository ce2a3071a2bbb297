import Dispatch
import Primitives
import Synchronization
import Testing

@testable import hookswitch

/// Ports for the media of telephones and load runs of one process.
@Suite struct FreePortsTests {
    @Test func `blocks that are drawn at the same time keep clear of each other`() {
        let drawn = Mutex<[ClosedRange<UInt16>]>([])
        DispatchQueue.concurrentPerform(iterations: 20) { _ in
            guard let block = FreePorts.block(of: 50, .v4, inOneOf: [5_000...8_399]) else { return }
            drawn.withLock { $0.append(block) }
        }
        let blocks = drawn.withLock(\.self).sorted { $0.lowerBound < $1.lowerBound }
        #expect(blocks.count == 20 && zip(blocks, blocks.dropFirst()).allSatisfy { !$0.overlaps($1) }, "\(blocks)")
        #expect(blocks.allSatisfy { $0.lowerBound.isMultiple(of: 2) && $0.count == 50 && $0.lowerBound >= 5_000 && $0.upperBound <= 8_399 })
    }

    @Test func `the next range is drawn from before anything is given twice`() throws {
        let first: ClosedRange<UInt16> = 4_000...4_199, second: ClosedRange<UInt16> = 4_200...4_399
        let blocks = (0..<3).compactMap { _ in FreePorts.block(of: 150, .v4, inOneOf: [first, second]) }
        try #require(blocks.count == 3)
        #expect(first.contains(blocks[0].lowerBound) && second.contains(blocks[1].lowerBound))
        #expect(first.contains(blocks[2].lowerBound), "all are given: once more")
    }
}
