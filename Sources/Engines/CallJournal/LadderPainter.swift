import Primitives

/// Where things stand in a line.
struct LadderLayout {
    static let timeWidth = 11
    static let narrowestColumn = 12

    /// Of the gateway and of each party, in the order of the parties.
    let gateway: Int
    let lifelines: [Int]
    let bars: [Int]
    let width: Int

    init(_ parties: [Ladder.Party], width: Int) {
        let left = parties.filter(\.isIncoming).count
        let right = parties.count - left
        let bars = width - 2 * parties.count
        // One column more than there are parties: the gateway's words need room.
        let columns = left + max(right, 1)
        let spacing = (bars - Self.timeWidth - 4) / columns
        let first = Self.timeWidth + 2
        var (nextLeft, nextRight) = (0, left + 1)
        var lifelines: [Int] = []
        for party in parties {
            lifelines.append(first + spacing * (party.isIncoming ? nextLeft : nextRight))
            if party.isIncoming { nextLeft += 1 } else { nextRight += 1 }
        }
        self.lifelines = lifelines
        gateway = first + spacing * left
        self.bars = parties.indices.map { bars + 1 + 2 * $0 }
        self.width = width
    }
}

/// One line of cells.
struct LadderRow {
    enum Colour: String { case plain = "", faint = "2", cyan = "36", green = "32", yellow = "33", red = "31", magenta = "35", blue = "34" }

    private var cells: [(Character, Colour)]

    init(width: Int) { cells = Array(repeating: (" ", .plain), count: width) }

    mutating func put(_ text: some StringProtocol, at column: Int, _ colour: Colour = .plain, upTo end: Int? = nil) {
        for (offset, character) in text.enumerated() where column + offset < min(end ?? cells.count, cells.count) {
            // What a stranger wrote is no command to a terminal.
            cells[column + offset] = (character.unicodeScalars.contains(where: \.isCommand) ? "\u{FFFD}" : character, colour)
        }
    }

    func text(colour: Bool) -> String {
        let last = cells.lastIndex { $0.0 != " " } ?? -1
        guard colour else { return String(cells[...last].map(\.0)) + "\n" }
        var text = ""
        var current = Colour.plain
        for (character, colour) in cells[...last] {
            if colour != current, character != " " {
                text += "\u{1B}[0" + (colour == .plain ? "" : ";" + colour.rawValue) + "m"
                current = colour
            }
            text.append(character)
        }
        return text + (current == .plain ? "" : "\u{1B}[0m") + "\n"
    }
}

/// Draws a ladder from top to bottom.
struct LadderPainter {
    private let ladder: Ladder
    private let layout: LadderLayout
    private let index: [CallUUID: Int]
    private var bars: [Character]
    private var classes: [JournalEvent.Value: String] = [:]
    private var lastTime: Instant?

    init(_ ladder: Ladder) {
        self.ladder = ladder
        layout = LadderLayout(ladder.parties, width: ladder.options.width)
        index = Dictionary(uniqueKeysWithValues: ladder.parties.enumerated().map { ($1.call, $0) })
        bars = Array(repeating: " ", count: ladder.parties.count)
    }

    mutating func paint() -> String {
        guard !ladder.parties.isEmpty else { return "no calls\n" }
        var text = ladder.parties.map { party in
            "\(party.name)  \(party.isIncoming ? "from" : "to") the network, line \(party.line), \(party.call)\n"
        }.joined()
        if ladder.omitted > 0 { text += "and \(ladder.omitted) more calls that do not fit\n" }
        text += header()
        for event in ladder.events { text += row(event) }
        return text
    }

    private func header() -> String {
        var row = LadderRow(width: layout.width)
        row.put("ms", at: LadderLayout.timeWidth - 2)
        row.put("gateway", at: layout.gateway - 3)
        for (position, party) in ladder.parties.enumerated() {
            row.put(party.name, at: layout.lifelines[position])
            row.put(party.name, at: layout.bars[position])
        }
        return row.text(colour: ladder.options.colour)
    }

    private mutating func row(_ event: JournalEvent) -> String {
        learn(event)
        var row = blankRow()
        putTime(event.time, in: &row)
        if let message = LadderArrow(event), let party = event.call.flatMap({ index[$0] }) {
            message.draw(from: layout.lifelines[party], to: layout.gateway, in: &row)
            return row.text(colour: ladder.options.colour)
        }
        let words = LadderWords.describe(event, class: event.action.flatMap { classes[$0] }, names: name)
        var text = ""
        for line in LadderWords.lines(words, width: layout.bars[0] - layout.gateway - 2) {
            row.put(" " + line, at: layout.gateway + 1, event.kind.colour, upTo: layout.bars[0])
            text += row.text(colour: ladder.options.colour)
            row = blankRow()
        }
        return text
    }

    /// What stands in every row: lifelines and bars.
    private func blankRow() -> LadderRow {
        var row = LadderRow(width: layout.width)
        for column in layout.lifelines + [layout.gateway] { row.put("│", at: column, .faint) }
        for position in bars.indices { row.put(String(bars[position]), at: layout.bars[position]) }
        return row
    }

    private func name(_ call: CallUUID) -> String? { index[call].map { ladder.parties[$0].name } }

    private mutating func learn(_ event: JournalEvent) {
        for listed in event.listedActions { classes[listed.action] = listed.kind.rawValue }
        guard let party = event.call.flatMap({ index[$0] }) else { return }
        switch event.kind {
        case .mediaReserved, .mediaClosed: bars[party] = "·"
        case .mediaConfigured: bars[party] = "┆"
        case .mediaOpened, .mediaStopped: bars[party] = "│"
        case .mediaStarted: bars[party] = "║"
        case .mediaReleased: bars[party] = " "
        default: break
        }
    }

    private mutating func putTime(_ time: Instant, in row: inout LadderRow) {
        guard time != lastTime else { return }
        lastTime = time
        // Below zero after a restart of the machine: the clock of each run is its own.
        let offset = (time - (ladder.events.first?.time ?? time)).wholeNanoseconds / 1000, microseconds = offset.magnitude
        let fraction = String(microseconds % 1000)
        let text = "\(offset < 0 ? "-" : "")\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
        row.put(text, at: max(0, LadderLayout.timeWidth - text.count))
    }
}

/// A SIP message as an arrow.
private struct LadderArrow {
    let label: String
    let isReceived: Bool
    let isAgain: Bool
    let colour: LadderRow.Colour

    init?(_ event: JournalEvent) {
        guard event.kind == .sipReceived || event.kind == .sipSent else { return nil }
        let method = event.details.text(.method)?.description ?? "?"
        let status = event.details.number(.status)
        isReceived = event.kind == .sipReceived
        isAgain = event.details.flag(.retransmission)
        let phrase = event.details.text(.phrase).map { " \($0)" } ?? ""
        label = status.map { "\($0)\(phrase)" + (method == "INVITE" ? "" : " (\(method))") } ?? method
        colour =
            switch status ?? 0 {
            case 0: .cyan
            case 100..<200: .yellow
            case 200..<300: .green
            default: .red
            }
    }

    func draw(from party: Int, to gateway: Int, in row: inout LadderRow) {
        let (left, right) = (min(party, gateway), max(party, gateway))
        let pointsRight = isReceived == (party < gateway)
        row.put(String(repeating: isAgain ? "╌" : "─", count: right - left - 1), at: left + 1, colour)
        row.put(pointsRight ? "▶" : "◀", at: pointsRight ? right - 1 : left + 1, colour)
        let shown = " " + label.prefix(max(1, right - left - 7)) + " "
        row.put(shown, at: left + max(2, (right - left - shown.count) / 2 + 1), colour)
    }
}

/// What the gateway did, in a few words.
private enum LadderWords {
    static func describe(_ event: JournalEvent, class kind: String?, names: (CallUUID) -> String?) -> String {
        let call = event.call.flatMap(names).map { " \($0)" } ?? ""
        let text = { (key: JournalEvent.Key) in event.details[key].map { " \($0.text)" } ?? "" }
        let action = kind ?? event.details.text(.class)?.description ?? "action"
        switch event.kind {
        case .transactionRequested, .transactionAccepted, .systemAction:
            let list = event.listedActions.map(\.kind.rawValue).joined(separator: ", ")
            return (event.kind == .systemAction ? "system issues " : event.kind == .transactionAccepted ? "accepted " : "request ") + list
        case .transactionRefused: return "request refused" + text(.code)
        case .actionFulfilled: return "fulfilled \(action)" + call
        case .actionFailed: return "failed \(action)" + call + text(.cause)
        case .actionTimedOut: return "timed out \(action)" + call
        case .performHeld: return (event.details.flag(.on) ? "perform hold" : "perform resume") + call
        case .performMuted: return (event.details.flag(.on) ? "perform mute" : "perform unmute") + call
        case .performGroup:
            let other = event.details.uuid(.with)
            return "perform group" + call + (other.map { " with \(names($0) ?? $0.description)" } ?? " alone")
        case .reportIncomingAccepted: return "report accepted" + call
        case .reportIncomingRefused: return "report refused" + call + text(.error)
        case .remoteHold: return (event.details.flag(.on) ? "held by" : "resumed by") + call
        case .auditViolation: return "VIOLATION" + text(.rule) + text(.text)
        default:
            let words = event.kind.rawValue.split(separator: ".").joined(separator: " ")
            let detail: [JournalEvent.Key] = [.port, .reason, .cause, .digits, .codec, .session, .remoteTag, .status]
            let packets = event.details.number(.packets).map { " \($0) packets" } ?? ""
            return words + call + detail.map(text).joined() + packets + sound(event.details) + quality(event.details)
        }
    }
}

extension LadderWords {
    private static let mostLines = 4

    /// Words that do not fit beside the gateway go on below, a little to the right; the last line is cut.
    fileprivate static func lines(_ words: String, width: Int) -> [String] {
        var lines: [String] = [], rest = Substring(words)
        while rest.count > width, lines.count < mostLines - 1, let space = lastBreak(in: rest.prefix(max(0, width + 1))) {
            lines.append(String(rest[..<space]))
            rest = Substring("  " + rest[rest.index(after: space)...])
        }
        return lines + [String(rest)]
    }

    /// The last space behind a comma or a semicolon, else the last one.
    private static func lastBreak(in line: Substring) -> Substring.Index? {
        let spaces = line.indices.dropFirst(4).filter { line[$0] == " " }
        return spaces.last { [",", ";"].contains(line[line.index(before: $0)]) } ?? spaces.last
    }

    /// ", in heard, out nothing: ONE WAY"
    fileprivate static func sound(_ details: JournalEvent.Details) -> String {
        let ways = [("in", details.text(.incoming)), ("out", details.text(.outgoing))].compactMap { way, sound in
            sound.map { ", \(way) \($0)" }
        }
        return ways.joined() + (details.flag(.oneWay) ? ": ONE WAY" : "")
    }

    /// "; loss in 0.52 % out 0.00 %, MOS in 4.12 out 4.41"
    fileprivate static func quality(_ details: JournalEvent.Details) -> String {
        func figures(_ name: String, _ keys: [(String, JournalEvent.Key)], _ unit: String) -> String? {
            let found = keys.compactMap { way, key in details.number(key).map { " \(way) \(hundredths($0))\(unit)" } }
            return found.isEmpty ? nil : name + found.joined()
        }
        let loss = figures("loss", [("in", .loss), ("out", .remoteLoss)], " %")
        let score = figures("MOS", [("in", .mos), ("out", .remoteMOS)], "")
        let found = [loss, score].compactMap(\.self)
        return found.isEmpty ? "" : "; " + found.joined(separator: ", ")
    }

    private static func hundredths(_ value: Int64) -> String { "\(value / 100)." + (value % 100 < 10 ? "0" : "") + "\(value % 100)" }
}

extension JournalEvent.Kind {
    fileprivate var colour: LadderRow.Colour {
        switch self {
        case .auditViolation, .mediaRefused, .reportIncomingRefused, .transactionRefused, .actionFailed, .actionTimedOut, .providerReset:
            .red
        case .reportIncoming, .reportIncomingAccepted, .reportConnecting, .reportConnected, .reportUpdated, .reportEnded, .callEnded:
            .magenta
        case .mediaReserved, .mediaConfigured, .mediaOpened, .mediaStarted, .mediaStopped, .mediaUpdated, .mediaClosed, .mediaReleased:
            .green
        case .sessionActivated, .sessionDeactivated: .yellow
        default: .blue
        }
    }
}
