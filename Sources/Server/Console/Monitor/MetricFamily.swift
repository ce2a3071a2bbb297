import Gateway
import Primitives
import Runtime

/// A family of figures at `/metrics`: a row of the one table that the exposition and the reference read (``all``).
public struct MetricFamily: Sendable {
    public enum Kind: String, Sendable {
        /// Only ever grows.
        case counter
        case gauge
        /// Counts of values by bounds, with their sum and number: `_bucket{le}`, `_sum`, `_count`.
        case histogram
    }

    /// A label, which tells the figures of a family apart.
    public struct Label: Sendable {
        public var name: String
        /// Every value that it takes; nil where peers name it.
        public var values: [Value]?
        /// The meaning of the values, where they are not known beforehand.
        public var meaning = "as peers say it; twenty at most"

        /// A value with its meaning; without words where its name says it.
        public struct Value: Sendable {
            public var name: String
            public var meaning: String?
        }
    }

    /// The source of all figures.
    struct Source {
        var figures: GatewayFigures
        var service = ServiceFigures()
        var usage: ProcessResources.Usage
    }

    struct Sample {
        var labels: [String]
        var value: any MetricValue
    }

    /// It has letters, digits and `_`, as the names of labels have.
    public var name: String
    public var kind: Kind
    public var help: String
    /// None: the family has one figure.
    public var labels: [Label]
    /// One for each set of values of the labels; nil where there is nothing to tell of.
    let read: @Sendable (Source) -> [Sample]?

    /// A family without labels; nil where there is nothing to tell of.
    static func single(
        _ name: String, _ kind: Kind, _ help: String, _ value: @escaping @Sendable (Source) -> (any MetricValue)?
    ) -> MetricFamily {
        MetricFamily(name: name, kind: kind, help: help, labels: []) { source in value(source).map { [Sample(labels: [], value: $0)] } }
    }

    /// A family with one label, whose values are written down with their figures.
    static func labelled(
        _ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [Figure]
    ) -> MetricFamily {
        let labels = [Label(name: label, values: values.map { .init(name: $0.name) })]
        return MetricFamily(name: name, kind: kind, help: help, labels: labels) { source in
            let samples = values.compactMap { figure in figure.value(source.figures).map { Sample(labels: [figure.name], value: $0) } }
            return samples.isEmpty ? nil : samples
        }
    }

    /// A figure of ``labelled(_:_:_:by:_:)``, by the value of its label; nil where there is nothing to tell of.
    typealias Figure = (name: String, value: @Sendable (GatewayFigures) -> (any MetricValue)?)

    /// A family with one label, whose figures are counted by these values elsewhere.
    static func counted(
        _ name: String, _ help: String, by label: String, _ values: [Label.Value],
        _ counts: @escaping @Sendable (GatewayFigures) -> [(String, UInt64)]
    ) -> MetricFamily {
        MetricFamily(name: name, kind: .counter, help: help, labels: [Label(name: label, values: values)]) { source in
            counts(source.figures).map { Sample(labels: [$0.0], value: $0.1) }
        }
    }
}

/// A number as it stands: what a family can have for a value.
package protocol MetricValue {}
extension Int: MetricValue {}
extension UInt64: MetricValue {}
extension Double: MetricValue {}
/// The value of a family of histograms.
extension FixedHistogram: MetricValue {}
