import Primitives

/// The figures of a run that broke nothing.
struct Summary {
    var counts: [Surface: Int]
    /// Without the waiting at the end.
    var attacked: Duration
    /// Calls of the tool, those that were set up anew included.
    var calls: Int
    /// The longest that an OPTIONS took, and behind which input.
    var slowest: (delay: Duration, input: String)
    var sound: Witness.Report
    /// Memory before and after, in kB.
    var memory: (before: Int, after: Int)
    /// The last line of the audit.
    var journal: String

    var text: String {
        let surfaces = Surface.allCases.compactMap { surface in counts[surface].map { "\(surface.rawValue) \($0)" } },
            total = counts.values.reduce(0, +)
        let seconds = attacked / .seconds(1)
        return """
            \(total) inputs in \(Int(seconds)) s (\(Int(Double(total) / max(seconds, 0.001))) a second): \(surfaces.joined(separator: ", "))
            the server lives: \(calls) calls were set up, the slowest OPTIONS took \(Self.text(slowest.delay)), behind \(slowest.input)
            the witness heard \(sound.returned) of its \(sound.sent) packets again, \(sound.longestGap) in a row were late or lost at most
            memory \(memory.before / 1_000) MB before and \(memory.after / 1_000) MB after; the journal: \(journal)
            """
    }

    private static func text(_ duration: Duration) -> String { "\(Int(duration / .milliseconds(1))) ms" }
}
