import CallJournal
import Gateway
import HTTP
import Primitives

/// The recent calls of lines as the gateway told them last: asked for ten times a second at most, for all who wait, as ``LineCache``.
struct RecentsCache {
    struct Waiter {
        let number: Text
        let responder: HTTPResponder
        /// nil: there is no such line.
        let reply: ([RecentCall]?) -> HTTPReply
    }

    private var known: [Text: (calls: [RecentCall]?, fetched: Instant)] = [:]
    private var fetched: Instant?
    /// Lines that are asked for at the moment, and those of them whose calls changed meanwhile.
    private var asked: Set<Text> = [], changed: Set<Text> = []
    private var waiters: [Waiter] = []

    /// When the gateway is to be asked; nil: nobody waits.
    var due: Instant? { waiters.isEmpty || !asked.isEmpty ? nil : fetched.map { $0 + LineCache.interval } ?? .zero }

    /// Notes an event that may change the recent calls of its line, or the lines.
    mutating func note(_ event: borrowing JournalEvent) {
        switch event.kind {
        case .callEnded, .callRefused, .reportIncomingRefused:
            known[event.line] = nil
            if asked.contains(event.line) { changed.insert(event.line.detached) }
        case .configurationReloaded: (known, changed) = ([:], asked)
        default: break
        }
    }

    /// The calls of a line, where they are known well enough. Within, nil: there is no such line.
    func current(_ number: Text, at now: Instant) -> [RecentCall]?? {
        guard let known = known[number], now < known.fetched + LineCache.lifetime else { return nil }
        return .some(known.calls)
    }

    mutating func wait(_ waiter: Waiter) { waiters.append(waiter) }

    /// The lines to ask for.
    mutating func begin(at now: Instant) -> Set<Text> {
        known = known.filter { now < $0.value.fetched + LineCache.lifetime }
        (asked, changed, fetched) = (Set(waiters.map(\.number)), [], now)
        return asked
    }

    /// Those who waited for them. Lines whose calls changed while they were fetched are fetched again.
    mutating func take(_ recents: [Text: [RecentCall]]) -> [Waiter] {
        let fresh = asked.subtracting(changed)
        for number in fresh { known[number] = (recents[number], fetched ?? .zero) }
        asked = []
        defer { waiters.removeAll { fresh.contains($0.number) } }
        return waiters.filter { fresh.contains($0.number) }
    }
}
