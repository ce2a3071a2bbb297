import Primitives
import Runtime

/// Port numbers for the media of a telephone of ours, so that several of them on one machine keep out of each other's way.
enum FreePorts {
    /// A run of UDP ports to which nothing was bound just now, clear of the gateway's usual ones and of the kernel's own.
    static func block(of count: Int, _ family: IPAddress.Family) throws -> ClosedRange<UInt16> {
        for _ in 0..<100 {
            let first = UInt16.random(in: 11_000...15_900) * 2
            let block = first...(first + UInt16(count) - 1)
            if block.allSatisfy({ isFree($0, family) }) { return block }
        }
        throw Failure.cannotRun("no \(count) UDP ports in a row are free between 22000 and 32000")
    }

    private static func isFree(_ port: UInt16, _ family: IPAddress.Family) -> Bool {
        (try? FileDescriptorOwner.udp(bound: SocketAddress(family == .v4 ? .anyV4 : .anyV6, port: port))) != nil
    }
}
