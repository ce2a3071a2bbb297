import CallKit
import Dispatch
import PushKit

/// A VoIP push as the system gives it to an app, and what the system would think of the app then: since iOS 13 an app must report a call
/// for each, before its delegate's method returns; one that does not is ended, and in the end gets no pushes any more.
public enum VoIPPush {
    /// Whether the app did what a push obliges it to.
    public enum Outcome: Equatable, Sendable {
        /// A call was reported before the delegate's method returned.
        case reported
        /// A call was reported after that, within the limit.
        case reportedLate
        /// No call was reported.
        case unreported
        /// No call was reported, and none had to be.
        case excused
        /// No registry of this process wants such pushes.
        case unwanted
    }

    /// Hands the push to a registry of this process that wants it. Ends no process: what iOS would do is the outcome.
    ///
    /// - Parameters:
    ///   - payload: what the push says.
    ///   - system: where a report counts.
    ///   - mustReport: as the app's delegate is told (iOS 26.4).
    ///   - limit: how long after the return of the delegate's method a report is waited for.
    ///   - completion: called once, on the registry's queue or on one of the system. Any call that is reported meanwhile
    ///     counts: deliver one push at a time.
    public static func deliver(
        _ payload: PKPushPayload, system: CallSystem = .current, mustReport: Bool = true, limit: Duration = .seconds(7),
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        let before = system.incomingReports
        let isWanted = PKPushRegistry.hookswitchRegistries(for: payload.type).contains { registry in
            registry.hookswitchDeliver(payload, mustReport: mustReport) {
                if system.incomingReports > before { return completion(.reported) }
                guard mustReport else { return completion(.excused) }
                DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) {
                    completion(system.incomingReports > before ? .reportedLate : .unreported)
                }
            } completion: {
            }
        }
        if !isWanted { DispatchQueue.global().async { completion(.unwanted) } }
    }
}
