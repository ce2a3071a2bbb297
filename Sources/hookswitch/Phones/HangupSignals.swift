import Dispatch
import Foundation
import Runtime

/// SIGINT, SIGTERM and SIGHUP hang up; a second one ends the process at once. Keep it as long as that should be so.
final class HangupSignals {
    private let trap: SignalTrap

    init(onHangup: @escaping @Sendable () -> Void) {
        trap = SignalTrap(on: DispatchQueue(label: "hangup")) { request in
            if request == .stop { Foundation.exit(1) }
            onHangup()
        }
    }
}
