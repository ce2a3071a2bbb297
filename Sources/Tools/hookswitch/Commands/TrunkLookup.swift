import Gateway
import Primitives
import Runtime
import UserAgent

/// The address of a trunk's target, as DNS says now: for a person, before calls depend on it.
struct TrunkLookup: Encodable {
    var line: String
    var target: String
    /// The best first; empty when there is none.
    var servers: [String]
    /// Seconds until it would be asked again; nil for an address.
    var holds: Int64?

    var text: String {
        let found = servers.isEmpty ? "not found: calls to it are refused with 503" : servers.joined(separator: ", ")
        return "\(line): \(target) is \(found)\(holds.map { " for \($0) s" } ?? "")"
    }

    /// Asks for every target of every trunk, and waits for the answers.
    static func all(of configuration: ServeConfiguration) -> [TrunkLookup] {
        let resolver = resolver(configuration)
        return configuration.gateway.lines.flatMap { line -> [TrunkLookup] in
            guard case .trunk(let trunk) = line.endpoint else { return [] }
            return trunk.targets.map { look($0, line.number, configuration, resolver) }
        }
    }

    static func resolver(_ configuration: ServeConfiguration) -> DNSResolver? {
        var settings = DNSResolver.Settings()
        settings.servers = configuration.nameServers
        return DNSResolver(settings)
    }

    /// Gives the place of a target, once everything is known that DNS says.
    static func location(of target: TrunkConfiguration.Target, _ configuration: ServeConfiguration, _ resolver: DNSResolver?)
        -> ServerLocation.Result?
    {
        let listeners = configuration.listeners
        let transports = [Transport.udp, .tcp, .tls].filter { transport in listeners.contains { $0.transport == transport } }
        let families = [IPAddress.Family.v4, .v6].filter { family in listeners.contains { $0.address.address.family == family } }
        let domain = ServerLocation.Domain(host: target.host, port: target.port, transport: target.transport)
        return HostLookup.location(of: domain, transports: transports, families: families) { HostLookup.answer(to: $0, resolver) }
    }

    private static func look(
        _ target: TrunkConfiguration.Target, _ line: Text, _ configuration: ServeConfiguration, _ resolver: DNSResolver?
    ) -> TrunkLookup {
        let location = location(of: target, configuration, resolver)
        let servers = (location?.servers ?? []).map { "\($0.transport) \($0.address)" }
        let holds = IPAddress(target.host) == nil ? location.map { $0.timeToLive.wholeMilliseconds / 1_000 } : nil
        return TrunkLookup(
            line: line.description, target: target.host.description + (target.port.map { ":\($0)" } ?? ""), servers: servers,
            holds: servers.isEmpty ? nil : holds)
    }
}
