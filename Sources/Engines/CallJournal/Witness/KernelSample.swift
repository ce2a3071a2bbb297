public import Primitives

/// The sockets on ports for media, as the kernel had them at some instant between two.
public struct KernelSample: Sendable {
    /// A bound UDP socket.
    public struct Socket: Hashable, Sendable {
        public var port: UInt16
        /// The kernel's number of it.
        public var inode: UInt64

        public init(port: UInt16, inode: UInt64) { (self.port, self.inode) = (port, inode) }
    }

    /// The instants before the kernel was asked and behind its answer, on the clock of the journal's times.
    public var begin: Instant, end: Instant
    /// The time of day of `begin`: nanoseconds since 1970.
    public var wall: UInt64
    /// In any order. Those on other ports are passed over.
    public var sockets: [Socket]

    public init(begin: Instant, end: Instant, wall: UInt64, sockets: [Socket]) {
        (self.begin, self.end, self.wall, self.sockets) = (begin, end, wall, sockets)
    }
}
