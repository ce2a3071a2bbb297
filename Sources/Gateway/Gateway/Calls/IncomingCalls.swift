import CallJournal
import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// Takes INVITEs outside of dialogs: finds the line, and reports the call to its provider. Lives on the signalling lane.
final class IncomingCalls {
    private let context: GatewayContext
    private let table: CallTable
    private let admission: Admission
    private let log: RequestLog
    private let router: Router
    private let services: LineServices
    private let dialling: Dialling
    private let ringing: Ringing
    private let transfers: Transfers
    private let userAgent: UserAgent
    /// No new call is taken.
    private(set) var isDraining = false

    init(
        _ context: GatewayContext, _ table: CallTable, _ admission: Admission, _ log: RequestLog, _ router: Router,
        _ services: LineServices,
        _ dialling: Dialling, _ ringing: Ringing, _ transfers: Transfers, _ userAgent: UserAgent
    ) {
        (self.context, self.table, self.admission, self.log, self.router, self.services) = (
            context, table, admission, log, router, services
        )
        (self.dialling, self.ringing, self.transfers, self.userAgent) = (dialling, ringing, transfers, userAgent)
    }

    private var wakeUps: WakeUps { ringing.wakeUps }

    /// Refuses new calls from here on.
    func drain() { isDraining = true }

    // MARK: Who calls

    func receive(_ session: InviteSession) {
        guard !isDraining || isUnderWay(session.request) else { return refuseForNow(session, .draining) }
        let source = session.flow.remote.address
        if let trunk = router.trunks.sender(over: session.flow) { return receive(session, from: trunk) }
        switch admission.admission(of: session.request, from: source) {
        case .admitted(let caller, let line): receive(IncomingCall(session: session, caller: caller, callingLine: line))
        case .challenged(let headers): refuse(session, 401, RequestRefusal(challenged: session.request, headers), headers: headers)
        case .forbidden: refuse(session, 403, .forbidden)
        }
    }

    /// Whether the INVITE is of a call that was there before: our own call to ourselves, or one in the place of a call that is up.
    private func isUnderWay(_ invite: Message) -> Bool {
        if userAgent.isOwnCall(invite) { return true }
        let dialog = invite.headers.elements(.replaces).first.flatMap { DialogIdentifier(parsing: $0) }
        return dialog.flatMap(transfers.leg(in:)) != nil
    }

    private func receive(_ session: InviteSession, from trunk: Trunk) {
        if let credentials = trunk.credentials { session.authenticate(as: credentials) }
        guard let dialled = router.trunks.number(dialledBy: session.request, from: trunk) else { return refuseNumber(session) }
        let caller = admission.identity(in: session.request, from: session.flow.remote.address)
        route(IncomingCall(session: session, caller: caller, dialled: dialled, trunk: trunk))
    }

    private func receive(_ call: IncomingCall) {
        let replaces = call.invite.headers.elements(.replaces)
        guard replaces.isEmpty else { return replace(call, replaces) }
        guard let target = call.invite.requestURI, let dialled = table.lines.routing.dialledNumber(target) else {
            return refuseNumber(call.session)
        }
        var call = call
        call.dialled = dialled
        // The callee of a call of ours may be named by somebody else: a callee that sends it on (3xx), or a party that has it transferred.
        guard let line = call.callingLine, userAgent.ownCall(call.invite) == nil,
            let code = services.featureCode(dialled, over: call.session.flow, from: line)
        else { return route(call) }
        perform(code, call, of: line)
    }

    private func perform(_ code: FeatureCode.Dialled, _ call: IncomingCall, of line: Line) {
        switch services.perform(code, call.dialled, of: line) {
        case .announce(let announcement): announce(announcement, to: call)
        case .call(let number):
            var call = call
            call.dialled = number
            route(call)
        case .refused(let status, let reason): refuse(call.session, status, .unknownNumber, reason: reason)
        }
    }

    /// An incoming call like any other: reported, answered, and ended when the sound is over.
    private func announce(_ announcement: AnnouncementApplication, to call: IncomingCall) {
        guard table.hasRoom else { return refuseForNow(call.session, .legs) }
        guard let service = table.lines.service, let leg = arrive(IncomingCall(session: call.session, caller: call.caller), on: service)
        else { return }
        leg.application = announcement
        admit(leg, [])
    }

    private func replace(_ call: IncomingCall, _ values: [Text]) {
        let old: Leg
        do throws(Transfers.Refusal) { old = try transfers.legToReplace(by: call, values) } catch {
            return refuse(call.session, error.status, error.cause, reason: error.reason)
        }
        guard let leg = arrive(call, on: old.line) else { return }
        transfers.take(leg, inPlaceOf: old, callingLine: call.callingLine)
        admit(leg, [])
    }

    // MARK: Which line

    private func route(_ call: IncomingCall) {
        router.decide(call) { [unowned self] call in isDraining && router.hook != nil ? refuseForNow(call.session, .draining) : follow(call)
        }
    }

    private func follow(_ call: IncomingCall) {
        let session = call.session
        guard let line = router.line(for: call) else { return refuse(session, 404, .unknownNumber) }
        guard table.hasRoom(forCallTo: line) else {
            admission.refused(.legs, session.flow.remote.address)
            return refuseForNow(session, .legs)
        }
        guard call.trunk != nil || admission.admitsCall(call.invite, over: session.flow) else { return refuseForNow(session, .callRate) }
        if router.isLoop(call, to: line) { return refuse(session, 482, .loop) }
        // Conversations that its devices began, or took for another line, count, too: those live at the lines that were called. Without any
        // the line's own system counts.
        if !(line.features.outgoing.isEmpty && line.features.taken.isEmpty), table.isFull(line) {
            return refuse(session, CallRefusal(.maximumCalls, line.features.statuses), .lineFull)
        }
        if call.decision.endpoint != nil { return receive(call, on: line, []) }
        if case .group = line.configuration.endpoint { return receive(call, on: line, []) }
        let callees = router.destinations(of: line, dialled: call.dialled, caller: call.caller, after: call.invite)
        if callees.isEmpty, line.rings { return receiveWithoutCallees(call, on: line) }
        receive(call, on: line, callees)
    }

    /// No device of the line is registered, or no server of its trunk is there.
    private func receiveWithoutCallees(_ call: IncomingCall, on line: Line) {
        if router.trunks.trunk(of: line) != nil {
            // One whose servers have no TLS has none a moment later either.
            let isThere =
                call.invite.isSecure && !router.destinations(of: line, dialled: call.dialled, caller: call.caller, maxForwards: 1).isEmpty
            return isThere ? refuseUnavailable(call, on: line, .notSecure) : refuseForNow(call.session, .unreachable)
        }
        // A refused caller is told so, whether a device is there or not, and wakes nobody.
        guard !line.features.wouldRefuse(call.caller.update) else { return receive(call, on: line, []) }
        guard wakeUps.mayPark(on: line) else { return refuseUnavailable(call, on: line, .noDevice) }
        guard let leg = arrive(call, on: line) else { return }
        table.add(leg)
        wakeUps.park(leg)
    }

    // MARK: The report

    /// reserve < report < 180 < answer transaction.
    private func receive(_ call: IncomingCall, on line: Line, _ callees: [Destination]) {
        guard let leg = arrive(call, on: line) else { return }
        leg.trunk = call.trunk
        leg.origin?.endpoint = call.decision.endpoint
        admit(leg, callees)
    }

    /// The leg of an INVITE, and its 100.
    private func arrive(_ call: IncomingCall, on line: Line) -> Leg? {
        // It is up already (mapping I21). A client may use both again for its next attempt (RFC 3261 §8.1.3.5), and that is another call.
        let session = call.session, caller = call.caller, attempt = session.attempt
        guard table.leg(ofAttempt: attempt) == nil else {
            refuse(session, 482, .merged)
            return nil
        }
        let leg = dialling.makeLeg(of: session, from: caller, on: line)
        (leg.party, leg.mayTransfer) = (caller, caller.isKnown)
        leg.origin = CallOrigin(
            line: call.callingLine, attempt: attempt, caller: caller, handle: caller.handle, dialled: call.dialled, began: context.date)
        leg.origin?.recentID = services.recentID(of: attempt, on: line)
        log.received(session.request, over: session.flow, call: leg.uuid, line: line.configuration.number)
        leg.scribe.trace(session.request, .received, false, over: leg.flowLabel, at: context.now)
        session.delegate = leg
        session.respond(status: 100, at: context.now)
        if !isAnotherPart(session, ofConversationOf: call.callingLine) { call.callingLine?.features.outgoing.insert(leg.uuid) }
        return leg
    }

    /// A call of ours to ourselves, made for one that the line had begun: whoever was called sent it on, or it was transferred.
    private func isAnotherPart(_ session: InviteSession, ofConversationOf line: Line?) -> Bool {
        let made = userAgent.ownCall(session.request)?.delegate as? Leg
        guard let line, let origin = made.flatMap(table.opener(ofBridgeOf:))?.origin else { return false }
        return origin.line === line
    }

    private func admit(_ leg: Leg, _ callees: [Destination]) {
        guard let session = leg.session, let origin = leg.origin else { return }
        if let error = leg.takeOffer() {
            log.refused(leg, status: 488, RequestRefusal(error))
            return forgo(leg)
        }
        do { try leg.media.reserve(leg.call.negotiation.ports, at: context.now) } catch {
            leg.scribe.write(.mediaRefused, at: context.now, [.cause: "no-port"])
            admission.refused(.ports, session.flow.remote.address)
            answerForNow(session)
            log.refused(leg, status: 503, .ports)
            return forgo(leg)
        }
        leg.listenOnReservation()
        table.add(leg)
        report(leg, origin, callees)
    }

    private func report(_ leg: Leg, _ origin: CallOrigin, _ callees: [Destination]) {
        let isReplacing = leg.succession.replaces != nil, provider = leg.line.provider
        // A leg that takes over a call that is up is not screened.
        leg.line.features.isOpen = isReplacing
        if !isReplacing { leg.line.features.noteCaller(origin.handle) }
        // Until the call that is taken over ends, whoever takes it over is there beside it.
        let room = table.surplusGroups(of: leg.line) + (isReplacing ? 1 : 0)
        if room > 0 { provider.widen(by: room) }
        provider.hookswitchReport(leg.uuid, update: origin.caller.update(origin.handle)) { [unowned self] error in
            if let error { return refuse(leg, error) }
            services.noteUp(leg)
            ringing.ring(leg, callees)
        }
        if room > 0 { provider.widen(by: -room) }
    }

    /// A call that is not even reported.
    private func forgo(_ leg: Leg) {
        leg.origin?.line?.features.outgoing.remove(leg.uuid)
        table.discard(leg)
    }

    /// The line's system does not take the call.
    private func refuse(_ leg: Leg, _ error: any Error) {
        let refusal = leg.line.features.refusal(of: error, callInfo: context.configuration.callInfo)
        leg.session?.refuse(refusal.cause, adding: refusal.headers, at: context.now)
        log.refused(leg, status: refusal.cause.status, RequestRefusal(reportRefused: error))
        services.noteOutgoing(leg, cause: refusal.cause, reason: "refused")
        table.discard(leg)
    }

    // MARK: Refusals

    /// Nothing that is a number, or one that nobody has.
    private func refuseNumber(_ session: InviteSession) {
        session.request.requestURI?.escapesReserved == true ? refuse(session, 404, .unknownNumber) : refuse(session, 484, .noNumber)
    }

    /// Nobody is registered; or nobody over TLS, and the caller wants that (RFC 5630 §5.3, §10.2). The call was missed.
    private func refuseUnavailable(_ call: IncomingCall, on line: Line, _ cause: RequestRefusal) {
        let headers = router.warnings(whereNobodyIsThereFor: call.invite), cause = headers.isEmpty ? cause : .notSecure
        let id = context.randomUUID()
        services.noteMissed(call, id, by: line, reason: cause.rawValue)
        call.session.respond(status: 480, headers: headers, at: context.now)
        log.refused(call.invite, over: call.session.flow, status: 480, cause, call: id)
    }

    private func refuse(_ session: InviteSession, _ refusal: CallRefusal, _ cause: RequestRefusal) {
        session.refuse(refusal.cause, adding: refusal.headers, at: context.now)
        log.refused(session.request, over: session.flow, status: refusal.cause.status, cause)
    }

    private func refuse(
        _ session: InviteSession, _ status: Int, _ cause: RequestRefusal, reason: Text? = nil, headers: [(HeaderName, Text)] = []
    ) {
        session.respond(status: status, reason: reason, headers: headers, at: context.now)
        log.refused(session.request, over: session.flow, status: status, cause)
    }

    private func refuseForNow(_ session: InviteSession, _ cause: RequestRefusal) {
        answerForNow(session)
        log.refused(session.request, over: session.flow, status: 503, cause)
    }

    private func answerForNow(_ session: InviteSession) {
        session.respond(status: 503, headers: [("Retry-After", Text(context.configuration.limits.retryAfter))], at: context.now)
    }
}

extension IncomingCalls: WakeUpListener {
    func devicesWoke(for leg: Leg, _ callees: [Destination], isReported: Bool) {
        if isReported { ringing.join(callees, to: leg) } else { admit(leg, callees) }
    }

    func nobodyWakes(for leg: Leg) { ringing.nobodyWakes(for: leg) }
}

extension CXProvider {
    /// Room for so many more conversations.
    fileprivate func widen(by groups: Int) {
        let wider = configuration
        wider.maximumCallGroups += groups
        configuration = wider
    }
}
