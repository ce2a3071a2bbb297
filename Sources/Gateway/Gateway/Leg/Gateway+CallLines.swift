import Foundation
import Media

/// Whose settings count for a call: those of the lines of the two that talk, or will.
extension Gateway {
    /// Whom the leg talks with first, which is whoever was called where the leg's far end calls.
    func linesTalking(on leg: Leg) -> [Line] { (partners(of: leg).first?.ownLines ?? []) + leg.ownLines }

    func shortest(_ limit: (Line) -> Duration?, on leg: Leg) -> Duration? { linesTalking(on: leg).compactMap(limit).min() }

    /// Whom it talks with, or will when the call or the transfer that is under way comes about.
    func partners(of leg: Leg) -> [Leg] {
        guard let bridge = leg.bridge.flatMap({ bridges[$0] }) else { return [] }
        let partners: [UUID]
        switch bridge.state {
        case .calling: partners = bridge.caller == leg.uuid ? bridge.callees : [bridge.caller]
        case .transferring(let transfer) where transfer.targets.contains(leg.uuid): partners = [transfer.staying]
        case .answering, .joined, .transferring, .ended: partners = bridge.peer(of: leg.uuid).map { [$0] } ?? []
        }
        return partners.compactMap { self.leg($0) }
    }

    /// Two talk with each other from here on: the limits of media are theirs.
    func limitMedia(of leg: Leg) {
        guard let audio = leg.call.agreed, !leg.call.hasNoAudio else { return }
        leg.media.update(leg.plan(for: audio), at: now)
        if leg.media.state == .started { leg.expectMedia() }
    }
}

extension Leg {
    /// The lines whose settings it brings into a call: that of whom it calls, or of who calls with it. Who calls an application, or has
    /// taken the place of
    /// somebody who was called, brings that of whom was called, too.
    var ownLines: [Line] {
        guard direction == .incoming else { return [calledLine] }
        return (bridge == nil || standsForCallee ? [calledLine] : []) + (origin?.line.map { [$0] } ?? [])
    }
}
