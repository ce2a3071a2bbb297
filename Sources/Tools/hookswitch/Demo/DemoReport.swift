import Foundation
import Gateway
import Media
import Primitives
import Workbench

/// The outcome of the demo.
struct DemoReport: Encodable {
    /// 1001's and 1002's sides of the call.
    var caller: CallResult?
    var callee: CallResult?
    /// The part of one's speech that the other heard, 0…1; nil where they never spoke.
    var callerHeard: Double?, calleeHeard: Double?
    var isSpeechBothWays = false
    var events = 0
    var violations: [String] = []
    /// Things that the gateway still had of the call when it was over.
    var leftovers: [String] = []
    /// The verdict of the kernel's witness; nil where it cannot be asked.
    private(set) var witness: WitnessReport?
    private var witnessWords: [String] = []
    /// Other failures.
    var failures: [String] = []
    private(set) var ladder = ""

    var isClean: Bool { events > 0 && violations.isEmpty }
    var isGood: Bool { failures.isEmpty && isSpeechBothWays && isClean && leftovers.isEmpty && witness?.verdict != .disagree }

    private var journal: [JournalEvent] = []

    private enum CodingKeys: CodingKey {
        case caller, callee, callerHeard, calleeHeard, isSpeechBothWays, events, violations, leftovers, witness, failures, ladder
    }

    mutating func judge(_ caller: CallRecord?, _ callee: CallRecord?) {
        if let caller, let callee, caller.answered != nil, callee.answered != nil {
            (calleeHeard, callerHeard, isSpeechBothWays) = CallRecord.bothWays(caller, callee)
        }
        (self.caller, self.callee) = (caller?.result(), callee?.result())
    }

    mutating func judge(_ outcome: Result<WitnessWatch.Outcome, any Error>) {
        switch outcome {
        case .success(let (report, findings)):
            (witness, witnessWords) = (report, [report.summary] + findings.map(\.text))
        case .failure(let error): witnessWords = ["not asked: \((error as? Failure)?.message ?? "\(error)")"]
        }
    }

    mutating func judge(_ result: JournalReader.Result) {
        journal = result.events
        events = result.events.count
        violations = AuditCommand.violations(of: result.events).map(\.description) + result.brokenLines.map(\.description)
        ladder = drawLadder(LadderOptions(width: 120))
    }

    func drawLadder(_ options: LadderOptions) -> String { Ladder(journal, options: options).text }

    /// Figures and verdict, for a person.
    var text: String {
        var lines: [String] = []
        for (name, side) in [("1001", caller), ("1002", callee)] {
            guard let side else { continue }
            lines.append("\(name)      \(CallText.status(side))")
            if let packets = side.packets { lines.append("          \(CallText.figures(packets))\(side.codec.map { ", \($0)" } ?? "")") }
        }
        if let callerHeard, let calleeHeard {
            lines.append("speech    1002 heard \(percent(calleeHeard)) of 1001, 1001 heard \(percent(callerHeard)) of 1002")
        }
        lines.append("audit     \(events) events, \(violations.isEmpty ? "clean" : "\(violations.count) violations")")
        lines += violations.map { "          \($0)" }
        for (index, words) in witnessWords.enumerated() { lines.append((index == 0 ? "kernel    " : "          ") + words) }
        lines.append(
            "after     \(leftovers.isEmpty ? "nothing of the call is left in the gateway" : "left: " + leftovers.joined(separator: ", "))")
        lines += failures.map { "failed    \($0)" }
        lines.append("verdict   \(isGood ? "audio both ways, and media only between answer and end" : verdict)")
        return lines.joined(separator: "\n")
    }

    private var verdict: String {
        if !failures.isEmpty { return "the demo failed" }
        if !isSpeechBothWays { return "speech did not arrive both ways" }
        if witness?.verdict == .disagree { return "the kernel and the journal disagree" }
        return isClean ? "something of the call is left" : "the journal breaks the rules"
    }

    private func percent(_ part: Double) -> String { "\(Int((100 * part).rounded())) %" }
}
