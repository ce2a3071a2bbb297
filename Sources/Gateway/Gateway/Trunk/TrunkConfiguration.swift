import Primitives
import SIP
import UserAgent

/// A SIP peer or carrier: where it is, who we are to it, whose calls we take from it, and what becomes of numbers and headers on the way.
public struct TrunkConfiguration: Sendable, Equatable {
    /// One server, or a domain that DNS knows the servers of.
    public struct Target: Sendable, Equatable {
        /// A name, or an address.
        public var host: Text
        /// Nil: by the SRV records of the name, else the port of the transport.
        public var port: UInt16?
        /// Nil: what DNS says, else UDP.
        public var transport: Transport?
        /// Lower first.
        public var priority = 0
        /// The share of calls among targets of one priority.
        public var weight = 1

        public init(host: Text, port: UInt16? = nil, transport: Transport? = nil) {
            (self.host, self.port, self.transport) = (host, port, transport)
        }
    }

    /// The settings of our registration with the trunk (RFC 3261 §10.2).
    public struct Registration: Sendable, Equatable {
        /// Seconds asked for.
        public var expires: UInt32 = 600
        /// The interval at which the way is kept open; nil: never.
        public var keepAlive: Duration? = .seconds(25)

        public init() {}
    }

    /// Its servers, in the order in which they are tried.
    public var targets: [Target]
    /// The host part of request URIs and of our address there; nil: request URIs name the target that they go to, our address the first
    /// one.
    public var domain: Text?
    /// For digest challenges; nil: the number of the line.
    public var user: Text?
    /// For digest challenges; never shown.
    public var password: Text?
    /// We register with it, and are called at our Contact; nil: it knows where we are.
    public var registration: Registration?
    /// The interval at which each server is asked with OPTIONS whether it is there; nil: only calls tell.
    public var health: Duration?
    /// Each of the gateways that share a store registers and asks, and not one of them.
    public var isOfEachNode = false
    /// Networks that calls come from, beside the servers themselves.
    public var sources: [IPNetwork] = []
    /// Whether a call that came from here may leave here again: as when a load tool or an exchange is both ends. A loop then ends by
    /// Max-Forwards alone.
    public var isHairpin = false
    /// The number that calls to our Contact are for; nil takes the one in To.
    public var incoming: Text?
    /// The number that our calls are from, in place of the caller's.
    public var caller: Text?
    /// Rewriting of numbers that are called through the trunk, and of those that call from it; the first rule that matches counts.
    public var rewrites: [NumberRewrite] = []
    public var incomingRewrites: [NumberRewrite] = []
    /// Headers that are passed on or set.
    public var headers = HeaderRules()

    public init(targets: [Target]) {
        precondition(!targets.isEmpty, "a trunk has somewhere to go")
        self.targets = targets
    }

    /// One server at an address.
    public init(address: SocketAddress) { self.init(targets: [Target(host: Text("\(address.address)"), port: address.port)]) }

    /// The host part of our address of record, and its port where one was written out.
    var recordHost: (host: Text, port: UInt16?) { domain.map { ($0, nil) } ?? (targets[0].host, targets[0].port) }

    /// The user part of our address of record and of our Contact there.
    func contactUser(line: Text) -> Text { user ?? line }
}

/// The rewriting of a number that matches: digits are taken off the front, and others put in their place.
public struct NumberRewrite: Sendable, Equatable {
    /// The numbers that it is for.
    public var pattern: NumberPattern
    /// Digits that are taken from the beginning.
    public var strip: Int
    /// The digits that are put before the rest.
    public var prefix: Text

    public init(pattern: NumberPattern, strip: Int = 0, prefix: Text = "") {
        (self.pattern, self.strip, self.prefix) = (pattern, strip, prefix)
    }
}

extension [NumberRewrite] {
    /// The number after the first rule that matches it; without one as it is. What a rule leaves nothing of stays as it is too.
    func rewritten(_ number: Text) -> Text {
        guard let rule = first(where: { $0.pattern.matches(number) }) else { return number }
        let result = rule.prefix + Text(number.bytes.dropFirst(rule.strip))
        return result.isEmpty ? number : result
    }
}
