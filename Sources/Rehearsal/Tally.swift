/// What came about in a rehearsal, as the phones saw it.
public struct Tally: Equatable, Sendable {
    public var calls = 0
    /// Calls whose caller got a 2xx.
    public var connected = 0
    public var rejected = 0
    /// Callers that gave up.
    public var cancelled = 0
    /// A 2xx that came after the caller had given up.
    public var answeredAfterCancel = 0
    /// Callers that never acknowledged.
    public var unacknowledged = 0
    /// BYEs of both ends that crossed.
    public var crossedByes = 0
    /// BYEs sent while a re-INVITE of the same side was under way.
    public var byesOverOffers = 0
    /// Re-INVITEs and UPDATEs that met another one.
    public var glares = 0
    public var offers = 0
    /// Called phones: INVITEs that came in, and how many were answered.
    public var rung = 0, answered = 0
    /// Called phones: 2xx that were never acknowledged.
    public var neverAcknowledged = 0

    public init() {}

    public mutating func add(_ other: Tally) {
        calls += other.calls
        connected += other.connected
        rejected += other.rejected
        cancelled += other.cancelled
        answeredAfterCancel += other.answeredAfterCancel
        unacknowledged += other.unacknowledged
        crossedByes += other.crossedByes
        byesOverOffers += other.byesOverOffers
        glares += other.glares
        offers += other.offers
        rung += other.rung
        answered += other.answered
        neverAcknowledged += other.neverAcknowledged
    }
}
