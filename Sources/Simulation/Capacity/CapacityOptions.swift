/// The options of the command line.
public struct CapacityOptions: Hashable, Sendable {
    /// A mistake in the arguments: one sentence.
    public struct UsageError: Error, Hashable, CustomStringConvertible {
        public let description: String
    }

    public var plan = ClusterPlan()
    public var costs = CostTable.standard
    /// The failures that are tried, by their names.
    public var failures = Self.failures.map(\.name)
    /// Looks for where it breaks.
    public var searches = true
    /// The costs are printed, and nothing is simulated.
    public var listsCosts = false
    /// A file for the figures as JSON; "-" is standard output, instead of the tables.
    public var json: String?

    /// Failures by name, with the time that is simulated for each, in seconds.
    public static let failures: [(name: String, failure: ClusterPlan.Failure, span: Double)] = [
        ("none", .none, 60), ("node", .gateways(1), 90), ("zone", .gateways(8), 90), ("mixed-zone", .gateways(8, isListMixed: true), 90),
        ("database", .database(seconds: 30), 360), ("proxy", .proxy(seconds: 60), 180), ("power", .power(seconds: 60), 360),
    ]

    /// The options with what they take, for the help.
    public static let help: [(name: String, text: String)] = [
        ("--nodes N", "gateways (64)"), ("--devices N", "registered devices (1000000)"), ("--calls N", "bridged calls at a time (100000)"),
        ("--talk-time S", "seconds from the answer of a call to its end (180)"),
        ("--expires S", "seconds that a device registers for (3600)"),
        ("--recents N", "calls in the recents of a line (10)"), ("--proxies N", "proxies, of --proxy-cores each (2)"),
        ("--proxy-cores N", "cores of a proxy (16)"), ("--database-cores N", "cores of the database (16)"),
        ("--media-cores N", "cores of a gateway that relay media (14)"), ("--lanes N", "signalling lanes of a gateway; one today (1)"),
        ("--readers all|N", "gateways that are told of a change: all, as the store does, or so many (all)"),
        ("--kernel-relay", "the kernel relays media"),
        ("--failure NAME", "none, node, zone (8 neighbours in the proxy's list), mixed-zone, database, proxy or power; again (all)"),
        ("--span S", "seconds that are simulated, 31 or more (60 to 360, by the failure)"), ("--seed N", "another run of chance (1)"),
        ("--set COST=VALUE", "another figure for a cost of --costs; may be given again"),
        ("--costs", "prints the costs with their sources, and ends"), ("--no-search", "does not look for where it breaks"),
        ("--json FILE", "writes the figures; - prints them instead of the tables"),
    ]

    private var span: Double?

    /// - Parameter words: without the name of the program.
    public init(_ words: [String]) throws(UsageError) {
        var rest = words[...], chosen: [String] = []
        while let word = rest.popFirst() {
            switch word {
            case "--costs": listsCosts = true
            case "--no-search": searches = false
            case "--kernel-relay": plan.relaysInKernel = true
            default:
                guard Self.help.contains(where: { $0.name.hasPrefix(word + " ") }) else {
                    throw UsageError(description: "there is no option '\(word)'")
                }
                guard let value = rest.popFirst() else { throw UsageError(description: "\(word) takes a value") }
                if word == "--failure" { chosen.append(value) } else { try take(word, value) }
            }
        }
        if !chosen.isEmpty { failures = chosen }
        for name in failures where !Self.failures.contains(where: { $0.name == name }) {
            throw UsageError(description: "there is no failure '\(name)': \(Self.failures.map(\.name).joined(separator: ", "))")
        }
    }

    private mutating func take(_ word: String, _ value: String) throws(UsageError) {
        switch word {
        case "--json": json = value
        case "--readers" where value == "all": plan.readers = .every
        case "--set": try set(value)
        case "--span": span = try Self.number(word, value, 31...100_000)
        case "--talk-time": plan.talkTime = try Self.number(word, value, 1...1_000_000)
        case "--expires": plan.expires = try Self.number(word, value, 1...1_000_000)
        case "--recents": plan.recentsPerLine = try Self.number(word, value, 0...10_000)
        default: try take(word, whole: Int(try Self.number(word, value, 0...1_000_000_000)))
        }
    }

    private mutating func take(_ word: String, whole value: Int) throws(UsageError) {
        switch word {
        case "--devices": plan.devices = value
        case "--calls": plan.calls = value
        case "--seed": plan.seed = UInt64(value)
        case _ where value < 1 || value > 10_000: throw UsageError(description: "\(word) takes a number from 1 to 10000, got '\(value)'")
        case "--nodes": plan.nodes = value
        case "--proxies": plan.hardware.proxies = value
        case "--proxy-cores": plan.hardware.proxyCores = value
        case "--database-cores": plan.hardware.databaseCores = value
        case "--media-cores": plan.hardware.mediaCores = value
        case "--lanes": plan.hardware.lanes = value
        default: plan.readers = .some(value)
        }
    }

    private mutating func set(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let kind = CostKind.allCases.first(where: { "\($0)" == parts[0] }) else {
            throw UsageError(description: "--set takes a cost of --costs and a value, as register=80, got '\(text)'")
        }
        costs[kind] = try Self.number("--set \(parts[0])", parts[1], 0...1e12)
    }

    private static func number(_ word: String, _ text: String, _ range: ClosedRange<Double>) throws(UsageError) -> Double {
        guard let value = Double(text), range.contains(value) else {
            throw UsageError(description: "\(word) takes a number from \(Int(range.lowerBound)) to \(Int(range.upperBound)), got '\(text)'")
        }
        return value
    }

    /// The plan of one failure.
    func plan(of name: String) -> ClusterPlan {
        var plan = plan
        guard let found = Self.failures.first(where: { $0.name == name }) else { return plan }
        (plan.failure, plan.span) = (found.failure, span ?? found.span)
        return plan
    }
}
