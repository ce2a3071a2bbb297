import Media
import Primitives

extension LiveLoad.Outcome {
    /// Puts everything together.
    ///
    /// - Parameters:
    ///   - plan: of the run.
    ///   - slo: what it has to keep.
    ///   - findsKnee: whether the steps are judged one by one, and the last that held is told.
    public func report(_ run: LoadReport.Run, plan: LoadPlan, slo: ServiceLevel?, findsKnee: Bool) -> LoadReport? {
        guard let validity = agents.isEmpty ? validity(plan: plan, findsKnee: findsKnee) : Validity(agents, of: plan) else { return nil }
        let tally = state.tally, steps = plan.arrivals.steps.count > 1 ? steps(plan, slo) : []
        let knee = findsKnee ? LoadReport.Knee(steps) : nil
        // A search goes on until a term fails: what counts is the step that it has found.
        let verdicts = knee.map { knee in (steps.last { $0.rate == knee.lastKept } ?? steps.first)?.slo ?? [] } ?? slo?.verdicts(on: tally)
        return LoadReport(
            run: run, validity: validity, accounts: accounts, counts: counts(tally), ratios: ratios(tally),
            encryption: encryption(tally), machine: .this,
            totals: .init(talkTime: tally.talkTime, packetsSent: tally.packetsSent, packetsReceived: tally.packetsReceived),
            metrics: metrics(tally), histograms: tally.histograms,
            findings: Self.findings(tally) + lateCalls(), slo: Self.judged(verdicts ?? [], validity), steps: steps, knee: knee,
            leaks: leaks,
            series: LoadSeries.points(of: state.calls), calls: state.calls.sorted { $0.number < $1.number },
            callsLeftOut: state.callsLeftOut, agents: agents.isEmpty ? nil : agents)
    }

    /// Whether what this process has done can be believed; nil where no call was begun.
    public func validity(plan: LoadPlan, findsKnee: Bool) -> Validity? {
        guard var evidence else { return nil }
        evidence.askedRate = plan.arrivals.steps.count == 1 ? plan.arrivals.steps.first?.rate : nil
        evidence.arriving = arriving(plan)
        evidence.judgesRate = !findsKnee
        if findsKnee { evidence.calls = state.stepCallLateness.values.reduce(Lateness(), +) }
        return Validity(evidence)
    }

    /// A term that failed may be the tool's own fault; one that passed at another rate than the one that was asked for says nothing.
    private static func judged(_ verdicts: [ServiceLevel.Verdict], _ validity: Validity) -> [ServiceLevel.Verdict] {
        verdicts.map { verdict in
            var verdict = verdict
            let isTimed = (try? ServiceLevel(parsing: verdict.term).terms.first?.isTimed) ?? false
            if verdict.state == .failed, !validity.blamesTarget {
                verdict.leaveOpen("and the tool may have been why", isToolsFault: true)
            } else if verdict.state == .passed, isTimed, !validity.isValid, !validity.rate.isKept {
                verdict.leaveOpen("of the calls that were let in", isToolsFault: false)
            }
            return verdict
        }
    }

    /// Gives the time in which the calls were due; nil where it is not known.
    private func arriving(_ plan: LoadPlan) -> Duration? {
        if progress.skipped > 0, let duration = plan.duration { return min(duration, elapsed) }
        guard let rate = plan.arrivals.steps.first?.rate, let last = state.calls.map(\.began).max(), state.callsLeftOut == 0 else {
            return nil
        }
        return .seconds(fraction: last + 1 / rate)
    }

    private var accounts: LoadReport.Accounts? {
        progress.registrationTime.map {
            LoadReport.Accounts(registered: progress.accounts, seconds: Double($0.wholeMilliseconds) / 1_000, connections: connections)
        }
    }

    private func counts(_ tally: LoadTally) -> LoadReport.Counts {
        LoadReport.Counts(
            begun: tally.calls, answered: tally.answered, good: tally[.good], faulty: tally[.faulty], failed: tally[.failed],
            notTried: tally[.notTried], cutOff: tally[.cutOff],
            skipped: progress.skipped, listenedTo: tally.listened, retransmissions: tally.retransmissions, concurrent: progress.mostActive,
            byKind: Dictionary(uniqueKeysWithValues: tally.kinds.map { ($0.key.rawValue, $0.value) }),
            byStatus: Dictionary(uniqueKeysWithValues: tally.statuses.map { ($0.key == 0 ? "none" : "\($0.key)", $0.value) }))
    }

    private func ratios(_ tally: LoadTally) -> LoadReport.Ratios {
        LoadReport.Ratios(
            ser: tally.establishmentRatio, seer: tally.effectivenessRatio, isa: tally.ineffectiveAttempts, scr: tally.completionRatio,
            failed: tally.failedPercent)
    }

    private func encryption(_ tally: LoadTally) -> LoadReport.Encryption {
        func count(_ kind: MediaEncryption) -> Int { tally.encryption[kind] ?? 0 }
        return LoadReport.Encryption(sdes: count(.sdes), dtls: count(.dtls), clear: count(.clear), share: tally.encryptedPercent)
    }

    private func metrics(_ tally: LoadTally) -> [String: Distribution.Summary?] {
        Dictionary(uniqueKeysWithValues: LoadMetric.allCases.map { ($0.rawValue, tally[$0].summary) })
    }

    private static func findings(_ tally: LoadTally) -> [LoadReport.Found] {
        Finding.Kind.allCases.compactMap { kind in tally.findings[kind].map { LoadReport.Found(kind, $0) } }
    }

    /// Answers and first packets that came far later than those of the others: more than half a second, and four times the median.
    private func lateCalls() -> [LoadReport.Found] {
        [late(.lateAnswer, \.answer, "the 200 came"), late(.lateMedia, \.media, "the first packet came")].compactMap(\.self)
    }

    private func late(_ kind: Finding.Kind, _ time: (CallFigures) -> Double?, _ what: String) -> LoadReport.Found? {
        let timed = state.calls.compactMap { call in time(call).map { (call.number, $0) } }, sorted = timed.map(\.1).sorted()
        guard !sorted.isEmpty else { return nil }
        let median = sorted[sorted.count / 2], limit = max(median * 4, median + 500)
        let late = timed.filter { $0.1 > limit }
        if let worst = late.map(\.1).max() {
            let after = kind == .lateAnswer ? "the INVITE" : "the answer"
            return found(
                kind, late.map(\.0),
                "\(what) up to \(Number.text(worst)) ms after \(after), where half of all took \(Number.text(median)) ms")
        }
        guard median >= 1_000 else { return nil }
        return found(kind, timed.map(\.0), "\(what) late for all: half of them waited \(Number.text(median)) ms or longer")
    }

    private func found(_ kind: Finding.Kind, _ numbers: [UInt32], _ text: String) -> LoadReport.Found {
        var calls = FoundCalls()
        for number in numbers.sorted() { calls.add(number, Finding(kind, text)) }
        return LoadReport.Found(kind, calls)
    }

    private func steps(_ plan: LoadPlan, _ slo: ServiceLevel?) -> [LoadReport.StepResult] {
        state.steps.keys.sorted().compactMap { index in
            guard let tally = state.steps[index], plan.arrivals.steps.indices.contains(index) else { return nil }
            let outcome = slo.map { $0.state(of: tally) }
            return LoadReport.StepResult(
                rate: plan.arrivals.steps[index].rate, calls: tally.calls, notBegun: tally.notBegun, failedPercent: tally.failedPercent,
                setupP95: tally[.setup].percentile(95),
                packetLatenessP99: state.stepLateness[index].flatMap { Validity.Late($0)?.p99 }, attempts: state.attempts[index] ?? 1,
                isToolLate: state.isToolLate(in: index), slo: slo?.verdicts(on: tally) ?? [], state: outcome,
                isKept: outcome.flatMap { $0 == .notMeasured ? nil : $0 == .passed })
        }
    }
}

extension LoadTally {
    /// By the names of metrics.
    var histograms: [String: [Distribution.Step]] {
        Dictionary(
            uniqueKeysWithValues: LoadMetric.allCases.compactMap { metric in
                self[metric].count > 0 ? (metric.rawValue, self[metric].steps) : nil
            })
    }
}

extension ServiceLevel {
    /// Gives the state of this term for a step, as a whole. A failed term has failed also at a rate that was not kept.
    func state(of tally: LoadTally) -> Verdict.State {
        if isBroken(by: tally) { return .failed }
        return tally.notBegun == 0 && isKept(by: tally) ? .passed : .notMeasured
    }
}

extension LoadReport.Found {
    init(_ kind: Finding.Kind, _ calls: FoundCalls) {
        let directions = Finding.Direction.allCases.filter(calls.directions.contains)
        let consequences = calls.consequences.map { ($0.key.rawValue, $0.value) }
        self.init(
            kind: kind, calls: calls.count, numbers: Array(calls.numbers.sorted().prefix(20)), pattern: calls.pattern, text: calls.text,
            directions: directions.isEmpty ? nil : directions, second: calls.first?.second,
            consequences: consequences.isEmpty ? nil : Dictionary(uniqueKeysWithValues: consequences))
    }
}

extension LoadReport.Knee {
    /// The steps are taken from the first on: one that passed after one that failed, or was not offered, proves nothing.
    init(_ steps: [LoadReport.StepResult]) {
        let passed = steps.prefix { $0.state == .passed }, next = steps.dropFirst(passed.count).first
        let isFailed = next?.state == .failed, isOffered = next?.notBegun == 0
        self.init(
            lastKept: passed.last?.rate, firstBroken: isFailed ? next?.rate : nil,
            firstNotOffered: !isFailed && !isOffered ? next?.rate : nil, firstNotMeasured: !isFailed && isOffered ? next?.rate : nil,
            broken: next?.slo.filter { $0.state != .passed }.map { "\($0.term) (\($0.outcome))" } ?? [],
            isToolsOwn: isFailed && next?.isToolLate == true, attempts: next?.attempts ?? 1)
    }
}
