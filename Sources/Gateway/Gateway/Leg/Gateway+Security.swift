import Primitives
import SDP

/// How the media of a leg is protected, and whether it has connectivity checks.
struct LegMediaPolicy {
    var srtp: SRTPPolicy
    var keying: SRTPKeying
    var ice: ICEPolicy
}

/// Which legs are encrypted and with what, and which have connectivity checks.
extension Gateway {
    /// Of a leg that comes in: the stricter one of those that have a say.
    func mediaPolicy(of line: Line, calledBy caller: CallerIdentity) -> LegMediaPolicy {
        let lines = responsible(for: line, calledBy: caller)
        return LegMediaPolicy(
            srtp: lines.reduce(.off) { $1.configuration.srtp.isStricter(than: $0) ? $1.configuration.srtp : $0 },
            keying: lines[0].configuration.srtpKeying, ice: checks(wantedBy: lines))
    }

    /// Of a leg that calls: as the line wants it whose device or trunk is called, whichever line the call belongs to. A call to ourselves
    /// is encrypted where
    /// the end that takes it wants that, and nobody is there to check the way.
    func mediaPolicy(towards destination: Destination, for line: Line) -> LegMediaPolicy {
        guard !destination.isToOurselves else { return LegMediaPolicy(srtp: .optional, keying: .sdes, ice: .off) }
        let called = (destination.device ?? destination.trunk?.line).flatMap(self.line(numbered:)) ?? line
        return LegMediaPolicy(srtp: called.configuration.srtp, keying: called.configuration.srtpKeying, ice: called.configuration.ice)
    }

    private func checks(wantedBy lines: [Line]) -> ICEPolicy {
        func areWanted(_ policy: ICEPolicy) -> Bool { lines.contains { $0.configuration.ice == policy } }
        return areWanted(.off) ? .off : areWanted(.lite) ? .lite : .auto
    }

    /// A leg belongs to the line of its device: that of the caller where it is one of ours, else the one that is called. What a line
    /// answers itself has two
    /// ends that are ours.
    private func responsible(for line: Line, calledBy caller: CallerIdentity) -> [Line] {
        guard let own = caller.user.flatMap(self.line(numbered:)), caller.host == configuration.domain else { return [line] }
        guard case .application = line.configuration.endpoint else { return [own] }
        return [own, line]
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
