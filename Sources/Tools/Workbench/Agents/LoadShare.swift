import Primitives

/// The part of a load that one agent of several has. A value.
public struct LoadShare: Codable, Hashable, Sendable {
    /// From 0 on.
    public var index: Int
    /// Agents in all.
    public var count: Int

    /// The most agents of one load.
    public static let mostAgents = 64

    /// - Returns: nil for an index or a count that there is not.
    public init?(_ index: Int, of count: Int) {
        guard (1...Self.mostAgents).contains(count), (0..<count).contains(index) else { return nil }
        (self.index, self.count) = (index, count)
    }

    private enum CodingKeys: CodingKey { case index, count }

    /// - Throws: for an index or a count that there is not.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let share = Self(try container.decode(Int.self, forKey: .index), of: try container.decode(Int.self, forKey: .count)) else {
            throw DecodingError.dataCorruptedError(forKey: .count, in: container, debugDescription: "no share of a load")
        }
        self = share
    }

    /// So many of a number are this agent's; together they are all.
    func part(of number: Int) -> Int { (number + count - 1 - index) / count }

    /// The number in the whole load of this agent's call `ordinal`, from 1 on.
    func number(ofCall ordinal: UInt32) -> UInt32 { (ordinal &- 1) &* UInt32(count) &+ UInt32(index) &+ 1 }
}

extension LoadPlan {
    /// The part of this plan that an agent makes: a part of its rate, of its calls and of its accounts. The calls of all agents lie between each other at
    /// equal distances, and have the numbers that those of one tool would have.
    ///
    /// - Returns: nil where the plan has fewer calls, calls at a time, or pairs of accounts than there are agents.
    public func share(_ share: LoadShare) -> LoadPlan? {
        var plan = self
        plan.share = share
        plan.seed = seed &+ UInt64(share.index) &* 1_000_003
        plan.arrivals.phase = Double(share.index) / Double(share.count)
        for index in plan.arrivals.steps.indices { plan.arrivals.steps[index].rate /= Double(share.count) }
        plan.calls = calls.map(share.part)
        plan.concurrent = share.part(of: concurrent)
        plan.connectionRate = connectionRate.map { $0 / Double(share.count) }
        let from = accounts.count * share.index / share.count, to = accounts.count * (share.index + 1) / share.count
        plan.accounts = Array(accounts[from..<to])
        let needed = target == nil ? 2 : 1
        guard plan.calls != 0, plan.concurrent > 0, accounts.isEmpty || plan.accounts.count >= needed else { return nil }
        return plan
    }
}
