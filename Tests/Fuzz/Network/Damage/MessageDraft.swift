import Primitives

/// A SIP message in its parts, to be damaged and then written.
struct MessageDraft {
    /// The start line and the header fields, without their ends and without Content-Length.
    var lines: [[UInt8]]
    var body: [UInt8]
    /// So many lines stay as they are: those that name a dialog.
    var fixedLines = 0
    /// The value of Content-Length; nil: the true one.
    private var contentLength: [UInt8]?

    init(_ lines: [String], body: String = "") { (self.lines, self.body) = (lines.map { Array($0.utf8) }, Array(body.utf8)) }

    /// Takes a message of the corpus apart; nil where it has no head.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A]) else { return nil }
        lines = bytes[..<end.lowerBound].split(separator: 0x0A).map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
        body = Array(bytes[end.upperBound...])
        lines.removeAll { String(decoding: $0.prefix(15), as: UTF8.self).lowercased().hasPrefix("content-length:") }
    }

    /// Some damage, or now and then none.
    mutating func damage(using random: inout SeededRandom) {
        for _ in 0..<random.pick([0, 1, 1, 1, 2, 2, 3, 6]) {
            if random.happens(percent: body.isEmpty ? 0 : 35) {
                damageBody(using: &random)
            } else {
                random.pick(LineDamage.allCases).apply(to: &lines, from: fixedLines, using: &random)
            }
        }
        if random.happens(percent: 6) { contentLength = random.pick(Boundaries.texts) }
    }

    private mutating func damageBody(using random: inout SeededRandom) {
        guard random.happens(percent: 80) else { return ByteDamage.apply(to: &body, using: &random) }
        var lines = body.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
        random.pick(LineDamage.allCases).apply(to: &lines, from: 0, using: &random)
        body = Array(lines.joined(separator: [0x0D, 0x0A]))
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for line in lines + [Array("Content-Length: ".utf8) + (contentLength ?? Array("\(body.count)".utf8)), []] {
            bytes += line + [0x0D, 0x0A]
        }
        return bytes + body
    }
}
