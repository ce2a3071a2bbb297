import Primitives

/// Wrong tokens by source: one that tries many is told to wait.
struct WrongTokens {
    /// That a source has a minute for.
    static let most = 10
    private static let window = Duration.seconds(60), mostSources = 10_000

    private var sources: [IPAddress: (count: Int, since: Instant)] = [:]

    /// - Returns: how long the source has to wait; nil: it may try again.
    mutating func note(_ source: IPAddress, at now: Instant) -> Duration? {
        let before = sources[source], isOpen = before.map { now - $0.since < Self.window } ?? false
        if sources.count >= Self.mostSources { sources = sources.filter { now - $0.value.since < Self.window } }
        if sources.count < Self.mostSources || before != nil {
            sources[source] = isOpen ? ((before?.count ?? 0) + 1, before?.since ?? now) : (1, now)
        }
        guard let (count, since) = sources[source], count > Self.most else { return nil }
        return since + Self.window - now
    }
}
