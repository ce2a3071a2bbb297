import Foundation
import Yams

/// The UDP ports that the services of a compose file publish.
struct ComposePorts {
    struct Service {
        var name: String
        var usesHostNetwork = false
        /// Of the host, and of the container.
        var published: [(outer: ClosedRange<UInt16>, inner: ClosedRange<UInt16>)] = []

        func publishes(_ port: UInt16) -> Bool { published.contains { $0.inner.contains(port) } }

        /// The first run of these ports that is not published; nil: all are.
        func missing(_ ports: ClosedRange<UInt16>) -> ClosedRange<UInt16>? {
            guard let first = ports.first(where: { !publishes($0) }) else { return nil }
            let last = ports.drop { $0 < first }.first { publishes($0) }.map { $0 - 1 } ?? ports.upperBound
            return first...last
        }

        /// The first of these ports that has another number outside.
        func moved(_ ports: ClosedRange<UInt16>) -> String? {
            published.first { $0.inner.overlaps(ports) && $0.inner != $0.outer }.map { "\($0.inner.lowerBound)-\($0.inner.upperBound)" }
        }
    }

    var path: String
    var services: [Service] = []

    /// - Throws: a `Failure` in one line.
    init(path: String) throws {
        self.path = path
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { throw Failure.usage("\(path): cannot be read") }
        guard let root = try? Yams.compose(yaml: text), let services = root["services"]?.mapping else { throw Failure.usage("\(path): is no compose file: it has no 'services'") }
        for (name, node) in services {
            var service = Service(name: name.string ?? "?")
            service.usesHostNetwork = node["network_mode"]?.string == "host"
            for entry in node["ports"]?.sequence.map(Array.init) ?? [] {
                if let ports = Self.ports(entry) { service.published.append(ports) }
            }
            if service.usesHostNetwork || !service.published.isEmpty { self.services.append(service) }
        }
    }

    /// `5060:5060/udp`, `127.0.0.1:20000-20099:20000-20099/udp`, `${BIND:-127.0.0.1}:…`, or the long form; nil for what is not UDP.
    private static func ports(_ node: Node) -> (outer: ClosedRange<UInt16>, inner: ClosedRange<UInt16>)? {
        if let inner = node["target"]?.string.flatMap(range) {
            guard node["protocol"]?.string == "udp" else { return nil }
            return (node["published"]?.string.flatMap(range) ?? inner, inner)
        }
        guard let text = node.string, text.hasSuffix("/udp") else { return nil }
        let ranges = text.dropLast(4).split(separator: ":").map(String.init).suffix(2).compactMap(range)
        guard let inner = ranges.last else { return nil }
        return (ranges.first ?? inner, inner)
    }

    private static func range(_ text: String) -> ClosedRange<UInt16>? {
        let numbers = text.split(separator: "-").map { UInt16($0) }
        guard (1...2).contains(numbers.count), let first = numbers[0], let last = numbers[numbers.count - 1], first <= last else { return nil }
        return first...last
    }
}
