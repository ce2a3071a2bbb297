/// Makes a rehearsal that fails as short as it can: fewer calls, no faults of the network. A value; whether a rehearsal fails is asked.
///
/// Calls are left out, and not drawn anew: those that stay are the calls of the whole rehearsal.
public struct RehearsalShrinker {
    /// The rehearsals that were tried.
    public private(set) var tries = 0
    private let most: Int
    private let fails: (RehearsalSettings) -> Bool

    /// - Parameters:
    ///   - most: rehearsals that are tried at most.
    ///   - fails: plays one.
    public init(most: Int = 400, fails: @escaping (RehearsalSettings) -> Bool) { (self.most, self.fails) = (most, fails) }

    /// The shortest that still fails, of those that were tried; the same where none does.
    public mutating func shrunk(_ settings: RehearsalSettings) -> RehearsalSettings {
        var shortest = settings
        for change in Self.simplifications { if let simpler = failing(shortest, change) { shortest = simpler } }
        var calls = shortest.only.map { $0.sorted() } ?? Array(0..<settings.calls), part = max(1, calls.count / 2)
        while part >= 1, tries < most {
            guard let fewer = failing(shortest, leavingOutOf: calls, part) else {
                part /= 2
                continue
            }
            (shortest, calls) = (fewer, fewer.only?.sorted() ?? [])
            part = max(1, min(part, calls.count / 2))
        }
        return shortest
    }

    /// Changes that make a rehearsal simpler: a failure may not need what they take away.
    private static let simplifications: [@Sendable (inout RehearsalSettings) -> Void] = [
        { $0.faults = LinkFaults() }, { $0.bindFailures = 0 }, { $0.stopsEarly = false }, { $0.isKilled = false }, { $0.pauses = 0 },
        { $0.regroups = false },
    ]

    private mutating func failing(_ settings: RehearsalSettings, _ change: (inout RehearsalSettings) -> Void) -> RehearsalSettings? {
        var changed = settings
        change(&changed)
        tries += 1
        return fails(changed) ? changed : nil
    }

    /// Leaves out as many calls in a row, wherever it still fails without them.
    private mutating func failing(_ settings: RehearsalSettings, leavingOutOf calls: [Int], _ part: Int) -> RehearsalSettings? {
        for start in stride(from: 0, to: calls.count, by: part) where tries < most {
            let rest = Array(calls[..<start] + calls[min(calls.count, start + part)...])
            if rest.count < calls.count, !rest.isEmpty, let fewer = failing(settings, { $0.only = Set(rest) }) { return fewer }
        }
        return nil
    }
}

extension RehearsalSettings {
    /// A test that plays it.
    public var test: String {
        var lines = [
            "@Test func `seed \(seed) breaks no rule and leaves nothing behind`() {", "    var settings = RehearsalSettings(seed: \(seed))",
        ]
        if let only { lines.append("    settings.only = [\(only.sorted().map(String.init).joined(separator: ", "))]") }
        if faults == LinkFaults() { lines.append("    settings.faults = LinkFaults()") }
        if let bindFailures { lines.append("    settings.bindFailures = \(bindFailures)") }
        if let stopsEarly { lines.append("    settings.stopsEarly = \(stopsEarly)") }
        if let isKilled { lines.append("    settings.isKilled = \(isKilled)") }
        if let pauses { lines.append("    settings.pauses = \(pauses)") }
        if !regroups { lines.append("    settings.regroups = false") }
        lines += ["    let verdict = Rehearsal(settings).run()", "    #expect(verdict.isGood, \"\\(verdict.report)\")", "}"]
        return lines.joined(separator: "\n")
    }
}
