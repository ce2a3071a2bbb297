import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// What comes in from outside of any dialog: who may call, which line it is for, and the report that makes it a call.
extension Gateway: UserAgentDelegate {
    public func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        guard !isDraining else { return refuseForNow(session) }
        switch admission(of: session.request, from: session.flow.remote.address) {
        case .admitted(let caller, let line): route(session, from: caller, line)
        case .challenged(let headers): session.respond(status: 401, headers: headers, at: now)
        case .forbidden: session.respond(status: 403, at: now)
        }
    }

    public func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool {
        switch request.method {
        case .register:
            var response = registrar.handle(request, over: flow, at: now)
            if response.status == 200, let capability = pushCapability(for: request) { response.headers.append("Feature-Caps", capability) }
            agent.respond(to: transaction, with: response, at: now)
            if response.status == 200 { registered(request) }
            return true
        case .message:
            pass(request, over: flow, transaction)
            return true
        case .options where isDraining:
            agent.respond(to: transaction, status: 503, at: now)
            return true
        default: return false
        }
    }

    // MARK: Who may call

    enum Admission {
        /// With the line of ours that it is, if any.
        case admitted(CallerIdentity, Line?)
        case challenged([(HeaderName, Text)])
        case forbidden
    }

    /// A caller that names a line of ours proves it, unless the line is open or the source is trusted; others are guests where guests are
    /// admitted, and are challenged elsewhere.
    func admission(of request: Message, from source: IPAddress) -> Admission {
        let claimed = request.from.uri.user.flatMap(line(numbered:))
        var caller = identity(in: request, from: source)
        if configuration.access.trusted.contains(where: { $0.contains(source) }) { return .admitted(named(caller, claimed), claimed) }
        if let claimed, claimed.configuration.isOpen { return .admitted(named(caller, claimed), claimed) }
        let mustProve = claimed?.configuration.password != nil
        if !mustProve, configuration.access.guests.contains(where: { $0.contains(source) }) { return .admitted(caller, nil) }
        switch registrar.authenticator.verify(request, from: source, at: now) {
        case .accepted(let user):
            guard let line = line(numbered: user), claimed == nil || claimed === line else { return .forbidden }
            caller.user = user
            return .admitted(named(caller, line), line)
        case .challenge(let values): return .challenged(values.map { ("WWW-Authenticate", $0) })
        case .forbidden: return .forbidden
        }
    }

    /// Whom a request is from: the asserted identity where its source is believed (RFC 3325 §5), else From.
    private func identity(in request: Message, from source: IPAddress) -> CallerIdentity {
        let asserted = configuration.access.believes(source) ? request.addresses(.pAssertedIdentity).first : nil
        let address = asserted ?? request.from
        var caller = CallerIdentity(user: Routing.dialledNumber(address.uri), host: address.uri.host, displayName: address.displayName)
        let privacy = request.headers.all(.privacy).flatMap { $0.lowercased.bytes.split(separator: UInt8(ascii: ";")) }.map { Text($0).trimmed }
        caller.isPrivate = privacy.contains { ["id", "user", "header"].contains($0) }
        return caller
    }

    private func named(_ caller: CallerIdentity, _ line: Line?) -> CallerIdentity {
        var caller = caller
        caller.isKnown = true
        caller.displayName = caller.displayName ?? line?.configuration.name
        if line != nil { caller.host = configuration.domain }
        return caller
    }

    // MARK: Which line

    private func route(_ session: InviteSession, from caller: CallerIdentity, _ callingLine: Line?) {
        let replaces = session.request.headers.elements(.replaces)
        if !replaces.isEmpty { return replace(session, replaces, from: caller) }
        guard let target = session.request.requestURI, var dialled = Routing.dialledNumber(target) else { return refuse(session, 484) }
        if let callingLine, let code = featureCode(dialled), isDevice(session, of: callingLine) {
            guard let number = perform(code, dialled, session: session, of: callingLine, caller: caller) else { return }
            dialled = number
        }
        guard let index = routing.line(for: dialled) else { return refuse(session, 404) }
        guard legCount < configuration.limits.legs else { return refuseForNow(session) }
        let line = lines[index]
        let maxForwards = (session.request.maxForwards ?? 70) - 1
        let callees = destinations(of: line, dialled: dialled, caller: caller, maxForwards: maxForwards)
        if line.isFull { return refuse(session, CallRefusal(.maximumCalls, line.features.statuses)) }
        // Whom the line does not want is told so, whether a device is there or not, and wakes nobody.
        if callees.isEmpty, line.rings, !line.features.wouldRefuse(Self.update(for: caller), directories: directories) {
            if park(session, on: line, from: caller, callingLine, dialled: dialled, maxForwards: maxForwards) { return }
            return refuse(session, 480)
        }
        receive(session, on: line, from: caller, callingLine: callingLine, dialled: dialled, callees: callees)
    }

    /// A line that has just this number goes before a feature code.
    private func featureCode(_ dialled: Text) -> FeatureCode.Dialled? {
        guard configuration.featureCodes, routing.line(numbered: dialled) == nil else { return nil }
        return FeatureCode.dialled(dialled)
    }

    private func refuse(_ session: InviteSession, _ refusal: CallRefusal) { session.refuse(refusal.cause, adding: refusal.headers, at: now) }

    func refuse(_ session: InviteSession, _ status: Int, reason: Text? = nil) { session.respond(status: status, reason: reason, at: now) }

    func refuseForNow(_ session: InviteSession) {
        session.respond(status: 503, headers: [("Retry-After", Text(configuration.limits.retryAfter))], at: now)
    }

    func destinations(of line: Line, dialled: Text, caller: CallerIdentity, maxForwards: Int) -> [Destination] {
        switch line.configuration.endpoint {
        case .application: []
        case .trunk(let trunk):
            flow(to: trunk).map { flow in
                let target = URI(user: dialled, host: trunk.host ?? Text("\(trunk.address.address)"), port: trunk.host == nil ? trunk.address.port : nil)
                let credentials = trunk.user.flatMap { user in trunk.password.map { Credentials(username: user, password: $0) } }
                return [Destination(target: target, addressOfRecord: target, flow: flow, caller: caller, maxForwards: maxForwards, credentials: credentials)]
            } ?? []
        case .devices:
            registrar.contacts(of: line.configuration.number, at: now).filter(isAwake).map {
                let record = URI(user: line.configuration.number, host: configuration.domain)
                return Destination(
                    target: $0.uri, addressOfRecord: record, flow: $0.path.isEmpty ? $0.origin.towards($0.uri) : $0.origin, routes: $0.path, isDevice: true, caller: caller,
                    maxForwards: maxForwards)
            }
        }
    }

    private func isAwake(_ contact: Registrar.Contact) -> Bool {
        guard push != nil, let awake = configuration.push.awake, contact.uri.parameters.contains("pn-prid" as StaticString) else { return true }
        return contact.refreshed + awake > now
    }

    /// From the socket of ours that speaks the trunk's transport and family.
    private func flow(to trunk: LineEndpoint.Trunk) -> Flow? {
        let transport = trunk.usesTCP ? Transport.tcp : .udp
        let listener = listeners.first { $0.transport == transport && $0.address.address.family == trunk.address.address.family }
        return listener.map { Flow(transport: transport, local: $0.address, remote: trunk.address) }
    }

    // MARK: The report

    /// reserve < report < 180 < answer transaction.
    func receive(
        _ session: InviteSession, on line: Line, from caller: CallerIdentity, callingLine: Line? = nil, dialled: Text = .empty, callees: [Destination],
        announcement: Announcement? = nil, replacing old: Leg? = nil
    ) {
        guard let leg = arrive(session, on: line, from: caller, callingLine: callingLine, dialled: dialled) else { return }
        leg.announcement = announcement
        if let old { (leg.replaced, leg.bridge) = (old.uuid, old.bridge) }
        admit(leg, callees)
    }

    /// The leg of an INVITE, and its 100.
    func arrive(_ session: InviteSession, on line: Line, from caller: CallerIdentity, callingLine: Line?, dialled: Text) -> Leg? {
        // It is up already (mapping I21). A client may use both again for its next attempt (RFC 3261 §8.1.3.5), and that is another call.
        guard leg(ofAttempt: session) == nil else {
            refuse(session, 482)
            return nil
        }
        let leg = makeLeg(.incoming, uuid: randomUUID(), line: line, session: session, destination: nil, flow: session.flow)
        (leg.party, leg.mayTransfer) = (caller, caller.isKnown)
        let update = Self.update(for: caller)
        leg.origin = CallOrigin(line: callingLine, caller: caller, handle: update.remoteHandle ?? CXHandle(type: .generic, value: "anonymous"), dialled: dialled, began: date)
        leg.scribe.trace(session.request, .received, false, flow: session.flow, at: now)
        session.delegate = leg
        session.respond(status: 100, at: now)
        callingLine?.features.outgoing.insert(leg.uuid)
        return leg
    }

    func admit(_ leg: Leg, _ callees: [Destination]) {
        guard let session = leg.session, let origin = leg.origin else { return }
        guard leg.takeOffer() else { return forgo(leg) }
        do { try leg.media.reserve(at: now) } catch {
            leg.scribe.write(.mediaRefused, at: now, [.cause: "no-port"])
            refuseForNow(session)
            return forgo(leg)
        }
        leg.listenOnReservation()
        add(leg)
        // Who takes a call over that is up does not ask to be let in.
        leg.line.features.isOpen = leg.replaced != nil
        if leg.replaced == nil { leg.line.features.noteCaller(origin.handle) }
        leg.line.provider.reportNewIncomingCall(with: leg.uuid, update: Self.update(for: origin.caller)) { [unowned self] error in
            if let error { refuse(leg, error) } else { ring(leg, callees) }
        }
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

    /// 180, and then whoever the line has: its application answers, its devices or its trunk are called.
    private func ring(_ leg: Leg, _ callees: [Destination]) {
        guard leg.state == .new else { return }
        leg.state = .ringing
        if leg.replaced != nil { return leg.line.calls.answer(leg.uuid) }
        if leg.mayRing { leg.session?.respond(status: 180, at: now) }
        if case .application = leg.line.configuration.endpoint { return leg.line.calls.answer(leg.uuid) }
        leg.bridge = leg.uuid
        open(Bridge(caller: leg.uuid))
        let snapshot = leg.line.system.call(leg.uuid)
        leg.origin?.name = snapshot?.identification?.name ?? snapshot?.localizedCallerName
        join(callees, to: leg)
        tell(leg.bridge, .dialled)
    }

    /// Calls them for a call that rings; they see the caller as the line's contacts and directories name it.
    func join(_ callees: [Destination], to leg: Leg) {
        guard isCalling(leg.uuid) else { return }
        let name = leg.line.system.call(leg.uuid)?.identification.map { Text($0.name) }
        for var callee in callees {
            callee.caller.displayName = name ?? callee.caller.displayName
            call(callee, for: leg)
        }
    }

    func call(_ destination: Destination, for caller: Leg, codecs: [Codec]? = nil) {
        let leg = makeLeg(.outgoing, uuid: randomUUID(), line: caller.line, session: nil, destination: destination, flow: destination.flow)
        leg.negotiation.local.codecs = (codecs ?? caller.offeredCodecs).merged(with: configuration.media.offered)
        leg.bridge = caller.bridge
        add(leg)
        leg.mayTransfer = destination.isDevice
        if let bridge = caller.bridge { add(callee: leg.uuid, to: bridge) }
        let handle = CXHandle(type: .generic, value: destination.target.text.description)
        caller.line.calls.start(leg.uuid, to: handle, with: caller.uuid) { [unowned self] in
            discard(leg)
            tell(caller.bridge, .ended(leg.uuid, EndCause(status: 486, reasons: [.q850(17)])))
        }
    }

    func makeLeg(
        _ direction: Leg.Direction, uuid: UUID, line: Line, session: InviteSession?, destination: Destination?, flow: Flow
    ) -> Leg {
        let scribe = LegScribe(journal: journal, call: CallUUID(uuid), line: line.configuration.number)
        let local = LocalMedia(address: addresses.media(flow), port: 0, codecs: configuration.media.offered)
        let media = LegMedia(id: nextMediaID(), plane: media, scribe: scribe)
        return Leg(
            direction, uuid: uuid, line: line, gateway: self, session: session, destination: destination, flow: flow, local: local, sessionID: randomNumber(),
            media: media, scribe: scribe)
    }

    static func update(for caller: CallerIdentity) -> CXCallUpdate {
        let update = CXCallUpdate()
        let isAnonymous = caller.isPrivate || caller.user == nil || caller.user == "anonymous"
        guard !isAnonymous, let user = caller.user else {
            update.remoteHandle = CXHandle(type: .generic, value: "anonymous")
            return update
        }
        let isNumber = user.bytes.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "+") }
        let value = isNumber ? user.description : "sip:\(user)@\(caller.host)"
        update.remoteHandle = CXHandle(type: isNumber ? .phoneNumber : .generic, value: value)
        update.localizedCallerName = caller.displayName?.description
        return update
    }
}
