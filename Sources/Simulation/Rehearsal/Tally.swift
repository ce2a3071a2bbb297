/// The counts of events in a rehearsal, as the phones saw them.
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
    /// Reliable 180s of called phones that were never acknowledged.
    public var unacknowledgedProvisionals = 0
    /// UPDATEs that met another offer.
    public var updateGlares = 0
    /// Parties that went away without a word, and sessions that a phone saw expire.
    public var vanished = 0, expired = 0
    /// REFERs that led to another call, those that did not, and BYEs of whoever had sent one.
    public var transfers = 0, failedTransfers = 0, byesAfterRefers = 0

    /// The time that callers were connected, in sum.
    public var talked = Duration.zero

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
        unacknowledgedProvisionals += other.unacknowledgedProvisionals
        updateGlares += other.updateGlares
        vanished += other.vanished
        expired += other.expired
        transfers += other.transfers
        failedTransfers += other.failedTransfers
        byesAfterRefers += other.byesAfterRefers
        talked += other.talked
    }
}
