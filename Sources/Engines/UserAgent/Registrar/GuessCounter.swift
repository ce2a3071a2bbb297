import Primitives

/// Counts wrong passwords by key, in windows of equal length. Bounded: with too many keys at once, the one whose window ends first is
/// forgotten.
struct GuessCounter<Key: Hashable & Sendable>: Sendable {
    private struct Window {
        var end: Instant
        var guesses: Int
    }

    private let length: Duration
    private let keyLimit: Int
    private var windows: [Key: Window] = [:]
    /// The keys in the order in which their windows end. Those before `oldest` are gone.
    private var order: [Key] = []
    private var oldest = 0

    init(per length: Duration, keys: Int = 10_000) { (self.length, keyLimit) = (length, keys) }

    /// Keys that are counted at the moment.
    var count: Int { windows.count }

    /// Guesses of the key's window, and the time until it is over; 0 and zero without a window.
    func guesses(of key: Key, at now: Instant) -> (count: Int, left: Duration) {
        guard let window = windows[key], window.end > now else { return (0, .zero) }
        return (window.guesses, window.end - now)
    }

    /// Keys with so many guesses or more in their window.
    func keys(with least: Int, at now: Instant) -> [(key: Key, count: Int)] {
        windows.compactMap { $0.value.end > now && $0.value.guesses >= least ? ($0.key, $0.value.guesses) : nil }
    }

    /// Counts another guess.
    mutating func guessed(_ key: Key, at now: Instant) {
        if let window = windows[key], window.end > now {
            windows[key]?.guesses += 1
        } else {
            forgetOld(at: now)
            windows[key] = Window(end: now + length, guesses: 1)
            order.append(key)
        }
    }

    private mutating func forgetOld(at now: Instant) {
        while oldest < order.count, let window = windows[order[oldest]], window.end <= now || windows.count >= keyLimit {
            windows[order[oldest]] = nil
            oldest += 1
        }
        guard oldest > order.count / 2 else { return }
        order.removeFirst(oldest)
        oldest = 0
    }
}
