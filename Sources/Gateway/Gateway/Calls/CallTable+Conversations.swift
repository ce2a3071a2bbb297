import CallKit
import Foundation
import Primitives

/// In how many conversations a line has part, for its call limit.
extension CallTable {
    /// In how many conversations the line has part, whoever began them; that of `bridge` is not counted.
    func conversations(of line: Line, beside bridge: UUID? = nil) -> Int {
        func counts(_ leg: Leg?) -> Bool { bridge == nil || leg?.bridge != bridge }
        // A party that took a call over is in the conversation that it was, and so is a callee that talks with another than its caller.
        let here = line.legs.values.lazy.filter { [unowned self] in hasPart(line, by: $0) && counts($0) }
        return Set(here.map { $0.bridge ?? $0.uuid }).count + line.features.outgoing.count { counts(leg($0)) }
            + line.features.taken.count { counts(leg($0)) }
    }

    /// Whether the line has part in as many conversations as it may; that of `bridge` is not counted.
    func isFull(_ line: Line, beside bridge: UUID? = nil) -> Bool {
        let most = line.configuration.maximumCalls
        // There is a leg or an entry for each conversation, and mostly far fewer than that: nothing is to be counted then.
        guard line.legs.count + line.features.outgoing.count + line.features.taken.count >= most else { return false }
        return conversations(of: line, beside: bridge) >= most
    }

    /// Whether the line rings as a member of a group: it has room for the call, and wants it.
    func mayRing(_ line: Line, for leg: Leg) -> Bool { !isFull(line) && !line.features.wouldRefuse(leg.party.update) }

    /// Call groups of the line beyond its conversations: who took a call over has one beside that of whom it talks with, and who was
    /// transferred away from the line goes on in one. Asked of a line that has as many groups as it may have conversations; of others it
    /// does not matter.
    func surplusGroups(of line: Line) -> Int {
        // Each group has a leg at least, and legs are counted already.
        guard line.legs.count >= line.configuration.maximumCalls, line.system.counts.groups >= line.configuration.maximumCalls else {
            return 0
        }
        var groups: [UUID: Set<Int>] = [:]
        for call in line.system.calls { if let bridge = leg(call.uuid)?.bridge { groups[bridge, default: []].insert(call.group) } }
        let others = conversationsHandedOn(by: line)
        return groups.reduce(0) { $0 + $1.value.count - (others.contains($1.key) ? 0 : 1) }
    }

    /// Whether the line takes part in the conversation that this leg of its own is of.
    private func hasPart(_ line: Line, by leg: Leg) -> Bool {
        leg.direction == .incoming && !leg.succession.isHandedOn || isLeft(leg) && lineReached(by: leg) === line
    }

    /// Conversations that the line has legs of and no part in: their callers were transferred away from it.
    private func conversationsHandedOn(by line: Line) -> Set<UUID> {
        let legs = line.legs.values
        guard legs.contains(where: \.succession.isHandedOn) else { return [] }
        return Set(legs.filter(\.succession.isHandedOn).compactMap(\.bridge)).subtracting(
            legs.filter { hasPart(line, by: $0) }.compactMap(\.bridge))
    }

    /// The call that it was made for is over, or was of another line: one of its ends was transferred.
    private func isLeft(_ leg: Leg) -> Bool { leg.bridge.map { self.leg($0)?.line !== leg.line } ?? false }
}
