/// Figures in the text format of Prometheus 0.0.4: families one after the other, each with its help and its type.
public struct PrometheusText: Sendable {
    public enum Kind: String, Sendable {
        /// Only ever grows.
        case counter
        case gauge
    }

    public private(set) var text = ""

    package init() {}

    /// A family without labels.
    /// - Precondition: `name` and label names are of letters, digits and `_`; a name comes once.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some MetricValue) {
        head(name, kind, help)
        text += "\(name) \(value)\n"
    }

    /// A family with one label, a line for each of its values.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [(String, some MetricValue)]) {
        head(name, kind, help)
        for (key, value) in values { text += "\(name){\(label)=\"\(Self.escaped(key))\"} \(value)\n" }
    }

    /// A family with several labels, a line for each set of their values.
    package mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ values: [(labels: KeyValuePairs<String, String>, value: some MetricValue)]
    ) {
        head(name, kind, help)
        for (labels, value) in values {
            text += "\(name){\(labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ","))} \(value)\n"
        }
    }

    private mutating func head(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// By code points: a quote with an accent is one character, and ends a label all the same.
    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if "\\\"\n".unicodeScalars.contains(scalar) { escaped.append("\\") }
            escaped.append(scalar == "\n" ? "n" : scalar)
        }
        return String(escaped)
    }
}

/// A number as it stands: what a family can have for a value.
package protocol MetricValue {}
extension Int: MetricValue {}
extension UInt64: MetricValue {}
extension Double: MetricValue {}
