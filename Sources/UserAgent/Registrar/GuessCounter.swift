import Primitives

/// Counts wrong passwords by where they came from, so that nobody tries them all: a source with too many in its window is not
/// listened to until the window is over.
struct GuessCounter {
    private struct Window {
        var end: Instant
        var guesses: Int
    }

    private let limit: Int
    private let length: Duration
    private let sourceLimit: Int
    private var windows: [IPAddress: Window] = [:]
    /// The sources in the order in which their windows end: all windows are equally long. Those before `oldest` are gone.
    private var order: [IPAddress] = []
    private var oldest = 0

    /// How many wrong passwords came in all, and how many requests were not listened to.
    private(set) var guesses: UInt64 = 0
    private(set) var refused: UInt64 = 0

    init(limit: Int, per length: Duration, sources: Int = 10_000) { (self.limit, self.length, sourceLimit) = (limit, length, sources) }

    /// Sources that are counted at the moment.
    var count: Int { windows.count }

    /// Whether the source has used up its guesses. Asking counts.
    mutating func isBlocked(_ source: IPAddress, at now: Instant) -> Bool {
        guard let window = windows[Self.network(source)], window.end > now, window.guesses >= limit else { return false }
        refused += 1
        return true
    }

    mutating func guessed(_ source: IPAddress, at now: Instant) {
        guesses += 1
        let key = Self.network(source)
        if let window = windows[key], window.end > now {
            windows[key]?.guesses += 1
        } else {
            forgetOld(at: now)
            windows[key] = Window(end: now + length, guesses: 1)
            order.append(key)
        }
    }

    /// Those whose windows are over; and with more sources at once than can be counted, the one whose window ends first.
    private mutating func forgetOld(at now: Instant) {
        while oldest < order.count, let window = windows[order[oldest]], window.end <= now || windows.count >= sourceLimit {
            windows[order[oldest]] = nil
            oldest += 1
        }
        guard oldest > order.count / 2 else { return }
        order.removeFirst(oldest)
        oldest = 0
    }

    /// Whoever has one address of an IPv6 subnet has them all.
    private static func network(_ source: IPAddress) -> IPAddress {
        source.family == .v6 ? IPAddress(v6High: source.high, low: 0) : source
    }
}
