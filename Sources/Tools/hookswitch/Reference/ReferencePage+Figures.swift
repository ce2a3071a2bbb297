import Console
import Gateway

extension ReferencePage {
    static let metricsIntroduction = """
        The figures at `/metrics`, where `metrics.listen` is set: Prometheus text 0.0.4.

        Counters begin with 0 at the start of the process, and every
        value of a label is there from the start. Families of the journal are absent where no journal is written.
        """

    static var metricSections: [String] {
        var families = MarkdownTable(["metric", "type", "labels", "meaning"])
        for family in MetricFamily.all {
            let labels = family.labels.map(\.name.code).joined(separator: ", ")
            families.add([family.name.code, family.kind.rawValue, labels, family.help])
        }
        let labels = MetricFamily.all.flatMap { family in family.labels.map { values(of: family.name, $0) } }
        return ["## Families\n\n\(families.text)", "## Values of labels\n\n\(labels.joined(separator: "\n"))"]
    }

    private static func values(of family: String, _ label: MetricFamily.Label) -> String {
        let name = "* " + "\(family){\(label.name)}".code
        guard let values = label.values else { return "\(name): \(label.meaning)" }
        if values.map(\.name) == JournalEvent.Kind.allCases.map(\.rawValue) { return "\(name): every [kind of event](journal.md)" }
        let isExplained = values.contains { $0.meaning != nil }
        guard isExplained else { return "\(name): \(values.map(\.name.code).joined(separator: ", "))" }
        return "\(name):\n" + values.map { "  * \($0.name.code): \($0.meaning ?? "")" }.joined(separator: "\n")
    }

    static let journalIntroduction = """
        The kinds of events, and the details that they carry.

        An event is a line of JSON with `seq` (counts from 1 in a run), `t` (nanoseconds of the monotonic clock), `wall`
        (nanoseconds since 1970-01-01 UTC), `call` (a UUID; absent for what concerns a line or the gateway), `line`, `lane`, `kind` and `details`.
        Truth values are 1 and 0. Details in brackets are there in some events of the kind. No detail has the name of a credential.
        """

    static var journalSections: [String] {
        var kinds = MarkdownTable(["kind", "meaning", "details"])
        for kind in JournalEvent.Kind.allCases {
            let explanation = kind.explanation
            kinds.add([kind.rawValue.code, explanation.help, explanation.details.map(detail).joined(separator: ", ")])
        }
        var keys = MarkdownTable(["detail", "meaning"])
        for key in JournalEvent.Key.allCases { keys.add([key.rawValue.code, key.meaning]) }
        return ["## Kinds\n\n\(kinds.text)", "## Details\n\n\(keys.text)"]
    }

    private static func detail(_ detail: JournalEvent.Kind.Detail) -> String {
        let name = detail.isOptional ? "[\(detail.key.rawValue.code)]" : detail.key.rawValue.code
        return detail.meaning.isEmpty ? name : "\(name) (\(detail.meaning))"
    }
}
