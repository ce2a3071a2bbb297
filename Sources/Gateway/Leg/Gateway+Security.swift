import Primitives
import SDP

/// Which legs are encrypted, and with what.
extension Gateway {
    /// The stricter one of those that have a say.
    func policy(of line: Line, calledBy caller: CallerIdentity) -> SRTPPolicy {
        responsible(for: line, calledBy: caller).map(\.srtp).reduce(.off) { $1.isStricter(than: $0) ? $1 : $0 }
    }

    /// A leg belongs to the line of its device: that of the caller where it is one of ours, else the one that is called. What a line answers itself has two
    /// ends that are ours.
    func responsible(for line: Line, calledBy caller: CallerIdentity) -> [LineConfiguration] {
        let called = line.configuration
        guard let own = caller.user.flatMap(self.line(numbered:))?.configuration, caller.host == configuration.domain else { return [called] }
        guard case .application = called.endpoint else { return [own] }
        return [own, called]
    }
}

extension SRTPPolicy {
    fileprivate func isStricter(than other: SRTPPolicy) -> Bool {
        switch (self, other) {
        case (.required, .optional), (.required, .off), (.optional, .off): true
        default: false
        }
    }
}
