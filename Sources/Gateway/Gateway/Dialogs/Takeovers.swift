import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// Calls of gateways that have died, which go on here: both far ends are told by a re-INVITE where their requests and packets go from now
/// on. Lives on the signalling lane.
///
/// CallKit has each of the two calls as one that is started, and connected when its far end has answered the re-INVITE. A call of which one
/// far end does not ends at both.
final class Takeovers {
    private let context: GatewayContext
    private let table: CallTable
    private let dialogs: SharedDialogs
    private let dialling: Dialling
    /// The calls that are up.
    private var calls: [UUID: Call] = [:]
    /// The `id` of each of them in recents.
    private(set) var recentIDs: Set<UUID> = []

    struct Call {
        let orphan: OrphanedDialog
        let answered: Date
        /// As the dead gateway left them; those of the first of the two.
        let recents: [RecentCall]
    }

    init(_ context: GatewayContext, _ table: CallTable, _ dialogs: SharedDialogs, _ dialling: Dialling) {
        (self.context, self.table, self.dialogs, self.dialling) = (context, table, dialogs, dialling)
    }

    private var isOn: Bool { context.configuration.takeover == .reinvite }

    /// Goes on with the calls that can.
    /// - Returns: those that are to be ended.
    func take(_ orphans: OrphanedCalls) -> OrphanedCalls {
        guard isOn else { return orphans }
        var left = orphans
        left.dialogs = sharingObstacles(orphans.dialogs)
        for (first, second) in pairs(left.dialogs) {
            let calls = [first, second].map(\.dialog.call), ids = first.dialog.recentIDs.union(second.dialog.recentIDs)
            guard take(first, second, orphans.recents) else { continue }
            left.dialogs.removeAll { calls.contains($0.dialog.call) }
            left.recents.removeAll { ids.contains($0.id) }
        }
        return left
    }

    /// The obstacle of one of two keeps the other from going on, too.
    private func sharingObstacles(_ dialogs: [OrphanedDialog]) -> [OrphanedDialog] {
        let all = Dictionary(dialogs.map { ($0.dialog.call, $0.dialog) }) { first, _ in first }
        return dialogs.map { orphan in
            var orphan = orphan
            guard let answered = orphan.dialog.answered, answered.obstacle == nil else { return orphan }
            let partner = orphan.dialog.peer.flatMap { all[$0] }
            let isMutual = partner?.peer == orphan.dialog.call && partner?.line == orphan.dialog.line
            orphan.dialog.answered?.obstacle = isMutual ? partner?.answered?.obstacle : .alone
            return orphan
        }
    }

    /// The two dialogs of each conversation that can go on, the first one first.
    private func pairs(_ dialogs: [OrphanedDialog]) -> [(OrphanedDialog, OrphanedDialog)] {
        let all = Dictionary(dialogs.map { ($0.dialog.call, $0) }) { first, _ in first }
        return dialogs.compactMap { first in
            guard let call = first.dialog.answered, call.isFirst, call.obstacle == nil, let second = first.dialog.peer.flatMap({ all[$0] })
            else { return nil }
            return second.dialog.answered.flatMap { $0.isFirst || $0.obstacle != nil ? nil : (first, second) }
        }
    }

    private func take(_ first: OrphanedDialog, _ second: OrphanedDialog, _ recents: [RecentCall]) -> Bool {
        guard let line = table.lines.line(numbered: Text(first.dialog.line)), table.hasRoom(ending: -1),
            ![first, second].contains(where: { table.isTaken($0.dialog.call) }), let one = destination(first), let two = destination(second)
        else { return false }
        let legs = [makeLeg(to: one, on: line), makeLeg(to: two, on: line)]
        let bridge = Bridge(id: legs[0].uuid, joining: legs[0].uuid, with: legs[1].uuid)
        table.open(bridge)
        for (leg, orphan) in zip(legs, [first, second]) {
            leg.bridge = bridge.id
            table.add(leg)
            let answered = leg.destination?.value.adoption?.answered ?? context.date
            let ids = orphan.dialog.recentIDs
            let own = recents.filter { ids.contains($0.id) }
            recentIDs.formUnion(own.map(\.id))
            calls[leg.uuid] = Call(orphan: orphan, answered: answered, recents: own)
            dialogs.adopt(leg, orphan.dialog)
        }
        start(legs[0], one, with: nil)
        start(legs[1], two, with: legs[0].uuid)
        // Nothing would take it away.
        if legs.allSatisfy({ table.leg($0.uuid) == nil }) { table.close(bridge.id) }
        return true
    }

    private func start(_ leg: Leg, _ destination: Destination, with group: UUID?) {
        leg.line.calls.start(leg.uuid, to: CXHandle(type: .generic, value: destination.shownTarget), with: group) { [unowned self] in
            table.discard(leg)
            table.tell(leg.bridge, .ended(leg.uuid, .gatewayLost))
            if let call = calls.removeValue(forKey: leg.uuid) { dialogs.end(call.orphan) }
        }
    }

    /// Nil where the row cannot be read, or nothing leads to the far end from here.
    private func destination(_ orphan: OrphanedDialog) -> Destination? {
        let row = orphan.dialog
        guard let call = row.answered, let dialog = row.restored(), let flow = dialogs.flow(to: row) else { return nil }
        // The far end is not told who calls: the dialog has its names.
        var destination = Destination(
            target: dialog.remoteTarget, addressOfRecord: dialog.remote.uri, flow: flow, caller: CallerIdentity(host: dialog.local.uri.host)
        )
        (destination.device, destination.line) = (call.device.map { Text($0) }, lineOfCaller(call))
        destination.trunk = row.trunk.flatMap(dialogs.trunk(ofLine:))
        destination.credentials = destination.trunk?.credentials
        destination.adoption = Adoption(orphan, dialog, call)
        return destination
    }

    /// The line whose settings count for the first of the two beside those of the line that was called.
    private func lineOfCaller(_ call: SavedCall) -> Line? {
        call.isFirst ? call.device.flatMap { table.lines.line(numbered: Text($0)) } : nil
    }

    private func makeLeg(to destination: Destination, on line: Line) -> Leg {
        let adoption = destination.adoption
        let leg = dialling.makeLeg(to: destination, on: line, as: adoption?.orphan.dialog.call)
        leg.trunk = destination.trunk
        leg.party.displayName = adoption?.dialog.remote.displayName
        guard let call = adoption?.call else { return leg }
        leg.mayTransfer = call.mayTransfer
        leg.call.negotiation.resume(call.identity)
        leg.call.negotiation.local.codecs = call.codecs(of: context.configuration.media.offered)
        protect(&leg.call.negotiation.local.security, call)
        return leg
    }

    /// The protection stays as it was agreed; the keys are new.
    private func protect(_ security: inout LocalSecurity, _ call: SavedCall) {
        if call.isEncrypted {
            security = .ofThisProcess(.required, keying: .sdes, using: &context.random)
        } else if security.policy == .optional {
            security = LocalSecurity()
        }
    }

    /// The far end of a leg has answered. False where the call began here.
    func connected(_ leg: Leg) -> Bool {
        guard let call = calls[leg.uuid] else { return false }
        let lasted = Duration.milliseconds(Int64(max(0, context.date.timeIntervalSince(call.answered)) * 1_000))
        if let limit = leg.ownLines.compactMap(\.configuration.maximumDuration).min() {
            context.timers.arm(.duration, of: leg, after: max(.zero, limit - lasted))
        }
        guard let other = table.peer(of: leg), other.state == .connected else { return true }
        leg.media.link(to: other.media, at: context.now)
        for leg in [leg, other] { leg.limitMedia() }
        return true
    }

    /// A call is over. Nil where it began here.
    /// - Returns: its recents, as the dead gateway left them.
    func ended(_ leg: Leg) -> [RecentCall]? {
        guard let call = calls.removeValue(forKey: leg.uuid) else { return nil }
        recentIDs.subtract(call.recents.map(\.id))
        // Nothing was sent to its far end.
        if leg.session == nil { dialogs.end(call.orphan) }
        return call.recents
    }

    /// The reason why a dialog is ended; nil where it is not asked.
    func obstacle(to dialog: SavedDialog) -> String? {
        guard isOn else { return nil }
        guard dialog.lastWord == nil else { return "unanswered" }
        guard let call = dialog.answered else { return "unknown" }
        return call.obstacle?.rawValue ?? "no-room"
    }
}
