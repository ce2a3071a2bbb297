import CallKit
import Foundation
import Media
import Primitives

/// Groups calls of a line as its user wants (CXSetGroupCallAction): two talk with each other, three or more are a conference, and one that
/// is taken out of all waits. Nobody ends by that. Lives on the signalling lane.
///
/// A call is of the conversation at once; the others hear of it when the input is worked off, as of all that happens between legs.
final class Grouping {
    private let context: GatewayContext
    private let table: CallTable
    private let recorder: Recorder
    /// The conference of each conversation of three or more.
    private var conferences: [UUID: UInt64] = [:]
    /// Below are the numbers of lines, whose applications are conferences, too.
    private var lastConference: UInt64 = 1 << 32

    init(_ context: GatewayContext, _ table: CallTable, _ recorder: Recorder) {
        (self.context, self.table, self.recorder) = (context, table, recorder)
    }

    /// Moves a call into the conversation of another one. False where one of the two is being called, transferred or replaced, or where
    /// there would be more than two and the sound of one cannot be mixed.
    func group(_ leg: Leg, with other: Leg) -> Bool {
        guard leg !== other, mayMove(leg), mayMove(other) else { return false }
        if let bridge = other.bridge, leg.bridge == bridge { return true }
        let present =
            other.bridge.map { bridge in leg.line.legsInOrder.filter { $0.bridge == bridge && $0.state == .connected } } ?? [other]
        guard present.count < 2 || (present + [leg]).allSatisfy(canBeMixed) else { return false }
        move(leg, to: other.bridge ?? beginConversation(with: other))
        return true
    }

    /// Takes a call out of its conversation, to wait alone. False where somebody is being called, transferred or replaced in it.
    func part(_ leg: Leg) -> Bool {
        guard mayMove(leg) else { return false }
        // One that talks with an application is alone.
        guard let bridge = leg.bridge, (table.bridges[bridge]?.members?.count ?? 0) > 1 else { return true }
        move(leg, to: openConversation())
        return true
    }

    private func mayMove(_ leg: Leg) -> Bool {
        guard leg.state == .connected, leg.transfer == nil, leg.succession.replaces == nil else { return false }
        guard let bridge = leg.bridge else { return true }
        return table.bridges[bridge]?.members != nil
    }

    private func canBeMixed(_ leg: Leg) -> Bool { leg.call.agreed?.canBeMixed ?? false }

    private func openConversation() -> UUID {
        let bridge = Bridge(id: context.randomUUID())
        table.open(bridge)
        return bridge.id
    }

    private func beginConversation(with leg: Leg) -> UUID {
        let bridge = openConversation()
        move(leg, to: bridge)
        return bridge
    }

    private func move(_ leg: Leg, to bridge: UUID) {
        let isHolding = table.bridge(of: leg)?.isHolding(leg.uuid) ?? leg.call.isHeldByRemote
        table.tell(leg.bridge, .parted(leg.uuid))
        if leg.application != nil { leaveApplication(leg) }
        leg.bridge = bridge
        table.tellOrEnd(bridge, .grouped(leg.uuid))
        if isHolding { table.tell(bridge, .remoteHold(leg.uuid, true)) }
    }

    /// The caller of an application talks with another call from here on.
    private func leaveApplication(_ leg: Leg) {
        leg.application = nil
        context.timers.arm(.application, of: leg, after: nil)
        leg.succession.standsForCallee = true
    }

    /// The sound of those that are in a conversation from here on.
    func arrange(_ members: [UUID], of bridge: UUID) {
        let legs = members.compactMap(table.leg).filter { $0.state == .connected }
        switch members.count {
        case 1: for leg in legs { place(leg, .alone) }
        case 2: connect(legs)
        default: mix(legs, in: bridge)
        }
        if members.count < 3 { conferences[bridge] = nil }
    }

    private func place(_ leg: Leg, _ place: Leg.Place) {
        guard leg.sound.place != place else { return }
        leg.media.unlink()
        leg.sound.place = place
        guard let audio = leg.call.agreed, !leg.media.update(leg.plan(for: audio), at: context.now) else { return }
        leg.end(.reported(.failed, .mediaFailed))
    }

    private func connect(_ legs: [Leg]) {
        for leg in legs { place(leg, .partner) }
        guard legs.count == 2 else { return }
        for leg in legs { leg.media.unlink() }
        legs[0].media.link(to: legs[1].media, at: context.now)
        for leg in legs { leg.limitMedia() }
        recorder.beginAnew(legs[0], legs[1])
    }

    private func mix(_ legs: [Leg], in bridge: UUID) {
        if conferences[bridge] == nil {
            lastConference += 1
            conferences[bridge] = lastConference
        }
        for leg in legs { conferences[bridge].map { place(leg, .conference($0)) } }
        for leg in legs.dropFirst() { recorder.beginAnew(legs[0], leg) }
    }
}
