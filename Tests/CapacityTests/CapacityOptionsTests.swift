import Testing

@testable import Capacity

@Suite struct CapacityOptionsTests {
    @Test func `without words it is the case of a million devices, with every failure`() throws {
        let options = try CapacityOptions([])
        #expect((options.plan.nodes, options.plan.devices, options.plan.calls) == (64, 1_000_000, 100_000))
        #expect(options.failures == ["none", "node", "zone", "mixed-zone", "database", "proxy", "power"])
        #expect(options.searches && options.json == nil && !options.listsCosts)
    }

    @Test func `words change the plan and the costs`() throws {
        let options = try CapacityOptions(
            "--nodes 3 --devices 10 --calls 5 --talk-time 60 --expires 120 --readers 2 --failure node --failure power --span 40 --seed 9 --set register=80 --kernel-relay --no-search --json -"
                .split(separator: " ").map(String.init))
        #expect((options.plan.nodes, options.plan.devices, options.plan.calls, options.plan.seed) == (3, 10, 5, 9))
        #expect(options.plan.talkTime == 60 && options.plan.expires == 120 && options.plan.readers == .some(2))
        #expect(options.failures == ["node", "power"] && options.plan(of: "node").span == 40)
        #expect(options.plan(of: "node").failure == .gateways(1))
        #expect(options.costs[.register] == 80 && options.plan.relaysInKernel && !options.searches && options.json == "-")
    }

    @Test(arguments: [
        ("--node 3", "there is no option '--node'"), ("--nodes", "--nodes takes a value"),
        ("--nodes 0", "--nodes takes a number from 1 to 10000, got '0'"),
        ("--calls many", "--calls takes a number from 0 to 1000000000, got 'many'"),
        ("--talk-time 0", "--talk-time takes a number from 1 to 1000000, got '0'"),
        ("--failure flood", "there is no failure 'flood': none, node, zone, mixed-zone, database, proxy, power"),
        ("--set speed=3", "--set takes a cost of --costs and a value, as register=80, got 'speed=3'"),
    ])
    func `a mistake is told in a sentence`(words: String, message: String) {
        #expect(throws: CapacityOptions.UsageError(description: message)) {
            try CapacityOptions(words.split(separator: " ").map(String.init))
        }
    }

    @Test func `every option of the help is taken`() throws {
        for (name, _) in CapacityOptions.help {
            let words = name.split(separator: " ").map(String.init)
            let values = ["NAME": "node", "COST=VALUE": "call=1", "FILE": "-", "all|N": "all", "S": "60", "N": "3"]
            _ = try CapacityOptions(words.enumerated().map { $0 == 0 ? $1 : values[$1] ?? $1 })
        }
    }
}

@Suite struct CapacityTextTests {
    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000")])
    func `numbers are in groups of three`(number: Int, text: String) { #expect(CapacityText.grouped(number) == text) }

    @Test(arguments: [(0.04, "0"), (0.55, "0.6"), (3.0, "3"), (9.96, "10"), (1_234.4, "1,234")])
    func `figures have no more places than they deserve`(value: Double, text: String) { #expect(CapacityText.rounded(value) == text) }

    @Test func `a study says what was simulated, what is assumed, and what a lane sets up`() throws {
        var options = try CapacityOptions(
            "--nodes 2 --devices 200 --calls 20 --failure node --span 40 --no-search".split(separator: " ").map(String.init))
        options.costs[.call] = 500
        let text = CapacityText(CapacityStudy(options)).text
        for part in ["2 gateways, 200 devices", "| node |", "sets up 2,000 calls a second", "with the next step", "extrapolated"] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func `each cost is told with its source, and each that nobody has measured with the word`() {
        let lines = CostTable.standard.text.split(separator: "\n")
        #expect(lines.count == CostKind.allCases.count + 2)
        #expect(lines.filter { $0.contains("**assumed**") }.count == CostTable.standard.costs.count(where: \.isAssumed))
    }

    @Test func `the assumed figures lie in their ranges`() {
        for cost in CostTable.standard.costs {
            if case .assumed(_, let range) = cost.basis { #expect(range.contains(cost.value), "\(cost.kind)") }
        }
    }
}
