import Primitives
import RTP
import SIP
import UserAgent

/// The admission of requests: it decides which requests of unknown sources are dealt with at all, and who may call. Counts what it
/// refuses, by cause. Lives on the signalling lane.
final class Admission {
    private let context: GatewayContext
    private let lines: LineTable
    private let trunks: Trunks
    private let registrar: Registrar
    private let userAgent: UserAgent
    private let access: GatewayConfiguration.Access
    private(set) var rateControl: RateControl
    /// When the journal last said that something is refused for this cause.
    private var notedRefusals: [RateControl.Cause: Instant] = [:]
    /// Told of the first wrong password of a minute that is one too many.
    private let onGuessing: ((WrongPassword) -> Void)?

    init(
        _ context: GatewayContext, _ lines: LineTable, _ trunks: Trunks, _ registrar: Registrar, _ userAgent: UserAgent,
        onGuessing: ((WrongPassword) -> Void)?
    ) {
        (self.context, self.lines, self.trunks, self.registrar) = (context, lines, trunks, registrar)
        (self.userAgent, self.onGuessing, access) = (userAgent, onGuessing, context.configuration.access)
        rateControl = RateControl(context.configuration.limits)
    }

    func adopt(_ limits: GatewayConfiguration.Limits) { rateControl.adopt(limits) }

    // MARK: Sources

    func admits(_ request: Message, over flow: Flow) -> UserAgent.Admission {
        // A call of ours to ourselves is under way.
        if userAgent.isOwnCall(request) { return .admitted }
        let source = flow.remote.address, isKnown = isKnown(flow), retryAfter = context.configuration.limits.retryAfter
        if !isKnown, access.isSilent, isStranger(request, source) {
            refused(.stranger, source)
            return .ignored
        }
        // Work that is done too late is done twice: a peer that waits for half a second sends its request again (RFC 3261 §17.1.1.2).
        // An OPTIONS asks whether we are alive.
        if rateControl.isBehind(at: context.now), request.method != .options {
            refused(.backlog, source)
            return .refused(retryAfter: retryAfter)
        }
        return isKnown || admitsAnother(from: flow) ? .admitted : .refused(retryAfter: retryAfter)
    }

    /// A message lay unread for so long.
    func note(backlog: Duration) { rateControl.note(backlog: backlog, at: context.now) }

    /// Whoever cannot be read names no line of ours.
    func answersMalformed(over flow: Flow) -> Bool { isKnown(flow) || !ignores(flow) && admitsAnother(from: flow) }

    /// Whether a ping over the flow is answered. A source without an answer over its connection has none to a ping, where unknown sources
    /// have none.
    func answersPing(over flow: Flow) -> Bool { isKnown(flow) || !ignores(flow) }

    /// The answer to a STUN binding request beside SIP (RFC 5626 §5.4); nil for what is none. Unknown sources and floods get the answer
    /// that they get to other requests.
    func answer(toBinding bytes: [UInt8], over flow: Flow) -> (isRequest: Bool, answer: [UInt8]?) {
        guard let message = try? STUNMessage(parsing: bytes), let answer = STUNBinding.answer(to: message, from: flow.remote) else {
            return (false, nil)
        }
        return (true, answersMalformed(over: flow) ? answer : nil)
    }

    /// Whether another call may begin now; those of trusted sources and of ourselves may always.
    func admitsCall(_ invite: Message, over flow: Flow) -> Bool {
        if isTrusted(flow) || userAgent.isOwnCall(invite) || rateControl.admitsCall(at: context.now) { return true }
        note(.callRate, flow.remote.address)
        return false
    }

    /// A trunk, or of a network that is trusted.
    private func isKnown(_ flow: Flow) -> Bool {
        isTrusted(flow) || trunks.sender(over: flow) != nil
    }

    /// Whoever names no line of ours, and is no guest, is not to hear that somebody is here (`access.silent`). Counted.
    private func ignores(_ flow: Flow) -> Bool {
        let source = flow.remote.address
        guard access.isSilent, !isGuest(source) else { return false }
        refused(.stranger, source)
        return true
    }

    /// Whether the source has not said too much lately. Counted, and noted where it has.
    private func admitsAnother(from flow: Flow) -> Bool {
        let source = flow.remote.address
        if rateControl.admitsRequest(from: source, at: context.now) { return true }
        note(.source, source)
        return false
    }

    private func isGuest(_ source: IPAddress) -> Bool { access.guests.contains { $0.contains(source) } }

    /// Neither a guest by where it comes from nor, by what it says, one of our lines.
    private func isStranger(_ request: Message, _ source: IPAddress) -> Bool {
        guard !isGuest(source) else { return false }
        let claimed = request.method == .register ? request.to.uri.decodedUser : lines.routing.namedNumber(request.from.uri)
        return claimed.flatMap(lines.line(numbered:)) == nil
    }

    private func isTrusted(_ flow: Flow) -> Bool { access.trusted.contains { $0.contains(flow.remote.address) } }

    // MARK: Who may call

    enum Verdict {
        /// With the line of ours that it is, if any.
        case admitted(CallerIdentity, Line?)
        case challenged([(HeaderName, Text)])
        /// Somebody else than From says.
        case forbidden
    }

    /// A caller that names a line of ours proves it, unless the line is open or the source is trusted; others are guests where guests are
    /// admitted, and are challenged elsewhere.
    func admission(of request: Message, from source: IPAddress) -> Verdict {
        let claimed = lines.routing.namedNumber(request.from.uri).flatMap(lines.line(numbered:))
        var caller = identity(in: request, from: source)
        // A call of ours to one of our own lines: who it is for was proved when it began.
        if userAgent.ownCall(request) != nil { return .admitted(named(caller, claimed), claimed) }
        if access.trusted.contains(where: { $0.contains(source) }) { return .admitted(named(caller, claimed), claimed) }
        if let claimed, claimed.configuration.isOpen { return .admitted(named(caller, claimed), claimed) }
        let mustProve = claimed?.configuration.password != nil
        if !mustProve, isGuest(source) { return .admitted(caller, nil) }
        switch registrar.authenticator.verify(request, from: source, at: context.now) {
        case .accepted(let user):
            guard let line = lines.line(numbered: user), claimed == nil || claimed === line else { return .forbidden }
            // A caller that proves to be a line of ours and calls as nobody wants to be nobody to others (RFC 3323 §4.1.1).
            caller.isPrivate = caller.isPrivate || caller.isAnonymous
            caller.user = user
            return .admitted(named(caller, line), line)
        case .challenge(let headers): return .challenged(headers)
        }
    }

    /// The journal has each until one is too many: whoever goes on guessing does not fill it.
    func note(_ guess: WrongPassword) {
        guard guess.excess != .further else { return }
        let cause: JournalEvent.Value = guess.excess == .none ? "wrong-password" : "throttled"
        context.journal.record(
            .accessRefused, at: context.now,
            [.cause: cause, .user: .init(guess.user), .remote: .init("\(guess.source)"), .count: .init(guess.count)])
        if guess.excess == .first { onGuessing?(guess) }
    }

    /// The sender of a request: the asserted identity where its source is trusted (RFC 3325 §5), else From.
    func identity(in request: Message, from source: IPAddress) -> CallerIdentity {
        let asserted = access.believes(source) ? request.addresses(.pAssertedIdentity).first : nil
        let address = asserted ?? request.from
        var caller = CallerIdentity(user: lines.routing.callerNumber(address.uri), host: address.uri.host, displayName: address.displayName)
        let privacy = request.headers.all(.privacy).flatMap { $0.lowercased.bytes.split(separator: UInt8(ascii: ";")) }.map {
            Text($0).trimmed
        }
        caller.isPrivate = privacy.contains { ["id", "user", "header"].contains($0) }
        return caller
    }

    private func named(_ caller: CallerIdentity, _ line: Line?) -> CallerIdentity {
        var caller = caller
        caller.isKnown = true
        caller.displayName = caller.displayName ?? line?.configuration.name
        if line != nil { caller.host = context.configuration.domain }
        return caller
    }

    // MARK: Refusals

    func refused(_ cause: RateControl.Cause, _ source: IPAddress) {
        rateControl.refuse(cause)
        note(cause, source)
    }

    /// Counts; false, so that a check can end with it.
    @discardableResult
    func refuse(_ cause: RateControl.Cause) -> Bool { rateControl.refuse(cause) }

    /// Once in ten seconds for a cause: a flood does not fill the journal too.
    private func note(_ cause: RateControl.Cause, _ source: IPAddress) {
        let now = context.now
        if let last = notedRefusals[cause], now - last < .seconds(10) { return }
        notedRefusals[cause] = now
        context.journal.record(
            .overload, at: now,
            [.cause: .init(cause.rawValue), .remote: .init("\(source)"), .count: .init(Int(clamping: rateControl.counts[cause] ?? 0))])
    }
}
