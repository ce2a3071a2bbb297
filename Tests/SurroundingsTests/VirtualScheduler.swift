import HookswitchCombine

/// A scheduler of its own time, which passes when the test says so. An action of no delay waits for the next passing too.
final class VirtualScheduler: Scheduler, @unchecked Sendable {
    private var now = 0.0
    private var actions: [(due: Double, action: @Sendable () -> Void)] = []

    func hookswitchSchedule(_ action: @escaping @Sendable () -> Void) { actions.append((now, action)) }
    func hookswitchSchedule(after interval: HookswitchInterval, _ action: @escaping @Sendable () -> Void) {
        actions.append((now + interval.seconds, action))
    }

    var hookswitchNow: HookswitchInterval { HookswitchInterval(floatLiteral: now) }
    /// Whether nothing is to happen any more.
    var isIdle: Bool { actions.isEmpty }

    /// So many seconds pass: what is due within them happens in the order of its time, and of its coming.
    func pass(_ seconds: Double) {
        let end = now + seconds
        while let next = actions.indices.min(by: { actions[$0].due < actions[$1].due }), actions[next].due <= end {
            let (due, action) = actions.remove(at: next)
            now = max(now, due)
            action()
        }
        now = end
    }
}
