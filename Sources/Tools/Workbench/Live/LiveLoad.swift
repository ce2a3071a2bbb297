import Dispatch
import Glibc
import Media
import Primitives
import Runtime
import UserAgent

/// How a run stands, for a person who watches it.
public struct LoadSnapshot: Sendable {
    public var progress: LoadProgress
    /// Since the first call; nil before it.
    public var elapsed: Duration?
    public var judged: Int
    /// Failed, or with something wrong.
    public var bad: Int
    public var setupP95: Double?
    /// Of packets, since the last time.
    public var packetLateness: Duration?
}

/// A load on the sockets of this machine: one signalling lane, the media lanes, and the ledger. Made, run once, and done.
public final class LiveLoad: Sendable {
    /// What a run gave, before it is put into words.
    public struct Outcome: Sendable {
        public var failure: String?
        var state: LoadLedger.State
        public var progress: LoadProgress
        public var elapsed: Duration
        public var evidence: ValidityEvidence?
        public var leaks: LeakReport
    }

    private let plan: LoadPlan
    private let settings: LivePhoneSettings
    private let knee: ServiceLevel?
    private let phone: LivePhone<LoadClient>
    private let ledger: LoadLedger

    /// Binds, and begins.
    /// - Parameter knee: ends the arrivals when a step of the plan has broken this, or could not be offered.
    public init(_ plan: LoadPlan, settings: LivePhoneSettings, endingWhenBroken knee: ServiceLevel? = nil) throws(LivePhoneError) {
        (self.plan, self.settings, self.knee) = (plan, settings, knee)
        let ledger = try LoadLedger(judgesSteps: plan.arrivals.steps.count > 1)
        self.ledger = ledger
        phone = try LivePhone(settings) { phone in
            phone.measurePacing()
            let client = LoadClient(phone: phone, plan: plan)
            client.onEvent = { event, now in ledger.hear(event, at: now) }
            return client
        }
    }

    /// Where it takes SIP.
    public var address: SocketAddress { phone.address }

    /// Begins no more, hangs up, and lets `run` return.
    public func stop() { phone.stop() }

    /// Waits for the end. `watch` is called about every `interval`, from this thread.
    public func run(every interval: Duration = .seconds(1), watch: (LoadSnapshot) -> Void) -> Outcome {
        var mostPorts = 0, broken: Int?, stepsOver = 0, trend = MemoryTrend(allowance: Self.allowance)
        while ledger.finished.wait(timeout: .now() + .nanoseconds(Int(interval.wholeNanoseconds))) == .timedOut {
            guard let (snapshot, ports) = look() else { break }
            mostPorts = max(mostPorts, ports)
            trend.note(resident: MachineReading.residentBytes(), over: snapshot.judged, up: snapshot.progress.active, at: snapshot.elapsed)
            watch(snapshot)
            // Beyond its limit a machine has no time for the judge, and a search that waits for it would only add to the load.
            if knee != nil, ledger.read({ $0.steps.count < stepsOver }) { _ = ledger.settle() }
            stepsOver = ledger.read(\.stepsOver)
            if broken == nil, let step = firstNotKept() {
                broken = step
                phone.post { client, now in client.endArrivals(at: now) }
            }
        }
        return conclude(mostPorts, trend)
    }

    /// What is kept of a call for the report takes 1 to 4 kB.
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
                setupP95: state.tally[.setup].percentile(95), packetLateness: lateness.percentile(99))
        }
        return (snapshot, ports.open + ports.reserved + ports.quarantined)
    }

    /// The first step, of those that are over, that has broken what was to be kept, where enough is known of it; or whose rate was not
    /// offered.
    private func firstNotKept() -> Int? {
        guard let knee else { return nil }
        return ledger.read { state in
            let broken = state.steps.filter { $0.value.tried >= 5 && knee.isBroken(by: $0.value) }.keys.min()
            return [broken, state.firstNotOffered].compactMap(\.self).min()
        }
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
        let leaks = leaks(since: state.before, trend)
        phone.close()
        return Outcome(
            failure: state.failure, state: state, progress: last?.0.progress ?? LoadProgress(), elapsed: elapsed, evidence: evidence,
            leaks: leaks)
    }

    /// What is still there. Transactions that only wait for copies are let go by moving their clock on.
    private func leaks(since before: MachineReading?, _ trend: MemoryTrend) -> LeakReport {
        let counts = phone.ask { client, now in
            for minute in 1...4 { client.phone.advance(to: now + .seconds(60 * minute)) }
            return client.phone.counts(at: now + .seconds(240))
        }
        var leftovers = counts?.leftovers ?? [], after = MachineReading.now
        let connections = phone.transportCounts?.connections ?? 0
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

extension ServiceLevel {
    /// A term is measured and not kept. What was not measured yet breaks nothing.
    func isBroken(by tally: LoadTally) -> Bool { verdicts(on: tally).contains { $0.actual != nil && !$0.isKept } }
}
