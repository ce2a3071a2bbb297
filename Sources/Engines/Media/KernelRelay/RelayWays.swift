import CKernelRelay
import Glibc
import Primitives

/// Asks the kernel how packets travel. Belongs to one media lane.
final class RelayWays {
    /// The way between an address of this machine and a far end.
    struct Way: Hashable {
        /// The address of this machine.
        var address: IPAddress
        /// The interface of the packets in both directions, where the way back is the same.
        var interface: UInt32
        /// Bytes of an IP packet that it takes.
        var longest: UInt32?
        /// The far end is of this machine, too.
        var isLocal: Bool
    }

    private let questions: Int32, news: Int32

    /// Nil without netlink.
    init?() {
        let questions = kernel_relay_open_ways()
        guard questions >= 0 else { return nil }
        let news = kernel_relay_open_news()
        guard news >= 0 else {
            close(questions)
            return nil
        }
        (self.questions, self.news) = (questions, news)
    }

    deinit {
        close(questions)
        close(news)
    }

    /// The way from an address, or from the one that the kernel would take where that is any. Nil where there is none, or none with
    /// Ethernet's headers.
    func way(from local: IPAddress, to remote: IPAddress) -> Way? {
        var way = kernel_relay_way()
        let family: UInt32 = remote.family == .v6 ? 6 : 4
        let result = withUnsafeBytes(of: local.kernelBytes) { from in
            withUnsafeBytes(of: remote.kernelBytes) { to in
                kernel_relay_find_way(
                    questions, family, local.isAny ? nil : from.bindMemory(to: UInt8.self).baseAddress,
                    to.bindMemory(to: UInt8.self).baseAddress, &way)
            }
        }
        guard result == 0 else { return nil }
        let address = IPAddress(way.source, isV6: remote.family == .v6)
        guard !address.isAny else { return nil }
        return Way(
            address: address, interface: way.interface, longest: way.longest == 0 ? nil : way.longest, isLocal: way.is_local != 0)
    }

    /// Whether routes, links or addresses have changed since the last time.
    func haveChanged() -> Bool { kernel_relay_has_news(news) != 0 }
}
