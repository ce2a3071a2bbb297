import Foundation
import Primitives

/// `hookswitch top` on a terminal: frames and keys go in, the lines of the screen come out; it reads and writes nothing.
struct TopScreen: TerminalScreen {
    enum Order: String, CaseIterable {
        case duration, line, from, to, state

        var next: Order { Self.allCases[((Self.allCases.firstIndex(of: self) ?? 0) + 1) % Self.allCases.count] }
    }

    var size = TraceScreen.Size()
    var hasColour = false
    var frame: TopFrame
    private(set) var isOver = false
    private(set) var order = Order.duration
    private var isReversed = false
    /// The text that a call must have in line, From, To or state.
    private var filter = TypedFilter()
    /// The first call that is shown.
    private var top = 0

    init(_ frame: TopFrame) { self.frame = frame }

    // MARK: Keys

    mutating func press(_ key: TerminalKey) {
        if key == .interrupt { isOver = true }
        if filter.isTyping { return filter.type(key) }
        let page = max(1, size.rows - 6)
        switch key {
        case .character("q"): isOver = true
        case .escape: if filter.text.isEmpty { isOver = true } else { filter.clear() }
        case .character("/"): filter.begin()
        case .character("s"): order = order.next
        case .character("r"): isReversed.toggle()
        case .up, .character("k"): top -= 1
        case .down, .character("j"): top += 1
        case .pageUp: top -= page
        case .pageDown, .character(" "): top += page
        case .home: top = 0
        case .end: top = .max / 2
        default: break
        }
        top = max(0, min(top, rows.count - page))
    }

    // MARK: Lines

    private var rows: [TopFrame.Row] {
        let found = frame.rows.filter { row in
            filter.text.isEmpty
                || [row.line, row.from ?? "", row.to ?? "", row.state].contains { $0.localizedCaseInsensitiveContains(filter.text) }
        }
        let sorted =
            switch order {
            case .duration: found
            case .line: found.sorted { $0.line < $1.line }
            case .from: found.sorted { $0.from ?? "" < $1.from ?? "" }
            case .to: found.sorted { $0.to ?? "" < $1.to ?? "" }
            case .state: found.sorted { $0.state < $1.state }
            }
        return isReversed ? sorted.reversed() : sorted
    }

    var lines: [String] {
        let rows = rows, table = TopTable(frame), room = max(0, size.rows - 6)
        let first = max(0, min(top, rows.count - room)), seen = rows.dropFirst(first).prefix(room)
        let shown = rows.count > seen.count ? "   \(first + 1)–\(first + seen.count) of \(rows.count)" : ""
        let told = filter.text.isEmpty ? "" : "   with '\(filter.text.onOneLine)'"
        let foot =
            filter.isTyping
            ? "/\(filter.text.onOneLine)_" : "q end  s sort: \(order.rawValue)\(isReversed ? " ↑" : "")  r reverse  / filter\(told)\(shown)"
        let body = table.head + [""] + [coloured(TopTable.titles, 7)] + seen.map(table.row)
        let blank = [String](repeating: "", count: max(0, size.rows - 1 - body.count))
        return (body.prefix(max(0, size.rows - 1)) + blank + [foot]).map { line in
            line == frame.troubleLine ? coloured(line.cut(to: size.columns), 31) : line.cut(to: size.columns)
        }
    }

    private func coloured(_ text: String, _ code: Int) -> String { hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

/// A frame as lines of text.
struct TopTable {
    private static let columns: [(title: String, width: Int, isRight: Bool)] = [
        ("LINE", 8, false), ("FROM", 18, false), ("TO", 18, false), ("STATE", 10, false), ("TIME", 8, true), ("FLAGS", 5, false),
        ("HEARD", 13, false), ("LOSS", 7, true), ("JITTER", 8, true), ("MOS", 4, true),
    ]
    private let frame: TopFrame

    init(_ frame: TopFrame) { self.frame = frame }

    static let titles = line(columns.map(\.title))

    /// All of it, for `--once`.
    var text: String { (head + ["", Self.titles] + frame.rows.map(row)).joined(separator: "\n") + "\n" }

    /// Three lines above the calls.
    var head: [String] {
        let run = frame.run.map { "  run \($0)" } ?? "", quality = frame.quality
        let measured =
            frame.measured == 0
            ? "quality –"
            : "quality of \(frame.measured)  loss \(Self.percent(quality.loss))  jitter \(Self.milliseconds(quality.jitter))  MOS \(Self.figure(quality.mos, 2))"
        return [
            "hookswitch \(frame.version)\(run)  up \(frame.uptime.map(Self.time) ?? "–")  \(frame.gateway)".onOneLine,
            "calls \(frame.calls)  connected/s \(Self.figure(frame.connectedPerSecond, 1))  refused/s \(Self.figure(frame.refusedPerSecond, 1))  registrations \(frame.registrations.map(String.init) ?? "–")",
            frame.troubleLine ?? measured,
        ]
    }

    func row(_ row: TopFrame.Row) -> String {
        let flags = (row.isOnHold ? "H" : "") + (row.isHeldByRemote ? "R" : "") + (row.isMuted ? "M" : "")
        return Self.line([
            row.line, row.from ?? "–", row.to ?? "–", row.state, Self.time(row.connected ?? row.age), flags,
            "\(row.incoming ?? "–")/\(row.outgoing ?? "–")", Self.percent(row.quality.loss), Self.milliseconds(row.quality.jitter),
            Self.figure(row.quality.mos, 2),
        ])
    }

    /// Text of a stranger is no command to the terminal.
    private static func line(_ cells: [String]) -> String {
        let padded = zip(cells, columns).map { text, column in text.onOneLine.cell(column.width, isRight: column.isRight) }
        return padded.joined(separator: "  ").trimmingSpaces
    }

    /// `3:07`, `1:02:03`, `2d 01:02`
    static func time(_ seconds: Int) -> String {
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        if days > 0 { return String(format: "%dd %02d:%02d", days, hours, minutes) }
        return hours > 0 ? String(format: "%d:%02d:%02d", hours, minutes, seconds % 60) : String(format: "%d:%02d", minutes, seconds % 60)
    }

    private static func percent(_ part: Double?) -> String { part.map { String(format: "%.2f%%", $0 * 100) } ?? "–" }
    private static func milliseconds(_ seconds: Double?) -> String { seconds.map { String(format: "%.1fms", $0 * 1_000) } ?? "–" }
    private static func figure(_ value: Double?, _ digits: Int) -> String { value.map { String(format: "%.\(digits)f", $0) } ?? "–" }
}

extension TopFrame {
    var troubleLine: String? { trouble.map { "the gateway is away: \($0.onOneLine); this is how it was" } }
}
