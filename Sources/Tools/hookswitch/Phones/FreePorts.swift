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
        if count <= range.count * 9 / 10, let block = block(of: count, family, inOneOf: [range]) { return block }
        throw Failure.cannotRun("no \(count) UDP ports in a row are free between \(range.lowerBound) and \(range.upperBound)")
    }

    /// The same in the first of the ranges that has such a run; nil where none has one.
    static func block(of count: Int, _ family: IPAddress.Family, inOneOf ranges: [ClosedRange<UInt16>]) -> ClosedRange<UInt16>? {
        for mayRepeat in [false, true] {
            for range in ranges where range.count > count {
                for _ in 0..<100 {
                    let first = Int.random(in: (Int(range.lowerBound) + 1) / 2...(Int(range.upperBound) - count + 1) / 2) * 2
                    let block = UInt16(first)...UInt16(first + count - 1)
                    guard take(block, mayRepeat) else { continue }
                    if block.allSatisfy({ isFree($0, family) }) { return block }
                    giveBack(block)
                }
            }
        }
        return nil
    }

    /// False where part of it was given before. Taken before it is looked at: others draw at the same time.
    private static func take(_ block: ClosedRange<UInt16>, _ mayRepeat: Bool) -> Bool {
        given.withLock { given in
            guard mayRepeat || !given.contains(where: block.overlaps) else { return false }
            given.append(block)
            return true
        }
    }

    private static func giveBack(_ block: ClosedRange<UInt16>) {
        given.withLock { given in if let index = given.lastIndex(of: block) { given.remove(at: index) } }
    }

    private static func isFree(_ port: UInt16, _ family: IPAddress.Family) -> Bool {
        (try? FileDescriptorOwner.udp(bound: SocketAddress(family == .v4 ? .anyV4 : .anyV6, port: port))) != nil
    }
}
