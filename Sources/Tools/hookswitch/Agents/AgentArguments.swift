import ArgumentParser
import Workbench

/// The options of a load that go to its agents, as words.
enum AgentArguments {
    /// Options with a value that belong to the tool that orders: its files, what it asks beside the run, and the agents themselves.
    private static let ownValues: Set<String> = [
        "--agents", "--agent-token-file", "--agent-ca", "--json", "--bundle", "--csv", "--junit", "--html", "--baseline", "--stream",
        "--metrics",
        "--web",
        "--target-journal", "--target-pid", "--scenario", "--seed",
    ]
    private static let ownFlags: Set<String> = ["--witness"]

    /// - Parameters:
    ///   - arguments: of the command `load`, with every shorthand written out and those of a scenario.
    ///   - seed: of the whole load.
    static func forAgents(_ arguments: [String], seed: UInt64) -> [String] {
        var kept: [String] = [], rest = arguments[...]
        while let word = rest.popFirst() {
            let name = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
            if ownFlags.contains(word) { continue }
            guard ownValues.contains(name) else {
                kept.append(word)
                continue
            }
            if name == word { _ = rest.popFirst() }
        }
        return kept + ["--seed=\(seed)"]
    }

    /// Reads an order. Files that it would write, and further agents, are refused.
    ///
    /// - Throws: a `Failure` in one line.
    static func options(_ arguments: [String]) throws -> LoadOptions {
        let options: LoadOptions
        do { options = try LoadOptions.parse(arguments) } catch { throw Failure.usage(LoadOptions.message(for: error)) }
        let results = options.results
        let named: [(String, Bool)] = [
            ("--json", results.json != nil), ("--csv", results.csv != nil), ("--junit", results.junit != nil),
            ("--html", results.html != nil),
            ("--baseline", results.baseline != nil), ("--stream", results.stream != nil), ("--metrics", results.metrics != nil),
            ("--web", results.web != nil), ("--bundle", results.bundle != nil), ("--target-journal", options.targetJournal != nil),
            ("--target-pid", options.targetPid != nil),
            ("--witness", options.witness), ("--scenario", options.scenario != nil), ("--calibrate", options.calibrate),
            ("--agents", options.agents.agents != nil), ("--local", options.phone.local != nil),
        ]
        if let refused = named.first(where: \.1) { throw Failure.usage("an agent takes no \(refused.0)") }
        return options
    }
}
