import Foundation
import Testing

/// A run of ports on loopback that no other test has, in this process or another, below those that clients and the kernel choose from.
///
/// Slots of 100 ports, each with a lock file that the kernel opens again when the process ends.
final class Ports: Sendable {
    let range: ClosedRange<UInt16>
    private let locks: [Int32]

    private static let first = 7_000, slot = 100, slots = 90

    /// Waits for a run of at least `count` ports: what an earlier test had may take a moment to be free.
    static func take(_ count: Int) async throws -> Ports {
        var taken: Ports?
        try await eventually("a run of \(count) free ports", within: .seconds(60)) {
            taken = Ports(count)
            return taken != nil
        }
        return try #require(taken)
    }

    private init?(_ count: Int) {
        let needed = (count + Self.slot - 1) / Self.slot, bound = KernelSockets.boundPorts
        for start in 0...(Self.slots - needed) {
            guard let locks = Self.lock(start..<start + needed, without: bound) else { continue }
            self.locks = locks
            let low = Self.first + start * Self.slot
            range = UInt16(low)...UInt16(low + needed * Self.slot - 1)
            return
        }
        return nil
    }

    deinit { for lock in locks { close(lock) } }

    /// The n-th port.
    subscript(_ index: Int) -> UInt16 { range.lowerBound + UInt16(index) }

    /// Ports of the run, as the configuration writes them.
    func part(_ first: Int, _ count: Int) -> ClosedRange<UInt16> { self[first]...self[first + count - 1] }

    private static func lock(_ slots: Range<Int>, without bound: Set<UInt16>) -> [Int32]? {
        var locks: [Int32] = []
        for slot in slots {
            let file = open("/tmp/hookswitch-interop-ports-\(slot).lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o666)
            guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0, isFree(slot, bound) else {
                for lock in locks + [file] where lock >= 0 { close(lock) }
                return nil
            }
            locks.append(file)
        }
        return locks
    }

    private static func isFree(_ slot: Int, _ bound: Set<UInt16>) -> Bool {
        let low = UInt16(first + slot * Self.slot)
        return bound.isDisjoint(with: low...low + UInt16(Self.slot - 1))
    }
}
