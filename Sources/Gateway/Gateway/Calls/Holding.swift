import Media
import Primitives

/// Hold within a bridge: the leg whose far end is held hears music where the holder's line has some, and is not held by us; else the hold
/// is passed on. Lives on the signalling lane.
final class Holding {
    private let table: CallTable

    init(_ table: CallTable) { self.table = table }

    func hold(_ leg: Leg, _ isHeld: Bool) {
        if isHeld ? entertains(leg) : stopsEntertaining(leg) { return }
        leg.line.calls.setHeld(leg.uuid, isHeld)
    }

    private func entertains(_ leg: Leg) -> Bool {
        let holder = table.peer(of: leg)
        leg.hold.hearsHolder = false
        guard !leg.call.isHeld else { return false }
        switch holder.flatMap(table.lineOfFarEnd)?.configuration.holdMusic {
        case .sound(let music): return leg.playHoldMusic(music)
        case .theirs: leg.hold.hearsHolder = holder?.sendsOnHold ?? false
        case nil: break
        }
        return leg.hold.hearsHolder
    }

    private func stopsEntertaining(_ leg: Leg) -> Bool {
        if leg.hold.music != nil, leg.playHoldMusic(nil) { return true }
        defer { leg.hold.hearsHolder = false }
        return leg.hold.hearsHolder
    }
}
