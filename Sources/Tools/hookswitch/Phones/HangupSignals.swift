import Dispatch
import Foundation
import Runtime
import Synchronization

/// SIGINT, SIGTERM and SIGHUP hang up, and so does a reader of our output that goes; a SIGHUP that was ignored stays so. A later one ends
/// the process at once, with an exit code that blames nobody where the command has one. Make it before the first message leaves, and keep
/// it as long as that should be so.
final class HangupSignals {
    private let trap: SignalTrap
    private let wish = Wish()

    init(_ reporter: ProgressReporter, exitCodeAtOnce: Int32 = 1) {
        trap = SignalTrap(on: DispatchQueue(label: "hangup"), leavesIgnoredHangup: true) { [wish] request in
            if request == .stop { Foundation.exit(exitCodeAtOnce) }
            wish.tell()
        }
        reporter.whenReaderGoes { [wish] in wish.tell() }
    }

    /// Does it when it is to hang up, at once where that was asked for before.
    func whenAsked(_ hangUp: @escaping @Sendable () -> Void) { wish.whenTold(hangUp) }

    private final class Wish: Sendable {
        private let state = Mutex<(isTold: Bool, action: (@Sendable () -> Void)?)>((false, nil))

        func tell() {
            let action = state.withLock { state in
                state.isTold = true
                return state.action
            }
            action?()
        }

        func whenTold(_ action: @escaping @Sendable () -> Void) {
            let isLate = state.withLock { state in
                state.action = action
                return state.isTold
            }
            if isLate { action() }
        }
    }
}
