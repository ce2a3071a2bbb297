import CallJournal

// The ladder of a call on the page: a line down for each party, and an arrow for each step.
extension LoadPage {
    /// Opens below the row of its call.
    static func ladderRow(_ steps: [CallTraceStep]?, columns: Int) -> String {
        guard let steps, !steps.isEmpty else { return "" }
        return "<tr><td colspan=\"\(columns)\"><details><summary>ladder</summary>\(ladder(steps))</details></td></tr>"
    }

    private static let rowHeight = 24, firstLine = 150, gap = 330

    static func ladder(_ steps: [CallTraceStep]) -> String {
        let parties = CallTraceStep.Party.allCases.filter { party in steps.contains { $0.from == party || $0.to == party } }
        let place = { (party: CallTraceStep.Party) in firstLine + gap * (parties.firstIndex(of: party) ?? 0) }
        let height = rowHeight * (steps.count + 2), width = firstLine + gap * parties.count
        let heads = parties.map { party in
            let x = place(party)
            return "<text x=\"\(x)\" y=\"14\" text-anchor=\"middle\">\(party.rawValue)</text>"
                + "<path d=\"M\(x) 20V\(height)\" class=\"life\"/>"
        }
        let rows = steps.enumerated().map { index, step in
            drawing(of: step, from: place(step.from), to: place(step.to), at: rowHeight * (index + 2))
        }
        return "<svg class=\"ladder\" viewBox=\"0 0 \(width) \(height + 6)\">\(heads.joined())\(rows.joined())</svg>"
    }

    private static func drawing(of step: CallTraceStep, from start: Int, to end: Int, at y: Int) -> String {
        let time = "<text x=\"0\" y=\"\(y)\">+\(Number.text(step.at, digits: 1)) ms</text>", words = Markup.escaped(step.text)
        if start == end {
            return "\(time)<circle cx=\"\(start)\" cy=\"\(y - 4)\" r=\"3\"/><text x=\"\(start + 8)\" y=\"\(y)\">\(words)</text>"
        }
        let point = end > start ? -7 : 7
        return "\(time)<path d=\"M\(start) \(y)H\(end)m\(point) -4l\(-point) 4l\(point) 4\" class=\"arrow\"/>"
            + "<text x=\"\((start + end) / 2)\" y=\"\(y - 4)\" text-anchor=\"middle\">\(words)</text>"
    }
}
