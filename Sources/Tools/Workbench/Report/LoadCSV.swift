/// A line for each call: RFC 4180, with the names of the columns first. Empty: not measured.
public enum LoadCSV {
    public static func text(_ report: LoadReport) -> String {
        let rows = [columns.map(\.name)] + report.calls.map { call in columns.map { $0.value(call) } }
        return rows.map { $0.map(quoted).joined(separator: ",") }.joined(separator: "\r\n") + "\r\n"
    }

    private struct Column: Sendable {
        var name: String
        var value: @Sendable (CallFigures) -> String
    }

    private static let columns: [Column] =
        [
            Column(name: "number") { "\($0.number)" }, Column(name: "call_id") { $0.callID }, Column(name: "kind") { $0.kind.rawValue },
            Column(name: "began_s") { "\($0.began)" }, Column(name: "outcome") { $0.outcome.rawValue },
            Column(name: "status") { "\($0.status)" },
            Column(name: "setup_ms") { text($0.setup) }, Column(name: "ring_ms") { text($0.ring) },
            Column(name: "answer_ms") { text($0.answer) },
            Column(name: "media_ms") { text($0.media) }, Column(name: "end_ms") { text($0.end) },
            Column(name: "duration_ms") { text($0.duration) },
            Column(name: "invite_transit_ms") { text($0.inviteTransit) }, Column(name: "answer_transit_ms") { text($0.answerTransit) },
            Column(name: "bye_transit_ms") { text($0.byeTransit) }, Column(name: "retransmissions") { "\($0.retransmissions)" },
        ] + end("caller", \.caller) + end("callee", \.callee) + [
            Column(name: "findings") { $0.findings.map { "\($0.kind.rawValue): \($0.text)" }.joined(separator: "; ") },
            Column(name: "reported_loss_percent") { text($0.reported?.lossPercent) },
            Column(name: "reported_jitter_ms") { text($0.reported?.jitter) }, Column(name: "reported_mos") { text($0.reported?.mos) },
        ]

    private static func end(_ name: String, _ end: @escaping @Sendable (CallFigures) -> EndFigures?) -> [Column] {
        [
            Column(name: name + "_codec") { end($0)?.codec ?? "" }, Column(name: name + "_srtp") { end($0)?.encryption?.rawValue ?? "" },
            Column(name: name + "_sent") { text(end($0)?.sent) },
            Column(name: name + "_received") { text(end($0)?.received) },
            Column(name: name + "_loss_percent") { text(end($0)?.lossPercent) },
            Column(name: name + "_jitter_ms") { text(end($0)?.jitter) }, Column(name: name + "_delay_ms") { text(end($0)?.delay) },
            Column(name: name + "_r") { text(end($0)?.rating) }, Column(name: name + "_mos") { text(end($0)?.mos) },
            Column(name: name + "_audio") { end($0)?.audio?.rawValue ?? "" },
            Column(name: name + "_stopped_ms") { text(end($0)?.stoppedAfter) },
        ]
    }

    private static func text(_ value: (some CustomStringConvertible)?) -> String { value?.description ?? "" }

    private static func quoted(_ field: String) -> String {
        guard field.contains(where: { ",\"\r\n".contains($0) || $0 == "\r\n" }) else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}
