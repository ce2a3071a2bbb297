import Dispatch
import Glibc
import Media
import Primitives
import Runtime
import UserAgent

/// The state of a run, for a person who watches it.
public struct LoadSnapshot: Sendable {
    /// Calls begun, up and over.
    public var progress: LoadProgress
    /// Since the first call; nil before it.
    public var elapsed: Duration?
    /// Calls that are over and judged.
    public var judged: Int
    /// Failed, or with something wrong.
    public var bad: Int
    /// The figures of all calls so far, by the names that terms of a service level have; nil where too little is known.
    public var figures: [String: Double?]
    /// The lateness of packets since the last snapshot.
    public var packetLateness: Duration?
}

/// A load on the sockets of this machine: one signalling lane, the media lanes, and the ledger. Made, run once, and done.
public final class LiveLoad: Sendable {
    /// The results of a run, before they are put into words.
    public struct Outcome: Sendable {
        /// The reason for which the run could not go on; nil where it did.
        public var failure: String?
        var state: LoadLedger.State
        /// Calls begun, up and over, at the end.
        public var progress: LoadProgress
        /// From the first call on.
        public var elapsed: Duration
        public var evidence: ValidityEvidence?
        /// Sockets, ports, timers and memory that were not given back.
        public var leaks: LeakReport
        /// The agents that made it; empty where this process did.
        public var agents: [LoadReport.Agent] = []
        /// The calls whose figures are kept, in the order in which they were judged.
        public var calls: [CallFigures] { state.calls }
        public var figures: LoadFigures { LoadFigures(state) }
        /// The WebSockets that accounts had of their own; nil where they had none.
        public var connections: LoadReport.Connections?
    }

    private let plan: LoadPlan
    private let settings: LivePhoneSettings
    private let level: ServiceLevel?
    private let phone: LivePhone<LoadClient>
    let ledger: LoadLedger

    /// Binds, and begins.
    /// - Parameter knee: ends the arrivals when a step of the plan has failed this, or could not be offered or measured.
    public init(_ plan: LoadPlan, settings: LivePhoneSettings, endingWhenBroken knee: ServiceLevel? = nil) throws(LivePhoneError) {
        (self.plan, self.settings, level) = (plan, settings, knee)
        let ledger = try LoadLedger(judgesSteps: plan.arrivals.steps.count > 1)
        self.ledger = ledger
        phone = try LivePhone(settings) { phone in
            phone.measurePacing()
            let client = LoadClient(phone: phone, plan: plan)
            client.onEvent = { event, now in ledger.hear(event, at: now) }
            return client
        }
    }

    /// The address at which it takes SIP.
    public var address: SocketAddress { phone.address }

    /// Begins no more, hangs up, and lets `run` return.
    public func stop() { phone.stop() }

    /// The first call may begin, where the plan waits for this and all is registered.
    public func go() { phone.post { client, now in client.go(at: now) } }

    /// Begins no more; what is up goes on to its end.
    public func endArrivals() { phone.post { client, now in client.endArrivals(at: now) } }

    /// Goes back to a step of the plan, and forgets what was found in it; does nothing where the run is over.
    public func runAgain(_ step: Int) {
        guard plan.arrivals.steps.indices.contains(step), phone.ask({ client, now in client.runAgain(step, at: now) }) == true else {
            return
        }
        ledger.forget(from: step)
    }

    /// All that is added up so far. Waits for the judge where a step is over that it has not judged.
    public var figures: LoadFigures {
        if ledger.read({ $0.steps.count < $0.stepsOver }) { return LoadFigures(ledger.settle()) }
        return ledger.read { LoadFigures($0) }
    }

    /// Waits for the end. `watch` is called about every `interval`, from this thread.
    public func run(every interval: Duration = .seconds(1), watch: (LoadSnapshot) -> Void) -> Outcome {
        var mostPorts = 0, search = level.map(KneeSearch.init), stepsOver = 0, trend = MemoryTrend(allowance: Self.allowance)
        while ledger.finished.wait(timeout: .now() + .nanoseconds(Int(interval.wholeNanoseconds))) == .timedOut {
            guard let (snapshot, ports) = look() else { break }
            mostPorts = max(mostPorts, ports)
            trend.note(resident: MachineReading.residentBytes(), over: snapshot.judged, up: snapshot.progress.active, at: snapshot.elapsed)
            watch(snapshot)
            // Beyond its limit a machine has no time for the judge, and a search that waits for it would only add to the load.
            if search != nil, ledger.read({ $0.steps.count < stepsOver }) { _ = ledger.settle() }
            stepsOver = ledger.read(\.stepsOver)
            if let decision = search?.decide(ledger.read { $0 }) { follow(decision) }
        }
        return conclude(mostPorts, trend)
    }

    private func follow(_ decision: KneeSearch.Decision) {
        switch decision {
        case .end: endArrivals()
        case .again(let step): runAgain(step)
        }
    }

    /// The memory that a call may leave, in bytes. The data that is kept of a call for the report takes 1 to 4 kB.
    private static let allowance = 12_000.0

    private func look() -> (LoadSnapshot, ports: Int)? {
        guard
            let (progress, lateness, media, now) = phone.ask({ client, now in
                (client.progress, client.phone.takePacing(), client.phone.counts(at: now).media, now)
            })
        else { return nil }
        let ports = media.ports
        ledger.note(lateness, inStep: progress.step, calls: progress.active, streams: media.started)
        let snapshot = ledger.read { state in
            LoadSnapshot(
                progress: progress, elapsed: state.began.map { now - $0 }, judged: state.tally.calls,
                bad: state.tally[.failed] + state.tally[.faulty],
                figures: state.tally.figuresOfNow, packetLateness: lateness.percentile(99))
        }
        return (snapshot, ports.open + ports.reserved + ports.quarantined)
    }

    private func conclude(_ mostPorts: Int, _ trend: MemoryTrend) -> Outcome {
        // Before the judge has the rest of its work: that belongs to no time of the run.
        let last = look(), now = MonotonicClock.now, after = MachineReading.now,
            urgency = phone.ask { client, _ in client.phone.urgency } ?? .normal
        let state = ledger.settle(), elapsed = state.began.map { now - $0 } ?? .zero
        let transport = phone.transportCounts?.datagrams
        let evidence = state.before.map { before in
            var evidence = ValidityEvidence(before: before, after: after, elapsed: elapsed, mediaPorts: settings.mediaPorts)
            (evidence.urgency, evidence.punctuality) = (urgency, state.punctuality.figures)
            evidence.packets = state.stepLateness.values.reduce(Lateness(), +)
            if let progress = last?.0.progress { (evidence.calls, evidence.progress) = (progress.lateness, progress) }
            evidence.transport = (transport?.congested ?? 0, transport?.sendFailures ?? 0)
            (evidence.notTried, evidence.limiterHits, evidence.portsAtMost) = (
                state.tally[.notTried], state.tally.limited, max(mostPorts, last?.ports ?? 0)
            )
            evidence.ephemeral = EphemeralPortRange.current
            return evidence
        }
        let progress = last?.0.progress ?? LoadProgress(), leaks = leaks(since: state.before, connections: progress.connections, trend)
        let counts = phone.transportCounts
        phone.close()
        return Outcome(
            failure: state.failure, state: state, progress: progress, elapsed: elapsed, evidence: evidence, leaks: leaks,
            connections: plan.connectionRate == nil ? nil : counts.map { LoadReport.Connections(opened: $0.opened, ends: $0.ends) })
    }

    /// Lists what is still there. Transactions that only wait for copies are let go by moving their clock on.
    ///
    /// - Parameter opened: connections that stood when the first call began.
    private func leaks(since before: MachineReading?, connections opened: Int, _ trend: MemoryTrend) -> LeakReport {
        let counts = phone.ask { client, now in
            for minute in 1...4 { client.phone.advance(to: now + .seconds(60 * minute)) }
            return client.phone.counts(at: now + .seconds(240))
        }
        var leftovers = counts?.leftovers ?? [], after = MachineReading.now
        let connections = (phone.transportCounts?.connections ?? 0) - opened
        for _ in 0..<20 where (after.descriptors ?? 0) - connections > (before?.descriptors ?? .max) {
            usleep(50_000)   // what Dispatch closes takes a moment
            after = MachineReading.now
        }
        if let now = after.descriptors, let then = before?.descriptors, now - connections > then {
            leftovers.append("\(now - connections - then) descriptors")
        }
        if trend.isGrowing, let bytes = trend.perCall { leftovers.append("memory: \(Int(bytes)) bytes more with every call") }
        return LeakReport(
            leftovers: leftovers, memory: MemoryFigures(before: before?.residentBytes, after: after.residentBytes, perCall: trend.perCall))
    }
}

extension Phone.Counts {
    /// In words; empty where nothing is left.
    var leftovers: [String] {
        let counted = [
            (calls, "calls"), (timers, "timers of calls"), (agent.sessions, "dialogs"), (agent.clientTransactions, "client transactions"),
            (agent.serverTransactions, "server transactions"), (agent.registrations, "registrations"),
            (agent.timers, "timers of transactions"),
            (media.legs, "media legs"), (media.sockets, "media sockets"), (media.timers, "media timers"),
            (media.ports.open + media.ports.reserved, "media ports"),
        ]
        return counted.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    }
}

extension LoadTally {
    private static let shown = ServiceLevel.quantities(
        "setup_p50", "setup_p95", "answer_p50", "answer_p95", "delay_p95", "jitter_p95", "loss_out_mean", "loss_in_mean", "mos_out_p5",
        "mos_in_p5", "failed")

    /// The figures that are told of a run while it lasts.
    var figuresOfNow: [String: Double?] {
        Dictionary(uniqueKeysWithValues: Self.shown.map { ($0.name, value(of: $0.quantity)) })
    }
}
