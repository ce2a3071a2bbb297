import Gateway
import Primitives
import Runtime

/// Figures in the text format of Prometheus 0.0.4: families one after the other, each with its help and its type.
public struct PrometheusText: Sendable {
    /// The content type of the exposition's text format.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// All families so far, each line with its end.
    public private(set) var text = ""

    /// Every family that there is something to tell of.
    public init(
        _ figures: GatewayFigures, service: ServiceFigures = ServiceFigures(), usage: ProcessResources.Usage = ProcessResources.usage
    ) {
        let source = MetricFamily.Source(figures: figures, service: service, usage: usage)
        for family in MetricFamily.all { family.read(source).map { add(family, $0) } }
    }

    /// None.
    package init() {}

    /// A family without labels that is none of the gateway's.
    package mutating func add(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: any MetricValue) {
        add(MetricFamily.single(name, kind, help) { _ in nil }, [.init(labels: [], value: value)])
    }

    /// A family with one label that is none of the gateway's, with a line for each value of the label.
    package mutating func add(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String, by label: String, _ values: [(String, any MetricValue)]
    ) {
        add(MetricFamily.labelled(name, kind, help, by: label, []), values.map { .init(labels: [$0.0], value: $0.1) })
    }

    /// - Precondition: a family comes once.
    mutating func add(_ family: MetricFamily, _ samples: [MetricFamily.Sample]) {
        text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
        for sample in samples {
            let pairs = zip(family.labels, sample.labels).map { "\($0.name)=\"\(Self.escaped($1))\"" }
            if let histogram = sample.value as? FixedHistogram {
                add(histogram, family.name, pairs)
            } else {
                text += "\(family.name)\(Self.braces(pairs)) \(sample.value)\n"
            }
        }
    }

    private mutating func add(_ histogram: FixedHistogram, _ name: String, _ pairs: [String]) {
        for (bound, count) in histogram.cumulative { text += "\(name)_bucket\(Self.braces(pairs + ["le=\"\(bound)\""])) \(count)\n" }
        text += "\(name)_bucket\(Self.braces(pairs + ["le=\"+Inf\""])) \(histogram.count)\n"
        text += "\(name)_sum\(Self.braces(pairs)) \(histogram.sum)\n\(name)_count\(Self.braces(pairs)) \(histogram.count)\n"
    }

    private static func braces(_ pairs: [String]) -> String { pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}" }

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
