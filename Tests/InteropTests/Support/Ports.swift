import Foundation

/// A run of ports on loopback that no other test has, in this process or another, below those that clients and the kernel choose from.
///
/// Slots of 100 ports, each with a lock file that the kernel opens again when the process ends.
final class Ports: Sendable {
    let range: ClosedRange<UInt16>
    private let locks: [Int32]

    private static let first = 7_000, slot = 100, slots = 90

    init(_ count: Int) throws {
        let needed = (count + Self.slot - 1) / Self.slot
        for start in 0...(Self.slots - needed) {
            guard let locks = Self.lock(start..<start + needed) else { continue }
            self.locks = locks
            let low = Self.first + start * Self.slot
            range = UInt16(low)...UInt16(low + needed * Self.slot - 1)
            return
        }
        throw Unmet("no run of \(count) free ports")
    }

    deinit { for lock in locks { close(lock) } }

    /// The n-th port.
    subscript(_ index: Int) -> UInt16 { range.lowerBound + UInt16(index) }

    /// Ports of the run, as the configuration writes them.
    func part(_ first: Int, _ count: Int) -> ClosedRange<UInt16> { self[first]...self[first + count - 1] }

    private static func lock(_ slots: Range<Int>) -> [Int32]? {
        var locks: [Int32] = []
        for slot in slots {
            let file = open("/tmp/hookswitch-interop-ports-\(slot).lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o666)
            guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0, isFree(slot) else {
                for lock in locks + [file] where lock >= 0 { close(lock) }
                return nil
            }
            locks.append(file)
        }
        return locks
    }

    private static func isFree(_ slot: Int) -> Bool {
        let low = UInt16(first + slot * Self.slot)
        return KernelSockets.boundPorts.isDisjoint(with: low...low + UInt16(Self.slot - 1))
    }
}
