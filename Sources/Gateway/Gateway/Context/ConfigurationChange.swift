import Primitives

/// The differences of a configuration that the gateway has adopted while it ran.
public struct ConfigurationChange: Equatable, Sendable {
    /// Numbers of lines.
    public var added: [Text] = [], changed: [Text] = [], removed: [Text] = []
    /// One of `limits.*` is different.
    public var hasOtherLimits = false

    /// Nothing is different.
    public var isEmpty: Bool { self == ConfigurationChange() }

    /// So many numbers are named; a folder of thousands of lines is no line of a log.
    static let mostNamed = 20

    private var lists: [(words: String, key: JournalEvent.Key, numbers: [Text])] {
        [("added", .added, added), ("changed", .changed, changed), ("removed", .removed, removed)]
    }

    /// For a person, as `lines added 1003; changed 1001; other limits`.
    public var text: String {
        let parts = lists.filter { !$0.numbers.isEmpty }.map { "\($0.words) \(Self.shown($0.numbers).joined(separator: ", "))" }
        let lines = parts.isEmpty ? [] : ["lines " + parts.joined(separator: "; ")]
        return isEmpty ? "nothing changed" : (lines + (hasOtherLimits ? ["other limits"] : [])).joined(separator: "; ")
    }

    var details: JournalEvent.Details {
        var details: JournalEvent.Details = [.on: .init(hasOtherLimits)]
        for list in lists where !list.numbers.isEmpty { details[list.key] = .init(Self.shown(list.numbers).joined(separator: " ")) }
        return details
    }

    private static func shown(_ numbers: [Text]) -> [String] {
        numbers.prefix(mostNamed).map(\.description) + (numbers.count > mostNamed ? ["and \(numbers.count - mostNamed) more"] : [])
    }
}
