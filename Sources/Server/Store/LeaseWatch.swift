import Primitives

/// The lease of one run of a gateway, as the database has it now.
struct NodeLease: Sendable, Equatable {
    /// Tells the run from others, also of the same gateway.
    var run: String
    var node: String
    /// When it was renewed last, in seconds of the database's clock.
    var renewed: Double
    /// The time since then, by the same clock.
    var age: Duration
}

/// The leases of gateways that share a database, as one of them reads them again and again: when it reads next, and which of the others have
/// died. A value.
///
/// The clock of the database alone says how old a lease is. A run is dead when its lease has run out, and when it was renewed before while
/// this gateway looked on: a database that comes back after an outage has old leases of everybody. Runs that were not seen alive since then
/// may still be on their way back, and have a time of grace.
struct LeaseWatch: Sendable {
    /// The time that a lease holds.
    static let length = Duration.seconds(3)
    /// The time between renewals.
    static let interval = Duration.seconds(1)
    private static let shortest = Duration.milliseconds(50)

    /// A lease as it has been read since this gateway began to look on.
    private struct Sight {
        var renewed: Double
        /// When the renewal was read first.
        var since: Instant
        /// It was renewed while this gateway looked on.
        var isAlive: Bool
    }

    private let grace: Duration
    /// When this gateway began to look on without a break.
    private var begun = Instant.zero
    private var last: Instant?
    private var sights: [String: Sight] = [:]
    /// When the next reading is due; before the first one it is at once.
    private(set) var due = Instant.zero

    /// - Parameter grace: the longest that a gateway may take to find a database again that was away.
    init(grace: Duration) { self.grace = grace }

    /// The database is away: who looks on again later has missed something.
    mutating func lost() { (last, due) = (nil, .zero) }

    /// There is more to do than was done: the next reading is due at once.
    mutating func hurry() { due = .zero }

    /// Takes the leases of all other runs, as they were read just now.
    /// - Returns: the runs that have died.
    mutating func read(_ leases: [NodeLease], at now: Instant) -> [NodeLease] {
        let goesOn = last.map { now - $0 <= Self.length } ?? false
        if !goesOn { begun = now }
        last = now
        let before = goesOn ? sights : [:]
        sights = Dictionary(leases.map { ($0.run, sight(of: $0, before: before[$0.run], goesOn, at: now)) }) { first, _ in first }
        let expiry = leases.filter { sights[$0.run]?.isAlive == true }.map { Self.length - $0.age }.filter { $0 > .zero }.min()
        due = now + min(Self.interval, max(expiry ?? Self.interval, Self.shortest))
        return leases.filter { isDead($0, at: now) }
    }

    private func sight(of lease: NodeLease, before: Sight?, _ goesOn: Bool, at now: Instant) -> Sight {
        if let before, before.renewed == lease.renewed { return before }
        return Sight(renewed: lease.renewed, since: now, isAlive: goesOn)
    }

    /// A lease that is old at once, because the clock of the database was set, has not been looked at for long enough.
    private func isDead(_ lease: NodeLease, at now: Instant) -> Bool {
        guard lease.age >= Self.length, now - begun >= Self.length, let sight = sights[lease.run] else { return false }
        return now - sight.since >= (sight.isAlive ? Self.length - Self.interval : grace)
    }
}
