import Audio
import CallKit
import Foundation
import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

/// One SIP dialog, its media, and the one CallKit call that they are.
///
/// Events of the network come in through `session(_:did:at:)` (`Leg+Network`) and are reported to the line's provider. Wishes of a user
/// come in through the provider's delegate (`Leg+Actions`). The two meet here and nowhere else. Lives on the signalling lane.
final class Leg {
    enum Direction { case incoming, outgoing }

    let uuid: UUID
    let direction: Direction
    /// Lets the leg go when it is over, or the gateway is.
    let line: Line
    unowned let context: any LegContext
    private let turn: EventTime
    let scribe: LegJournal
    /// The trunk that the leg's far end belongs to.
    var trunk: Trunk?
    /// Headers of the other leg's last message for our next one.
    var passedHeaders: [(HeaderName, Text)] = []
    var alerting = Alerting()
    /// The UUID of the incoming call of the bridge that this leg belongs to; nil for a leg that an application answers.
    var bridge: UUID?
    var session: InviteSession?
    /// The caller of an incoming leg.
    var origin: CallOrigin?
    /// The endpoint that rings or answers for it.
    var endpoint: LineEndpoint { origin?.endpoint ?? line.configuration.endpoint }
    /// Answers an incoming leg, where no device does.
    var application: (any LineApplication)?
    /// The call that it rings a device of its own line for.
    var origination: UUID?
    var lines: Lines
    /// The target of an outgoing leg, and the caller that it is told; until it is answered.
    private(set) var destination: Boxed<Destination>?
    var reach: Reach
    /// The way to the peer's signalling, which decides our address and family in SDP.
    private(set) var flow: Flow { didSet { flowLabel = FlowLabel(flow) } }
    private(set) var flowLabel: FlowLabel
    /// The state of its dialog, and what was agreed.
    var call: CallSession
    var media: LegMedia
    var ending = LegEnding()
    var hold = Hold()
    var sound = Sound()
    /// The identity of the far end, as the other party is told.
    var party: CallerIdentity
    /// The far end may have whom it talks with transferred: it is a device of ours, or proved who it is.
    var mayTransfer = false
    /// Its REFER that is under way.
    var transfer: TransferRequest?
    var succession = Succession()
    /// At most one of each kind.
    var timers: [(timer: LegTimer, token: TimerToken)] = []

    init(
        _ direction: Direction, uuid: UUID, line: Line, context: any LegContext, session: InviteSession?,
        destination: Boxed<Destination>?, device: Line?, flow: Flow, local: LocalMedia, sessionID: UInt64, media: LegMedia,
        scribe: LegJournal
    ) {
        self.direction = direction
        self.uuid = uuid
        self.line = line
        self.context = context
        turn = context.shared.turn
        self.session = session
        lines = Lines(called: destination?.value.line ?? line, device: device)
        self.destination = destination
        reach = Reach(hidesCaller: destination?.value.caller.isPrivate ?? false)
        self.flow = flow
        flowLabel = FlowLabel(flow)
        self.scribe = scribe
        self.media = media
        let record = destination?.value.addressOfRecord
        party = CallerIdentity(user: record?.user, host: record?.host ?? "invalid")
        call = CallSession(OfferAnswer(local: local, sessionID: sessionID))
    }

    var timer: GatewayTimers { context.shared.timers }

    var configuration: GatewayConfiguration { context.shared.configuration }

    /// All that it says and hears is written, and goes on being written.
    var isRecorded: Bool { media.recording?.isOver == false }

    /// Its far end holds, and goes on sending.
    var sendsOnHold: Bool { call.agreed?.remoteHold == .sendonly && !call.hasNoAudio }

    var state: CallSession.State { call.state }

    var now: Instant { turn.now }

    /// Nothing of it is left on the wire; together with an ended call that lets the leg go.
    var isSignallingOver: Bool { session.map { $0.state == .ended } ?? true }

    /// The 2xx left, or was acknowledged.
    func connected() {
        call.enter(.connected)
        // A device that sent the call on has not taken it.
        if direction == .outgoing, let owner = context.table.lineReached(by: self), owner !== line {
            lines.taker = owner
            owner.features.taken.insert(uuid)
        }
        destination = nil
        timer.disarm(.ring, of: self)
        // The other party has a limit of its own, and the shorter one ends the call for both.
        timer.arm(.duration, of: self, after: ownLines.compactMap(\.configuration.maximumDuration).min())
    }

    // MARK: Negotiation

    /// A reliable 180 to an INVITE without an offer would have to hold ours (RFC 3261 §13.2.1), before anybody knows what the callee
    /// speaks: such a caller waits with the 100 alone.
    var mayRing: Bool { session.map { !$0.request.content.isEmpty || !$0.ringsReliably } ?? false }

    /// The offer of the INVITE, where there is one; where it cannot be used it is refused with 488.
    /// - Returns: why it cannot.
    func takeOffer() -> NegotiationError? {
        guard let session else { return nil }
        do throws(NegotiationError) {
            try call.take(offer: session.request.content, self)
            if offeredCodecs.isEmpty { throw .noCommonCodec }
            return nil
        } catch {
            session.respond(status: 488, headers: headers(refusing: error), at: now)
            return error
        }
    }

    /// The codecs that the other leg of a bridge is offered first, so that the relay needs no decoding: all that we know of what this far
    /// end offered, or of what was agreed with it before.
    var offeredCodecs: [Codec] {
        let ours = context.policy.offeredCodecs
        guard let offer = call.negotiation.remoteOffer else { return call.agreed?.codecs.map(\.codec) ?? ours }
        return offer.codecs.filter { codec in ours.contains { $0.matches(codec) } }
    }

    /// Codecs that the other leg of a bridge agreed to, or offered if it still rings; nil where there is no bridge, or nothing was said.
    private var bridgedCodecs: [Codec]? {
        guard let peer = context.table.peer(of: self) else { return nil }
        return peer.call.agreed?.codecs.map(\.codec) ?? (peer.call.negotiation.remoteOffer == nil ? nil : peer.offeredCodecs)
    }

    /// The INVITE goes to another server than it was made for: the offer for that one, where it must be told another address of ours.
    func offer(over hop: Flow) -> [UInt8]? {
        flow = hop
        // Sent on to a number of ours: who calls has proved who it is already, and a port of ours is at both ends.
        let isOurs = context.policy.isOurs(hop)
        session?.isToOurselves = isOurs
        // A target that a device names is no device of ours.
        if !isOurs { mayTransfer = false }
        call.negotiation.local.targets.ownPorts = isOurs ? [] : context.policy.targets.ownPorts
        let address = context.policy.addresses.media(hop)
        guard address != call.negotiation.local.address, call.negotiation.state == .haveLocalOffer else { return nil }
        call.negotiation.local.address = address
        if call.negotiation.local.ice.policy != .off {
            call.negotiation.local.furtherCandidates = context.policy.addresses.furtherCandidates(hop)
        }
        return call.negotiation.offer(direction: .sendrecv).serialized()
    }

    var codecNames: Text {
        var names: [UInt8] = []
        let codecs = call.negotiation.local.codecs
        names.reserveCapacity(16 * codecs.count)
        for index in codecs.indices {
            if !names.isEmpty { names.append(0x20) }
            names.append(contentsOf: codecs[index].name.bytes)
        }
        return Text(names)
    }

    // MARK: End

    /// Why it ends, as the other side and the other leg are told; set before the end is asked for.
    var endCause: EndCause? {
        get { ending.cause }
        set { ending.cause = newValue }
    }

    /// A user of ours hangs up: the end action follows, and acts.
    func requestEnd(_ cause: EndCause) {
        endCause = endCause ?? cause
        line.calls.end(uuid)
    }

    /// The one way in which a call ends: stop < (report | end action) < the far end is told, where it does not know yet.
    func end(_ how: LegEnd) {
        guard state != .ended else { return }
        let cause = how.cause(isRinging: state == .ringing, known: endCause)
        if how.decidesCause { endCause = endCause ?? cause }
        sound.stream?.close(.callEnded, at: now)
        media.stop(at: now)
        if let reason = how.report { line.provider.reportCall(with: uuid, endedAt: nil, reason: reason) }
        if how.tellsPeer { signalEnd(cause) }
        call.enter(.ended)
    }

    /// Tells the far end, in the words that fit how far the dialog has come.
    func signalEnd(_ cause: EndCause) {
        guard let session else { return }
        switch (direction, state) {
        case (.incoming, .new), (.incoming, .ringing): session.refuse(cause, at: now)
        case (.outgoing, .calling), (.outgoing, .early): session.cancel(reasons: cause.reasons, at: now)
        case (_, .connected): session.bye(reasons: cause.reasons, headers: endHeaders, at: now)
        case (.outgoing, .new), (_, .calling), (_, .early), (_, .ringing), (_, .ended): break
        }
    }

    /// The headers of a BYE: those that the other leg's passed, or else those that the trunk wants to see in every one.
    private var endHeaders: [(HeaderName, Text)] {
        passedHeaders.isEmpty ? trunk?.configuration.headers.towardsTrunk(from: nil) ?? [] : passedHeaders
    }
}

/// Its descriptions.
extension Leg: CallDriver {
    var takesEarlyOffers: Bool { true }

    func headers(refusing error: NegotiationError) -> [(HeaderName, Text)] { [(.warning, error.warning(by: configuration.domain))] }

    func received(offerIn negotiation: inout OfferAnswer) { context.policy.prepareAnswer(&negotiation, over: flow) }

    func prepareAnswer(_ negotiation: inout OfferAnswer) {
        negotiation.local.comfortNoise = context.policy.mayUseComfortNoise(self, in: context.table)
    }

    /// Our own offer has all that we know, and first what the other leg of a bridge speaks: what both speak is not decoded between them.
    func prepareOffer(_ negotiation: inout OfferAnswer, agreed: NegotiatedAudio?) {
        negotiation.local.comfortNoise = context.policy.mayUseComfortNoise(self, in: context.table)
        if let other = relayed { (negotiation.local.ptime, negotiation.local.maxptime) = (other.ptime, other.maxptime) }
        let present = agreed.map { [$0.primary.codec] } ?? [], ours = context.policy.offeredCodecs
        negotiation.local.codecs = (bridgedCodecs ?? []).merged(with: ours.filter { codec in present.contains { $0.matches(codec) } })
            .merged(with: ours)
    }

    /// One of the other leg's, which needs no decoding, else the one in use where the far end offers that again, else its favourite of
    /// those that we know.
    func codecs(answering offer: OfferAnswer.RemoteOffer, ours _: [Codec], agreed: NegotiatedAudio?) -> [Codec]? {
        let passing = bridgedCodecs?.first { codec in offer.codecs.contains { $0.matches(codec) } }, ours = context.policy.offeredCodecs
        if let passing { return [passing] }
        let known = ((agreed.map { [$0.primary.codec] } ?? []) + offer.codecs).first { codec in
            ours.contains { $0.matches(codec) } && offer.codecs.contains { $0.matches(codec) }
        }
        return (known.flatMap { known in ours.first { $0.matches(known) } } ?? ours.first).map { [$0] }
    }

    var relayed: NegotiatedAudio? { context.table.peer(of: self)?.call.agreed }
}

extension NegotiationError {
    /// RFC 3261 §20.43.
    func warning(by host: Text) -> Text { Text(warningCode) + " " + host + " \"" + text + "\"" }
}

extension InviteSession {
    /// Call-ID and From tag: two copies of one INVITE have them in common, and the client's next attempt may have them too.
    var attempt: Text { Self.attempt(request.callID, request.from.tag) }

    static func attempt(_ callID: Text, _ fromTag: Text?) -> Text {
        let tag = fromTag ?? .empty
        var bytes: [UInt8] = []
        bytes.reserveCapacity(callID.count + 1 + tag.count)
        bytes.append(contentsOf: callID.bytes)
        bytes.append(0x7C)
        bytes.append(contentsOf: tag.bytes)
        return Text(bytes)
    }

    /// The final response of a call that is not to be.
    func refuse(_ cause: EndCause, adding others: [(HeaderName, Text)] = [], at now: Instant) {
        let later = cause.retryAfter.map { [(HeaderName.retryAfter, Text($0))] } ?? []
        let headers = cause.responseReasons.map { (HeaderName.reason, $0.value) } + later + others
        respond(status: cause.status, reason: cause.phrase, headers: headers, at: now)
    }
}

extension [Codec] {
    /// These, and behind them those of `others` that are not among them.
    func merged(with others: [Codec]) -> [Codec] {
        guard !isEmpty else { return others }
        let missing = others.filter { other in !contains { $0.matches(other) } }
        return missing.isEmpty ? self : self + missing
    }
}
