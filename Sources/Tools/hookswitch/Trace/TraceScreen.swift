import Foundation
import Gateway
import Primitives
import SIP
import UserAgent

/// The calls of a trace on a terminal: a list to choose from, and the flow of one call.
///
/// Messages and keys go in, the lines of the screen come out; it reads and writes nothing.
struct TraceScreen: TerminalScreen {
    struct Size: Equatable { var rows = 24, columns = 80 }

    private enum View { case list, flow(Int) }

    /// Messages that are kept; those of the oldest calls go first.
    static let mostMessages = 200_000

    var size = Size()
    var hasColour = false
    /// The person has seen enough.
    private(set) var isOver = false
    private var history: TraceHistory
    private let listing: TraceListing
    private var view = View.list
    /// The number of a call; nil follows the newest.
    private var chosen: Int?
    /// The text that a call must have in From, To, Call-ID, method or status.
    private var filter = TypedFilter()
    /// The first line of the flow that is shown; nil follows its end.
    private var top: Int? = 0

    init(_ listing: TraceListing, mostMessages: Int = mostMessages) {
        self.listing = listing
        history = TraceHistory(keepsMessages: true, mostMessages: mostMessages)
    }

    mutating func note(_ message: TracedMessage) { history.note(message) }

    // MARK: Keys

    mutating func press(_ key: TerminalKey) {
        if key == .interrupt { isOver = true; return }
        if filter.isTyping { return filter.type(key) }
        switch view {
        case .list: pressInList(key)
        case .flow: pressInFlow(key)
        }
    }

    private mutating func pressInList(_ key: TerminalKey) {
        switch key {
        case .character("q"): isOver = true
        case .escape: if filter.text.isEmpty { isOver = true } else { filter.clear() }
        case .character("/"): filter.begin()
        case .enter: if let call = selected(in: shown)?.call { (view, chosen, top) = (.flow(call.number), call.number, 0) }
        default: if let move = Move(key, page: listHeight) { choose(move) }
        }
    }

    private mutating func choose(_ move: Move) {
        let calls = shown
        guard let place = selected(in: calls)?.place else { return }
        switch move {
        case .first: chosen = calls[0].number
        case .last: chosen = nil
        case .by(let count): chosen = calls[max(0, min(calls.count - 1, place + count))].number
        }
    }

    private mutating func pressInFlow(_ key: TerminalKey) {
        switch key {
        case .character("q"), .escape: view = .list
        default:
            guard let move = Move(key, page: flowHeight) else { return }
            let last = max(0, flow.count - flowHeight)
            switch move {
            case .first: top = 0
            case .last: top = nil
            case .by(let count): top = max(0, min(last, (top ?? last) + count))
            }
        }
    }

    private enum Move {
        case by(Int), first, last

        init?(_ key: TerminalKey, page: Int) {
            switch key {
            case .up, .character("k"): self = .by(-1)
            case .down, .character("j"): self = .by(1)
            case .pageUp, .character("b"): self = .by(-page)
            case .pageDown, .character(" "): self = .by(page)
            case .home, .character("g"): self = .first
            case .end, .character("F"), .character("G"): self = .last
            default: return nil
            }
        }
    }

    // MARK: Lines

    /// One for each row, none wider than the screen.
    var lines: [String] {
        let (body, foot) =
            switch view {
            case .list: (listLines, filter.isTyping ? "/\(filter.text)_" : listFoot)
            case .flow(let number): (flowLines, "call \(number)   ↑↓ scroll  F follow  q back")
            }
        let blank = [String](repeating: "", count: max(0, size.rows - 1 - body.count))
        return (body.prefix(size.rows - 1) + blank + [foot]).map { $0.cut(to: size.columns) }
    }

    private var listHeight: Int { max(1, size.rows - 2) }
    private var flowHeight: Int { max(1, size.rows - 1) }

    private var shown: [TracedCall] {
        let calls = listing.chosen(history.calls)
        return filter.text.isEmpty ? calls : calls.filter(hasWanted)
    }

    private func hasWanted(_ call: TracedCall) -> Bool {
        CallsFilter.isFound(
            filter.text, in: [call.from.text, call.to.text, call.callID, Text(call.method.description), Text(call.statusText)])
    }

    /// The call that is chosen; where it is not shown any more, the one behind it.
    private func selected(in calls: [TracedCall]) -> (place: Int, call: TracedCall)? {
        guard !calls.isEmpty else { return nil }
        let place = chosen.flatMap { chosen in calls.firstIndex { $0.number >= chosen } } ?? calls.count - 1
        return (place, calls[place])
    }

    private var listLines: [String] {
        let calls = shown
        guard let place = selected(in: calls)?.place else {
            return [history.calls.isEmpty ? "there are no messages yet" : "none of \(history.calls.count) calls is like that"]
        }
        let start = max(0, min(place - listHeight / 2, calls.count - listHeight)), seen = Array(calls[start...].prefix(listHeight))
        var table = TraceTable(hasColour: hasColour)
        table.fit(seen)
        let rows = seen.enumerated().map { index, call in
            guard start + index == place else { return "  " + table.row(call) }
            table.hasColour = false
            defer { table.hasColour = hasColour }
            return "\u{1B}[7m> " + table.row(call).dropLast().cut(to: size.columns - 2) + "\u{1B}[0m\n"
        }
        return (["  " + table.header()] + rows).map { String($0.dropLast()) }
    }

    private var listFoot: String {
        let calls = shown, place = selected(in: calls).map { "call \($0.place + 1) of \(calls.count)" } ?? "no call"
        let told = filter.text.isEmpty ? "" : " with '\(filter.text)'", follows = chosen == nil ? ", the newest" : ""
        return "\(place)\(told)\(follows)   ↑↓ choose  Enter open  / filter  F follow  q end"
    }

    private var flowLines: [String] {
        let lines = flow, last = max(0, lines.count - flowHeight)
        return Array(lines[min(top ?? last, last)...].prefix(flowHeight))
    }

    /// All lines of the call that is open.
    private var flow: [String] {
        guard case .flow(let number) = view else { return [] }
        let call = history.calls[number - 1]
        var table = TraceTable(hasColour: hasColour)
        let head = table.whole([call])
        guard call.messages != nil else {
            return head.lines + ["its messages are no longer kept: there were more than \(history.mostMessages)"]
        }
        let flow = TraceFlow([call])
        let ladder = flow.ladder(LadderOptions(width: size.columns, colour: hasColour))
        return (head + "\n" + ladder).lines + flow.texts.lines.flatMap { $0.folded(at: size.columns) }
    }
}

extension String {
    fileprivate var lines: [String] { split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }

    /// In pieces of so many characters.
    func folded(at width: Int) -> [String] {
        guard count > width, width > 0 else { return [self] }
        return [String(prefix(width))] + String(dropFirst(width)).folded(at: width)
    }
}
