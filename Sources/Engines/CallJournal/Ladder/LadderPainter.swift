import Primitives

/// The columns of a row.
struct LadderLayout {
    static let timeWidth = 11
    static let narrowestColumn = 12

    /// Columns of the gateway and of each party, in the order of the parties.
    let gateway: Int
    let lifelines: [Int]
    let bars: [Int]
    let width: Int

    /// - Parameters:
    ///   - incoming: of each party, whether it stands on the left of the gateway.
    ///   - hasBars: whether there is one for each.
    init(_ incoming: [Bool], width: Int, hasBars: Bool = true) {
        let left = incoming.count { $0 }
        let right = incoming.count - left
        let bars = hasBars ? width - 2 * incoming.count : width
        // One column more than there are parties: the gateway's words need room.
        let columns = left + max(right, 1)
        let spacing = (bars - Self.timeWidth - 4) / columns
        let first = Self.timeWidth + 2
        var (nextLeft, nextRight) = (0, left + 1)
        var lifelines: [Int] = []
        for isIncoming in incoming {
            lifelines.append(first + spacing * (isIncoming ? nextLeft : nextRight))
            if isIncoming { nextLeft += 1 } else { nextRight += 1 }
        }
        self.lifelines = lifelines
        gateway = first + spacing * left
        self.bars = hasBars ? incoming.indices.map { bars + 1 + 2 * $0 } : []
        self.width = width
    }

    /// An arrow between a party and the gateway, with its words.
    func draw(_ message: LadderStep.Message, _ colour: LadderRow.Colour, from party: Int, in row: inout LadderRow) {
        let (left, right) = (min(party, gateway), max(party, gateway))
        let pointsRight = message.isReceived == (party < gateway)
        row.put(String(repeating: message.isRetransmission ? "╌" : "─", count: right - left - 1), at: left + 1, colour)
        row.put(pointsRight ? "▶" : "◀", at: pointsRight ? right - 1 : left + 1, colour)
        let shown = " " + message.label.prefix(max(1, right - left - 7)) + " "
        row.put(shown, at: left + max(2, (right - left - shown.count) / 2 + 1), colour)
    }
}

/// One line of cells.
struct LadderRow {
    enum Colour: String { case plain = "", faint = "2", cyan = "36", green = "32", yellow = "33", red = "31", magenta = "35", blue = "34" }

    private var cells: [(Character, Colour)]

    init(width: Int) { cells = Array(repeating: (" ", .plain), count: width) }

    mutating func put(_ text: some StringProtocol, at column: Int, _ colour: Colour = .plain, upTo end: Int? = nil) {
        for (offset, character) in text.enumerated() where column + offset < min(end ?? cells.count, cells.count) {
            // Text of a stranger is no command to a terminal.
            cells[column + offset] = (character.unicodeScalars.contains(where: \.isControlCharacter) ? "\u{FFFD}" : character, colour)
        }
    }

    /// At the end of its column.
    mutating func put(time text: String) { put(text, at: max(0, LadderLayout.timeWidth - text.count)) }

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

/// Draws a ladder from top to bottom, as text.
struct LadderPainter {
    private let ladder: Ladder
    private let layout: LadderLayout
    private var lastOffset: Duration?

    init(_ ladder: Ladder) {
        self.ladder = ladder
        layout = LadderLayout(ladder.parties.map(\.isIncoming), width: ladder.options.width)
    }

    mutating func paint() -> String {
        guard !ladder.parties.isEmpty else { return "no calls\n" }
        var text = ladder.parties.map { party in
            "\(party.name)  \(party.isIncoming ? "from" : "to") the network, line \(party.line), \(party.call)\n"
        }.joined()
        if ladder.omitted > 0 { text += "and \(ladder.omitted) more calls that do not fit\n" }
        text += header()
        for step in ladder.steps { text += row(step) }
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

    private mutating func row(_ step: LadderStep) -> String {
        var row = blankRow(step)
        putTime(step, in: &row)
        switch step.content {
        case .message(let message):
            layout.draw(message, step.tone.colour, from: step.party.map { layout.lifelines[$0] } ?? layout.gateway, in: &row)
            return row.text(colour: ladder.options.colour)
        case .words(let words):
            var text = ""
            for line in LadderWords.lines(words, width: layout.bars[0] - layout.gateway - 2) {
                row.put(" " + line, at: layout.gateway + 1, step.tone.colour, upTo: layout.bars[0])
                text += row.text(colour: ladder.options.colour)
                row = blankRow(step)
            }
            return text
        }
    }

    /// The background of every row: lifelines and bars.
    private func blankRow(_ step: LadderStep) -> LadderRow {
        var row = LadderRow(width: layout.width)
        for column in layout.lifelines + [layout.gateway] { row.put("│", at: column, .faint) }
        for (position, media) in step.media.enumerated() { row.put(media.bar, at: layout.bars[position]) }
        return row
    }

    private mutating func putTime(_ step: LadderStep, in row: inout LadderRow) {
        guard step.offset != lastOffset else { return }
        lastOffset = step.offset
        row.put(time: step.offsetText)
    }
}

extension LadderStep {
    /// Milliseconds with three decimals.
    public var offsetText: String { offset.millisecondsText }
}

extension Duration {
    var millisecondsText: String {
        let offset = wholeNanoseconds / 1000, microseconds = offset.magnitude, fraction = String(microseconds % 1000)
        return "\(offset < 0 ? "-" : "")\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}

extension LadderStep.Media {
    fileprivate var bar: String {
        switch self {
        case .none: " "
        case .reserved: "·"
        case .configured: "┆"
        case .open: "│"
        case .flowing: "║"
        case .relayed: "┃"
        }
    }
}

extension LadderStep.Tone {
    var colour: LadderRow.Colour {
        switch self {
        case .plain: .plain
        case .request: .cyan
        case .provisional, .session: .yellow
        case .success, .media: .green
        case .failure: .red
        case .report: .magenta
        case .action: .blue
        }
    }
}
