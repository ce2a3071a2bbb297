import Gateway
import Primitives

/// Calls as lines of text.
struct CallsTable {
    private static let titles = ["TIME", "FROM", "TO", "STATUS", "LENGTH", "HEARD", "CALL", "REASON"]
    /// Widths of the columns for usual calls, and the most that a column takes; the last has no end.
    private static let usual = [23, 18, 18, 12, 7, 13, 8, 0], most = [23, 40, 40, 16, 10, 20, 8, Int.max]
    private static let none = "–"

    private var widths = usual
    private let hasColour: Bool
    private let showsLegs: Bool
    /// The run of the last line.
    private var run: JournalRun?

    init(hasColour: Bool = false, showsLegs: Bool = false) { (self.hasColour, self.showsLegs) = (hasColour, showsLegs) }

    /// The titles, and the calls below each other: each column is as wide as these need it.
    mutating func whole(_ calls: [CallDetailRecord]) -> String {
        let cells = [Self.titles] + calls.flatMap { lines(of: $0) }
        widths = Self.most.indices.map { column in min(Self.most[column], cells.map { $0[column].count }.max() ?? 0) }
        return header() + calls.map { rows($0) }.joined()
    }

    func header() -> String { line(Self.titles, nil) }

    /// A call, and a line before it where it is the first of another run.
    mutating func rows(_ call: CallDetailRecord) -> String {
        defer { run = call.first.run }
        let isOther = run.map { $0 != call.first.run } ?? false
        let start = isOther ? "-- run \(call.first.run.label)\(call.first.run.version.map { ", \($0)" } ?? "")\n" : ""
        return start + lines(of: call).map { line($0, call) }.joined()
    }

    private func lines(of call: CallDetailRecord) -> [[String]] {
        let first = call.first
        let cells = [
            WallTime.local(first.began.wall), first.from?.shortAddress ?? Self.none, call.to?.shortAddress ?? Self.none,
            CallWords.status(call.disposition, call.status), call.length.map(CallWords.length) ?? Self.none,
            CallWords.heard(call.heardCaller, call.heardCallee),
            CallWords.name(first), call.reason,
        ]
        return [cells] + (showsLegs ? call.branches.map { leg($0) } : [])
    }

    private func leg(_ leg: LegRecord) -> [String] {
        [
            WallTime.local(leg.began.wall), "  leg", leg.to?.shortAddress ?? Self.none, CallWords.status(leg.disposition, leg.status),
            Self.none,
            CallWords.heard(leg.sound.outgoing, leg.sound.incoming), CallWords.name(leg), leg.codec?.description ?? "",
        ]
    }

    /// The last column is not filled up, and no column is cut that fits nobody's terminal: what is too long in one has an ellipsis.
    private func line(_ cells: [String], _ call: CallDetailRecord?) -> String {
        let padded = cells.enumerated().map { column, cell in
            let text = cell.sanitized.onOneLine, width = max(widths[column], Self.titles[column].count)
            if column == cells.count - 1 { return text }
            let shown = text.count > Self.most[column] ? text.prefix(Self.most[column] - 1) + "…" : text
            return coloured(shown + String(repeating: " ", count: max(0, width - shown.count)), column, call)
        }
        return padded.joined(separator: "  ").trimmedAtEnd + "\n"
    }

    private func coloured(_ text: String, _ column: Int, _ call: CallDetailRecord?) -> String {
        guard hasColour, let call, Self.titles[column] == "STATUS" else { return text }
        let code = call.disposition == .up ? 33 : call.isTroubled ? 31 : 32
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

extension String {
    fileprivate var trimmedAtEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}
