import Testing

@testable import Capacity

@Suite struct BreakSearchTests {
    private let search = BreakSearch(costs: .standard)

    @Test(arguments: [(64, 100_000), (64, 1_000_000), (2, 24_000)])
    func `ports break where each gateway has as many calls as ports`(nodes: Int, calls: Int) throws {
        var plan = ClusterPlan()
        (plan.nodes, plan.calls) = (nodes, calls)
        let factor = try #require(search.limit(.ports, of: plan))
        #expect(abs(factor * Double(calls) / Double(12_000 * nodes) - 1) < 0.025)
    }

    @Test func `users break at the setting of each gateway`() throws {
        var plan = ClusterPlan()
        plan.limits.users = ClusterPlan.usersOfAGateway
        for nodes in [2, 64] {
            plan.nodes = nodes
            let factor = try #require(search.limit(.users, of: plan))
            #expect(abs(factor * Double(plan.devices) / Double(50_000 * nodes) - 1) < 0.025)
        }
    }

    @Test func `what grows with the square of the gateways has a limit of gateways, and what each has alone has none`() throws {
        let plan = ClusterPlan()
        let limit = try #require(search.limit(.database, ofNodes: plan))
        #expect(limit > 1 && limit < 10)
        #expect(search.limit(.ports, ofNodes: plan) == nil)
        #expect(search.limit(.signalling, ofNodes: plan.withNextStep) == nil)
    }

    @Test func `assumed costs at the upper ends of their ranges break earlier`() throws {
        let plan = ClusterPlan()
        func limit(_ costs: CostTable) throws -> Double { try #require(BreakSearch(costs: costs).limit(.proxy, of: plan)) }
        #expect(try limit(CostTable.standard.at(.high)) < limit(.standard))
        #expect(try limit(.standard) < limit(CostTable.standard.at(.low)))
    }

    @Test func `the simulation breaks where the closed form says that it does at the latest`() throws {
        var plan = ClusterPlan()
        (plan.nodes, plan.devices, plan.calls, plan.talkTime) = (4, 4_000, 1_000, 20)
        plan.hardware.databaseCores = 1
        let found = try #require(search.firstBreak(of: plan)), latest = try #require(search.limit(.database, of: plan))
        let factor = Double(found.plan.calls) / Double(plan.calls)
        #expect(found.resource == .database)
        #expect(factor < 1.15 * latest && factor > 0.3 * latest)
    }

    @Test func `the part that is assumed is told`() throws {
        let loads = Demand(of: ClusterPlan(), costs: .standard).loads
        #expect(try #require(loads[.media]).assumedShare == 0)
        #expect(try #require(loads[.proxyMemory]).assumedShare == 1)
    }
}
