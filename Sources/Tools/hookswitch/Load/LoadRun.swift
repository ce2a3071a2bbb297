import Foundation
import Primitives
import Runtime
import Synchronization
import Workbench

/// Makes a load: this process with sockets of its own, or agents on other machines. Thread-safe.
protocol LoadRunner: AnyObject, Sendable {
    /// Waits for the end. `watch` is called about every `interval`, from this thread.
    func run(every interval: Duration, watch: (LoadSnapshot) -> Void) -> LiveLoad.Outcome
    /// Begins no more, hangs up, and lets `run` return.
    func stop()
    /// The report's charts of the calls that are over so far.
    func charts(_ level: ServiceLevel?) -> LoadCharts
}

extension LiveLoad: LoadRunner {}

/// A load from the first registration to the report.
struct LoadRun {
    private let order: LoadOrder
    private let reporter: ProgressReporter
    /// The command as it was typed, for agents.
    private let words: [String]

    init(_ order: LoadOrder, words: [String] = Array(CommandLine.arguments.dropFirst()), reporter: ProgressReporter) {
        (self.order, self.words, self.reporter) = (order, words, reporter)
    }

    /// SIGINT and SIGTERM end it early; a later one ends the process.
    func perform() throws -> LoadReport {
        guard order.echoPorts != nil else { return try performed(order) }
        let calibration = try Calibration(order)
        defer { calibration.close() }
        return try performed(calibration.aimed(order))
    }

    private func performed(_ order: LoadOrder) throws -> LoadReport {
        let tlsFailure = Mutex<TLSError?>(nil), stopped = Mutex(false), journal = try order.targetJournal.map(TargetJournal.init(path:))
        var process = try order.targetProcess.map(TargetProcess.init)
        let witness = try Self.witness(order), watch = try LoadWatch(order.outputs, metrics: order.metrics)
        let web = try order.web.map { try LoadWeb(listening: $0, target: order.targetText, command: Self.command) }
        let signals = HangupSignals(reporter, exitCodeAtOnce: 3), began = Date(),
            load = try start(order) { error in tlsFailure.withLock { $0 = error } }, progress = LoadProgressReporter(order.plan, reporter)
        if let web {
            reporter.say("the run is shown at http://\(web.address)/")
            web.begin { [level = order.slo] in load.charts(level) }
        }
        signals.whenAsked {
            stopped.withLock { $0 = true }
            load.stop()
        }
        let outcome = load.run(every: reporter.isTerminal ? .milliseconds(500) : .seconds(1)) { snapshot in
            progress.tell(snapshot)
            watch.note(snapshot)
            web?.note(snapshot)
            process?.note(snapshot)
        }
        withExtendedLifetime(signals) {}
        let reason = Self.reason(tlsFailure.withLock { $0 }, outcome.connections)
        let run = LoadReport.Run(
            command: Self.command, target: order.targetText, transport: "\(order.settings.transport)", version: Hookswitch.version,
            began: began.formatted(.iso8601),
            elapsed: Double(outcome.elapsed.wholeMilliseconds) / 1_000, wasStopped: stopped.withLock { $0 }, seed: order.plan.seed)
        guard var report = outcome.report(run, plan: order.plan, slo: order.slo, findsKnee: order.findsKnee) else {
            throw Failure.cannotRun(outcome.failure.map { $0 + reason } ?? "no call was begun")
        }
        if let error = tlsFailure.withLock({ $0 }) { report.validity.notes.append("TLS: \(error)") }
        try complete(&report, process, journal, witness)
        watch.finish(report.verdict)
        web?.finish(report)
        return report
    }

    /// Adds what was seen beside the run, and hands the evidence on.
    private func complete(_ report: inout LoadReport, _ process: TargetProcess?, _ journal: TargetJournal?, _ witness: WitnessWatch?) throws
    {
        if let process { report.leaks?.add(process.settled()) }
        if let journal { report.leaks?.add(journal.settled()) }
        let seen = try witness.map(judgement)
        if let seen { report.leaks?.add(LeakReport(seen)) }
        report.baseline = order.baseline.map { LoadBaseline($0, beside: report) }
        try order.outputs.bundle.map { try bundle(report, journal?.files, seen, into: $0) }
    }

    /// Why a run could not be made, beside what the client says.
    private static func reason(_ error: TLSError?, _ connections: LoadReport.Connections?) -> String {
        (error.map { ": TLS: \($0)" } ?? "") + (connections.flatMap { $0.lost > 0 ? "; \($0.text)" : nil } ?? "")
    }

    private static func witness(_ order: LoadOrder) throws -> WitnessWatch? {
        guard order.isWitnessed, let journal = order.targetJournal else { return nil }
        var witnessed = WitnessOrder(journal: journal)
        witnessed.process = order.targetProcess.map { Int32(clamping: $0) }
        return try WitnessWatch(witnessed)
    }

    private func judgement(of witness: WitnessWatch) throws -> WitnessWatch.Outcome {
        let outcome = try witness.finish()
        reporter.say(outcome.report.text)
        return outcome
    }

    private func bundle(_ report: LoadReport, _ journal: [String]?, _ seen: WitnessWatch.Outcome?, into file: ReportFile) throws {
        var bundle = EvidenceBundle()
        try bundle.add(report)
        if let journal { try bundle.add(journal: journal) }
        if let seen { try bundle.add(seen) }
        let bytes = try bundle.bytes(at: Date())
        try file.write(Array(bytes))
        reporter.say("bundle: \(file.path), sha256 \(EvidenceBundle.digest(bytes))")
    }

    private func start(_ order: LoadOrder, onTLSFailure: @escaping @Sendable (TLSError) -> Void) throws -> any LoadRunner {
        let level = order.findsKnee ? order.slo : nil
        if let agents = order.agents {
            let options = Array(try Hookswitch.expanded(words).dropFirst())
            return try AgentsLoad(
                agents, arguments: AgentArguments.forAgents(options, seed: order.plan.seed), endingWhenBroken: level)
        }
        var settings = order.settings
        settings.onTLSFailure = onTLSFailure
        do throws(LivePhoneError) {
            return try LiveLoad(order.plan, settings: settings, endingWhenBroken: level)
        } catch { throw Failure.cannotRun(error.description) }
    }

    /// As it was typed, without the password.
    private static var command: String {
        var words = CommandLine.arguments
        for (index, word) in words.enumerated() {
            if word == "--password", index + 1 < words.count { words[index + 1] = "…" }
            if word.hasPrefix("--password=") { words[index] = "--password=…" }
        }
        return (["hookswitch"] + words.dropFirst()).joined(separator: " ")
    }
}

/// Tells a person at a terminal how a load goes: a line that is written over.
final class LoadProgressReporter {
    private let plan: LoadPlan
    private let reporter: ProgressReporter

    init(_ plan: LoadPlan, _ reporter: ProgressReporter) { (self.plan, self.reporter) = (plan, reporter) }

    func tell(_ snapshot: LoadSnapshot) { reporter.tick(text(snapshot)) }

    func text(_ snapshot: LoadSnapshot) -> String {
        let progress = snapshot.progress
        guard let elapsed = snapshot.elapsed else { return "registering: \(progress.registered) of \(progress.accounts)" }
        var parts = [
            "\(bar(snapshot, elapsed)) \(elapsed.wholeMilliseconds / 1_000) s",
            plan.calls.map { "\(progress.begun)/\($0) calls" } ?? progress.begun.counted("call", "calls"), "\(progress.active) up",
        ]
        parts.append("\(snapshot.bad) bad")
        if progress.phase == .ending { parts.append("ending") } else { parts.append("\(CallText.number(progress.rate))/s") }
        if let setup = snapshot.figures["setup_p50"] ?? nil { parts.append("set-up p50 \(CallText.number(setup)) ms") }
        if let late = snapshot.packetLateness {
            parts.append("own packets p99 \(CallText.number(Double(late.wholeNanoseconds) / 1e6)) ms late")
        }
        return parts.joined(separator: "  ")
    }

    /// Draws the part of the run that is over.
    private func bar(_ snapshot: LoadSnapshot, _ elapsed: Duration) -> String {
        let byCalls = plan.calls.map { Double(snapshot.progress.begun) / Double($0) }
        let byTime = (plan.duration ?? ramp).map { Double(elapsed.wholeMilliseconds) / Double(max(1, $0.wholeMilliseconds)) }
        let part = min(1, max(byCalls ?? 0, byTime ?? 0)), filled = Int(part * 10)
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 10 - filled) + "]"
    }

    private var ramp: Duration? {
        let times = plan.arrivals.steps.map(\.time)
        return times.contains { $0 == nil } ? nil : times.compactMap(\.self).reduce(.zero, +)
    }
}
