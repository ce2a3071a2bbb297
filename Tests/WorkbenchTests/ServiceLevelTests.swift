import Testing

@testable import Workbench

@Suite struct ServiceLevelTests {
    @Test(arguments: [
        ("setup_p95<200ms", ServiceLevel.Term.Quantity.percentile(.setup, 95), ServiceLevel.Comparison.below, 200.0),
        ("mos_p5>=4.0", .percentile(.mos, 5), .atLeast, 4), ("failed<0.1%", .share(.failed), .below, 0.1),
        ("delay_p99.9 <= 1.5 s", .percentile(.delay, 99.9), .atMost, 1_500),
        ("invite_transit_max<500us", .maximum(.inviteTransit), .below, 0.5), ("ser>99", .share(.ser), .above, 99),
        ("loss_mean<1%", .mean(.loss), .below, 1),
    ])
    func `a term is read`(text: String, quantity: ServiceLevel.Term.Quantity, comparison: ServiceLevel.Comparison, limit: Double) throws {
        let term = try #require(try ServiceLevel(parsing: text).terms.first)
        #expect(term.quantity == quantity && term.comparison == comparison && term.limit == limit)
    }

    @Test(arguments: [
        ("", ServiceLevel.ParseError.empty), ("setup_p95", .noComparison(term: "setup_p95")),
        ("setpu_p95<1", .unknownName("setpu", term: "setpu_p95<1")),
        ("setup<1", .noStatistic("setup", term: "setup<1")), ("setup_p101<1", .badStatistic("p101", term: "setup_p101<1")),
        ("setup_p95<fast", .badLimit("fast", unit: "ms", term: "setup_p95<fast")),
        ("failed<1ms", .badLimit("1ms", unit: "%", term: "failed<1ms")),
    ])
    func `what cannot be read says why`(text: String, error: ServiceLevel.ParseError) {
        #expect(throws: error) { try ServiceLevel(parsing: text) }
    }

    @Test func `terms are judged by what was measured, and what never was is not kept`() throws {
        var tally = LoadTally()
        for number in 1...100 { tally.add(call(UInt32(number), setup: Double(number), isGood: number > 2)) }
        let verdicts = try ServiceLevel(parsing: "setup_p95<96ms,setup_max<=50,failed<=2%,mos_p5>=1").verdicts(on: tally)
        #expect(verdicts.map(\.isKept) == [true, false, true, false])
        #expect(verdicts.map { $0.actual?.rounded() } == [95, 100, 2, nil])
    }

    @Test(arguments: [("setup_p95<1s", 20), ("setup_p5<1s", 20), ("setup_p99<1s", 100), ("setup_p99.9<1s", 1_000), ("setup_max<1s", 1)])
    func `a percentile of too few values is not measured, which is not passed`(term: String, needed: Int) throws {
        let level = try ServiceLevel(parsing: term)
        var tally = LoadTally()
        for number in 1..<needed { tally.add(call(UInt32(number), setup: 5)) }
        let open = try #require(level.verdicts(on: tally).first)
        #expect(open.state == .notMeasured && !open.isKept && !level.isKept(by: tally) && !level.isBroken(by: tally))
        if needed == 20 { #expect(open.outcome.hasPrefix("19 values, and 20 are needed for p"), "\(open)") }
        tally.add(call(UInt32(needed), setup: 5))
        #expect(level.verdicts(on: tally).map(\.state) == [.passed])
    }

    @Test func `a direction has figures of its own, and the worse of both counts`() throws {
        var tally = LoadTally(), one = call(1), other = call(2)
        (one.caller, one.callee) = (
            EndFigures(sent: 1, received: 1, lossPercent: 4, mos: 3), EndFigures(sent: 1, received: 1, lossPercent: 1, mos: 4)
        )
        (other.caller, other.reported) = (
            EndFigures(sent: 1, received: 1, lossPercent: 0, mos: 4.4), ReportedFigures(lossPercent: 9, mos: 2)
        )
        for call in [one, other] { tally.add(call) }
        func range(_ metric: LoadMetric) -> [Double] { [tally[metric].minimum, tally[metric].maximum].compactMap { $0?.rounded() } }
        #expect(range(.loss) == [4, 9] && tally[.loss].count == 2 && range(.lossIn) == [0, 4] && range(.lossOut) == [1, 9])
        #expect(range(.mos) == [2, 3] && range(.mosIn) == [3, 4] && range(.mosOut) == [2, 4])
        let level = try ServiceLevel(parsing: "loss_out_max<5%,mos_in_min>=3,r_in_max<1")
        #expect(level.verdicts(on: tally).map(\.state) == [.failed, .passed, .notMeasured])
    }

    @Test func `a call with several findings is one of a share`() {
        var tally = LoadTally(), bad = call(1, isGood: false)
        bad.findings = [Finding(.oneWay, "x"), Finding(.silence, "y")]
        tally.add(bad)
        #expect(tally.percent(with: .silent) == 100 && tally.percent(with: .oneWay) == 100 && tally.percent(with: .crossTalk) == 0)
    }

    @Test func `RFC 6076's ratios count as it says`() {
        var tally = LoadTally()
        for (status, count) in [(200, 6), (486, 2), (302, 1), (503, 1), (408, 1)] {
            for _ in 0..<count { tally.add(call(UInt32(tally.calls + 1), status: status)) }
        }
        #expect(tally.establishmentRatio == 60 && tally.effectivenessRatio == 80)
        #expect(tally.ineffectiveAttempts == 200.0 / 11)
        #expect(LoadTally().establishmentRatio == nil)
    }

    @Test(
        arguments: [
            ([50, 100, 150, 200], "every 50th call"), ([3, 6, 9], "every 3rd call"), ([50, 100], nil), ([1, 2, 3], nil),
            ([50, 100, 151], nil),
        ] as [([UInt32], String?)])
    func `calls at equal distances are named as such`(numbers: [UInt32], pattern: String?) {
        var found = FoundCalls()
        for number in numbers { found.add(number, Finding(.missing, "x")) }
        #expect(found.pattern == pattern)
    }

    @Test func `a call with two findings of a kind counts once, also when its number is not kept any more`() {
        var found = FoundCalls()
        for number in 1...1_010 as ClosedRange<UInt32> {
            found.add(number, Finding(.missing, "one"))
            found.add(number, Finding(.missing, "other"))
        }
        #expect(found.count == 1_010 && found.numbers.count == 1_000)
    }

    private func call(_ number: UInt32, setup: Double? = nil, status: Int = 200, isGood: Bool = true) -> CallFigures {
        CallFigures(
            number: number, kind: .plain, step: 0, began: 0, callID: "", outcome: isGood ? .good : .faulty, status: status, setup: setup,
            duration: status == 200 ? 1_000 : nil,
            retransmissions: 0, findings: [])
    }
}
