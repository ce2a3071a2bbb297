import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

/// A telephone of ours: a user agent, media, and the calls on it. `LoadClient` says what it does.
///
/// Lives on one lane and is told the time. Its owner passes datagrams to `agent` and what media has to say to `receive`.
public final class Phone {
    /// The identity of the telephone.
    public let identity: PhoneIdentity
    /// The SIP side.
    public let agent: UserAgent
    /// Calls whose media is not gone, by leg.
    public private(set) var calls: [MediaLegID: PhoneCall] = [:]
    /// Hears of everything that happens to a call.
    public var onEvent: ((PhoneCall, PhoneCall.Event, Instant) -> Void)?
    /// Decides about an INVITE: takes it by `ring`, or refuses it. Without it, INVITEs are answered 480.
    public var onIncoming: ((InviteSession, Instant) -> Void)?
    /// Reads texts (MESSAGE, RFC 3428), in calls and outside of them, where the agent allows that method. Without it they are answered 405.
    public var onMessage: ((Message, Instant) -> Void)?

    /// The longest text that is read, in bytes; RFC 3428 §8 has 1,300.
    private static let longestText = 16_384

    let plane: any MediaPlane
    private var random: any RandomNumberGenerator
    private var nextLeg: UInt64
    /// Calls that were given up and may yet be answered: they say BYE then.
    private var unfinished: [MediaLegID: PhoneCall] = [:]
    private var alarms = TimerWheel<MediaLegID>()
    private var isPortUnreachable = false

    /// - Parameter firstLeg: names this phone's first media leg, the next ones follow; where phones share a media plane these must not
    ///   meet.
    public init(identity: PhoneIdentity, agent: UserAgent, plane: any MediaPlane, random: any RandomNumberGenerator, firstLeg: UInt64 = 1) {
        (self.identity, self.agent, self.plane, self.random, nextLeg) = (identity, agent, plane, random, firstLeg)
        agent.delegate = self
    }

    /// Calls. The events begin inside of this call.
    ///
    /// - Parameters:
    ///   - caller: who calls; nil: the phone's own identity.
    ///   - headers: further ones for the INVITE.
    ///   - began: told of the call before its first event.
    /// - Throws: when there is no port for its media.
    @discardableResult
    public func call(
        _ target: URI, as caller: PhoneIdentity? = nil, headers: [(HeaderName, Text)] = [], script: CallScript, timeout: Duration? = nil,
        at now: Instant,
        began: (PhoneCall) -> Void = { _ in }
    ) throws(MediaError) -> PhoneCall {
        let call = try PhoneCall(
            phone: self, leg: takeLeg(), peer: target.text, isOutgoing: true, identity: caller ?? identity, script: script, at: now)
        calls[call.leg] = call
        call.givesUpAt = timeout.map { now + $0 }
        began(call)
        call.start(target, headers: headers, at: now)
        return call
    }

    /// Takes an INVITE and lets it ring; after `delay` (nil: never) it is answered. Refuses with 503 when there is no port for its media.
    @discardableResult
    public func ring(
        _ session: InviteSession, answeringAfter delay: Duration?, script: CallScript, at now: Instant,
        began: (PhoneCall) -> Void = { _ in }
    ) -> PhoneCall? {
        guard let call = take(session, script: script, at: now) else { return nil }
        began(call)
        call.ring(session, answeringAfter: delay, at: now)
        return call
    }

    /// Refuses an INVITE; the call is in the records all the same.
    public func refuse(_ session: InviteSession, status: Int, at now: Instant, began: (PhoneCall) -> Void = { _ in }) {
        guard let call = take(session, script: CallScript(), at: now) else { return }
        began(call)
        call.refuse(session, status: status, at: now)
    }

    private func take(_ session: InviteSession, script: CallScript, at now: Instant) -> PhoneCall? {
        do throws(MediaError) {
            let peer = session.request.from.uri.text
            let call = try PhoneCall(
                phone: self, leg: takeLeg(), peer: peer, isOutgoing: false, identity: identity, script: script, at: now)
            calls[call.leg] = call
            // Our password is for the server that we registered with, and nobody else who calls.
            if let credentials = identity.credentials, session.flow.remote.address == identity.flow.remote.address {
                session.authenticate(as: credentials)
            }
            return call
        } catch {
            session.respond(status: 503, headers: [("Retry-After", "5")], at: now)
            return nil
        }
    }

    /// Registers an identity with its domain and keeps it so.
    /// - Parameter other: nil: the phone's own.
    public func register(
        as other: PhoneIdentity? = nil, at now: Instant, onEvent: @escaping (Registration, RegistrationEvent, Instant) -> Void
    ) -> Registration {
        let identity = other ?? identity
        var request = OutgoingRegistration(registrar: URI(host: identity.domain), flow: identity.flow, address: identity.address)
        request.credentials = identity.credentials
        return agent.register(request, at: now, onEvent: onEvent)
    }

    /// Nobody takes datagrams of ours where they went.
    func portUnreachable(_ beginning: [UInt8], at now: Instant) {
        isPortUnreachable = true
        agent.portUnreachable(beginning, at: now)
    }

    /// A request over that flow that nobody answered.
    func unanswered(_ status: Int, over flow: Flow, waited: Duration? = nil) -> Unanswered {
        Unanswered(flow: flow, status: status, isPortUnreachable: isPortUnreachable, waited: waited)
    }

    /// Passes an event of the media to the call of its leg.
    public func receive(_ event: MediaEvent, of leg: MediaLegID, at now: Instant) { calls[leg]?.receive(event, at: now) }

    /// When `advance` next has something to do; nil while nothing is waited for.
    public var deadline: Instant? {
        guard let alarm = alarms.nextDeadline else { return agent.deadline }
        return min(alarm, agent.deadline ?? .distantFuture)
    }

    /// Does what is due until now: of dialogs, calls and timers.
    public func advance(to now: Instant) {
        agent.advance(to: now)
        for leg in alarms.advance(to: now) { calls[leg]?.alarmed(at: now) }
    }

    /// Sets a call's timer anew; nil only takes it back.
    func setAlarm(_ token: TimerToken?, of leg: MediaLegID, to due: Instant?) -> TimerToken? {
        if let token { alarms.cancel(token) }
        return due.map { alarms.arm(leg, at: $0) }
    }

    /// Takes the lateness with which the sound of all calls left since the last time; empty where nobody measures it.
    func takePacing() -> Lateness { (plane as? MediaLanes)?.takePacing() ?? Lateness() }
    /// The priority that the scheduler gives to the threads that send.
    var urgency: Poller.Urgency { (plane as? MediaLanes)?.urgency ?? .normal }
    func measurePacing() { (plane as? MediaLanes)?.measurePacing() }

    /// Gives the statistics of the media of a call so far; nil where it has no media.
    func statistics(of leg: MediaLegID, at now: Instant) -> MediaStatistics? { try? plane.statistics(of: leg, at: now) }

    /// Counts of all that is alive. All are zero when nothing is going on.
    public struct Counts: Hashable, Sendable {
        /// Calls whose media is not gone.
        public var calls: Int
        /// Alarms that are set.
        public var timers: Int
        /// The counts of SIP.
        public var agent: UserAgent.Counts
        /// The counts of media.
        public var media: MediaCounts
    }

    /// Counts what is alive now.
    public func counts(at now: Instant) -> Counts {
        Counts(calls: calls.count, timers: alarms.count, agent: agent.counts, media: plane.counts(at: now))
    }

    func report(_ event: PhoneCall.Event, of call: PhoneCall, at now: Instant) { onEvent?(call, event, now) }

    func finish(_ call: PhoneCall, at now: Instant) {
        calls[call.leg] = nil
        if call.isUnheard, call.session?.state != .ended { unfinished[call.leg] = call }
        report(.ended(call.record), of: call, at: now)
    }

    /// The session of a call that is over has ended, too.
    func forget(_ call: PhoneCall) { unfinished[call.leg] = nil }

    func takeRandom() -> UInt64 { random.next() }

    /// Keys for one call, and the certificate of this process.
    func makeSecurity() -> LocalSecurity { .ofThisProcess(identity.srtp, keying: identity.keying, using: &random) }

    private func takeLeg() -> MediaLegID {
        defer { nextLeg += 1 }
        return MediaLegID(nextLeg)
    }
}

extension Phone: UserAgentDelegate {
    public func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        guard let onIncoming else {
            session.respond(status: 480, at: now)
            return
        }
        onIncoming(session, now)
    }

    public func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool {
        guard request.method == .message, let onMessage else { return false }
        let isTaken = request.body.count <= Self.longestText
        agent.respond(to: transaction, status: isTaken ? 200 : 413, at: now)
        if isTaken { onMessage(request, now) }
        return true
    }
}
