import Dispatch
import Foundation
import Runtime

/// SIGINT, SIGTERM and SIGHUP hang up, and so does a reader of our output that goes; a SIGHUP that was ignored stays so. A later one ends the process at once,
/// with an exit code that blames nobody where the command has one. Keep it as long as that should be so.
final class HangupSignals {
    private let trap: SignalTrap

    init(_ teller: Teller, exitCodeAtOnce: Int32 = 1, onHangup: @escaping @Sendable () -> Void) {
        trap = SignalTrap(on: DispatchQueue(label: "hangup"), leavesIgnoredHangup: true) { request in
            if request == .stop { Foundation.exit(exitCodeAtOnce) }
            onHangup()
        }
        teller.whenReaderGoes(onHangup)
    }
}
