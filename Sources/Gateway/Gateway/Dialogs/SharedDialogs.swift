import Foundation
import Primitives
import SIP
import UserAgent

/// Rows of this gateway's dialogs in the store that it shares with others, and the end of the dialogs of gateways that have died. Lives on
/// the signalling lane.
final class SharedDialogs {
    private let context: GatewayContext
    private let table: CallTable
    private let userAgent: UserAgent
    private let listeners: Listeners
    private let trunks: Trunks
    /// The rows that the store was given, of calls that are up.
    private var rows: [UUID: SavedDialog] = [:]
    /// Legs whose dialogs were made or have moved in the input that is worked off.
    private var moved: [Leg] = []

    init(_ context: GatewayContext, _ table: CallTable, _ userAgent: UserAgent, _ listeners: Listeners, _ trunks: Trunks) {
        (self.context, self.table, self.userAgent) = (context, table, userAgent)
        (self.listeners, self.trunks) = (listeners, trunks)
    }

    // MARK: Dialogs of this gateway

    /// An INVITE or UPDATE of the leg has had a 2xx: its dialog is there, or its target may be another.
    func note(_ leg: Leg) {
        if context.sharesCalls { moved.append(leg) }
    }

    /// Gives the store the rows that are new, or different.
    func settle() {
        guard !moved.isEmpty else { return }
        for leg in moved where leg.state == .connected {
            guard let row = SavedDialog(leg, peer: table.peer(of: leg)?.uuid), rows[leg.uuid] != row else { continue }
            rows[leg.uuid] = row
            context.store?.keep(.dialog(row))
        }
        moved.removeAll(keepingCapacity: true)
    }

    /// The call is over.
    func forget(_ leg: Leg) {
        if rows.removeValue(forKey: leg.uuid) != nil { context.store?.keep(.noDialog(leg.uuid)) }
    }

    // MARK: Dialogs of others

    func end(_ orphan: OrphanedDialog) {
        guard let (dialog, server) = orphan.dialog.restored(), let flow = listeners.flow(to: server) else {
            return ended(orphan, 503, at: context.now)
        }
        let credentials = orphan.dialog.trunk.flatMap(credentials)
        userAgent.bye(in: dialog, over: flow, reasons: EndCause.gatewayLost.reasons, credentials: credentials, at: context.now) {
            [unowned self] status, _, now in
            ended(orphan, status, at: now)
        }
    }

    /// For a trunk that asks who ends its call.
    private func credentials(ofTrunk number: String) -> Credentials? { trunks.all.first { $0.line.description == number }?.credentials }

    private func ended(_ orphan: OrphanedDialog, _ status: Int, at now: Instant) {
        let dialog = orphan.dialog
        context.journal.record(
            .callOrphanEnded, line: Text(dialog.line), at: now,
            [
                .callid: .init(dialog.callID), .with: .uuid(CallUUID(dialog.call)), .node: .init(orphan.node),
                .remote: .init(dialog.target), .status: .init(status),
            ])
        context.store?.keep(.noDialog(dialog.call))
    }
}

extension Message {
    /// Whether it makes a dialog, or may move its target.
    var movesDialog: Bool {
        guard let status, (200..<300).contains(status) else { return false }
        return method == .invite || method == .update
    }
}
