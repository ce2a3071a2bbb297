import Media

extension LoadReport {
    /// Figures that do not follow from the report's own calls, one line each; empty also where more calls were made than it has one by one.
    ///
    /// Answers and media that came late beside the others, and the calls up at a time, are not counted anew.
    public var contradictions: [String] {
        guard callsLeftOut == 0 else { return [] }
        var tally = LoadTally(), lines: [String] = []
        for call in calls { tally.add(call) }
        func compare<Value: Equatable>(_ name: String, _ told: Value, _ counted: Value) {
            if told != counted { lines.append("\(name) is \(told), and its calls say \(counted)") }
        }
        compare("begun", counts.begun, tally.calls)
        compare("answered", counts.answered, tally.answered)
        compare("good", counts.good, tally[.good])
        compare("faulty", counts.faulty, tally[.faulty])
        compare("failed", counts.failed, tally[.failed])
        compare("notTried", counts.notTried, tally[.notTried])
        compare("cutOff", counts.cutOff, tally[.cutOff])
        compare("listenedTo", counts.listenedTo, tally.listened)
        compare("packetsSent", totals.packetsSent, tally.packetsSent)
        compare("packetsReceived", totals.packetsReceived, tally.packetsReceived)
        for metric in LoadMetric.allCases {
            guard (metrics[metric.rawValue] ?? nil) != tally[metric].summary else { continue }
            lines.append("\(metric.rawValue) is not that of its calls")
        }
        for kind in Finding.Kind.allCases where !kind.isOfTime {
            compare("'\(kind.rawValue)'", findings.first { $0.kind == kind }?.calls ?? 0, tally.findings[kind]?.count ?? 0)
        }
        // The terms of a search are of the step that it found.
        if knee == nil, let level {
            for (told, counted) in zip(slo, level.verdicts(on: tally)) where told.actual != counted.actual {
                lines.append(
                    "\(told.term) was \(told.actual.map(Number.text) ?? "–"), and its calls say \(counted.actual.map(Number.text) ?? "–")")
            }
        }
        return lines
    }
}
