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
        guard let evidence else { return nil }
        let validity = Validity(evidence), tally = state.tally
        let verdicts = (slo?.verdicts(on: tally) ?? []).map { verdict in
            var verdict = verdict
            verdict.isToolsFault = !verdict.isKept && !validity.isBelievable
            return verdict
        }
        let steps = plan.arrivals.steps.count > 1 ? steps(plan, slo) : []
        return LoadReport(
            run: run, validity: validity, counts: counts(tally), ratios: ratios(tally), encryption: encryption(tally),
            metrics: metrics(tally), histograms: histograms(tally),
            findings: Self.findings(tally) + lateCalls(), slo: verdicts, steps: steps, knee: findsKnee ? knee(steps) : nil, leaks: leaks,
            series: LoadSeries.points(of: state.calls), calls: state.calls.sorted { $0.number < $1.number },
            callsLeftOut: state.callsLeftOut)
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

    private func histograms(_ tally: LoadTally) -> [String: [Distribution.Step]] {
        Dictionary(
            uniqueKeysWithValues: LoadMetric.allCases.compactMap { metric in
                tally[metric].count > 0 ? (metric.rawValue, tally[metric].steps) : nil
            })
    }

    private static func findings(_ tally: LoadTally) -> [LoadReport.Found] {
        Finding.Kind.allCases.compactMap { kind in
            tally.findings[kind].map {
                LoadReport.Found(
                    kind: kind, calls: $0.count, numbers: Array($0.numbers.sorted().prefix(20)), pattern: $0.pattern, text: $0.text)
            }
        }
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
            var found = FoundCalls()
            for (number, _) in late.sorted(by: { $0.0 < $1.0 }) { found.add(number, "") }
            let text =
                "\(what) up to \(Number.text(worst)) ms after \(kind == .lateAnswer ? "the INVITE" : "the answer"), where half of all took \(Number.text(median)) ms"
            return LoadReport.Found(
                kind: kind, calls: found.count, numbers: Array(found.numbers.prefix(20)), pattern: found.pattern, text: text)
        }
        guard median >= 1_000 else { return nil }
        return LoadReport.Found(
            kind: kind, calls: sorted.count, numbers: Array(timed.map(\.0).sorted().prefix(20)), pattern: nil,
            text: "\(what) late for all: half of them waited \(Number.text(median)) ms or longer")
    }

    private func steps(_ plan: LoadPlan, _ slo: ServiceLevel?) -> [LoadReport.StepResult] {
        state.steps.keys.sorted().compactMap { index in
            guard let tally = state.steps[index], plan.arrivals.steps.indices.contains(index) else { return nil }
            let isKept = slo?.isKept(by: tally)
            return LoadReport.StepResult(
                rate: plan.arrivals.steps[index].rate, calls: tally.calls, notBegun: tally.notBegun, failedPercent: tally.failedPercent,
                setupP95: tally[.setup].percentile(95),
                packetLatenessP99: state.stepLateness[index]?.percentile(99).map(\.inMilliseconds), slo: slo?.verdicts(on: tally) ?? [],
                isKept: isKept == true && tally.notBegun > 0 ? nil : isKept)
        }
    }

    /// The steps are taken from the first on: one that holds after one that broke, or was not offered, proves nothing.
    private func knee(_ steps: [LoadReport.StepResult]) -> LoadReport.Knee {
        let kept = steps.prefix { $0.isKept == true }, next = steps.dropFirst(kept.count).first,
            broken = next.flatMap { $0.isKept == false ? $0 : nil }
        let isOwn = broken?.packetLatenessP99.map { $0 >= Validity.greatestPacketLateness } ?? false
        return LoadReport.Knee(
            lastKept: kept.last?.rate, firstBroken: broken?.rate, firstNotOffered: broken == nil ? next?.rate : nil,
            broken: broken?.slo.filter { !$0.isKept }.map { "\($0.term) (was \($0.actual.map(Number.text) ?? "not measured"))" } ?? [],
            isToolsOwn: isOwn)
    }
}
