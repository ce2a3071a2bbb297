/// A ladder as SVG: lifelines, arrows and words from top to bottom, and a lane for the media of each party at the right.
package struct LadderPicture {
    private static let (rowHeight, top, timeWidth, columnWidth, laneWidth, wordsWidth) = (22, 40, 90, 210, 22, 740)
    /// As many characters of 12 pixels as the words have room for.
    private static let mostCharacters = 100

    private let ladder: Ladder
    private let steps: [LadderStep]
    private let lifelines: [Int]
    private let gateway: Int
    private let lanes: [Int]
    private let width: Int

    package init(_ ladder: Ladder) {
        self.ladder = ladder
        steps = ladder.steps
        let left = ladder.parties.filter(\.isIncoming).count, right = ladder.parties.count - left
        let first = Self.timeWidth + 30, gateway = first + Self.columnWidth * left
        var counts = (left: 0, right: 0), lifelines: [Int] = []
        for party in ladder.parties {
            if party.isIncoming { counts.left += 1 } else { counts.right += 1 }
            lifelines.append(party.isIncoming ? first + Self.columnWidth * (counts.left - 1) : gateway + Self.columnWidth * counts.right)
        }
        // The gateway's words need room beside it, whatever stands there.
        let end = gateway + max(Self.wordsWidth, Self.columnWidth * right + 40)
        lanes = ladder.parties.indices.map { end + Self.laneWidth * $0 }
        (self.gateway, self.lifelines, width) = (gateway, lifelines, end + Self.laneWidth * ladder.parties.count)
    }

    private var height: Int { Self.top + Self.rowHeight * steps.count + 16 }

    /// A file of its own (SVG 1.1), with its colours.
    package var document: String {
        svg(attributes: "xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" ", "<style>\(LadderStyle.document)</style>") + "\n"
    }

    /// A part of a page that has `LadderStyle.page`.
    var svg: String { svg(attributes: "", "") }

    private func svg(attributes: String, _ style: String) -> String {
        let marker = """
            <marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" \
            fill="context-stroke"/></marker>
            """
        return """
            <svg \(attributes)viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" role="img" aria-label="The ladder of the call">\(style)<defs>\(marker)</defs>
            \(frame())
            \(media())
            \(steps.indices.map(row).joined(separator: "\n"))
            </svg>
            """
    }

    private func y(_ row: Int) -> Int { Self.top + Self.rowHeight * row + 10 }

    private func frame() -> String {
        let heads = zip(ladder.parties.map(\.name), lifelines).map { ($0, $1) } + [("gateway", gateway)]
        let columns = heads.map { name, x in
            "<line class=\"life\" x1=\"\(x)\" x2=\"\(x)\" y1=\"28\" y2=\"\(height - 8)\"/><text class=\"head\" x=\"\(x)\" y=\"20\">\(name)</text>"
        }
        let names = zip(ladder.parties.map(\.name), lanes).map { name, x in "<text class=\"head\" x=\"\(x)\" y=\"20\">\(name)</text>" }
        return (columns + names + ["<text class=\"time\" x=\"\(Self.timeWidth)\" y=\"20\">ms</text>"]).joined()
    }

    private func row(_ index: Int) -> String {
        let step = steps[index], isNew = index == 0 || steps[index - 1].offset != step.offset
        let time = isNew ? "<text class=\"time\" x=\"\(Self.timeWidth)\" y=\"\(y(index) + 4)\">\(step.offsetText)</text>" : ""
        switch step.content {
        case .message(let message): return time + arrow(message, step, y(index))
        case .words(let words):
            let shown = words.count > Self.mostCharacters ? words.prefix(Self.mostCharacters - 1) + "…" : words
            return time + "<text class=\"words \(step.tone.rawValue)\" x=\"\(gateway + 8)\" y=\"\(y(index) + 4)\">\(Markup.escaped(shown))"
                + "<title>\(Markup.escaped(words))</title></text>"
        }
    }

    private func arrow(_ message: LadderStep.Message, _ step: LadderStep, _ y: Int) -> String {
        let party = step.party.map { lifelines[$0] } ?? gateway
        let (from, to) = message.isReceived ? (party, gateway) : (gateway, party), inset = from < to ? 2 : -2
        let again = message.isRetransmission ? " again" : ""
        return
            "<line class=\"arrow \(step.tone.rawValue)\(again)\" x1=\"\(from)\" x2=\"\(to - inset)\" y1=\"\(y)\" y2=\"\(y)\" marker-end=\"url(#tip)\"/>"
            + "<text class=\"label \(step.tone.rawValue)\" x=\"\((from + to) / 2)\" y=\"\(y - 3)\">\(Markup.escaped(message.label))</text>"
    }

    /// A bar for each stretch in which the media of a party stays as it is.
    private func media() -> String {
        ladder.parties.indices.map { party in
            var bars = "", start = 0
            for index in steps.indices.dropFirst() where steps[index].media[party] != steps[index - 1].media[party] {
                bars += bar(party, start, index)
                start = index
            }
            return steps.isEmpty ? "" : bars + bar(party, start, steps.count)
        }.joined()
    }

    private func bar(_ party: Int, _ start: Int, _ end: Int) -> String {
        let state = steps[start].media[party]
        guard state != .none else { return "" }
        let top = Self.top + Self.rowHeight * start, height = Self.rowHeight * (end - start)
        let name = ladder.parties[party].name
        return "<rect class=\"bar \(state.rawValue)\" x=\"\(lanes[party] - 5)\" y=\"\(top)\" width=\"10\" height=\"\(height)\" rx=\"2\">"
            + "<title>\(name): \(state.rawValue)</title></rect>"
    }
}
