public import Primitives

/// The sockets on ports for media, as the kernel had them at some instant between two, and the packets that left from these ports since the
/// last sample.
public struct KernelSample: Sendable {
    /// A bound UDP socket.
    public struct Socket: Hashable, Sendable {
        public var port: UInt16
        /// The kernel's number of it.
        public var inode: UInt64

        public init(port: UInt16, inode: UInt64) { (self.port, self.inode) = (port, inode) }
    }

    /// Packets that left one port: those of RTP, or all others.
    public struct Packets: Hashable, Sendable {
        public var port: UInt16
        public var isRTP: Bool
        /// When the first and the last of them left.
        public var first: Instant, last: Instant
        public var count: Int

        public init(port: UInt16, isRTP: Bool, first: Instant, last: Instant, count: Int) {
            (self.port, self.isRTP, self.first, self.last, self.count) = (port, isRTP, first, last, count)
        }
    }

    /// The instants before the kernel was asked and behind its answer, on the clock of the journal's times.
    public var begin: Instant, end: Instant
    /// The time of day of `begin`: nanoseconds since 1970.
    public var wall: UInt64
    /// In any order. Those on other ports are passed over.
    public var sockets: [Socket]
    /// In any order; none of them left after `end`.
    public var packets: [Packets]

    public init(begin: Instant, end: Instant, wall: UInt64, sockets: [Socket], packets: [Packets] = []) {
        (self.begin, self.end, self.wall, self.sockets, self.packets) = (begin, end, wall, sockets, packets)
    }

    /// From its beginning to its end.
    var span: ClosedRange<Instant> { begin...end }
}
