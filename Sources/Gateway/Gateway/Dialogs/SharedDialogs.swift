import Foundation
import Primitives
import SIP
import UserAgent

/// Rows of this gateway's dialogs in the store that it shares with others, and what becomes of the dialogs of gateways that have died. Lives
/// on the signalling lane.
final class SharedDialogs {
    private let context: GatewayContext
    private let table: CallTable
    private let userAgent: UserAgent
    private let listeners: Listeners
    private let trunks: Trunks
    /// The rows that the store was given, of calls that there are.
    private var rows: [UUID: SavedDialog] = [:]
    /// Legs whose rows may be new or others in the input that is worked off.
    private var moved: [Leg] = []
    /// Goes on with calls of gateways that have died; set once.
    var takeovers: Takeovers?

    init(_ context: GatewayContext, _ table: CallTable, _ userAgent: UserAgent, _ listeners: Listeners, _ trunks: Trunks) {
        (self.context, self.table, self.userAgent) = (context, table, userAgent)
        (self.listeners, self.trunks) = (listeners, trunks)
        table.onWithdrawal = { [unowned self] leg in forget(leg) }
    }

    // MARK: Dialogs of this gateway

    /// A message of the leg, or another partner, may have changed what its row says.
    func note(_ leg: Leg) {
        if context.sharesCalls { moved.append(leg) }
    }

    /// Gives the store the rows that are new, or different.
    func settle() {
        guard !moved.isEmpty else { return }
        for leg in moved {
            let answered = rows[leg.uuid]?.answered.map { Date(timeIntervalSince1970: $0.answered) } ?? context.date
            guard let row = SavedDialog(leg, in: table, answered: answered), rows[leg.uuid] != row else { continue }
            rows[leg.uuid] = row
            context.store?.keep(.dialog(row))
        }
        moved.removeAll(keepingCapacity: true)
    }

    private func forget(_ leg: Leg) {
        if rows.removeValue(forKey: leg.uuid) != nil { context.store?.keep(.noDialog(leg.uuid)) }
    }

    // MARK: Dialogs of others

    /// The row is this gateway's from now on, and goes when the leg does.
    func adopt(_ leg: Leg, _ row: SavedDialog) {
        rows[leg.uuid] = row
        note(leg)
    }

    /// The way to the far end of a dialog; nil where there is none from here.
    func flow(to dialog: SavedDialog) -> Flow? { dialog.server.flatMap(listeners.flow(to:)) }

    func end(_ orphan: OrphanedDialog) {
        guard let flow = flow(to: orphan.dialog) else { return ended(orphan, 503, at: context.now) }
        if let word = orphan.dialog.lastWord {
            let word = LastWord(message: Array(word.utf8), flow: flow)
            return userAgent.send(word, at: context.now) { [unowned self] status, now in ended(orphan, status, at: now) }
        }
        guard let dialog = orphan.dialog.restored() else { return ended(orphan, 503, at: context.now) }
        let credentials = orphan.dialog.trunk.flatMap(credentials)
        userAgent.bye(in: dialog, over: flow, reasons: EndCause.gatewayLost.reasons, credentials: credentials, at: context.now) {
            [unowned self] status, _, now in
            ended(orphan, status, at: now)
        }
    }

    /// For a trunk that asks who ends its call.
    private func credentials(ofTrunk number: String) -> Credentials? { trunk(ofLine: number)?.credentials }

    func trunk(ofLine number: String) -> Trunk? { trunks.all.first { $0.line.description == number } }

    /// - Parameter status: nil where the caller was refused.
    private func ended(_ orphan: OrphanedDialog, _ status: Int?, at now: Instant) {
        let dialog = orphan.dialog
        var details: JournalEvent.Details = [
            .callid: .init(dialog.callID), .with: .uuid(CallUUID(dialog.call)), .node: .init(orphan.node), .remote: .init(dialog.target),
        ]
        if let status { details[.status] = .init(status) }
        details[.cause] = takeovers?.obstacle(to: dialog).map { .init($0) }
        context.journal.record(.callOrphanEnded, line: Text(dialog.line), at: now, details)
        context.store?.keep(.noDialog(dialog.call))
    }
}

extension Message {
    /// Whether it begins or answers a call, or may move the target of its dialog or its media.
    var movesDialog: Bool {
        guard let status else { return method == .invite && to.tag == nil || method == .ack && !content.isEmpty }
        return status < 300 && (method == .invite || method == .update)
    }
}
