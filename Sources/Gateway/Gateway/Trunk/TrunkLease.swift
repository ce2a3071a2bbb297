import UserAgent

/// The state of a trunk as the gateway that registers it knows it, for others that share its store.
public struct TrunkState: Sendable, Equatable {
    public var isRegistered: Bool
    /// The status of the last answer to a REGISTER; nil until there is one.
    public var status: Int?
    /// The Service-Route that the registrar named.
    public var routes: [String]
    /// Servers that did not answer the last check, as `udp:192.0.2.1:5060`.
    public var silent: [String]

    public init(isRegistered: Bool = false, status: Int? = nil, routes: [String] = [], silent: [String] = []) {
        (self.isRegistered, self.status, self.routes, self.silent) = (isRegistered, status, routes, silent)
    }
}

/// The lease of a trunk: of gateways that share a store, the one that has it registers the trunk and checks its servers.
public struct TrunkLease: Sendable, Equatable {
    /// The number of the trunk's line.
    public var trunk: String
    /// The gateway that has it.
    public var node: String
    /// This gateway has it.
    public var isOurs: Bool
    public var state: TrunkState

    public init(trunk: String, node: String, isOurs: Bool, state: TrunkState) {
        (self.trunk, self.node, self.isOurs, self.state) = (trunk, node, isOurs, state)
    }
}

extension TrunkConfiguration {
    /// One gateway at a time has something to do for it.
    var isLeased: Bool { !isOfEachNode && (registration != nil || health != nil) }
}

extension ServerPool.Member {
    /// The server in the state of a trunk.
    var serverName: String { "\(server.transport):\(server.address)" }
}

extension Flow {
    /// The far end in the state of a trunk.
    var serverName: String { "\(transport):\(remote)" }
}
