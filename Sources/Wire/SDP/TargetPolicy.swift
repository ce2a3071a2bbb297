public import Primitives

/// The rules for the addresses to which the peer's descriptions may have us send media.
///
/// Multicast and broadcast are never allowed, and neither are ports of our own: media must not come round in circles.
public struct TargetPolicy: Hashable, Sendable {
    /// Our own addresses, and the ports that we use on them; any loopback address is ours.
    public var ownAddresses: Set<IPAddress> = []
    /// The ports that our media sockets may have: what is sent to one of them, at an address of ours, would come back to us.
    public var ownPorts: [ClosedRange<UInt16>] = []
    /// Networks that media may go to; empty: all.
    public var allowed: [IPNetwork] = []
    /// Networks that it may not go to, even where they are allowed.
    public var denied: [IPNetwork] = []

    /// Everything is admitted that is not this machine's.
    public init() {}

    /// - Parameter target: not the unspecified address, which means that nothing is to be sent.
    public func admits(_ target: SocketAddress) -> Bool {
        let address = target.address
        guard !address.isForSeveral else { return false }
        if denied.contains(where: { $0.contains(address) }) { return false }
        guard allowed.isEmpty || allowed.contains(where: { $0.contains(address) }) else { return false }
        return !isOurs(target)
    }

    /// A port of ours at an address of ours.
    public func isOurs(_ target: SocketAddress) -> Bool {
        ownPorts.contains { $0.contains(target.port) } && (target.address.isLoopback || ownAddresses.contains(target.address))
    }
}
