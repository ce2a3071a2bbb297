import Primitives
import Runtime
import Synchronization

/// Port numbers for the media of a telephone of ours, so that several of them on one machine keep out of each other's way.
enum FreePorts {
    /// Blocks that this process was given before: their users bind when a call is answered, and until then the ports look free.
    private static let given = Mutex<[ClosedRange<UInt16>]>([])

    /// A run of UDP ports to which nothing was bound just now, clear of the gateway's usual ones, of the kernel's own, and of those that
    /// were given to somebody else in this process, as long as there are others. Begins at an even port of `range`.
    static func block(of count: Int, _ family: IPAddress.Family, in range: ClosedRange<UInt16> = 22_000...31_999) throws -> ClosedRange<
        UInt16
    > {
        for attempt in 0..<200 where count <= range.count * 9 / 10 {
            let first = UInt16.random(in: range.lowerBound / 2...(range.upperBound - UInt16(count)) / 2) * 2
            let block = first...(first + UInt16(count) - 1)
            if attempt < 100, given.withLock({ $0.contains { $0.overlaps(block) } }) { continue }
            guard block.allSatisfy({ isFree($0, family) }) else { continue }
            given.withLock { $0.append(block) }
            return block
        }
        throw Failure.cannotRun("no \(count) UDP ports in a row are free between \(range.lowerBound) and \(range.upperBound)")
    }

    private static func isFree(_ port: UInt16, _ family: IPAddress.Family) -> Bool {
        (try? FileDescriptorOwner.udp(bound: SocketAddress(family == .v4 ? .anyV4 : .anyV6, port: port))) != nil
    }
}
