import Primitives

/// One call as an HTML page that needs nothing else, for a ticket: what became of it, its facts, and the ladder.
package enum LadderPage {
    /// - Parameter version: of the program that draws it.
    package static func text(_ record: CallDetailRecord, _ ladder: Ladder, version: String) -> String {
        let call = CallDescription(record), who = "\(parties(record).from) to \(parties(record).to)"
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>call \(Markup.escaped(CallWords.name(record.first))): \(Markup.escaped(who))</title>
            <style>\(LadderStyle.page)</style></head><body>
            <h1>\(Markup.escaped(who))</h1>
            <p class="banner \(banner(record))">\(Markup.escaped(CallWords.status(record.disposition, record.status))): \(Markup.escaped(record.reason))</p>
            <table>\(facts(record, call).map(row).joined())</table>
            <p class="key"><i class="reserved"></i>a port number is reserved <i class="configured"></i>codecs are decided <i class="open"></i>sockets exist \
            <i class="flowing"></i>packets may flow\(relayed(ladder))</p>
            <div class="ladder">\(LadderPicture(ladder).svg)</div>
            <p class="quiet">Drawn by hookswitch \(version)\(omitted(ladder)).</p>
            </body></html>

            """
    }

    private static func parties(_ record: CallDetailRecord) -> (from: String, to: String) {
        (record.first.from?.shortAddress ?? "unknown caller", record.to?.shortAddress ?? "unknown number")
    }

    private static func banner(_ record: CallDetailRecord) -> String {
        record.disposition == .up ? "warn" : record.isTroubled ? "bad" : "good"
    }

    /// The bar of the kernel's relay, where the ladder has one.
    private static func relayed(_ ladder: Ladder) -> String {
        ladder.steps.contains { $0.media.contains(.relayed) } ? #" <i class="relayed"></i>the kernel passes on what comes"# : ""
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
            ("Offered", call.offer), ("Began", WallTime.local(first.began.wall)), ("Length", record.length.map(CallWords.length)),
            ("Heard", CallWords.heard(record.heardCaller, record.heardCallee)),
            ("Quality", figures.isEmpty ? nil : figures.joined(separator: "; ")), ("Codec", first.codec?.description),
            ("Remote", first.remote.map { "\(first.transport.map { "\($0) " } ?? "")\($0)" }), ("Call-ID", call.callID),
            ("Call", call.call),
            ("Legs", record.branches.isEmpty ? nil : record.branches.map(leg).joined(separator: "; ")),
            ("Position", "\(call.position)\(first.run.version.map { ", written by \($0)" } ?? "")"),
        ]
    }

    private static func leg(_ leg: LegRecord) -> String {
        "\(leg.to?.shortAddress ?? leg.remote?.description ?? "?") \(CallWords.status(leg.disposition, leg.status))"
    }

    private static func hundredths(_ value: Int64) -> String { "\(value / 100)." + (value % 100 < 10 ? "0" : "") + "\(value % 100)" }
}
