public import Primitives

/// The servers of a trunk, and which of them answer: whom to ask first, and whom next.
///
/// A value. One that failed is asked last until its time is over or it has answered; where all have failed, all are asked all the same.
public struct ServerPool: Sendable {
    /// A server, and what it is called.
    public struct Member: Hashable, Sendable {
        /// The server itself: transport, address, priority and weight.
        public var server: ServerLocation.Server
        /// The name that a TLS certificate must have: the domain that led to the server.
        public var name: Text
        /// The port that was asked for beside it; nil where DNS or the standard says it.
        public var port: UInt16?

        /// - Parameters:
        ///   - name: whom a TLS certificate must name.
        ///   - port: that was asked for beside the name.
        public init(_ server: ServerLocation.Server, name: Text, port: UInt16? = nil) {
            (self.server, self.name, self.port) = (server, name, port)
        }
    }

    private struct Entry {
        var member: Member
        var downUntil: Instant?
    }

    private var entries: [Entry] = []

    /// No servers.
    public init() {}

    /// In the order in which they were set.
    public var members: [Member] { entries.map(\.member) }
    /// Whether there is no server.
    public var isEmpty: Bool { entries.isEmpty }

    /// Replaces the members; what is known of those that stay is kept.
    public mutating func set(_ members: [Member]) {
        let known = entries
        entries = members.map { member in
            Entry(member: member, downUntil: known.first { $0.member.server.isSame(as: member.server) }?.downUntil)
        }
    }

    /// Everybody, in the order in which they are to be asked: those that answer before those that do not, by priority, and drawn by weight
    /// among equals (RFC 2782).
    public func order(at now: Instant, random: () -> UInt64) -> [Member] {
        guard entries.count > 1 else { return members }
        let groups = Dictionary(grouping: entries) { entry in
            Rank(isDown: entry.downUntil.map { $0 > now } ?? false, priority: entry.member.server.priority)
        }
        return groups.sorted { $0.key < $1.key }.flatMap { Self.draw($0.value.map(\.member), random) }
    }

    /// It did not answer, or answered 503. - Parameter until: when it is asked first again.
    public mutating func failed(_ address: SocketAddress, _ transport: Transport, until: Instant) { note(address, transport, until) }

    /// It answered: it is no worse than others any more.
    public mutating func answered(_ address: SocketAddress, _ transport: Transport) { note(address, transport, nil) }

    /// Whether it failed, and its time is not over.
    public func isDown(_ member: Member, at now: Instant) -> Bool {
        entries.first { $0.member == member }?.downUntil.map { $0 > now } ?? false
    }

    private mutating func note(_ address: SocketAddress, _ transport: Transport, _ until: Instant?) {
        for index in entries.indices
        where entries[index].member.server.address == address && entries[index].member.server.transport == transport {
            entries[index].downUntil = until
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
