import Testing

/// Metrics as a monitor reads them: the rules of the text exposition format 0.0.4, one after the other.
///
/// A family has its HELP and its TYPE first, all of its lines stand together, and no line comes twice.
struct Exposition {
    struct Malformed: Error { var line: String, why: String }

    private(set) var types: [String: String] = [:]
    /// By name and labels, as `ports{state="free"}`; label values are unescaped.
    private(set) var values: [String: Double] = [:]
    private var current = ""

    init(_ text: String) throws {
        guard text.isEmpty || text.utf8.last == 0x0A else { throw Malformed(line: text, why: "the last line has no end") }
        for line in text.utf8.split(separator: 0x0A) { try read(String(Substring(line))) }
    }

    private mutating func read(_ line: String) throws {
        func fail(_ why: String) -> Malformed { Malformed(line: line, why: why) }
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        switch words[0] {
        case "#" where words.count == 4 && words[1] == "HELP":
            guard types[words[2]] == nil, !words[3].isEmpty else { throw fail("a second HELP, or an empty one") }
            current = words[2]
        case "#" where words.count == 4 && words[1] == "TYPE":
            guard words[2] == current, types.updateValue(words[3], forKey: current) == nil else { throw fail("TYPE does not follow HELP") }
            guard ["counter", "gauge", "histogram"].contains(words[3]) else { throw fail("no such type") }
        case "#": throw fail("a comment that is neither")
        default: try readSample(line)
        }
    }

    private mutating func readSample(_ line: String) throws {
        func fail(_ why: String) -> Malformed { Malformed(line: line, why: why) }
        var rest = line.unicodeScalars[...]
        guard let name = Self.name(&rest), types[current] != nil, isOfFamily(name) else { throw fail("not of the family before it") }
        let labels = try rest.first == "{" ? Self.labels(&rest, fail) : []
        guard rest.popFirst() == " ", let value = Double(String(rest)) else { throw fail("no number") }
        let key = labels.isEmpty ? name : "\(name){\(labels.joined(separator: ","))}"
        guard values.updateValue(value, forKey: key) == nil else { throw fail("the line comes twice") }
    }

    private func isOfFamily(_ name: String) -> Bool {
        types[current] == "histogram" ? ["_bucket", "_sum", "_count"].contains { name == current + $0 } : name == current
    }

    /// `{name="value",…}`, each with its value unescaped.
    private static func labels(_ rest: inout Substring.UnicodeScalarView, _ fail: (String) -> Malformed) throws -> [String] {
        var labels: [String] = []
        repeat {
            rest.removeFirst()
            guard let name = name(&rest), rest.popFirst() == "=", rest.popFirst() == "\"" else { throw fail("no label") }
            var value = String.UnicodeScalarView()
            while let next = rest.popFirst(), next != "\"" {
                guard next == "\\" else {
                    value.append(next)
                    continue
                }
                guard let escaped = rest.popFirst(), let plain = ["\\": "\\", "\"": "\"", "n": "\n"][escaped] as Unicode.Scalar? else {
                    throw fail("no such escape")
                }
                value.append(plain)
            }
            labels.append("\(name)=\"\(String(value))\"")
        } while rest.first == ","
        guard rest.popFirst() == "}" else { throw fail("the labels do not end") }
        return labels
    }

    /// `[a-zA-Z_][a-zA-Z0-9_]*`.
    private static func name(_ rest: inout Substring.UnicodeScalarView) -> String? {
        let name = rest.prefix { $0 == "_" || $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) }
        guard let first = name.first, first.properties.numericType == nil else { return nil }
        rest.removeFirst(name.count)
        return String(name)
    }
}
