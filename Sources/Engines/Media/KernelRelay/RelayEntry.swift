import CKernelRelay
import Primitives
import RTP

/// One direction that is relayed in the kernel: the way of its packets, the state of its stream, and the packets that were not relayed.
public struct RelayEntry: Hashable, Sendable {
    /// The way of the packets, and the kinds that take it; fixed while the entry is armed.
    public struct Plan: Hashable, Sendable {
        /// The addresses of the packets that leave, of the family of those that come.
        public var source: SocketAddress, destination: SocketAddress
        /// The index of the interface by which they leave; nil where both ends are of this machine: they go up its own stack.
        public var interface: UInt32?
        /// The TOS byte of IPv4, or the traffic class of IPv6.
        public var trafficClass: UInt8 = 0
        /// The number of each payload type on the other side.
        public var types: RelayTypes
        /// Ticks by which timestamps may differ from the time that passed before they count as a new base.
        public var tolerance: UInt32
        /// Packets in a second: what is more is dropped. Nil and 0: no limit.
        public var rateLimit: UInt32?
        /// Bytes of an IP packet that the outgoing interface takes; nil: no limit.
        public var longest: UInt32?
        /// For the caller alone.
        public var token: UInt64 = 0

        /// Packets that leave from `source` to `destination`; timestamps may differ by the ten seconds that `RTPRewriter` allows.
        public init(source: SocketAddress, destination: SocketAddress, interface: UInt32?, types: RelayTypes, clockRate: UInt32) {
            (self.source, self.destination, self.interface, self.types) = (source, destination, interface, types)
            tolerance = clockRate &* 10
        }
    }

    /// Why the kernel relays no more of it: user space takes it back, and goes on with the packet that comes up.
    public enum Hold: UInt8, Hashable, Sendable {
        /// Another SSRC; or not the very next number after arming, so that packets may wait in the socket.
        case ssrc = 1, fresh
        /// A step in the sequence that is not believed at once, a packet from before the source's first, or a new base of timestamps.
        case sequence, stale, timestamp
        /// Longer than the outgoing interface takes.
        case length
        /// `renew` was not called for five seconds.
        case overdue
        /// The kernel did not change the checksum: before 6.16 that of IPv6.
        case checksum
        /// A payload type that is not relayed.
        case type
    }

    /// Packets that were not relayed.
    public struct Left: Hashable, Sendable {
        /// Passed up: while it was held with the packet that held it, RTCP, and damaged ones.
        public var held: UInt64 = 0, control: UInt64 = 0, malformed: UInt64 = 0
        /// Dropped: above the rate limit, and for want of memory.
        public var overRate: UInt64 = 0, failed: UInt64 = 0

        /// None.
        public init() {}
    }

    /// The way of the packets.
    public var plan: Plan
    /// The state of the stream.
    public var stream: RelayedStream
    /// The very next sequence number has not come yet: any other one holds the entry.
    public var isFresh = true
    /// Nil while it relays.
    public var hold: Hold?
    /// Packets that came late.
    public var late: UInt64 = 0
    /// Packets that were not relayed.
    public var left = Left()
    /// The beginning of the second that the rate limit counts, and its packets so far.
    public var second = Instant.zero, secondPackets: UInt32 = 0

    /// A direction that nothing has come for yet.
    public init(plan: Plan, stream: RelayedStream) { (self.plan, self.stream) = (plan, stream) }

    init(plan: Plan, stream: RelayedStream, rate: PacketRate) {
        self.init(plan: plan, stream: stream)
        (second, secondPackets) = (rate.second, rate.packets)
    }
}

/// The number under which each payload type leaves; sound in one clock.
public struct RelayTypes: Hashable, Sendable {
    private static let up = UInt8(KERNEL_RELAY_UP)
    var table = InlineArray<128, UInt8>(repeating: Self.up)

    /// None is relayed.
    public init() {}

    init(table: InlineArray<128, UInt8>) { self.table = table }

    /// Those of `types` that have a number in the map.
    public init(_ map: PayloadTypeMap, _ types: PayloadTypeSet) {
        for type in UInt8(0)..<128 where types.contains(type) && !Self.isControl(type) {
            if let number = map[type], !Self.isControl(number) { table[Int(type)] = number }
        }
    }

    /// Payload types 64 to 95 are those of RTCP beside RTP (RFC 5761 §4): they and numbers among them are not relayed.
    private static func isControl(_ type: UInt8) -> Bool { type & 0x60 == 0x40 }

    /// The number on the other side; nil for a type that is not relayed: its packet goes up, and holds the entry.
    public subscript(_ type: UInt8) -> UInt8? {
        let number = table[Int(type & 0x7F)]
        return Self.isControl(number) ? nil : number
    }

    public static func == (one: Self, other: Self) -> Bool { (0..<128).allSatisfy { one.table[$0] == other.table[$0] } }

    public func hash(into hasher: inout Hasher) {
        for index in 0..<128 { hasher.combine(table[index]) }
    }
}
