import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// What comes in from outside of any dialog: which line it is for, and the report that makes it a call. Who may call is in
/// `Gateway+Admission`.
extension Gateway {
    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        guard !isDraining || isUnderWay(session.request) else { return refuseForNow(session) }
        if let trunk = trunksInOrder.first(where: { $0.sends(session.flow) }) { return route(session, from: trunk) }
        switch admission(of: session.request, from: session.flow.remote.address) {
        case .admitted(let caller, let line): route(session, from: caller, line)
        case .challenged(let headers): session.respond(status: 401, headers: headers, at: now)
        case .forbidden: session.respond(status: 403, at: now)
        }
    }

    /// Of a call that was there before: our own call to ourselves, or one in the place of a call that is up.
    private func isUnderWay(_ invite: Message) -> Bool {
        if userAgent.isOwnCall(invite) { return true }
        return invite.headers.elements(.replaces).first.flatMap { DialogIdentifier(parsing: $0) }.flatMap(leg(in:)) != nil
    }

    func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool {
        switch request.method {
        case .register:
            guard isResponsible(for: request) else { return agent.respond(to: transaction, status: 404, at: now) }
            var response = registrar.handle(request, over: flow, at: now)
            // Telephones set their clocks by it (RFC 3261 §10.3 item 8).
            if response.status == 200 { response.headers.append(.date, date.header) }
            if response.status == 200, let capability = pushCapability(for: request) { response.headers.append("Feature-Caps", capability) }
            // We answer what keeps a flow open, and ask for no interval (RFC 6223 §4.4).
            if response.status == 200, request.via.parameters["keep"]?.isEmpty == true { response.via.parameters["keep"] = "30" }
            agent.respond(to: transaction, with: response, at: now)
            if response.status == 200 { registered(request) }
            return true
        case .message:
            pass(request, over: flow, transaction)
            return true
        case .options where isDraining:
            agent.respond(to: transaction, status: 503, headers: [(.retryAfter, Text(configuration.limits.retryAfter))], at: now)
            return true
        default: return false
        }
    }

    /// A registrar answers for its own domains (RFC 3261 §10.3 items 1 and 5). A telephone that is configured by address passes: we do not
    /// know each
    /// address that leads to us, such as that of a NAT before us.
    private func isResponsible(for register: Message) -> Bool {
        guard let aliases = configuration.aliases else { return true }
        let names = [configuration.domain, "localhost"] + aliases
        return [register.requestURI, register.to.uri].compactMap { $0?.host }.allSatisfy { host in
            names.contains(where: host.equalsIgnoringCase) || IPAddress(host.withoutBrackets) != nil
        }
    }

    // MARK: Which line

    private func route(_ session: InviteSession, from caller: CallerIdentity, _ callingLine: Line?) {
        let invite = session.request, replaces = invite.headers.elements(.replaces)
        if !replaces.isEmpty { return replace(session, replaces, from: caller, callingLine) }
        guard let target = invite.requestURI, var dialled = routing.dialledNumber(target) else { return refuseNumber(session) }
        // Whom a call of ours is for, somebody else may have named: a callee that sends it on (3xx), or whoever has it transferred.
        if let callingLine, userAgent.ownCall(invite) == nil, let code = featureCode(dialled), isDevice(session, of: callingLine) {
            guard let number = perform(code, dialled, session: session, of: callingLine, caller: caller) else { return }
            dialled = number
        }
        route(session, from: caller, callingLine, to: dialled, trunk: nil)
    }

    /// Nothing that is a number, or one that nobody has.
    private func refuseNumber(_ session: InviteSession) { refuse(session, session.request.requestURI?.escapesReserved == true ? 404 : 484) }

    private func route(_ session: InviteSession, from trunk: Trunk) {
        if let credentials = trunk.credentials { session.authenticate(as: credentials) }
        guard let dialled = number(dialledBy: session.request, from: trunk) else { return refuseNumber(session) }
        route(session, from: identity(in: session.request, from: session.flow.remote.address), nil, to: dialled, trunk: trunk)
    }

    /// Of a request of a trunk: the number that it names, in our words, or where it called our Contact the number that is meant by that.
    func number(dialledBy request: Message, from trunk: Trunk) -> Text? {
        let rules = trunk.configuration
        guard let target = request.requestURI, var dialled = routing.dialledNumber(target) else { return nil }
        if rules.registration != nil, dialled == rules.contactUser(line: trunk.line) {
            dialled = rules.incoming ?? routing.dialledNumber(request.to.uri) ?? dialled
        }
        return rules.incomingRewrites.rewritten(dialled)
    }

    /// Back to the trunk that it came from: it would come again.
    func isReturning(_ origin: Trunk?, to line: Line) -> Bool {
        origin.map { trunk(of: line) === $0 && !$0.configuration.isHairpin } ?? false
    }

    private func route(_ session: InviteSession, from caller: CallerIdentity, _ callingLine: Line?, to dialled: Text, trunk origin: Trunk?)
    {
        let invite = session.request
        guard let index = routing.line(for: dialled, host: invite.requestURI?.host) else { return refuse(session, 404) }
        guard hasRoom(forCallTo: lines[index]) else {
            refused(.legs, session.flow.remote.address)
            return refuseForNow(session)
        }
        if origin == nil, !isTrusted(session.flow), !userAgent.isOwnCall(invite), !doorkeeper.admitsCall(at: now) {
            note(.callRate, session.flow.remote.address)
            return refuseForNow(session)
        }
        let line = lines[index]
        if isReturning(origin, to: line) { return refuse(session, 482) }
        if isSentRound(invite, to: line) { return refuse(session, 482) }
        // Conversations that its devices began, or took for another line, count, too: those live at the lines that were called. Without any
        // the line's own
        // system counts.
        if !(line.features.outgoing.isEmpty && line.features.taken.isEmpty), isFull(line) {
            return refuse(session, CallRefusal(.maximumCalls, line.features.statuses))
        }
        if case .group = line.configuration.endpoint {
            return receive(session, on: line, from: caller, callingLine: callingLine, dialled: dialled, callees: [], trunk: origin)
        }
        let callees = destinations(of: line, dialled: dialled, caller: caller, after: invite)
        if callees.isEmpty, trunk(of: line) != nil {
            // One whose servers have no TLS has none a moment later either.
            let isThere = invite.isSecure && !destinations(of: line, dialled: dialled, caller: caller, maxForwards: 1).isEmpty
            return isThere ? refuseUnavailable(session) : refuseForNow(session)
        }
        // Whom the line does not want is told so, whether a device is there or not, and wakes nobody.
        if callees.isEmpty, line.rings, !line.features.wouldRefuse(Self.update(for: caller)) {
            if park(session, on: line, from: caller, callingLine, dialled: dialled) { return }
            return refuseUnavailable(session)
        }
        receive(session, on: line, from: caller, callingLine: callingLine, dialled: dialled, callees: callees, trunk: origin)
    }

    /// Whether a telephone sent a call on to us (3xx), and it comes to a line that sent it on before.
    private func isSentRound(_ request: Message, to line: Line) -> Bool {
        var call = userAgent.ownCall(request)
        while let leg = call?.delegate as? Leg, leg.destination?.value.isToOurselves == false {
            if leg.line === line { return true }
            call = self.leg(ofBridge: leg)?.session.flatMap { userAgent.ownCall($0.request) }
        }
        return false
    }

    /// Nobody is registered; or nobody over TLS, and the caller wants that (RFC 5630 §5.3, §10.2).
    private func refuseUnavailable(_ session: InviteSession) {
        session.respond(status: 480, headers: warnings(whereNobodyIsThereFor: session.request), at: now)
    }

    func warnings(whereNobodyIsThereFor request: Message) -> [(HeaderName, Text)] {
        request.isSecure ? [(.warning, "380 " + configuration.domain + " \"SIPS Not Allowed\"")] : []
    }

    /// A line that has just this number goes before a feature code.
    private func featureCode(_ dialled: Text) -> FeatureCode.Dialled? {
        guard configuration.featureCodes, routing.line(numbered: dialled) == nil else { return nil }
        return FeatureCode.dialled(dialled)
    }

    private func refuse(_ session: InviteSession, _ refusal: CallRefusal) {
        session.refuse(refusal.cause, adding: refusal.headers, at: now)
    }

    func refuse(_ session: InviteSession, _ status: Int, reason: Text? = nil) { session.respond(status: status, reason: reason, at: now) }

    func refuseForNow(_ session: InviteSession) {
        session.respond(status: 503, headers: [("Retry-After", Text(configuration.limits.retryAfter))], at: now)
    }

    // MARK: The report

    /// reserve < report < 180 < answer transaction.
    func receive(
        _ session: InviteSession, on line: Line, from caller: CallerIdentity, callingLine: Line? = nil, dialled: Text = .empty,
        callees: [Destination],
        announcement: Announcement? = nil, trunk: Trunk? = nil, replacing old: Leg? = nil
    ) {
        guard let leg = arrive(session, on: line, from: caller, callingLine: callingLine, dialled: dialled) else { return }
        (leg.announcement, leg.trunk) = (announcement, trunk)
        if let old {
            (leg.replaced, leg.bridge) = (old.uuid, old.bridge)
            leg.standsForCallee = old.direction == .outgoing || old.standsForCallee
            leg.isHandedOn = old.isHandedOn || old.direction == .outgoing && lineReached(by: old) !== line
            if leg.standsForCallee { leg.calledLine = old.calledLine }
            leg.origin?.isInRecents = false
            // The conversation is one of its line already.
            if leg.standsForCallee, callingLine === line { line.features.outgoing.remove(leg.uuid) }
        }
        admit(leg, callees)
    }

    /// The leg of an INVITE, and its 100.
    func arrive(_ session: InviteSession, on line: Line, from caller: CallerIdentity, callingLine: Line?, dialled: Text) -> Leg? {
        // It is up already (mapping I21). A client may use both again for its next attempt (RFC 3261 §8.1.3.5), and that is another call.
        let attempt = session.attempt
        guard leg(ofAttempt: attempt) == nil else {
            refuse(session, 482)
            return nil
        }
        let policy = mediaPolicy(of: line, calledBy: caller)
        let leg = makeLeg(.incoming, line: line, session: session, destination: nil, flow: session.flow, policy)
        (leg.party, leg.mayTransfer) = (caller, caller.isKnown)
        leg.origin = CallOrigin(
            line: callingLine, attempt: attempt, caller: caller, handle: Self.handle(of: caller), dialled: dialled, began: date)
        leg.scribe.trace(session.request, .received, false, over: leg.way, at: now)
        session.delegate = leg
        session.respond(status: 100, at: now)
        if !isAnotherPart(session, ofConversationOf: callingLine) { callingLine?.features.outgoing.insert(leg.uuid) }
        return leg
    }

    /// A call of ours to ourselves, made for one that the line had begun: whoever was called sent it on, or it was transferred.
    private func isAnotherPart(_ session: InviteSession, ofConversationOf line: Line?) -> Bool {
        let made = userAgent.ownCall(session.request)?.delegate as? Leg
        guard let line, let origin = made.flatMap(leg(ofBridge:))?.origin else { return false }
        return origin.line === line
    }

    func admit(_ leg: Leg, _ callees: [Destination]) {
        guard let session = leg.session, let origin = leg.origin else { return }
        guard leg.takeOffer() else { return forgo(leg) }
        do { try leg.media.reserve(leg.call.negotiation.ports, at: now) } catch {
            leg.scribe.write(.mediaRefused, at: now, [.cause: "no-port"])
            refused(.ports, session.flow.remote.address)
            refuseForNow(session)
            return forgo(leg)
        }
        leg.listenOnReservation()
        add(leg)
        // Who takes a call over that is up does not ask to be let in.
        leg.line.features.isOpen = leg.replaced != nil
        if leg.replaced == nil { leg.line.features.noteCaller(origin.handle) }
        let provider = leg.line.provider
        // Until the call that is taken over ends, whoever takes it over is there beside it.
        let room = surplusGroups(of: leg.line) + (leg.replaced == nil ? 0 : 1)
        if room > 0 { provider.widen(by: room) }
        provider.hookswitchReport(leg.uuid, update: Self.update(for: origin.caller, origin.handle)) { [unowned self] error in
            if let error { refuse(leg, error) } else { ring(leg, callees) }
        }
        if room > 0 { provider.widen(by: -room) }
    }

    /// Call groups of the line beyond its conversations: who took a call over has one beside that of whom it talks with, and who was
    /// transferred away from
    /// the line goes on in one. Asked of a line that has as many groups as it may have conversations; of others it does not matter.
    private func surplusGroups(of line: Line) -> Int {
        // Each group has a leg at least, and legs are counted already.
        guard line.legs.count >= line.configuration.maximumCalls, line.system.counts.groups >= line.configuration.maximumCalls else {
            return 0
        }
        var groups: [UUID: Set<Int>] = [:]
        for call in line.system.calls { if let bridge = leg(call.uuid)?.bridge { groups[bridge, default: []].insert(call.group) } }
        let others = conversationsHandedOn(by: line)
        return groups.reduce(0) { $0 + $1.value.count - (others.contains($1.key) ? 0 : 1) }
    }

    /// A call that is not even reported.
    private func forgo(_ leg: Leg) {
        leg.origin?.line?.features.outgoing.remove(leg.uuid)
        discard(leg)
    }

    private func refuse(_ leg: Leg, _ error: any Error) {
        let refusal = leg.line.features.refusal(of: error, callInfo: configuration.callInfo)
        if let session = leg.session { refuse(session, refusal) }
        noteOutgoing(leg, cause: refusal.cause, reason: "refused")
        discard(leg)
    }

    /// As many of them as there is room for.
    ///
    /// - Parameter ending: how many legs give their room to them.
    func call(_ destinations: [Destination], for caller: Leg, ending: Int = 0) {
        for destination in destinations {
            guard legCount - ending < configuration.limits.legs else { return refused(.legs, caller.flow.remote.address) }
            call(destination, for: caller)
        }
    }

    func call(_ destination: Destination, for caller: Leg) {
        let leg = makeLeg(to: destination, on: caller.line)
        leg.call.negotiation.local.codecs = caller.offeredCodecs.merged(with: offeredCodecs)
        if let offer = caller.call.negotiation.remoteOffer {
            (leg.call.negotiation.local.ptime, leg.call.negotiation.local.maxptime) = (offer.ptime, offer.maxptime)
        } else if let agreed = caller.call.agreed {
            (leg.call.negotiation.local.ptime, leg.call.negotiation.local.maxptime) = (agreed.ptime, agreed.maxptime)
        }
        leg.bridge = caller.bridge
        leg.trunk = destination.trunk
        add(leg)
        leg.mayTransfer = destination.isDevice
        if let bridge = caller.bridge { add(callee: leg.uuid, to: bridge) }
        let handle = CXHandle(type: .generic, value: destination.shownTarget)
        caller.line.calls.start(leg.uuid, to: handle, with: caller.uuid) { [unowned self] in
            discard(leg)
            tell(caller.bridge, .ended(leg.uuid, EndCause(status: 486, reasons: [.q850(17)])))
        }
    }

    func makeLeg(to destination: Destination, on line: Line) -> Leg {
        let policy = mediaPolicy(towards: destination, for: line)
        return makeLeg(.outgoing, line: line, session: nil, destination: Boxed(destination), flow: destination.flow, policy)
    }

    private func makeLeg(
        _ direction: Leg.Direction, line: Line, session: InviteSession?, destination: Boxed<Destination>?, flow: Flow,
        _ policy: LegMediaPolicy
    ) -> Leg {
        let uuid = randomUUID()
        let scribe = LegScribe(journal: journal, call: CallUUID(uuid), line: line.configuration.number)
        var local = localMedia
        local.address = addresses.media(flow)
        local.security = .ofThisProcess(policy.srtp, keying: policy.keying, using: &random)
        local.ice = connectivity(policy.ice)
        // A call to ourselves has a port of ours at both ends; over a connection its source port tells nothing.
        let isOwn = session.map { userAgent.ownCall($0.request) != nil } ?? false
        if destination?.value.isToOurselves == true || isOwn || isOurs(flow) { local.targets.ownPorts = [] }
        let leg = Leg(
            direction, uuid: uuid, line: line, gateway: self, session: session, destination: destination, flow: flow, local: local,
            sessionID: randomNumber(),
            media: LegMedia(id: nextMediaID(), plane: media, scribe: scribe), scribe: scribe)
        leg.party.displayName = destination.flatMap(name)
        return leg
    }

    /// The name of the line that is called, where it is one of ours.
    private func name(of destination: Boxed<Destination>) -> Text? {
        let record = destination.value.addressOfRecord
        guard destination.value.trunk == nil, record.host.equalsIgnoringCase(configuration.domain) else { return nil }
        return record.user.flatMap(line(numbered:))?.configuration.name
    }

    static func update(for caller: CallerIdentity) -> CXCallUpdate { update(for: caller, handle(of: caller)) }

    private static func update(for caller: CallerIdentity, _ handle: CXHandle) -> CXCallUpdate {
        let update = CXCallUpdate()
        update.remoteHandle = handle
        if !caller.isPrivate, !caller.isAnonymous { update.localizedCallerName = caller.displayName?.description }
        return update
    }

    private static func handle(of caller: CallerIdentity) -> CXHandle {
        guard !caller.isPrivate, !caller.isAnonymous, let user = caller.user else { return CXHandle(type: .generic, value: "anonymous") }
        let isNumber = user.bytes.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "+") }
        let value = isNumber ? user.description : "sip:\(user)@\(caller.host)"
        return CXHandle(type: isNumber ? .phoneNumber : .generic, value: value)
    }
}

extension CXProvider {
    /// Room for so many more conversations.
    fileprivate func widen(by groups: Int) {
        let wider = configuration
        wider.maximumCallGroups += groups
        configuration = wider
    }
}
