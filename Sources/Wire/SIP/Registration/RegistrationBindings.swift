import Primitives

/// The bindings of one address of record at a registrar, which say where it can be reached (RFC 3261 §10.3, RFC 3327, RFC 5626 §6).
///
/// A value for one address of record. A REGISTER changes all that it asks for or nothing. `Origin` is what a request to a binding
/// goes back over, such as a flow; it is kept and never looked at.
public struct RegistrationBindings<Origin: Hashable & Sendable>: Sendable {
    /// One Contact, for as long as it is registered.
    public struct Binding: Sendable {
        /// The Contact's URI as it was registered, with its headers.
        public fileprivate(set) var uri: URI
        /// The name before the Contact's URI.
        public fileprivate(set) var displayName: Text?
        /// The Contact's parameters but `expires`: `q`, `+sip.instance`, capabilities ...
        public fileprivate(set) var parameters: Parameters
        /// The proxies on the way, as a route set (RFC 3327).
        public fileprivate(set) var path: [NameAddress]
        /// The way back for a request to it.
        public fileprivate(set) var origin: Origin
        /// The User-Agent of its last REGISTER.
        public fileprivate(set) var userAgent: Text?
        /// The Call-ID of its last REGISTER: a later one of the same client has a higher CSeq.
        public fileprivate(set) var callID: Text
        /// The CSeq number of its last REGISTER.
        public fileprivate(set) var cseq: UInt32
        /// When it was last registered or refreshed.
        public fileprivate(set) var refreshed: Instant
        /// When it ends, unless it is refreshed.
        public fileprivate(set) var expiry: Instant
        /// Nobody answered there since it was refreshed: to a question, or to a call.
        public fileprivate(set) var isSilent = false
        /// A question is under way that nobody has answered yet.
        public fileprivate(set) var isAsked = false
        /// Another registrar, which shares its state with this one, registered or refreshed it last.
        public var isElsewhere = false

        /// One that was kept, as it was.
        public init(
            uri: URI, displayName: Text?, parameters: Parameters, path: [NameAddress], origin: Origin, userAgent: Text?, callID: Text,
            cseq: UInt32,
            refreshed: Instant, expiry: Instant
        ) {
            (self.uri, self.displayName, self.parameters, self.path, self.origin) = (uri, displayName, parameters, path, origin)
            (self.userAgent, self.callID, self.cseq, self.refreshed, self.expiry) = (userAgent, callID, cseq, refreshed, expiry)
        }

        /// The Request-URI of what is sent to it.
        public var target: URI { uri.asRequestURI }
        /// The device, whatever its address is now (RFC 5626 §4.1).
        public var instance: Text? { parameters.value(of: "+sip.instance") }
        /// The number of the flow, among several of one device (RFC 5626 §4.2).
        public var flowNumber: Text? { parameters.value(of: "reg-id") }
        /// In thousandths, 0 to 1000; 1000 when the Contact says nothing (RFC 3261 §20.10).
        public var preference: Int { parameters.preference }

        /// The Contact of a 200: with the seconds that are left, rounded up.
        public func contact(at now: Instant) -> NameAddress {
            var parameters = parameters
            parameters["expires"] = Text(max(0, ((expiry - now).wholeMilliseconds + 999) / 1_000))
            return NameAddress(displayName: displayName, uri: uri, parameters: parameters)
        }

        fileprivate func isSame(as other: Binding) -> Bool {
            if let instance, instance == other.instance, flowNumber == other.flowNumber { return true }
            return uri.isEquivalent(to: other.uri)
        }

        /// Whether both are one contact of one request, in which a device may name several that it does not number (RFC 5626 §6).
        fileprivate func isRepeated(by other: Binding) -> Bool { flowNumber == nil ? uri.isEquivalent(to: other.uri) : isSame(as: other) }
    }

    /// Seconds and numbers of one registrar.
    public struct Limits: Hashable, Sendable {
        /// Shorter times are answered 423, unless they are 0 (RFC 3261 §10.3 step 7).
        public var minimumSeconds: UInt32
        /// Longer times are shortened.
        public var maximumSeconds: UInt32
        /// The time where a REGISTER names none.
        public var defaultSeconds: UInt32
        /// Bindings of one address of record. A new one takes the place of that which was refreshed least recently; a request that
        /// has more than these alone is refused.
        public var contacts: Int

        /// - Precondition: minimum, default and maximum are in that order, and there is room for a contact.
        public init(minimumSeconds: UInt32 = 60, maximumSeconds: UInt32 = 7_200, defaultSeconds: UInt32 = 3_600, contacts: Int = 10) {
            precondition(minimumSeconds <= defaultSeconds && defaultSeconds <= maximumSeconds && contacts > 0)
            (self.minimumSeconds, self.maximumSeconds, self.defaultSeconds, self.contacts) = (
                minimumSeconds, maximumSeconds, defaultSeconds, contacts
            )
        }
    }

    /// Why a REGISTER changes nothing.
    public enum Refusal: Error, Hashable, Sendable {
        /// 400: "*" with other contacts or with an Expires that is not 0, or a Contact to which no request can be sent.
        case unusableContact
        /// 403: more contacts than an address of record may have.
        case tooManyContacts
        /// 423, with this Min-Expires.
        case intervalTooBrief(minimumSeconds: UInt32)
        /// 500: the same client sent a later REGISTER before (RFC 3261 §10.3 step 6 and 7).
        case outOfOrder

        /// The status of the response.
        public var status: Int {
            switch self {
            case .unusableContact: 400
            case .tooManyContacts: 403
            case .intervalTooBrief: 423
            case .outOfOrder: 500
            }
        }
    }

    /// As they were given.
    public let limits: Limits
    private var bindings: [Binding] = []

    /// An address of record that nobody has registered for.
    public init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether nobody is registered.
    public var isEmpty: Bool { bindings.isEmpty }
    /// The number of bindings.
    public var count: Int { bindings.count }
    /// Whether one of them was registered or refreshed here last.
    public var isHere: Bool { bindings.contains { !$0.isElsewhere } }
    /// Bindings among these where nobody answered last.
    public var silentCount: Int { bindings.count(where: \.isSilent) }

    /// When `advance` next has a binding to take away.
    public var deadline: Instant? { bindings.map(\.expiry).min() }

    /// The bindings that hold now, the most recently refreshed first.
    public func current(at now: Instant) -> [Binding] {
        bindings.filter { $0.expiry > now }.enumerated().sorted { ($0.element.refreshed, $0.offset) > ($1.element.refreshed, $1.offset) }
            .map(\.element)
    }

    /// Takes away what has expired, and says what that was.
    @discardableResult
    public mutating func advance(to now: Instant) -> [Binding] {
        let expired = bindings.filter { $0.expiry <= now }
        if !expired.isEmpty { bindings.removeAll { $0.expiry <= now } }
        return expired
    }

    /// Takes in bindings that were kept while nobody answered requests; those that have expired stay out.
    public mutating func restore(_ kept: [Binding], at now: Instant) {
        bindings += kept.filter { binding in binding.expiry > now && !bindings.contains { $0.isSame(as: binding) } }
        evictOldest()
    }

    /// Takes the bindings of all registrars of the address of record in the place of these. One that is known in this state or a later one
    /// stays as it is, with its origin.
    public mutating func adopt(_ all: [Binding], at now: Instant) {
        let known = bindings
        bindings = all.filter { $0.expiry > now }.map { binding in
            known.first { $0.isSame(as: binding) && $0.callID == binding.callID && $0.cseq >= binding.cseq } ?? binding
        }
        evictOldest()
    }

    /// Takes away whatever has this Request-URI and was registered until this time, because nobody answers there.
    /// - Returns: whether there was any.
    @discardableResult
    public mutating func remove(_ uri: URI, registered time: Instant) -> Bool {
        let before = bindings.count
        bindings.removeAll { $0.target.isEquivalent(to: uri) && $0.refreshed <= time }
        return bindings.count < before
    }

    /// Takes away those that nothing leads to any more.
    /// - Returns: whether there was any.
    public mutating func remove(where isGone: (Binding) -> Bool) -> Bool {
        let before = bindings.count
        bindings.removeAll(where: isGone)
        return bindings.count < before
    }

    /// Notes the result of a question or a call to it: nil begins a question, true is an answer. A binding that was refreshed since is left
    /// alone.
    /// - Returns: whether it is the second time in a row that nobody answers there.
    public mutating func note(isAnswered: Bool?, at uri: URI, registered time: Instant) -> Bool {
        guard let index = bindings.firstIndex(where: { $0.refreshed <= time && $0.target.isEquivalent(to: uri) }) else { return false }
        bindings[index].isAsked = isAnswered == nil
        guard let isAnswered else { return false }
        defer { bindings[index].isSilent = !isAnswered }
        return bindings[index].isSilent && !isAnswered
    }

    /// Does what a REGISTER asks for. Without a Contact it asks only what is there (RFC 3261 §10.3 step 6).
    public mutating func apply(_ request: Message, from origin: Origin, at now: Instant) throws(Refusal) {
        advance(to: now)
        if request.contactIsWildcard { return try removeAll(request) }
        let contacts = request.contacts
        guard contacts.count <= limits.contacts else { throw .tooManyContacts }
        let wanted = try contacts.map { contact throws(Refusal) in try binding(contact, request, origin, now) }
        for binding in wanted where bindings.contains(where: { $0.isSame(as: binding) && isLater($0, than: request) }) { throw .outOfOrder }
        bindings.removeAll { old in wanted.contains { $0.isSame(as: old) } }
        for (index, binding) in wanted.enumerated()
        where binding.expiry > now && !wanted[(index + 1)...].contains(where: binding.isRepeated) {
            bindings.append(binding)
        }
        evictOldest()
    }

    private mutating func removeAll(_ request: Message) throws(Refusal) {
        guard request.expires == 0, request.headers.elements(.contact).count == 1 else { throw .unusableContact }
        guard !bindings.contains(where: { isLater($0, than: request) }) else { throw .outOfOrder }
        bindings = []
    }

    /// Whether a binding was made by this request or by a later one of the same client.
    private func isLater(_ binding: Binding, than request: Message) -> Bool {
        binding.callID == request.callID && binding.cseq >= request.cseq.number
    }

    /// The Contact's own time, else the request's, else ours. What is no number counts as an hour (RFC 3261 §20.10, §20.19).
    private func interval(of contact: NameAddress, _ requested: UInt32?) throws(Refusal) -> UInt32 {
        let own = contact.parameters.value(of: "expires").map { Message.seconds($0) ?? 3_600 }
        let seconds = own ?? requested ?? limits.defaultSeconds
        guard seconds == 0 || seconds >= limits.minimumSeconds else { throw .intervalTooBrief(minimumSeconds: limits.minimumSeconds) }
        return min(seconds, limits.maximumSeconds)
    }

    private func binding(_ contact: NameAddress, _ request: Message, _ origin: Origin, _ now: Instant) throws(Refusal) -> Binding {
        guard contact.uri.isUsableAsRequestURI else { throw .unusableContact }
        let seconds = try interval(of: contact, request.expires)
        var parameters = contact.parameters
        parameters["expires"] = nil
        // Kept for hours: nothing here may hold the buffer of the whole message.
        return Binding(
            uri: contact.uri, displayName: contact.displayName, parameters: parameters, path: request.paths, origin: origin,
            userAgent: request.headers[.userAgent]?.detached, callID: request.callID.detached, cseq: request.cseq.number, refreshed: now,
            expiry: now + .seconds(Int64(seconds)))
    }

    private mutating func evictOldest() {
        while bindings.count > limits.contacts {
            guard let oldest = bindings.indices.min(by: { bindings[$0].refreshed < bindings[$1].refreshed }) else { return }
            bindings.remove(at: oldest)
        }
    }
}
