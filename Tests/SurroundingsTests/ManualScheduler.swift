import HookswitchCombine

/// A scheduler whose time passes when the test says so.
final class ManualScheduler: Scheduler, @unchecked Sendable {
    private var actions: [@Sendable () -> Void] = []
    func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { action() }
    func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) { actions.append(action) }

    /// The waits that have begun until now are over.
    func pass() {
        let due = actions
        actions = []
        for action in due { action() }
    }
}
