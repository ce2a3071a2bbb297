import Foundation
import Primitives
import UserAgent

/// The parties of each conversation, and the lines whose settings count for it.
extension CallTable {
    /// The leg that this one talks with.
    func peer(of leg: Leg) -> Leg? {
        if let old = leg.succession.replaces.flatMap(self.leg) { return peer(of: old) ?? ringingCaller(of: old) }
        return bridge(of: leg)?.peer(of: leg.uuid).flatMap(self.leg)
    }

    /// The leg that the callee will talk with, where its caller is replaced while it rings.
    private func ringingCaller(of callee: Leg) -> Leg? { callee.bridge.flatMap { isCalling($0) ? self.leg($0) : nil } }

    /// The leg that opened the bridge that this one belongs to.
    func opener(ofBridgeOf leg: Leg) -> Leg? { leg.bridge.flatMap(self.leg) }

    /// The party that it talks with, or will talk with when the call or the transfer under way succeeds.
    func partners(of leg: Leg) -> [Leg] {
        guard let bridge = bridge(of: leg) else { return [] }
        let partners: [UUID]
        switch bridge.state {
        case .calling: partners = bridge.caller == leg.uuid ? bridge.callees : [bridge.caller]
        case .transferring(let transfer) where transfer.targets.contains(leg.uuid): partners = [transfer.staying]
        case .grouped(let members): partners = members.filter { $0 != leg.uuid }
        case .answering, .joined, .transferring, .ended: partners = bridge.peer(of: leg.uuid).map { [$0] } ?? []
        }
        return partners.compactMap { self.leg($0) }
    }

    /// The lines whose settings count for a call: those of whom the leg talks with first, who was called where the leg's far end calls.
    func linesTalking(on leg: Leg) -> [Line] { (partners(of: leg).first?.ownLines ?? []) + leg.ownLines }

    /// The shortest of a limit of those lines.
    func shortest(_ limit: (Line) -> Duration?, on leg: Leg) -> Duration? { linesTalking(on: leg).compactMap(limit).min() }

    /// The line whose device or trunk an outgoing leg has called; nil for a device that sent the call on, and for our calls to ourselves.
    func lineReached(by leg: Leg) -> Line? {
        if let trunk = leg.trunk { return lines.line(numbered: trunk.line) }
        return leg.mayTransfer && leg.session?.isToOurselves == false ? leg.lines.device : nil
    }

    /// The line of ours that somebody at the far end is of: it calls, its device was called, or its trunk is the way there.
    func lineOfFarEnd(of leg: Leg) -> Line? {
        if let trunk = leg.trunk { return lines.line(numbered: trunk.line) }
        guard leg.direction == .incoming else { return leg.lines.device }
        // A caller that a believed source asserts need be in no From, and then is no line that calls.
        return leg.origin?.line ?? (leg.party.isKnown ? leg.party.user.flatMap(lines.line(numbered:)) : nil)
    }
}

extension Leg {
    /// The lines whose settings it brings into a call: that of whom it calls, or of who calls with it. Who calls an application, or has
    /// taken the place of somebody who was called, brings that of whom was called, too.
    var ownLines: [Line] {
        guard direction == .incoming else { return [lines.called] }
        return (bridge == nil || succession.standsForCallee ? [lines.called] : []) + (origin?.line.map { [$0] } ?? [])
    }
}
