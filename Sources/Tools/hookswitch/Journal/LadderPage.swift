import Gateway
import Primitives
import Workbench

/// One call as an HTML page that needs nothing else, for a ticket: what became of it, its facts, and the ladder.
enum LadderPage {
    static func text(_ record: CallDetailRecord, _ ladder: Ladder) -> String {
        let call = CallDescription(record), who = "\(parties(record).from) to \(parties(record).to)"
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>call \(Markup.escaped(CallsTable.name(record.first))): \(Markup.escaped(who))</title>
            <style>\(style)</style></head><body>
            <h1>\(Markup.escaped(who))</h1>
            <p class="banner \(banner(record))">\(Markup.escaped(CallsTable.status(record.disposition, record.status))): \(Markup.escaped(record.reason))</p>
            <table>\(facts(record, call).map(row).joined())</table>
            <p class="key"><i class="reserved"></i>a port number is reserved <i class="configured"></i>codecs are decided <i class="open"></i>sockets exist \
            <i class="flowing"></i>packets may flow</p>
            <div class="ladder">\(LadderPicture(ladder).svg)</div>
            <p class="quiet">Drawn by hookswitch \(Hookswitch.version)\(omitted(ladder)).</p>
            </body></html>

            """
    }

    private static func parties(_ record: CallDetailRecord) -> (from: String, to: String) {
        (record.first.from?.shortAddress ?? "unknown caller", record.to?.shortAddress ?? "unknown number")
    }

    private static func banner(_ record: CallDetailRecord) -> String {
        record.disposition == .up ? "warn" : record.isTroubled ? "bad" : "good"
    }

    private static func omitted(_ ladder: Ladder) -> String { ladder.omitted > 0 ? "; \(ladder.omitted) more legs do not fit" : "" }

    private static func row(_ fact: (String, String?)) -> String {
        fact.1.map { "<tr><th>\(fact.0)</th><td>\(Markup.escaped($0))</td></tr>" } ?? ""
    }

    private static func facts(_ record: CallDetailRecord, _ call: CallDescription) -> [(String, String?)] {
        let first = record.first, quality = [("caller", first.sound.incomingQuality), ("callee", first.sound.outgoingQuality)]
        let figures = quality.compactMap { name, quality in
            quality.loss.map { "\(name) \(hundredths($0)) % loss" + (quality.mos.map { ", MOS \(hundredths($0))" } ?? "") }
        }
        return [
            ("From", call.from), ("To", call.to), ("Request-URI", call.uri), ("Line", call.line), ("User-Agent", call.agent),
            ("Offered", call.offer), ("Began", WallTime.local(first.began.wall)), ("Length", record.length.map(CallsTable.length)),
            ("Heard", CallsTable.heard(record.heardCaller, record.heardCallee)),
            ("Quality", figures.isEmpty ? nil : figures.joined(separator: "; ")), ("Codec", first.codec?.description),
            ("Remote", first.remote.map { "\(first.transport.map { "\($0) " } ?? "")\($0)" }), ("Call-ID", call.callID),
            ("Call", call.call),
            ("Legs", record.branches.isEmpty ? nil : record.branches.map(leg).joined(separator: "; ")),
            ("Position", "\(call.position)\(first.run.version.map { ", written by \($0)" } ?? "")"),
        ]
    }

    private static func leg(_ leg: LegRecord) -> String {
        "\(leg.to?.shortAddress ?? leg.remote?.description ?? "?") \(CallsTable.status(leg.disposition, leg.status))"
    }

    private static func hundredths(_ value: Int64) -> String { "\(value / 100)." + (value % 100 < 10 ? "0" : "") + "\(value % 100)" }

    private static let style = """
        :root{color-scheme:light dark;--ink:#1b1f24;--quiet:#5b6470;--line:#c9ced6;--ground:#fff;--request:#0b7285;--provisional:#8a6100;--success:#18794e;--failure:#c62a2f;--report:#8e3a9d;--media:#18794e;--action:#2458c5}
        @media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--quiet:#9aa3ad;--line:#434a54;--ground:#15181c;--request:#5ad1e6;--provisional:#ffc53d;--success:#4cc38a;--failure:#ff6369;--report:#d99be6;--media:#4cc38a;--action:#7aa2ff}}
        body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:2em auto;padding:0 1em;max-width:1200px}h1{font-size:1.4em;margin:0;overflow-wrap:anywhere}
        .banner{padding:.6em 1em;border-radius:8px;color:#fff;font-weight:600}.good{background:#18794e}.bad{background:#c62a2f}.warn{background:#ad5700}.quiet,.key{color:var(--quiet);font-size:.87em}
        table{border-collapse:collapse;font-size:.93em}th{text-align:left;color:var(--quiet);font-weight:500;padding:.15em 1.5em .15em 0;vertical-align:top;white-space:nowrap}td{overflow-wrap:anywhere}
        .ladder{overflow-x:auto}svg text{font:12px ui-monospace,monospace;fill:var(--ink)}.head{text-anchor:middle;font-weight:600}.time{text-anchor:end;fill:var(--quiet)!important}.label{text-anchor:middle}
        .words,.label{paint-order:stroke;stroke:var(--ground);stroke-width:3px}.life{stroke:var(--line)}.arrow{stroke-width:1.4}.again{stroke-dasharray:4 3}
        line.request{stroke:var(--request)}line.provisional{stroke:var(--provisional)}line.success{stroke:var(--success)}line.failure{stroke:var(--failure)}
        text.request{fill:var(--request)}text.provisional,text.session{fill:var(--provisional)}text.success{fill:var(--success)}text.failure{fill:var(--failure)}text.report{fill:var(--report)}text.media{fill:var(--media)}text.action{fill:var(--action)}
        .bar{stroke:var(--media);fill:none}.bar.reserved{stroke-dasharray:1 4}.bar.configured{stroke-dasharray:4 3}.bar.flowing{fill:var(--media)}
        .key i{display:inline-block;width:.7em;height:.9em;margin:0 .4em 0 1em;vertical-align:-.1em;border:1px dotted var(--media);border-radius:2px}.key i.configured{border-style:dashed}.key i.open,.key i.flowing{border-style:solid}.key i.flowing{background:var(--media)}
        """
}
