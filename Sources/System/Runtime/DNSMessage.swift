public import Primitives

/// A question to DNS (RFC 3263): names without a final dot.
public enum DNSQuestion: Hashable, Sendable {
    /// The services of a domain (RFC 3403), for RFC 3263 §4.1.
    case naptr(Text)
    /// The servers of a service (RFC 2782): `_sip._udp.example.test`.
    case srv(Text)
    /// IPv4 addresses.
    case a(Text)
    /// IPv6 addresses.
    case aaaa(Text)
}

/// One answer, as far as RFC 3263 needs it.
public enum DNSRecord: Hashable, Sendable {
    /// RFC 3403.
    case naptr(order: UInt16, preference: UInt16, flags: Text, service: Text, replacement: Text)
    /// RFC 2782.
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: Text)
    /// The record of an A or an AAAA question.
    case address(IPAddress)
}

/// The result of a question.
public struct DNSAnswer: Hashable, Sendable {
    /// Whether there is something, nothing, or nobody who knows.
    public enum Outcome: Hashable, Sendable {
        /// There are records.
        case found
        /// There is no such name, or it has nothing of this kind.
        case nothing
        /// No server answered, or none that makes sense.
        case failed
    }

    /// The outcome of the question.
    public var outcome: Outcome
    /// In the order in which they came; empty unless it was found.
    public var records: [DNSRecord]
    /// The time that it holds: the smallest of the records' times to live; zero unless it was found.
    public var timeToLive: Duration

    /// - Parameter timeToLive: how long the answer may be used again.
    public init(_ outcome: Outcome, records: [DNSRecord] = [], timeToLive: Duration = .zero) {
        (self.outcome, self.records, self.timeToLive) = (outcome, records, timeToLive)
    }
}
