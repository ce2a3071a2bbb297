import CallJournal

/// The place of an event in all that a gateway ever tells: its run, and its number in the journal of that run. Written `run.seq`.
public struct EventPosition: Hashable, Sendable, CustomStringConvertible {
    /// The first eight characters of the run's identifier.
    public let run: String
    /// Counts from 1 in each run; not each number is an event that is told.
    public let sequence: UInt64

    public init(run: String, sequence: UInt64) { (self.run, self.sequence) = (run, sequence) }

    /// nil for what is no position.
    public init?(_ text: some StringProtocol) {
        guard let dot = text.lastIndex(of: "."), let sequence = UInt64(text[text.index(after: dot)...]) else { return nil }
        let run = text[..<dot]
        guard !run.isEmpty, run.utf8.count <= 64, run.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else { return nil }
        self.init(run: String(run), sequence: sequence)
    }

    public var description: String { "\(run).\(sequence)" }
}
