import ArgumentParser
import Foundation
import Testing
import Workbench

@testable import hookswitch

/// No fault of a target ends in a good verdict, and each is named with its calls, its direction and its second.
@Suite(.timeLimit(.minutes(30))) struct FaultyTargetTests {
    typealias Fault = FaultyEcho.Fault

    /// A fault of a target, and what is to be found in its call.
    struct Case: CustomTestStringConvertible, Hashable, Sendable {
        var fault: Fault
        var kind: Finding.Kind
        /// Seconds after the answer.
        var second: Double?
        /// Part of the words.
        var words = ""
        var testDescription: String { "\(fault)" }
    }

    static let signalling: [Case] = [
        Case(fault: .refuses(302), kind: .refused, words: "302"), Case(fault: .refuses(401), kind: .refused, words: "401"),
        Case(fault: .refuses(404), kind: .refused, words: "404"), Case(fault: .refuses(486), kind: .refused, words: "486"),
        Case(fault: .refuses(503), kind: .refused, words: "503"), Case(fault: .refuses(603), kind: .refused, words: "603"),
        Case(fault: .isSilent, kind: .noAnswer, words: "nothing came"), Case(fault: .comesTo(100), kind: .noAnswer),
        Case(fault: .comesTo(180), kind: .noAnswer, words: "it rang"),
        Case(fault: .answersWithoutSDP, kind: .failure), Case(fault: .answersWithoutMedia, kind: .failure),
        Case(fault: .answersWithForeignCodec, kind: .failure), Case(fault: .answersWithBrokenSDP, kind: .failure),
        Case(fault: .hangsUp(after: 1), kind: .endedEarly, words: "after 1"),
        Case(fault: .swallowsBye, kind: .noEnd, words: "not answered"),
        Case(fault: .refusesBye(500), kind: .noEnd, words: "500"),
    ]
    static let media: [Case] = [
        Case(fault: .drops(every: 5), kind: .missing), Case(fault: .halves, kind: .missing),
        Case(fault: .startsAfter(1), kind: .missing),
        Case(fault: .stops(after: 1), kind: .missing, second: 1, words: "stopped 1.0 s after"),
        Case(fault: .pauses(0.5, 1.5), kind: .missing), Case(fault: .skips(0.5, 1.5), kind: .missing),
        Case(fault: .neverSends, kind: .oneWay), Case(fault: .sendsElsewhere, kind: .oneWay),
        Case(fault: .slows(8), kind: .missing), Case(fault: .bursts(700), kind: .bursts),
        Case(fault: .sendsSilence, kind: .silence),
        Case(fault: .sendsNoise, kind: .wrongSound), Case(fault: .sendsTone, kind: .wrongSound),
        Case(fault: .changesPayloadType, kind: .oneWay, words: "payload type"), Case(fault: .cutsPackets, kind: .wrongSound),
        Case(fault: .repeatsNumber, kind: .missing, words: "149 that came repeat a number"), Case(fault: .delays(1.2), kind: .missing),
        Case(fault: .repeatsTheFirst, kind: .stale),
    ]

    /// Each third call has a fault, and each a fault of its own.
    @Test(arguments: [signalling, media]) func `a fault is named with its call, its direction and its second`(cases: [Case]) throws {
        let target = try FaultyEcho { $0.isMultiple(of: 3) && $0 / 3 <= cases.count ? cases[$0 / 3 - 1].fault : .none }
        defer { target.stop() }
        let count = cases.count * 3
        let report = try load("sip:echo@\(target.address) --rate 12 --calls \(count) --talk-time 3 --expect echo --timeout 4 --listen 100%")
        for call in report.calls where !call.number.isMultiple(of: 3) { #expect(call.outcome == .good, "\(call)") }
        for (index, example) in cases.enumerated() {
            let number = UInt32(index + 1) * 3, call = try #require(report.calls.first { $0.number == number })
            guard let found = call.findings.first(where: { $0.kind == example.kind }) else {
                Issue.record("\(example.fault): \(call.outcome), \(call.findings)")
                continue
            }
            #expect(call.outcome != .good && call.trace?.isEmpty == false, "\(example.fault)")
            #expect(found.text.contains(example.words) || example.words.isEmpty, "\(example.fault): \(found)")
            #expect(found.direction == (cases == Self.media ? .in : nil), "\(example.fault): \(found)")
            if let second = example.second { #expect(found.second.map { abs($0 - second) < 0.3 } == true, "\(example.fault): \(found)") }
            let named = try #require(report.findings.first { $0.kind == example.kind }, "\(report.findings)")
            #expect(named.numbers.contains(number) && report.verdict.text.contains(example.kind.rawValue), "\(report.verdict)")
        }
        expectFault(report)
    }

    /// No call tells of itself that it is late: others were faster.
    @Test func `an answer and a first packet that come late are named`() throws {
        let target = try FaultyEcho { $0 == 5 ? .answersAfter(1.5) : $0 == 10 ? .delays(1.2) : .none }
        defer { target.stop() }
        let report = try load("sip:echo@\(target.address) --rate 10 --calls 10 --talk-time 3 --expect echo")
        for (kind, number) in [(.lateAnswer, 5), (.lateMedia, 10)] as [(Finding.Kind, UInt32)] {
            let found = try #require(report.findings.first { $0.kind == kind }, "\(report.findings)")
            #expect(found.numbers == [number] && report.verdict.text.contains(kind.rawValue), "\(report.verdict)")
        }
        expectFault(report)
    }

    static let mixed = [
        (Case(fault: .refusesOffers(488), kind: .offerRefused, words: "488"), "reinvite"),
        (Case(fault: .refusesOffers(500), kind: .offerRefused, words: "500"), "hold"),
        (Case(fault: .swallowsOffers, kind: .offerRefused, words: "not answered in"), "reinvite"),
        (Case(fault: .swallowsKeys, kind: .keysLost, words: "159#"), "dtmf"),
    ]

    @Test(arguments: mixed) func `a fault in what a call does is named`(example: Case, kind: String) throws {
        let target = try FaultyEcho { $0.isMultiple(of: 3) ? example.fault : .none }
        defer { target.stop() }
        let report = try load("sip:echo@\(target.address) --rate 10 --calls 6 --talk-time 3 --expect echo --mix \(kind)=100")
        let found = try #require(report.findings.first { $0.kind == example.kind }, "\(report.findings)")
        #expect(Set(found.numbers) == [3, 6] && found.text.contains(example.words), "\(report.findings)")
        #expect(report.verdict.text.contains(example.kind.rawValue), "\(report.verdict)")
        expectFault(report)
    }

    @Test func `two calls that hear each other are named both`() throws {
        let target = try FaultyEcho { $0.isMultiple(of: 5) ? .crosses : .none }
        defer { target.stop() }
        let report = try load("sip:echo@\(target.address) --rate 10 --calls 10 --talk-time 3 --expect echo")
        let found = try #require(report.findings.first { $0.kind == .crossTalk }, "\(report.findings)")
        #expect(Set(found.numbers) == [4, 5, 9, 10] && found.directions == [.in], "\(report.findings)")
        expectFault(report)
    }

    /// Neither loss nor MOS knew of what no number told.
    @Test(arguments: ["echo", "sound"]) func `a stream that stops breaks a level on loss, and one on MOS`(expected: String) throws {
        let target = try FaultyEcho { $0.isMultiple(of: 2) ? .stops(after: 1) : .none }
        defer { target.stop() }
        let report = try load(
            "sip:echo@\(target.address) --rate 10 --calls 10 --talk-time 3 --expect \(expected) --slo loss_in_mean<1%,loss_max<5%,mos_min>=3.5"
        )
        let state: ServiceLevel.Verdict.State = report.validity.blamesTarget ? .failed : .notMeasured
        #expect(report.slo.map(\.state) == [state, state, state], "\(report.slo)")
        expectFault(report)
        let worst = try #require(report.metrics["loss_in"]??.max)
        #expect(abs(worst - 67) < 8, "two of three seconds: \(worst)")
        guard report.validity.blamesTarget else { return }
        #expect(LoadText.lines(report).last?.hasPrefix("verdict      failed: loss_in_mean<1% (was ") == true)
    }

    @Test func `a call whose echo stops is not good, and says when`() throws {
        let target = try FaultyEcho { _ in .stops(after: 1) }
        defer { target.stop() }
        let words = ["call", "sip:echo@\(target.address)", "--duration", "4", "--codec", "pcmu"]
        let command = try #require(try Hookswitch.parseAsRoot(words) as? Call)
        let result = try CallRun(command.plan(), reporter: ProgressReporter(nil)).perform().result
        #expect(result.verdict == .cutShort && !result.isGood, "\(result)")
        #expect(result.packets?.lossPercent.map { $0 > 60 } == true && result.packets?.mos.map { $0 < 2 } == true, "\(result)")
        #expect(result.packets?.stoppedAfter.map { abs($0 - 1_000) < 300 } == true)
        let text = CallText.result(result)
        #expect(
            text.contains(/stopped after (0.9|1.\d) s/) && text.contains(/the sound stopped (0.9|1.\d) s after/)
                && text.contains("not to the end"), "\(text)")
    }

    private func load(_ arguments: String) throws -> LoadReport {
        let command = try #require(try Hookswitch.parseAsRoot(("load " + arguments).split(separator: " ").map(String.init)) as? Load)
        var report = try LoadRun(command.options.order(), reporter: ProgressReporter(nil)).perform()
        report.leaks?.leftovers.removeAll { $0.hasSuffix("descriptors") }
        return report
    }
}
