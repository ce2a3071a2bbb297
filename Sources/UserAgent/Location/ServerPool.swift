public import Primitives

/// The servers of a trunk, and which of them answer: whom to ask first, and whom next.
///
/// A value. One that failed is asked last until its time is over or it has answered; where all have failed, all are asked all the same. One that asked for a
/// time is left alone for that (RFC 3261 §21.5.4).
public struct ServerPool: Sendable {
    public struct Member: Hashable, Sendable {
        public var server: ServerLocation.Server
        /// Whom a TLS certificate must name: the domain that led to the server.
        public var name: Text
        /// The port that was asked for beside it; nil where the name system or the standard says it.
        public var port: UInt16?

        public init(_ server: ServerLocation.Server, name: Text, port: UInt16? = nil) { (self.server, self.name, self.port) = (server, name, port) }
    }

    private struct Entry {
        var member: Member
        var downUntil: Instant?
        /// As it asked for.
        var restsUntil: Instant?

        func rests(at now: Instant) -> Bool { restsUntil.map { $0 > now } ?? false }
    }

    private var entries: [Entry] = []

    public init() {}

    public var members: [Member] { entries.map(\.member) }
    public var isEmpty: Bool { entries.isEmpty }

    /// Replaces the members; what is known of those that stay is kept.
    public mutating func set(_ members: [Member]) {
        let known = entries
        entries = members.map { member in
            var entry = known.first { $0.member.server.isSame(as: member.server) } ?? Entry(member: member)
            entry.member = member
            return entry
        }
    }

    /// Everybody who may be asked now, in the order in which they are to be: those that answer before those that do not, by priority, and drawn by weight among
    /// equals (RFC 2782).
    public func order(at now: Instant, random: () -> UInt64) -> [Member] {
        let open = entries.filter { !$0.rests(at: now) }
        guard open.count > 1 else { return open.map(\.member) }
        let groups = Dictionary(grouping: open) { entry in
            Rank(isDown: entry.downUntil.map { $0 > now } ?? false, priority: entry.member.server.priority)
        }
        return groups.sorted { $0.key < $1.key }.flatMap { Self.draw($0.value.map(\.member), random) }
    }

    /// It did not answer, or answered 503.
    ///
    /// - Parameters:
    ///   - until: when it is asked first again.
    ///   - asked: the end of the time that it named. What it answers before that, it was asked before.
    public mutating func failed(_ address: SocketAddress, _ transport: Transport, until: Instant, asked: Instant? = nil) {
        note(address, transport) { entry in
            entry.downUntil = until
            if let asked { entry.restsUntil = asked }
        }
    }

    public mutating func answered(_ address: SocketAddress, _ transport: Transport) { note(address, transport) { $0.downUntil = nil } }

    public func isDown(_ member: Member, at now: Instant) -> Bool {
        entries.first { $0.member == member }?.downUntil.map { $0 > now } ?? false
    }

    /// It is to be left alone.
    public func rests(_ member: Member, at now: Instant) -> Bool { entries.first { $0.member == member }?.rests(at: now) ?? false }

    private mutating func note(_ address: SocketAddress, _ transport: Transport, _ change: (inout Entry) -> Void) {
        for index in entries.indices where entries[index].member.server.address == address && entries[index].member.server.transport == transport {
            change(&entries[index])
        }
    }

    private struct Rank: Hashable, Comparable {
        let isDown: Bool
        let priority: Int
        static func < (left: Self, right: Self) -> Bool { left.isDown == right.isDown ? left.priority < right.priority : right.isDown }
    }

    private static func draw(_ members: [Member], _ random: () -> UInt64) -> [Member] {
        var left = members, drawn: [Member] = []
        while left.count > 1 {
            // Those of weight zero get a small chance (RFC 2782), which one in a hundred of the smallest is.
            let weights = left.map { max($0.server.weight * 100, 1) }
            var mark = Int(random() % UInt64(weights.reduce(0, +)))
            let index = weights.firstIndex { weight in
                mark -= weight
                return mark < 0
            }
            drawn.append(left.remove(at: index ?? 0))
        }
        return drawn + left
    }
}

extension ServerLocation.Server {
    fileprivate func isSame(as other: Self) -> Bool { transport == other.transport && address == other.address }
}
