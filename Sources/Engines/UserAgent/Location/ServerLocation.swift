public import Primitives
public import Runtime
import SIP

/// The lookup of the servers of a SIP domain (RFC 3263 §4), as a value: it says what to ask DNS, takes the answers, and has a result when
/// nothing is left to ask.
///
/// Transport and servers come from NAPTR and SRV where there are any; a port or an address that is written out is taken as it is.
public struct ServerLocation: Sendable {
    /// A server to send to. Lower priority first; among equals, chosen by weight (RFC 2782).
    public struct Server: Hashable, Sendable {
        /// UDP, TCP or TLS.
        public var transport: Transport
        /// The address and port at which it listens.
        public var address: SocketAddress
        /// Lower first.
        public var priority: Int
        /// The share among servers of one priority; 0 hardly ever comes first.
        public var weight: Int

        /// A server to send to.
        public init(_ transport: Transport, _ address: SocketAddress, priority: Int = 0, weight: Int = 1) {
            (self.transport, self.address, self.priority, self.weight) = (transport, address, priority, weight)
        }
    }

    /// The records that DNS has of a domain.
    public struct Result: Hashable, Sendable {
        /// By priority. Empty when the domain has none, or DNS did not answer.
        public var servers: [Server]
        /// When it should be asked again.
        public var timeToLive: Duration
        /// Whether any answer was no answer.
        public var hasFailed: Bool
    }

    /// The domain to look up.
    public struct Domain: Hashable, Sendable {
        /// A name, or an address (IPv6 with or without brackets).
        public var host: Text
        /// A port that was written out, with which no SRV is asked (RFC 3263 §4.2).
        public var port: UInt16?
        /// Nil leaves it to the domain.
        public var transport: Transport?

        /// - Parameter transport: nil leaves it to the domain.
        public init(host: Text, port: UInt16? = nil, transport: Transport? = nil) {
            (self.host, self.port, self.transport) = (host, port, transport)
        }
    }

    /// The domain that is looked up.
    public let domain: Domain
    /// Transports that we can send over, in the order of our preference where the domain has none.
    private let transports: [Transport]
    private let families: [IPAddress.Family]
    private var answers: [DNSQuestion: DNSAnswer] = [:]
    private var asked: Set<DNSQuestion> = []
    /// The servers that were found; nil while questions are open.
    public private(set) var result: Result?

    /// No domain needs more; one that does plays with us.
    public static let maximumQuestions = 64

    /// - Parameters:
    ///   - transports: what we can send over, in the order of our preference.
    ///   - families: of our sockets.
    public init(_ domain: Domain, transports: [Transport] = [.udp, .tcp, .tls], families: [IPAddress.Family] = [.v4, .v6]) {
        (self.domain, self.transports, self.families) = (domain, transports, families)
    }

    /// The first questions; none when there is nothing to ask, and then there is a result.
    public mutating func start() -> [DNSQuestion] { proceed() }

    /// Takes an answer, and gives the questions that follow from it.
    public mutating func receive(_ answer: DNSAnswer, to question: DNSQuestion) -> [DNSQuestion] {
        guard result == nil, asked.contains(question) else { return [] }
        answers[question] = answer
        return proceed()
    }

    /// Goes through the whole procedure with the answers that are there; whatever is missing on the way is asked next.
    private mutating func proceed() -> [DNSQuestion] {
        var missing: [DNSQuestion] = []
        let servers = servers(&missing)
        let new = missing.filter { !asked.contains($0) }
        guard missing.isEmpty || asked.count + new.count > Self.maximumQuestions else {
            asked.formUnion(new)
            return new
        }
        let found = answers.values.filter { $0.outcome == .found }
        let hasFailed = answers.values.contains { $0.outcome == .failed }
        let timeout = answers.isEmpty ? Duration.seconds(86_400) : found.map(\.timeToLive).min() ?? .seconds(30)
        // A failure may be over soon, and a time of zero would have us ask for every call.
        let limit: Duration = hasFailed || servers.isEmpty ? .seconds(30) : .seconds(86_400)
        result = Result(
            servers: servers.sorted { $0.priority < $1.priority }, timeToLive: max(.seconds(5), min(timeout, limit)), hasFailed: hasFailed)
        return []
    }

    private func servers(_ missing: inout [DNSQuestion]) -> [Server] {
        if let address = IPAddress(domain.host.withoutBrackets) {
            let transport = domain.transport ?? .udp
            return [Server(transport, SocketAddress(address, port: domain.port ?? transport.standardPort))]
        }
        if let port = domain.port { return addresses(of: domain.host, domain.transport ?? .udp, port: port, &missing) }
        guard let services = services(&missing) else { return [] }
        var servers: [Server] = []
        var hasRecords = false
        for (rank, service) in services.enumerated() {
            guard let answer = ask(.srv(service.name), &missing) else { continue }
            for case .srv(let priority, let weight, let port, let target) in answer.records {
                hasRecords = true
                // A single root says that there is decidedly no such service.
                guard !target.isEmpty else { continue }
                for var server in addresses(of: target, service.transport, port: port, &missing) {
                    (server.priority, server.weight) = (rank << 16 | Int(priority), Int(weight))
                    servers.append(server)
                }
            }
        }
        guard missing.isEmpty, !hasRecords else { return servers }
        let transport = domain.transport ?? .udp
        return addresses(of: domain.host, transport, port: transport.standardPort, &missing)
    }

    /// The names to ask SRV records of, the best first (RFC 3263 §4.1); nil while that is not known.
    private func services(_ missing: inout [DNSQuestion]) -> [(transport: Transport, name: Text)]? {
        if let transport = domain.transport { return transport.serviceName.map { [(transport, $0 + domain.host)] } ?? [] }
        guard let answer = ask(.naptr(domain.host), &missing) else { return nil }
        let records = answer.records.compactMap { record -> (order: UInt32, transport: Transport, name: Text)? in
            guard case .naptr(let order, let preference, let flags, let service, let replacement) = record, flags.lowercased == "s",
                let transport = transports.first(where: { $0.naptrService?.equalsIgnoringCase(service) ?? false }), !replacement.isEmpty
            else { return nil }
            return (UInt32(order) << 16 | UInt32(preference), transport, replacement)
        }
        guard records.isEmpty else { return records.sorted { $0.order < $1.order }.map { ($0.transport, $0.name) } }
        return transports.compactMap { transport in transport.serviceName.map { (transport, $0 + domain.host) } }
    }

    private func addresses(of host: Text, _ transport: Transport, port: UInt16, _ missing: inout [DNSQuestion]) -> [Server] {
        if let address = IPAddress(host.withoutBrackets) { return [Server(transport, SocketAddress(address, port: port))] }
        var servers: [Server] = []
        for family in families {
            for case .address(let address)? in ask(family == .v4 ? .a(host) : .aaaa(host), &missing)?.records ?? [] {
                servers.append(Server(transport, SocketAddress(address, port: port)))
            }
        }
        return servers
    }

    private func ask(_ question: DNSQuestion, _ missing: inout [DNSQuestion]) -> DNSAnswer? {
        if let answer = answers[question] { return answer }
        if !missing.contains(question) { missing.append(question) }
        return nil
    }
}
