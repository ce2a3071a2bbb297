import ArgumentParser
import Foundation
import Testing
import Workbench

@testable import hookswitch

/// No fault of a target ends in a good verdict, and each is named with its calls, its direction and its second.
@Suite(.serialized, .timeLimit(.minutes(30))) struct FaultyTargetTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var fault: FaultyEcho.Fault
        var kind: Finding.Kind
        /// Seconds after the answer.
        var second: Double?
        var isOfSound = true
        var testDescription: String { "\(fault)" }
    }

    static let cases = [
        Case(fault: .drops(every: 5), kind: .missing), Case(fault: .stops(after: 1), kind: .missing, second: 1),
        Case(fault: .neverSends, kind: .oneWay), Case(fault: .delays(1.2), kind: .lateMedia, isOfSound: false),
        Case(fault: .crosses, kind: .crossTalk), Case(fault: .swallowsBye, kind: .noEnd, isOfSound: false),
        Case(fault: .refuses(486), kind: .refused, isOfSound: false),
        Case(fault: .answersAfter(1.5), kind: .lateAnswer, isOfSound: false),
    ]

    /// Of ten calls the fifth and the tenth.
    @Test(arguments: cases) func `a fault of every fifth call is named`(example: Case) throws {
        let fault = example.fault, target = try FaultyEcho { $0.isMultiple(of: 5) ? fault : .none }
        defer { target.stop() }
        let report = try load("sip:echo@\(target.address) --rate 10 --calls 10 --talk-time 3 --expect echo")
        let found = try #require(report.findings.first { $0.kind == example.kind }, "\(report.findings)")
        let numbers: Set<UInt32> = example.kind == .crossTalk ? [4, 5, 9, 10] : [5, 10]
        #expect(Set(found.numbers) == numbers, "\(report.findings)")
        #expect(report.verdict.word != .good && report.verdict.text.contains(example.kind.rawValue), "\(report.verdict)")
        #expect(found.directions == (example.isOfSound ? [.in] : nil))
        if let second = example.second {
            #expect(found.second.map { abs($0 - second) < 0.3 } == true && found.text.contains("stopped \(second) s after the answer"))
        }
    }

    /// Neither loss nor MOS knew of what no number told.
    @Test(arguments: ["echo", "sound"]) func `a stream that stops breaks a level on loss, and one on MOS`(expected: String) throws {
        let target = try FaultyEcho { $0.isMultiple(of: 2) ? .stops(after: 1) : .none }
        defer { target.stop() }
        let report = try load(
            "sip:echo@\(target.address) --rate 10 --calls 10 --talk-time 3 --expect \(expected) --slo loss_in_mean<1%,loss_max<5%,mos_min>=3.5"
        )
        #expect(report.slo.map(\.state) == [.failed, .failed, .failed] && report.verdict.word == .failed, "\(report.slo)")
        let worst = try #require(report.metrics["loss_in"]??.max)
        #expect(abs(worst - 67) < 8, "two of three seconds: \(worst)")
        #expect(report.exitCode == 1 && LoadText.lines(report).last?.hasPrefix("verdict      failed: loss_in_mean<1% (was ") == true)
    }

    @Test func `a call whose echo stops is not good, and says when`() throws {
        let target = try FaultyEcho { _ in .stops(after: 1) }
        defer { target.stop() }
        let words = ["call", "sip:echo@\(target.address)", "--duration", "4", "--codec", "pcmu"]
        let command = try #require(try Hookswitch.parseAsRoot(words) as? Call)
        let result = try CallRun(command.plan(), teller: Teller(nil)).perform().result
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
        var report = try LoadRun(command.options.order(), teller: Teller(nil)).perform()
        report.leaks?.leftovers.removeAll { $0.hasSuffix("descriptors") }
        return report
    }
}
