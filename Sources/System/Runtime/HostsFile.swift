import Glibc
import Primitives

/// The names that a machine knows by itself (hosts(5)).
enum HostsFile {
    /// The addresses that the file has of a name, of both families; nil where it has none, or cannot be read.
    static func addresses(of name: String, in path: String) -> [IPAddress]? {
        guard let file = fopen(path, "re") else { return nil }
        var line: UnsafeMutablePointer<CChar>?, capacity = 0, found: [IPAddress] = []
        defer {
            free(line)
            fclose(file)
        }
        while getline(&line, &capacity, file) >= 0, let line {
            let entry = String(cString: line).prefix { $0 != "#" }.lowercased().split(whereSeparator: \.isWhitespace)
            guard entry.dropFirst().contains(where: { $0 == name }), let address = IPAddress(String(entry[0])) else { continue }
            found.append(address)
        }
        return found.isEmpty ? nil : found
    }
}

extension DNSAnswer {
    /// The time that an entry of the file holds: the file may be changed.
    private static var timeToLive: Duration { .seconds(60) }

    /// The answer to a question that needs no server: localhost is this machine (RFC 6761 §6.3), and a name of the hosts file has the
    /// addresses that it has there, of one family or both.
    init?(local question: DNSQuestion, hostsFile: String) {
        let name = question.name.description.lowercased(), host = name.hasSuffix(".") ? String(name.dropLast()) : name
        let isLocalhost = host == "localhost" || host.hasSuffix(".localhost"), family: IPAddress.Family
        switch question {
        case .a: family = .v4
        case .aaaa: family = .v6
        case .srv, .naptr:
            guard isLocalhost else { return nil }
            self.init(.nothing)
            return
        }
        let known = isLocalhost ? Self.loopback : HostsFile.addresses(of: host, in: hostsFile)
        guard let records = known?.filter({ $0.family == family }).map(DNSRecord.address) else { return nil }
        if records.isEmpty { self.init(.nothing) } else { self.init(.found, records: records, timeToLive: Self.timeToLive) }
    }

    private static var loopback: [IPAddress] { [.loopback, IPAddress(v6High: 0, low: 1)] }
}
