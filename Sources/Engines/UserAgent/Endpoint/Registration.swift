import Primitives
import SIP

/// A registration of ours with a registrar (RFC 3261 §10.2).
public struct OutgoingRegistration {
    /// The domain to register at: the Request-URI, without a user part.
    public var registrar: URI
    /// The way to the registrar.
    public var flow: Flow
    /// The address of record, for From and To.
    public var address: NameAddress
    /// The user part of our Contact; nil takes that of `address`.
    public var contactUser: Text?
    /// Seconds that are asked for.
    public var expires: UInt32 = 600
    /// Our credentials for the registrar; nil: a challenge is a refusal.
    public var credentials: Credentials?
    /// Asks whether the far end answers what keeps the way open (RFC 6223): the `keep` of the 200's Via tells.
    public var asksToKeepAlive = false

    /// - Parameters:
    ///   - registrar: the domain, without a user part.
    ///   - address: the address of record.
    public init(registrar: URI, flow: Flow, address: NameAddress) {
        (self.registrar, self.flow, self.address) = (registrar, flow, address)
    }
}

/// Events of a registration.
public enum RegistrationEvent {
    /// The binding holds for so many seconds; it is refreshed before.
    case registered(seconds: UInt32, Message)
    /// It was refused (408 with nil: no answer, 503 with nil: the transport failed) and is tried again.
    case failed(status: Int, Message?, retryIn: Duration)
    /// After `unregister`, whether or not the registrar answered. The last event.
    case unregistered(status: Int)
}

/// Keeps one Contact registered: refreshes it, tries again after failures, answers challenges.
public final class Registration {
    /// As it was made; the flow may have changed since.
    public private(set) var request: OutgoingRegistration
    /// Whether the binding holds.
    public private(set) var isRegistered = false
    /// Hears of everything.
    public var onEvent: ((Registration, RegistrationEvent, Instant) -> Void)?
    /// Asked when the registrar did not answer or said 5xx: another way to it, which is tried at once; nil waits and tries the same again.
    public var otherFlow: ((Registration, _ status: Int, Instant) -> Flow?)?

    private unowned let agent: UserAgent
    private let authentication: ClientAuthentication?
    private let callID: Text
    private var contact: NameAddress
    private let tag: Text
    private var sequence: UInt32
    private var expires: UInt32
    private var failures = 0
    private var isPending = false
    private var isLeaving = false
    private let alarm = Alarm()

    init(_ request: OutgoingRegistration, agent: UserAgent) {
        (self.request, self.agent, expires) = (request, agent, request.expires)
        authentication = agent.makeAuthentication(request.credentials)
        (callID, tag, sequence) = (agent.makeCallID(), agent.makeTag(), agent.makeSequence())
        contact = agent.makeContact(user: request.contactUser ?? request.address.uri.user, over: request.flow)
        alarm.ring = { [unowned self] now in self.send(at: now) }
    }

    /// Takes the binding back. One REGISTER with Expires 0 is sent, after the one that is on its way if there is one.
    public func unregister(at now: Instant) {
        guard !isLeaving else { return }
        isLeaving = true
        expires = 0
        if !isPending { send(at: now) }
    }

    /// The address that peers are told of us is another: the Contact is made anew, and registered at once where the binding holds.
    public func renewContact(at now: Instant) {
        guard !isLeaving else { return }
        move(to: request.flow)
        if isRegistered, !isPending { send(at: now) }
    }

    func send(at now: Instant) {
        agent.alarms.set(alarm, to: nil)
        isPending = true
        var from = request.address
        from.tag = tag
        sequence += 1
        var message = Message.request(
            .register, uri: request.registrar, via: makeVia(), from: from, to: request.address,
            callID: callID, cseq: sequence, contact: contact)
        message.headers.append(.expires, Text(expires))
        agent.addProduct(to: &message)
        let exchange = ClientRequest(message, over: request.flow, authentication: authentication, session: nil, agent: agent) { [self] in
            sequence += 1
            return sequence
        }
        exchange.followsRedirections = true
        let asked = expires
        exchange.start(at: now) { [self] outcome, now in
            switch outcome {
            case .response(let response, _):
                if let status = response.status, status >= 200 { finish(status, response, asked: asked, at: now) }
            case .timedOut: finish(408, nil, asked: asked, at: now)
            case .transportFailed: finish(503, nil, asked: asked, at: now)
            case .terminated: break
            }
        }
    }

    private func makeVia() -> Via {
        var via = agent.makeVia(for: request.registrar, over: request.flow)
        if request.asksToKeepAlive { via.parameters["keep"] = .empty }
        return via
    }

    private func finish(_ status: Int, _ response: Message?, asked: UInt32, at now: Instant) {
        isPending = false
        if isLeaving {
            guard asked == 0 else { return send(at: now) }
            isRegistered = false
            agent.registrations[ObjectIdentifier(self)] = nil
            onEvent?(self, .unregistered(status: status), now)
        } else if let response, (200..<300).contains(status) {
            succeed(response, asked: asked, at: now)
        } else if status == 423, let minimum = response?.headers[.minExpires]?.integer(UInt32.self), minimum > expires {
            expires = minimum
            send(at: now)
        } else {
            fail(status, response, at: now)
        }
    }

    /// Refreshed at 80–90 % of the time that the registrar gave (as RFC 5626 §4.4.1 spreads its keep-alives).
    private func succeed(_ response: Message, asked: UInt32, at now: Instant) {
        let granted = grantedSeconds(response) ?? response.expires ?? asked
        // A binding that is gone at once is none, and not to be asked for again and again.
        guard granted > 0 else { return fail(response.status ?? 200, response, at: now) }
        (failures, isRegistered) = (0, true)
        let share = UInt64(granted) * 800...UInt64(granted) * 900
        agent.alarms.set(alarm, to: now + agent.randomDelay(share))
        onEvent?(self, .registered(seconds: granted, response), now)
    }

    /// The way that the binding was made over is gone: it is made again soon. A registrar that hangs up after each answer is not called at
    /// once.
    func lost(_ flow: Flow, at now: Instant) {
        guard isRegistered, !isPending, !isLeaving, request.flow.isCarried(by: flow) else { return }
        agent.alarms.set(alarm, to: now + agent.randomDelay(500...1_500))
    }

    /// From now on over this flow; the Contact names our address as that way's peer sees it.
    private func move(to flow: Flow) {
        request.flow = flow
        contact = agent.makeContact(user: request.contactUser ?? request.address.uri.user, over: flow)
    }

    /// The expires parameter of our own Contact among those that the registrar lists. Many write another address into it, as they see it:
    /// then the first to expire of our user's counts, or the only one.
    private func grantedSeconds(_ response: Message) -> UInt32? {
        let contacts = response.contacts
        if let ours = contacts.first(where: { $0.uri.isEquivalent(to: contact.uri) }) { return Self.seconds(of: ours) }
        let likely = contacts.count == 1 ? contacts : contacts.filter { $0.uri.user == contact.uri.user }
        let seconds = likely.compactMap(Self.seconds)
        return seconds.filter { $0 > 0 }.min() ?? seconds.first
    }

    private static func seconds(of contact: NameAddress) -> UInt32? { contact.parameters["expires"]?.integer(UInt32.self) }

    /// Tried again after 30 s, and twice as long with every failure in a row, up to 16 min (RFC 5626 §4.5). Where nobody is there who could
    /// be flooded, but may be starting, it is after 1 s to 32 s.
    private func fail(_ status: Int, _ response: Message?, at now: Instant) {
        isRegistered = false
        if status == 408 || status >= 500, status < 600, let flow = otherFlow?(self, status, now) {
            onEvent?(self, .failed(status: status, response, retryIn: .zero), now)
            move(to: flow)
            return send(at: now)
        }
        let isNobodyThere = status == 503 && response == nil
        let base = UInt64(isNobodyThere ? 1_000 : 30_000) << UInt64(min(failures, 5))
        failures += 1
        let delay = max(agent.randomDelay(base / 2...base), .seconds(Int64(min(response?.retryAfter ?? 0, 3_600))))
        agent.alarms.set(alarm, to: now + delay)
        onEvent?(self, .failed(status: status, response, retryIn: delay), now)
    }
}

extension UserAgent {
    /// Registers, and keeps registered until `unregister`.
    public func register(
        _ request: OutgoingRegistration, at now: Instant, onEvent: @escaping (Registration, RegistrationEvent, Instant) -> Void
    ) -> Registration {
        let registration = Registration(request, agent: self)
        registration.onEvent = onEvent
        registrations[ObjectIdentifier(registration)] = registration
        registration.send(at: now)
        return registration
    }

    func addProduct(to request: inout Message) {
        if !configuration.product.isEmpty { request.append(.userAgent, configuration.product) }
    }
}
