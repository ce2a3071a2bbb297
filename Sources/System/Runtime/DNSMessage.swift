public import Primitives

/// What is asked of the name system (RFC 3263): names without a final dot.
public enum DNSQuestion: Hashable, Sendable {
    case naptr(Text)
    case srv(Text)
    /// IPv4 addresses.
    case a(Text)
    /// IPv6 addresses.
    case aaaa(Text)
}

public enum DNSRecord: Hashable, Sendable {
    /// RFC 3403.
    case naptr(order: UInt16, preference: UInt16, flags: Text, service: Text, replacement: Text)
    /// RFC 2782.
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: Text)
    case address(IPAddress)
}

public struct DNSAnswer: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        case found
        /// There is no such name, or it has nothing of this kind.
        case nothing
        /// No server answered, or none that makes sense.
        case failed
    }

    public var outcome: Outcome
    public var records: [DNSRecord]
    /// How long it holds: the smallest of the records' times to live; zero unless it was found.
    public var timeToLive: Duration

    public init(_ outcome: Outcome, records: [DNSRecord] = [], timeToLive: Duration = .zero) {
        (self.outcome, self.records, self.timeToLive) = (outcome, records, timeToLive)
    }
}
