import CallJournal
import Foundation
import Primitives
import SIP
import UserAgent

/// Calls somebody for the caller of an application, who is up already and waits: as a transfer does, for the one who stays.
///
/// The new call is one of the caller's line, in the caller's call group. Who answers first is connected with the caller; where nobody does
/// the application goes on. Lives on the signalling lane.
final class ApplicationCalls {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    private let dialling: Dialling
    private let queues: Queues
    private unowned let ringing: Ringing
    private unowned let transfers: Transfers

    init(
        _ context: GatewayContext, _ table: CallTable, _ router: Router, _ dialling: Dialling, _ queues: Queues, _ ringing: Ringing,
        _ transfers: Transfers
    ) {
        (self.context, self.table, self.router, self.queues) = (context, table, router, queues)
        (self.dialling, self.ringing, self.transfers) = (dialling, ringing, transfers)
    }

    /// - Returns: why nobody can be called; nil: somebody is.
    func call(_ callee: ApplicationCallee, for leg: Leg) -> EndCause? {
        guard leg.state == .connected, leg.bridge == nil else { return .failed }
        guard table.hasRoom else { return EndCause(status: 503, reasons: [.q850(34)]) }
        switch callee {
        case .number(let number): return call(number, for: leg)
        case .trunk(let line, let number): return call(number ?? line, overTrunkOf: line, for: leg)
        case .group(let group):
            open(leg, isGroup: true)
            ringing.hunt(group, for: leg)
            return nil
        }
    }

    private func call(_ number: Text, for leg: Leg) -> EndCause? {
        guard let target = router.lines.line(for: number, host: context.configuration.domain) else { return Self.unallocated }
        if let refusal = transfers.refusal(by: target, ofTransferOf: leg, in: leg.uuid) { return refusal.cause }
        return call(transfers.destinations(ofTransferTo: number, target, for: leg, isSecure: false), of: target, for: leg)
    }

    private func call(_ number: Text, overTrunkOf line: Text, for leg: Leg) -> EndCause? {
        guard let target = router.lines.line(numbered: line), router.trunks.trunk(of: target) != nil else { return Self.unallocated }
        if let refusal = transfers.refusal(by: target, ofTransferOf: leg, in: leg.uuid) { return refusal.cause }
        return call(router.destinations(of: target, dialled: number, caller: leg.party, maxForwards: 70), of: target, for: leg)
    }

    private func call(_ found: [Destination], of target: Line, for leg: Leg) -> EndCause? {
        guard !found.isEmpty else { return .subscriberAbsent }
        open(leg, isGroup: false)
        let hops = leg.session?.request.hopsLeft ?? 70
        dialling.call(
            found.map { destination in
                var destination = destination
                (destination.line, destination.maxForwards) = (target, hops)
                return destination
            }, for: leg)
        table.tell(leg.bridge, .dialled)
        return nil
    }

    private func open(_ leg: Leg, isGroup: Bool) {
        leg.bridge = leg.uuid
        table.open(Bridge(caller: leg.uuid, isGroup: isGroup))
        if leg.call.isHeldByRemote { table.tell(leg.bridge, .remoteHold(leg.uuid, true)) }
    }

    private static let unallocated = EndCause(status: 404, reasons: [.q850(1)])

    /// Somebody answered: the two talk with each other from here on. False for a caller without an application.
    func connect(_ leg: Leg) -> Bool {
        guard leg.application != nil, let peer = table.peer(of: leg) else { return false }
        leg.application = nil
        context.timers.arm(.application, of: leg, after: nil)
        queues.answered(leg, by: peer)
        transfers.transferred(leg, from: nil, to: peer)
        table.tell(leg.bridge, .callerConnected)
        return true
    }

    /// Parties that ring for the caller ring no more.
    func cancel(_ leg: Leg) {
        guard let bridge = leg.bridge, table.isCalling(bridge) else { return }
        ringing.endHunt(of: leg.uuid)
        for callee in table.callees(of: bridge) { table.leg(callee)?.requestEnd(.ringTimeout) }
    }

    /// The parties that were called are gone. False where nobody was called for this caller.
    func giveUp(_ leg: Leg, _ cause: EndCause, in bridge: UUID) -> Bool {
        guard leg.bridge == bridge else { return false }
        leg.bridge = nil
        table.close(bridge)
        ringing.endHunt(of: leg.uuid)
        leg.scribe.write(.transferFailed, at: context.now, [.status: .init(cause.status)])
        return true
    }

    /// Asks the decision hook; as dialled where there is none. Nothing follows for a caller who is gone by then.
    func ask(about leg: Leg, _ digits: Text, then: @escaping (CallDecision) -> Void) {
        guard let session = leg.session else { return }
        var call = IncomingCall(session: session, caller: leg.party, callingLine: leg.origin?.line)
        (call.dialled, call.trunk, call.digits) = (leg.origin?.dialled ?? .empty, leg.trunk, digits)
        router.ask(about: call) { decision in
            guard leg.state == .connected, leg.application != nil else { return }
            then(decision)
        }
    }
}
