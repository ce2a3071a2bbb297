import Foundation
import Yams

/// The ports that the services of a compose file publish.
struct ComposePorts {
    enum Kind: String { case udp, tcp }

    /// The published ports of the host (outer) and of the container (inner).
    struct Published {
        var kind: Kind
        var outer: ClosedRange<UInt16>, inner: ClosedRange<UInt16>
    }

    struct Service {
        var name: String
        var usesHostNetwork = false
        var published: [Published] = []

        func publishes(_ port: UInt16, _ kind: Kind) -> Bool { published.contains { $0.kind == kind && $0.inner.contains(port) } }

        /// Any of these UDP ports.
        func publishes(someOf ports: ClosedRange<UInt16>) -> Bool { published.contains { $0.kind == .udp && $0.inner.overlaps(ports) } }

        /// The first run of these UDP ports that is not published; nil: all are.
        func missing(_ ports: ClosedRange<UInt16>) -> ClosedRange<UInt16>? {
            guard let first = ports.first(where: { !publishes($0, .udp) }) else { return nil }
            let last = ports.drop { $0 < first }.first { publishes($0, .udp) }.map { $0 - 1 } ?? ports.upperBound
            return first...last
        }

        /// The first of these UDP ports that has another number outside.
        func moved(_ ports: ClosedRange<UInt16>) -> String? {
            published.first { $0.kind == .udp && $0.inner.overlaps(ports) && $0.inner != $0.outer }.map {
                "\($0.inner.lowerBound)-\($0.inner.upperBound)"
            }
        }
    }

    var path: String
    var services: [Service] = []

    /// - Throws: a `Failure` in one line.
    init(path: String) throws {
        self.path = try path.named(by: "--compose")
        let root: Node?
        do throws(ConfigurationError) { root = try YAMLFile.root(of: path) } catch { throw Failure.usage(error.description) }
        guard case .mapping? = root, let services = root?["services"]?.mapping else {
            throw Failure.usage("\(path): is no compose file: it has no 'services'")
        }
        for (name, node) in services {
            var service = Service(name: name.string ?? "?")
            service.usesHostNetwork = node["network_mode"]?.string == "host"
            service.published = node["ports"]?.sequence.map { $0.compactMap(Self.ports) } ?? []
            if service.usesHostNetwork || !service.published.isEmpty { self.services.append(service) }
        }
    }

    /// `5060:5060/udp`, `127.0.0.1:20000-20099:20000-20099/udp`, `${BIND:-127.0.0.1}:…`, or the long form; what names no kind is TCP.
    private static func ports(_ node: Node) -> Published? {
        if let inner = node["target"]?.string.flatMap(range) {
            guard let kind = Kind(rawValue: node["protocol"]?.string ?? "tcp") else { return nil }
            return Published(kind: kind, outer: node["published"]?.string.flatMap(range) ?? inner, inner: inner)
        }
        let parts = node.string?.split(separator: "/").map(String.init) ?? []
        guard let text = parts.first, parts.count <= 2, let kind = Kind(rawValue: parts.count == 2 ? parts[1] : "tcp") else { return nil }
        let ranges = text.split(separator: ":").map(String.init).suffix(2).compactMap(range)
        guard let inner = ranges.last else { return nil }
        return Published(kind: kind, outer: ranges.first ?? inner, inner: inner)
    }

    private static func range(_ text: String) -> ClosedRange<UInt16>? {
        let numbers = text.split(separator: "-").map { UInt16($0) }
        guard (1...2).contains(numbers.count), let first = numbers[0], let last = numbers[numbers.count - 1], first <= last else {
            return nil
        }
        return first...last
    }
}
