import Gateway
import Primitives
import SIP
import UserAgent

/// Calls of a trace as lines of text.
struct TraceTable {
    private static let titles = ["#", "TIME", "METHOD", "FROM", "TO", "STATUS", "MSGS", "PEER", "CALL-ID"]
    private static let most = [6, 23, 9, 32, 32, 14, 5, 28, Int.max]
    /// The widths of the columns for usual calls.
    private var widths = [4, 23, 8, 18, 18, 13, 4, 19, 0]
    var hasColour = false

    init(hasColour: Bool = false) { self.hasColour = hasColour }

    /// The titles, and the calls below each other.
    mutating func whole(_ calls: [TracedCall]) -> String {
        fit(calls)
        return header() + calls.map(row).joined()
    }

    /// Makes each column as wide as these calls need it.
    mutating func fit(_ calls: [TracedCall]) {
        let rows = [Self.titles] + calls.map(Self.cells)
        for column in widths.indices { widths[column] = min(Self.most[column], rows.map { $0[column].count }.max() ?? 0) }
    }

    func header() -> String { line(Self.titles, nil) }

    func row(_ call: TracedCall) -> String { line(Self.cells(call), call) }

    private static func cells(_ call: TracedCall) -> [String] {
        [
            "\(call.number)", WallTime.local(call.began), call.method.description, call.from.text.shortAddress, call.to.text.shortAddress,
            call.statusText, "\(call.count)", "\(call.transport) \(call.peer)", call.callID.description,
        ].map(\.sanitized.onOneLine)
    }

    /// The last column is not filled up.
    private func line(_ cells: [String], _ call: TracedCall?) -> String {
        let padded = cells.enumerated().map { column, cell in
            guard column < cells.count - 1 else { return cell }
            let shown = cell.count > Self.most[column] ? cell.prefix(Self.most[column] - 1) + "…" : cell
            return coloured(shown + String(repeating: " ", count: max(0, widths[column] - shown.count)), column, call)
        }
        return padded.joined(separator: "  ") + "\n"
    }

    private func coloured(_ text: String, _ column: Int, _ call: TracedCall?) -> String {
        guard hasColour, let call, Self.titles[column] == "STATUS" else { return text }
        let code = call.disposition == .up ? 33 : call.disposition == .answered ? 32 : 31
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
