import Dispatch
import Foundation
import Synchronization

/// A witness on a thread of its own, beside the rest of a command.
final class WitnessWatch: Sendable {
    /// The outcome, and the first disagreements.
    typealias Outcome = (report: WitnessReport, findings: [WitnessFinding])

    private static let mostFindings = 20

    private let outcome = Mutex<Result<Outcome, any Error>?>(nil), begun = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    private let end = Mutex<(@Sendable () -> Void)?>(nil)

    /// Returns when it watches.
    /// - Throws: as `WitnessRun`.
    init(_ order: WitnessOrder) throws {
        Thread.detachNewThread { [self] in
            let result = Result { try watch(order) }
            outcome.withLock { $0 = result }
            begun.signal()
            done.signal()
        }
        begun.wait()
        if case .failure(let error) = outcome.withLock({ $0 }) { throw error }
    }

    private func watch(_ order: WitnessOrder) throws -> Outcome {
        var run = try WitnessRun.begin(order, reporter: ProgressReporter(nil)), findings: [WitnessFinding] = []
        end.withLock { [ender = run.ender] in $0 = ender }
        begun.signal()
        let report = try run.perform { if findings.count < Self.mostFindings { findings.append($0) } }
        return (report, findings)
    }

    /// Takes no more samples.
    func stop() { end.withLock { $0 }?() }

    /// Returns when all samples are judged.
    func finish() throws -> Outcome {
        stop()
        done.wait()
        guard let outcome = outcome.withLock({ $0 }) else { preconditionFailure("a witness that is done has an outcome") }
        return try outcome.get()
    }
}
