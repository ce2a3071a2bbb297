import Foundation
import Primitives
import Runtime
import Synchronization
import UserAgent
import Workbench

/// Torture from the first OPTIONS to the report.
struct TortureRun {
    private let order: TortureOrder
    private let reporter: ProgressReporter

    init(_ order: TortureOrder, reporter: ProgressReporter) { (self.order, self.reporter) = (order, reporter) }

    /// SIGINT and SIGTERM leave the cases that are played, in good order; a later one ends the process.
    func perform() throws -> TortureReport {
        guard let plan = order.plan else { preconditionFailure("a list is not played") }
        let began = Date(), start = MonotonicClock.now, progress = Mutex(0), stopped = Mutex(false)
        let (reporter, count) = (reporter, plan.cases.count)
        let signals = HangupSignals(reporter, exitCodeAtOnce: 3), torture: LiveTorture
        do throws(LivePhoneError) {
            torture = try LiveTorture(plan) { event in
                switch event {
                case .began(let test): reporter.tick("[\(progress.withLock { $0 })/\(count)] \(test.name)")
                case .judged(let result):
                    progress.withLock { $0 += 1 }
                    reporter.say(TortureText.line(result))
                case .finished: break
                }
            }
        } catch { throw Failure.cannotRun(error.description) }
        signals.whenAsked {
            stopped.withLock { $0 = true }
            torture.stop()
        }
        let (results, failure) = torture.run()
        withExtendedLifetime(signals) {}
        if let failure { throw Failure.cannotRun(failure) }
        let places = Dictionary(uniqueKeysWithValues: plan.cases.enumerated().map { ($1.name, $0) })
        return TortureReport(
            target: order.targetText, transport: plan.flow.transport.isReliable ? "TCP" : "UDP", version: Hookswitch.version,
            began: began.formatted(.iso8601),
            elapsedSeconds: Double((MonotonicClock.now - start).wholeMilliseconds) / 1_000,
            wasStopped: stopped.withLock { $0 }, cases: results.sorted { (places[$0.name] ?? 0) < (places[$1.name] ?? 0) })
    }
}
