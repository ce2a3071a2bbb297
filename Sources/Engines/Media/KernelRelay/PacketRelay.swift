import Primitives
import RTP

/// Passes on the packets of bridges before a socket sees them, as the kernel can.
///
/// A direction of a bridge is in one place at a time: in the engine, or here. The engine hands it over while it is ordinary, and takes it
/// back before anything about it changes. A packet that is not ordinary is left alone: it reaches the socket, and so the engine.
/// Called on media lanes; one relay may serve several.
public protocol PacketRelay: AnyObject {
    /// Passes on from now on what comes this way. False where it cannot: then all goes on as before.
    func arm(_ route: RelayRoute, _ stream: RelayedDirection) -> Bool

    /// The stream as it stands; nil for a route that is not armed.
    func read(_ route: RelayRoute) -> RelayedDirection?

    /// Ends it. When this has returned nothing more is passed on. Nil for a route that is not armed.
    func disarm(_ route: RelayRoute) -> RelayedDirection?
}

/// The way of one direction of a bridge. Routes of one relay differ in where their packets come from and go to.
public struct RelayRoute: Hashable, Sendable {
    /// The address of ours that packets come to, and the far end that they come from.
    public var local: SocketAddress, remote: SocketAddress
    /// The address of ours that they leave from, and the far end that they go to.
    public var nextLocal: SocketAddress, nextRemote: SocketAddress

    /// A way from `remote` over `local` and `nextLocal` to `nextRemote`.
    public init(local: SocketAddress, remote: SocketAddress, nextLocal: SocketAddress, nextRemote: SocketAddress) {
        (self.local, self.remote, self.nextLocal, self.nextRemote) = (local, remote, nextLocal, nextRemote)
    }
}

/// One direction of a bridge while a relay has it: what is counted of the packets that come, and the stream that they leave in.
///
/// The figures are those that the leg would have: the same rules count them.
public struct RelayedDirection: Sendable {
    /// Statistics of the packets that come.
    public internal(set) var receiver: ReceiverStatistics
    /// Statistics of the packets that leave.
    public internal(set) var sender: SenderStatistics
    /// The stream that leaves.
    public internal(set) var stream: RTPRewriter
    /// Incoming payload types that are passed on: sound, all in one clock.
    public let payloadTypes: PayloadTypeSet
    /// The payload type and the octets of payload of the last packet.
    public internal(set) var last: (payloadType: UInt8, octets: Int)?
    /// Packets since the legs started.
    var received: PacketTimes, sent: PacketTimes
    /// No packet came yet: the next one in the sequence is waited for, since others may wait in the socket still.
    private var isFresh = true
    /// A packet came that was not ordinary: all that follow it are left alone, too, so that they stay in order.
    public private(set) var isHeld = false
    /// The limit of packets that come, and how far it was used.
    var rate: PacketRate
    /// Packets that were neither passed on nor left alone.
    public internal(set) var dropped = RelayDrops()

    init(
        receiver: ReceiverStatistics, sender: SenderStatistics, stream: RTPRewriter, payloadTypes: PayloadTypeSet,
        received: PacketTimes, sent: PacketTimes, rate: PacketRate
    ) {
        (self.receiver, self.sender, self.stream) = (receiver, sender, stream)
        (self.payloadTypes, self.received, self.sent, self.rate) = (payloadTypes, received, sent, rate)
    }

    /// The outcome for a packet.
    public enum Passage: Hashable, Sendable {
        /// It is ready to leave.
        case passed
        /// It is not ordinary: it is unchanged, and is to reach the socket.
        case left
        /// It came above the limit of a second, and goes nowhere.
        case dropped
    }

    /// Makes a packet ready to leave, in place, and counts it both ways.
    public mutating func pass(_ packet: UnsafeMutableRawBufferPointer, at now: Instant) -> Passage {
        let bytes = UnsafeRawBufferPointer(packet)
        guard !isHeld, MediaPacketKind(bytes) == .rtp, let header = try? RTPHeader(parsing: bytes) else { return .left }
        guard payloadTypes.contains(header.payloadType), stream.follows(header.ssrc), !isFresh || stream.isNext(header) else {
            return hold()
        }
        guard rate.hasRoom(at: now) else {
            dropped.overRate += 1
            return .dropped
        }
        guard stream.goesOn(with: header, at: now), stream.rewrite(packet, header, at: now) == .rewritten else { return hold() }
        isFresh = false
        rate.count()
        receiver.receive(header, at: now)
        received.note(now)
        let timestamp = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let sequence = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        sender.sent(timestamp, sequence: sequence, octets: header.payloadCount, at: now)
        sent.note(now)
        last = (header.payloadType, header.payloadCount)
        return .passed
    }

    private mutating func hold() -> Passage {
        isHeld = true
        return .left
    }
}

/// Packets of a direction that a relay dropped since it has it.
public struct RelayDrops: Hashable, Sendable {
    /// Above the limit of a second; and for want of memory.
    public var overRate: UInt64 = 0, noMemory: UInt64 = 0

    /// None.
    public init() {}

    /// The sum.
    public var total: UInt64 { overRate + noMemory }

    static func + (one: Self, other: Self) -> Self {
        var sum = one
        (sum.overRate, sum.noMemory) = (one.overRate + other.overRate, one.noMemory + other.noMemory)
        return sum
    }
}

/// A relay without a kernel, for rehearsals and tests: who delivers packets asks it first.
public final class MemoryRelay: PacketRelay {
    private var armed: [RelayKey: (route: RelayRoute, stream: RelayedDirection)] = [:]
    /// Packets that were passed on.
    public private(set) var passed = 0
    /// Packets of armed routes that were left alone.
    public private(set) var left = 0

    /// The fate of a datagram.
    public enum Fate {
        /// It is to reach the socket.
        case left
        /// It goes nowhere.
        case dropped
        /// The datagram that leaves instead, with its two ends.
        case passed([UInt8], from: SocketAddress, to: SocketAddress)
    }

    /// Nothing is armed.
    public init() {}

    /// Routes that are armed.
    public var count: Int { armed.count }

    public func arm(_ route: RelayRoute, _ stream: RelayedDirection) -> Bool {
        armed[RelayKey(local: route.local, remote: route.remote)] = (route, stream)
        return true
    }

    public func read(_ route: RelayRoute) -> RelayedDirection? { armed[RelayKey(local: route.local, remote: route.remote)]?.stream }

    public func disarm(_ route: RelayRoute) -> RelayedDirection? {
        armed.removeValue(forKey: RelayKey(local: route.local, remote: route.remote))?.stream
    }

    /// Passes on a datagram that arrives.
    public func pass(_ bytes: [UInt8], from remote: SocketAddress, to local: SocketAddress, at now: Instant) -> Fate {
        let key = RelayKey(local: local, remote: remote)
        guard let route = armed[key]?.route else { return .left }
        var packet = bytes
        switch packet.withUnsafeMutableBytes({ armed[key]?.stream.pass($0, at: now) }) {
        case .passed:
            passed += 1
            return .passed(packet, from: route.nextLocal, to: route.nextRemote)
        case .dropped: return .dropped
        case .left, nil:
            left += 1
            return .left
        }
    }
}
