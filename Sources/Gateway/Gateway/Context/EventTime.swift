import Primitives

/// The time of the input that the gateway is working off.
final class EventTime {
    private let journal: Journal
    private var began: Instant

    init(_ journal: Journal, at now: Instant) { (self.journal, began) = (journal, now) }

    /// The time of this turn, or of what a media lane did later than that while the turn waited for it.
    var now: Instant { max(began, journal.latest) }

    /// The next input is worked off. Returns its time, which is never before what was told already.
    func begin(at now: Instant) -> Instant {
        began = max(now, self.now)
        return began
    }
}
