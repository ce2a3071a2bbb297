import Testing

@testable import Capacity

@Suite struct ClusterSimulationTests {
    /// Three gateways that have little to do.
    private func small(_ failure: ClusterPlan.Failure = .none, seed: UInt64 = 1) -> ClusterPlan {
        var plan = ClusterPlan()
        (plan.nodes, plan.devices, plan.calls, plan.talkTime, plan.expires) = (3, 1_500, 300, 30, 60)
        (plan.failure, plan.failureAt, plan.span, plan.seed) = (failure, 10, 30, seed)
        return plan
    }

    /// One gateway without devices, whose lane needs so many milliseconds for a call.
    private func busy(milliseconds: Double, calls: Double, span: Double) -> (ClusterPlan, CostTable) {
        var plan = ClusterPlan(), costs = CostTable.standard
        (plan.nodes, plan.devices, plan.talkTime, plan.span, plan.lapsesPerDay) = (1, 0, 2, span, 0)
        plan.ringTime = 0.5
        plan.calls = Int(calls * plan.talkTime)
        costs[.call] = milliseconds * 1_000
        return (plan, costs)
    }

    static let failures: [ClusterPlan.Failure] = [
        .none, .gateways(1), .gateways(2), .database(seconds: 5), .proxy(seconds: 5), .power(seconds: 5),
    ]

    @Test(arguments: failures)
    func `every call is set up, waits, is refused or is lost, and every row is written, waits or is lost`(failure: ClusterPlan.Failure) {
        let outcome = ClusterSimulation.play(small(failure)), calls = outcome.calls, rows = outcome.rows
        #expect(calls.offered > 50 && calls.setUp > 50)
        #expect(calls.offered == calls.setUp + calls.waiting + calls.refused + calls.lost)
        #expect(rows.added > 500 && rows.added == rows.written + rows.waiting + rows.lost)
        #expect(rows.transactions > 50 && rows.transactions <= rows.written)
    }

    @Test func `the same holds where more comes than is done`() {
        let (plan, costs) = busy(milliseconds: 50, calls: 40, span: 20)
        let calls = ClusterSimulation.play(plan, costs: costs).calls
        #expect(calls.refused > 100 && calls.waiting > 0)
        #expect(calls.offered == calls.setUp + calls.waiting + calls.refused + calls.lost)
    }

    @Test func `set-ups that wait at a gateway that dies are lost`() {
        var (plan, costs) = busy(milliseconds: 50, calls: 80, span: 20)
        (plan.nodes, plan.failure, plan.failureAt) = (2, .gateways(1), 10)
        let calls = ClusterSimulation.play(plan, costs: costs).calls
        #expect(calls.lost > 0 && calls.offered == calls.setUp + calls.waiting + calls.refused + calls.lost)
    }

    @Test func `a seed replays, and another one does not`() {
        let plan = small(.gateways(1)), outcome = ClusterSimulation.play(plan)
        #expect(outcome == ClusterSimulation.play(plan))
        #expect(outcome.calls.offered != ClusterSimulation.play(small(.gateways(1), seed: 2)).calls.offered)
    }

    /// Set-ups and ends, which come by chance and share a lane (Pollaczek and Khinchine).
    @Test(arguments: [10.0, 18])
    func `set-ups wait as the formula for M G 1 says`(rate: Double) {
        var (plan, costs) = busy(milliseconds: 40, calls: rate, span: 600)
        (plan.limits.backlog, costs[.retransmission]) = (1e9, 0)
        let first = costs[.setUpShare] * 0.04, second = 0.04 - first, load = rate * 0.04
        let formula = rate * (first * first + second * second) / (2 * (1 - load))
        let wait = ClusterSimulation.play(plan, costs: costs).meanWait
        #expect(abs(wait / formula - 1) < 0.15, "\(wait) and \(formula)")
    }

    /// Erlang's formula for calls that find every place taken.
    private func erlangB(offered: Double, places: Int) -> Double {
        (1...places).reduce(1.0) { blocked, place in offered * blocked / (Double(place) + offered * blocked) }
    }

    @Test(arguments: [4, 10, 20])
    func `calls are refused for want of ports as Erlang's formula says`(places: Int) {
        var (plan, costs) = busy(milliseconds: 0.1, calls: 4, span: 600)
        (plan.limits.callsPerNode, costs[.setUpShare]) = (places, 0.5)
        let calls = ClusterSimulation.play(plan, costs: costs).calls
        let blocked = erlangB(offered: 4 * (plan.talkTime + plan.ringTime), places: places)
        #expect(abs(Double(calls.refused) / Double(calls.offered) - blocked) < 0.025)
        #expect(calls.most <= places)
    }

    @Test func `loads are those of the closed form where nothing waits`() throws {
        var plan = small()
        plan.span = 60
        let outcome = ClusterSimulation.play(plan), demand = Demand(of: plan, costs: .standard)
        for resource in [Resource.signalling, .proxy] {
            let load = try #require(outcome.loads[resource]), needed = try #require(demand.loads[resource])
            #expect(abs(load.mean / needed.seconds - 1) < 0.1, "\(resource)")
            #expect(load.peak >= load.mean)
        }
        // Transactions are smaller than the closed form takes them to be.
        let database = try #require(outcome.loads[.database]), needed = try #require(demand.loads[.database])
        #expect(database.mean > 0.9 * needed.seconds && database.mean < 3 * needed.seconds)
    }

    @Test func `more gateways that are told cost more, and so do more devices and calls`() throws {
        func load(_ plan: ClusterPlan) -> Double { ClusterSimulation.play(plan).loads[.database]?.mean ?? 0 }
        var plan = small()
        plan.nodes = 8
        let one = load(plan), twice = load(plan.scaled(by: 2))
        #expect(twice > 1.5 * one)
        plan.readers = .some(1)
        #expect(load(plan) < 0.8 * one)
    }

    @Test func `a gateway that dies has each of its dialogs ended once, by the others, within five seconds`() {
        let outcome = ClusterSimulation.play(small(.gateways(1)))
        #expect(outcome.calls.ended > 50 && outcome.storm.endsTold == 2 * outcome.calls.ended)
        #expect(outcome.storm.lastEndTold > 2 && outcome.storm.lastEndTold < 5)
        #expect(outcome.storm.length ?? 99 < 6)
    }

    @Test func `the next gateway of the list gets the work of its neighbours that died, unless the list is mixed`() {
        var plan = small()
        (plan.nodes, plan.calls, plan.span) = (16, 1_600, 60)
        func most(_ failure: ClusterPlan.Failure) -> Int {
            plan.failure = failure
            return ClusterSimulation.play(plan).calls.most
        }
        let neighbours = most(.gateways(4)), mixed = most(.gateways(4, isListMixed: true))
        #expect(neighbours > 300 && mixed < 300, "\(neighbours) and \(mixed)")
    }

    @Test func `changes wait while the database is away, and everything is read afterwards`() {
        let outcome = ClusterSimulation.play(small(.database(seconds: 5))), quiet = ClusterSimulation.play(small())
        #expect(outcome.rows.mostWaiting > 5 * quiet.rows.mostWaiting && outcome.rows.lost == 0)
        #expect(outcome.storm.reconnections == 3 && outcome.storm.fullReadingsDone == 3)
        #expect(quiet.storm.fullReadings == 0)
        #expect(outcome.rows.longestBehind > 4 && quiet.rows.longestBehind < 1)
    }

    @Test func `gateways that have lost the database read everything at different times`() {
        var plan = small(.database(seconds: 5))
        (plan.nodes, plan.devices, plan.calls) = (16, 20_000, 0)
        (plan.recentsPerLine, plan.hardware.databaseCores, plan.span) = (50, 16, 60)
        // A core is busy for longer than a second with one of them.
        let outcome = ClusterSimulation.play(plan), reading = Demand.readAll(plan, .standard).seconds
        #expect(reading > 1 && outcome.storm.fullReadingsDone == 16)
        let peak = outcome.loads[.database]?.peak ?? 9
        #expect(peak < 0.75, "\(peak): all at once would be \(reading)")
    }

    @Test func `a binding that runs out is one row, of the gateway that it registered at`() {
        var plan = small()
        (plan.calls, plan.devices, plan.lapsesPerDay, plan.expires) = (0, 1_500, 864, 1e9)
        let rows = ClusterSimulation.play(plan).rows, lapses = plan.lapseRate * plan.span
        #expect(abs(Double(rows.added) / lapses - 1) < 0.2, "\(rows.added) and \(lapses)")
    }

    @Test func `rows are lost where more wait than may`() {
        var plan = small(.database(seconds: 25))
        (plan.nodes, plan.calls, plan.devices) = (1, 40_000, 0)
        let rows = ClusterSimulation.play(plan).rows
        #expect(rows.lost > 0 && rows.mostWaiting == ChangeQueue.limit)
    }

    @Test func `a gateway whose connection is busy for longer than its lease holds loses its calls`() {
        var simulation = ClusterSimulation(small(), costs: .standard)
        simulation.nodes[1].link.freeAt = 2.5
        #expect(simulation.run().storm.takenForDead == 0)
        simulation = ClusterSimulation(small(), costs: .standard)
        simulation.nodes[1].link.freeAt = 8
        let outcome = simulation.run()
        #expect(outcome.storm.takenForDead == 1 && outcome.calls.ended > 50)
        #expect(outcome.storm.endsTold == 2 * outcome.calls.ended)
    }

    @Test func `more unread changes than may wait have everything read`() {
        var plan = small()
        (plan.devices, plan.nodes, plan.span, plan.hardware.databaseCores) = (200_000, 4, 40, 1)
        #expect(ClusterSimulation.play(plan).storm.fullReadings > 0)
    }

    @Test func `all devices register after a power cut, and no call is left`() {
        var plan = small(.power(seconds: 10))
        (plan.span, plan.failureAt) = (85, 5)
        let outcome = ClusterSimulation.play(plan)
        #expect(outcome.storm.registered >= plan.devices)
        #expect(outcome.rows.lost == 0)
    }

    @Test func `a gateway takes no more users than its registrar has room for`() {
        var plan = small()
        plan.limits.users = 100
        let storm = ClusterSimulation.play(plan).storm
        #expect(storm.refusedRegisters > storm.registered)
        #expect(ClusterSimulation.play(small()).storm.refusedRegisters == 0)
    }
}
