/// The cost of one thing, with where its figure comes from.
public struct Cost: Hashable, Sendable {
    /// How much is known of a figure.
    public enum Basis: Hashable, Sendable {
        /// Measured: the page or the command that says so.
        case measured(String)
        /// Nobody has measured it: why it is taken, and the range that it may be in.
        case assumed(String, ClosedRange<Double>)
    }

    public let kind: CostKind
    /// The thing that costs it, for a person.
    public let name: String
    public let value: Double
    /// "µs", "kB", or empty for a share.
    public let unit: String
    public let basis: Basis

    /// Whether nobody has measured it.
    public var isAssumed: Bool { if case .assumed = basis { true } else { false } }

    init(_ kind: CostKind, _ name: String, _ value: Double, _ unit: String, _ basis: Basis) {
        (self.kind, self.name, self.value, self.unit, self.basis) = (kind, name, value, unit, basis)
    }

    func with(_ value: Double) -> Cost { Cost(kind, name, value, unit, basis) }
}

/// The things that cost something; `CostTable.standard` has a name for each.
public enum CostKind: Int, CaseIterable, Hashable, Sendable {
    case call, setUpShare, challenge, register, options, refusal, retransmission, orphan, adopted, restored
    case restoredRecent
    case rowSent, noticeHeard, rowRead, rowOfAll
    case transaction, registrationRow, dialogRow, recentRow, trim, notice, readTransaction, topic, listenerWoken, listenerNotice,
        bindingOfAll
    case recentOfAll, lease, leaseRow, flush, network
    case proxyCall, proxyRegister, handshake
    case relayed, relayedInKernel
    case gateway, bridgedCall, binding, keptRecent, line, flow
}

/// The costs that a simulation takes. A value.
public struct CostTable: Hashable, Sendable {
    /// An end of the ranges of assumed costs.
    public enum Bound: Sendable { case low, high }

    public private(set) var costs: [Cost]

    /// - Precondition: one of each kind.
    init(_ costs: [Cost]) {
        precondition(costs.map(\.kind) == CostKind.allCases, "a cost of each kind, in their order")
        self.costs = costs
    }

    /// In its own unit.
    public subscript(kind: CostKind) -> Double {
        get { costs[kind.rawValue].value }
        set { costs[kind.rawValue] = costs[kind.rawValue].with(newValue) }
    }

    /// Processor time, of a cost in microseconds.
    func work(_ kind: CostKind) -> Work {
        let cost = costs[kind.rawValue], seconds = cost.value / 1e6
        return Work(seconds: seconds, assumed: cost.isAssumed ? seconds : 0)
    }

    /// The same with all assumed costs at one end of their ranges.
    public func at(_ bound: Bound) -> CostTable {
        CostTable(
            costs.map { cost in
                guard case .assumed(_, let range) = cost.basis else { return cost }
                return cost.with(bound == .low ? range.lowerBound : range.upperBound)
            })
    }
}
