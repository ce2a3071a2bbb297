import Primitives
import SIP
import UserAgent

/// The door: which requests of strangers are dealt with at all, and who may call.
extension Gateway {
    func userAgent(_ agent: UserAgent, admits request: Message, over flow: Flow, at now: Instant) -> UserAgent.Admission {
        // A call of ours to ourselves is under way.
        if userAgent.isOwnCall(request) { return .admitted }
        let source = flow.remote.address, isKnown = isKnown(flow)
        if !isKnown, configuration.access.isSilent, isStranger(request, source) {
            refused(.stranger, source)
            return .ignored
        }
        // What is done too late is done twice: whoever waits for half a second sends it again (RFC 3261 §17.1.1.2). An OPTIONS asks whether
        // we are alive.
        if doorkeeper.isBehind(at: now), request.method != .options {
            refused(.backlog, source)
            return .refused(retryAfter: configuration.limits.retryAfter)
        }
        return isKnown || admitsAnother(from: flow) ? .admitted : .refused(retryAfter: configuration.limits.retryAfter)
    }

    /// Whoever cannot be read names no line of ours.
    func userAgent(_ agent: UserAgent, answersMalformedOver flow: Flow, at now: Instant) -> Bool {
        if isKnown(flow) { return true }
        return !ignores(flow) && admitsAnother(from: flow)
    }

    /// Who has had no answer over a connection yet has none to a ping either, where strangers have none.
    public func answersPing(over flow: Flow, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        return isKnown(flow) || !ignores(flow)
    }

    /// A trunk, or of a network that is trusted.
    func isKnown(_ flow: Flow) -> Bool {
        isTrusted(flow) || trunksInOrder.contains { $0.sends(flow) }
    }

    /// Whoever names no line of ours, and is no guest, is not to hear that somebody is here (`access.silent`). Counted.
    func ignores(_ flow: Flow) -> Bool {
        let source = flow.remote.address
        guard configuration.access.isSilent, !isGuest(source) else { return false }
        refused(.stranger, source)
        return true
    }

    /// Whether the source has not said too much lately. Counted, and noted where it has.
    func admitsAnother(from flow: Flow) -> Bool {
        let source = flow.remote.address
        if doorkeeper.admitsRequest(from: source, at: now) { return true }
        note(.source, source)
        return false
    }

    private func isGuest(_ source: IPAddress) -> Bool { configuration.access.guests.contains { $0.contains(source) } }

    /// Neither a guest by where it comes from nor, by what it says, one of our lines.
    private func isStranger(_ request: Message, _ source: IPAddress) -> Bool {
        guard !isGuest(source) else { return false }
        let claimed = request.method == .register ? request.to.uri.decodedUser : routing.namedNumber(request.from.uri)
        return claimed.flatMap(line(numbered:)) == nil
    }

    func isTrusted(_ flow: Flow) -> Bool { configuration.access.trusted.contains { $0.contains(flow.remote.address) } }

    // MARK: Who may call

    enum Admission {
        /// With the line of ours that it is, if any.
        case admitted(CallerIdentity, Line?)
        case challenged([(HeaderName, Text)])
        /// Somebody else than From says.
        case forbidden
    }

    /// A caller that names a line of ours proves it, unless the line is open or the source is trusted; others are guests where guests are
    /// admitted, and are challenged elsewhere.
    func admission(of request: Message, from source: IPAddress) -> Admission {
        let claimed = routing.namedNumber(request.from.uri).flatMap(line(numbered:))
        var caller = identity(in: request, from: source)
        // A call of ours to one of our own lines: who it is for was proved when it began.
        if userAgent.ownCall(request) != nil { return .admitted(named(caller, claimed), claimed) }
        if configuration.access.trusted.contains(where: { $0.contains(source) }) { return .admitted(named(caller, claimed), claimed) }
        if let claimed, claimed.configuration.isOpen { return .admitted(named(caller, claimed), claimed) }
        let mustProve = claimed?.configuration.password != nil
        if !mustProve, isGuest(source) { return .admitted(caller, nil) }
        switch registrar.authenticator.verify(request, from: source, at: now) {
        case .accepted(let user):
            guard let line = line(numbered: user), claimed == nil || claimed === line else { return .forbidden }
            // Who proves to be a line of ours and calls as nobody wants to be nobody to others (RFC 3323 §4.1.1).
            caller.isPrivate = caller.isPrivate || caller.isAnonymous
            caller.user = user
            return .admitted(named(caller, line), line)
        case .challenge(let headers): return .challenged(headers)
        }
    }

    /// The journal has each until one is too many: whoever goes on guessing does not fill it.
    func note(_ guess: WrongPassword, at now: Instant) {
        guard guess.excess != .further else { return }
        let cause: JournalEvent.Value = guess.excess == .none ? "wrong-password" : "throttled"
        journal.record(
            .accessRefused, at: now,
            [.cause: cause, .user: .init(guess.user), .remote: .init("\(guess.source)"), .count: .init(guess.count)])
        if guess.excess == .first { onGuessing?(guess) }
    }

    /// Whom a request is from: the asserted identity where its source is believed (RFC 3325 §5), else From.
    func identity(in request: Message, from source: IPAddress) -> CallerIdentity {
        let asserted = configuration.access.believes(source) ? request.addresses(.pAssertedIdentity).first : nil
        let address = asserted ?? request.from
        var caller = CallerIdentity(user: routing.callerNumber(address.uri), host: address.uri.host, displayName: address.displayName)
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
        if line != nil { caller.host = configuration.domain }
        return caller
    }
}
