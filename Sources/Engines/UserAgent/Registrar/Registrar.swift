import Primitives
import SIP

/// The domain of a registrar, and its bounds.
public struct RegistrarConfiguration: Sendable {
    /// The realm that devices are asked in.
    public var domain: Text
    /// Times and numbers of contacts.
    public var limits: RegistrationBindings<Flow>.Limits
    /// Nonces live this long.
    public var nonceLifetime: Duration
    /// Offered in this order, the preferred one first (RFC 8760 §2.4). MD5 comes last: JsSIP and SIP.js keep the last challenge alone, and
    /// know MD5 alone.
    public var algorithms: [DigestAlgorithm]
    /// Users that register here at once; one more is answered 503. Those that registered elsewhere alone (``Registrar/adopt(_:of:at:)``)
    /// do not count: the registrar that has them bounds them.
    public var users: Int
    public var guesses = GuessLimits()
    /// The secret of other gateways, whose nonces are good here; nil: none are.
    public var sharedNonces: SharedNonces?
    /// The interval at which devices are asked whether they are there; nil: never.
    public var keepAlive: Duration? = .seconds(25)
    /// Devices that no NAT hides are asked, too.
    public var asksAll = false
    /// A contact where nobody answers twice in a row is taken away.
    public var forgetsSilent = true

    public init(domain: Text) {
        self.domain = domain
        (limits, nonceLifetime, algorithms) = (.init(), .seconds(300), [.sha256, .md5])
        users = 50_000
    }
}

/// Answers REGISTER and knows where every user can be reached (RFC 3261 §10.3). On the signalling lane.
///
/// A user is the user part of To; the domain is not looked at, since devices are configured with names and addresses of all kinds.
public final class Registrar {
    /// One device of a user.
    public typealias Contact = RegistrationBindings<Flow>.Binding

    /// Numbers of the things that the registrar holds.
    public struct Counts: Hashable, Sendable {
        /// Users with at least one contact.
        public var users: Int
        /// Contacts of all users.
        public var contacts: Int
        /// Contacts among these where nobody answered last.
        public var silent: Int
        /// Nonces in use.
        public var nonces: Int
        /// Alarms that are set.
        public var timers: Int
        /// WebSockets that alone lead to contacts, or did.
        public var webSockets: Int

        /// Nobody is registered and nothing waits. Nonces may be remembered until they expire.
        public var isEmpty: Bool { users + contacts + timers + webSockets == 0 }
    }

    /// Shared with whoever checks calls.
    public let authenticator: Authenticator
    /// A device is to be asked whether it is there (OPTIONS); what comes of it goes to `note`.
    public var onQuestion: ((_ user: Text, Contact, Instant) -> Void)?
    /// All that is registered of a user, after each change; not where a contact that another registrar has told of has expired.
    public var onChange: ((_ user: Text, _ contacts: [Contact]) -> Void)?
    /// Contacts of a user were not registered again in time; with those that are left.
    public var onExpiry: ((_ user: Text, _ contacts: [Contact]) -> Void)?
    /// Contacts of a user went with the connection that alone led to them; with those that are left.
    public var onLoss: ((_ user: Text, _ contacts: [Contact]) -> Void)?
    /// Nothing is registered of a user any more, for whatever reason.
    public var onUnregistered: ((_ user: Text) -> Void)?
    private var configuration: RegistrarConfiguration
    private let accounts: any AccountDirectory
    private var users: [Text: User] = [:]
    /// Users with a contact that was registered or refreshed here last.
    private var usersHere = 0
    /// Users with contacts that only this connection leads to.
    private var usersOverWebSocket: [UInt64: Set<Text>] = [:]
    private var alarms = AlarmQueue()
    private var random: any RandomNumberGenerator

    private struct User {
        var bindings: RegistrationBindings<Flow>
        let expiry: Alarm
        /// When its devices are asked next; nil where none is to be.
        var question: Alarm?
        /// It counts in `usersHere`.
        var isHere = false
        /// Connections in `usersOverWebSocket`.
        var webSockets: Set<UInt64> = []
    }

    /// - Parameters:
    ///   - random: the operating system's source, or a seeded one in a rehearsal.
    ///   - hash: for the digests.
    public init(
        configuration: RegistrarConfiguration, accounts: any AccountDirectory, random: any RandomNumberGenerator, hash: @escaping DigestHash
    ) {
        let digest = DigestServer.Configuration(
            realm: configuration.domain, algorithms: configuration.algorithms, nonceLifetime: configuration.nonceLifetime)
        authenticator = Authenticator(
            configuration: digest, accounts: accounts, limits: configuration.guesses, shared: configuration.sharedNonces, random: random,
            hash: hash)
        (self.configuration, self.accounts, self.random) = (configuration, accounts, random)
    }

    /// REGISTERs that were refused since the start: for one user too many (503), and for one contact too many (403).
    public private(set) var refusedUsers: UInt64 = 0, refusedContacts: UInt64 = 0

    /// Answers to REGISTERs since the start, by status.
    public private(set) var answers: [Int: UInt64] = [:]

    /// The most users that register here; those that are registered stay.
    public var userLimit: Int {
        get { configuration.users }
        set { configuration.users = newValue }
    }

    /// Numbers of the things that are held now.
    public var counts: Counts {
        Counts(
            users: users.count, contacts: users.values.reduce(0) { $0 + $1.bindings.count },
            silent: users.values.reduce(0) { $0 + $1.bindings.silentCount },
            nonces: authenticator.nonceCount, timers: alarms.count, webSockets: usersOverWebSocket.count)
    }

    /// The answer to a REGISTER, without a To tag: the transaction adds it. Call it once for a request.
    /// - Parameter flow: what the request came over; requests to its contacts go back over it.
    public func handle(_ request: Message, over flow: Flow, at now: Instant) -> Message {
        let response = answer(to: request, over: flow, at: now)
        answers[response.status ?? 0, default: 0] += 1
        return response
    }

    private func answer(to request: Message, over flow: Flow, at now: Instant) -> Message {
        // RFC 3261 §10.3 item 5, RFC 4475 §3.3.4: an address of record is a SIP or SIPS URI.
        guard request.to.uri.isSIP else { return .answer(to: request, status: 400) }
        // A binding without its path would never be reached (RFC 3327 §5.3).
        guard request.paths.count == request.headers.elements(.path).count else {
            return .answer(to: request, status: 400, reason: "Bad Path")
        }
        guard let user = request.to.uri.decodedUser?.detached else { return .answer(to: request, status: 404) }
        // A user without an account is answered like one with an account: a stranger does not learn the numbers (RFC 3261 §10.3 asks for
        // the sender first, too).
        if accounts.account(of: user) != .open {
            switch authenticator.verify(request, from: flow.remote.address, at: now) {
            case .accepted(user): break
            case .accepted: return .answer(to: request, status: 403)
            case .challenge(let headers): return .answer(to: request, status: 401, adding: headers)
            }
        }
        return register(user, request, flow, now)
    }

    /// The contacts at which a user can be reached, the most recently registered first.
    public func contacts(of user: Text, at now: Instant) -> [Contact] { users[user]?.bindings.current(at: now) ?? [] }

    /// Takes in what was registered when the server ran last; users who have no account any more stay out.
    public func restore(_ contacts: [Contact], of user: Text, at now: Instant) {
        guard accounts.account(of: user) != nil, hasRoom(for: user, with: contacts) else { return }
        var entry = users.removeValue(forKey: user) ?? newUser(user)
        entry.bindings.restore(contacts, at: now)
        users[user] = entry
        settle(user)
        watch(user, at: now)
    }

    /// Takes what is registered of a user with all registrars that share their state, in the place of what was known here. A contact that
    /// was known stays as it is, with its connection. `onChange` does not hear of it.
    public func adopt(_ contacts: [Contact], of user: Text, at now: Instant) {
        guard accounts.account(of: user) != nil, users[user] != nil || !contacts.isEmpty, hasRoom(for: user, with: contacts) else { return }
        var entry = users.removeValue(forKey: user) ?? newUser(user)
        entry.bindings.adopt(contacts, at: now)
        users[user] = entry
        settle(user)
        watch(user, at: now)
    }

    /// Users with at least one contact, in no order.
    public var registeredUsers: [Text] { Array(users.keys) }

    /// Removes the registrations of users that have no account any more.
    public func dropUsersWithoutAccount() {
        for user in users.keys.filter({ accounts.account(of: $0) == nil }).sorted(by: { $0.description < $1.description }) {
            remove(user)
            onChange?(user, [])
        }
    }

    /// Takes a contact away that does not answer, so that the next call does not wait for it.
    /// - Parameter time: when it was registered last, as far as whoever called it knows; one that was registered later stays.
    public func drop(_ uri: URI, of user: Text, registered time: Instant) {
        guard users[user]?.bindings.remove(uri, registered: time) == true else { return }
        settle(user)
        onChange?(user, contacts(of: user, at: .zero))
    }

    /// A connection is gone, and with it the contacts that it alone led to: those of browsers (RFC 5626 §5.3), but for devices that a push
    /// wakes.
    public func lost(_ flow: Flow, at now: Instant) {
        guard let concerned = usersOverWebSocket.removeValue(forKey: flow.connection) else { return }
        for user in concerned.sorted(by: { $0.description < $1.description }) {
            users[user]?.webSockets.remove(flow.connection)
            let isGone = users[user]?.bindings.remove { $0.origin.connection == flow.connection && !$0.isWokenByPush }
            guard isGone == true else { continue }
            settle(user)
            let left = contacts(of: user, at: now)
            onChange?(user, left)
            onLoss?(user, left)
        }
    }

    /// Takes away what has expired.
    public func advance(to now: Instant) {
        while let alarm = alarms.popDue(at: now) { alarm.ring(now) }
    }

    /// When `advance` next has something to do.
    public var deadline: Instant? { alarms.deadline }

    private func register(_ user: Text, _ request: Message, _ flow: Flow, _ now: Instant) -> Message {
        guard hasRoom(for: user) else {
            refusedUsers += 1
            return .answer(to: request, status: 503)
        }
        var entry = users.removeValue(forKey: user) ?? newUser(user)
        let result = Result { () throws(RegistrationBindings<Flow>.Refusal) in try entry.bindings.apply(request, from: flow, at: now) }
        users[user] = entry
        settle(user)
        watch(user, at: now)
        switch result {
        case .success:
            if flow.transport.isWebSocket, users[user] != nil {
                users[user]?.webSockets.insert(flow.connection)
                usersOverWebSocket[flow.connection, default: []].insert(user)
            }
            if request.contactIsWildcard || !request.contacts.isEmpty { onChange?(user, contacts(of: user, at: now)) }
            return listing(of: user, request, now)
        case .failure(let refusal):
            if case .tooManyContacts = refusal { refusedContacts += 1 }
            return Self.response(to: request, refusing: refusal)
        }
    }

    /// - Parameter contacts: those that the user comes with; nil: one that registers here.
    private func hasRoom(for user: Text, with contacts: [Contact]? = nil) -> Bool {
        usersHere < configuration.users || users[user]?.isHere == true || contacts?.allSatisfy(\.isElsewhere) == true
    }

    private func newUser(_ user: Text) -> User {
        User(bindings: .init(limits: configuration.limits), expiry: Alarm { [unowned self] now in expire(user, at: now) })
    }

    /// A 200 with every contact and the time that it has left (RFC 3261 §10.3 step 8, RFC 3327 §5.3).
    private func listing(of user: Text, _ request: Message, _ now: Instant) -> Message {
        let contacts = contacts(of: user, at: now).map { (HeaderName.contact, $0.contact(at: now).text) }
        return .answer(to: request, status: 200, adding: contacts + request.headers.all(.path).map { (.path, $0) })
    }

    private static func response(to request: Message, refusing refusal: RegistrationBindings<Flow>.Refusal) -> Message {
        switch refusal {
        case .intervalTooBrief(let seconds): .answer(to: request, status: 423, adding: [(.minExpires, Text(seconds))])
        case .unusableContact: .answer(to: request, status: 400, reason: "Unusable Contact")
        case .tooManyContacts: .answer(to: request, status: 403, reason: "Too Many Contacts")
        case .outOfOrder: .answer(to: request, status: 500, reason: "CSeq Out Of Order")
        }
    }

    private func expire(_ user: Text, at now: Instant) {
        let expired = users[user]?.bindings.advance(to: now) ?? []
        settle(user)
        let left = contacts(of: user, at: now)
        // Of registrars that share their state one tells of it: else each of them would.
        if expired.contains(where: { !$0.isElsewhere }) { onChange?(user, left) }
        if !expired.isEmpty { onExpiry?(user, left) }
    }

    /// Sets the user's alarm to its next expiry; without contacts nothing of the user is left.
    private func settle(_ user: Text) {
        guard let entry = users[user] else { return }
        alarms.set(entry.expiry, to: entry.bindings.deadline)
        count(user, isHere: entry.bindings.isHere)
        if entry.bindings.isEmpty { remove(user) }
    }

    private func count(_ user: Text, isHere: Bool) {
        guard users[user]?.isHere == !isHere else { return }
        users[user]?.isHere = isHere
        usersHere += isHere ? 1 : -1
    }

    private func remove(_ user: Text) {
        count(user, isHere: false)
        guard let entry = users.removeValue(forKey: user) else { return }
        alarms.set(entry.expiry, to: nil)
        if let question = entry.question { alarms.set(question, to: nil) }
        for connection in entry.webSockets {
            usersOverWebSocket[connection]?.remove(user)
            if usersOverWebSocket[connection]?.isEmpty == true { usersOverWebSocket[connection] = nil }
        }
        onUnregistered?(user)
    }
}

// Devices that are asked whether they are there, which keeps the way to them through NATs open, too.
extension Registrar {
    /// Notes the result of a question or of a call to a contact of a user's. A contact that was silent is asked at once; one where nobody
    /// answers twice in a row is taken away.
    /// - Parameters:
    ///   - isAnswered: anything came from there.
    ///   - time: when it was registered last, as far as whoever asked knows; a later registration is not spoken of.
    public func note(isAnswered: Bool, _ contact: URI, of user: Text, registered time: Instant, at now: Instant) {
        let isDead = users[user]?.bindings.note(isAnswered: isAnswered, at: contact, registered: time) == true
        if isDead, configuration.forgetsSilent { return drop(contact, of: user, registered: time) }
        guard !isAnswered, !isDead else { return }
        watch(user, at: now)
        if let question = users[user]?.question { alarms.set(question, to: now) }
    }

    /// Sets the user's question, where one of its devices is to be asked and none is due yet.
    private func watch(_ user: Text, at now: Instant) {
        guard let interval = configuration.keepAlive, users[user]?.question?.isSet != true,
            contacts(of: user, at: now).contains(where: mayAsk)
        else { return }
        let alarm = users[user]?.question ?? Alarm { [unowned self] now in ask(user, at: now) }
        users[user]?.question = alarm
        // Not everybody at once, and none later than that.
        let longest = UInt64(interval.wholeMilliseconds)
        alarms.set(alarm, to: now + .milliseconds(Int64(longest - random.next() % (longest / 5 + 1))))
    }

    private func ask(_ user: Text, at now: Instant) {
        for contact in contacts(of: user, at: now) where mayAsk(contact) && !contact.isAsked {
            _ = users[user]?.bindings.note(isAnswered: nil, at: contact.target, registered: contact.refreshed)
            onQuestion?(user, contact, now)
        }
        watch(user, at: now)
    }

    /// A device that sleeps until a push wakes it answers nothing; behind a proxy the way is the proxy's to keep.
    private func mayAsk(_ contact: Contact) -> Bool {
        guard contact.path.isEmpty, !contact.isWokenByPush else { return false }
        return configuration.asksAll || contact.isSilent || contact.uri.targetAddress.map(contact.origin.isFromNAT) == true
    }
}

extension Registrar.Contact {
    /// A push wakes the device, which then registers anew (RFC 8599).
    public var isWokenByPush: Bool { uri.parameters.contains("pn-prid" as StaticString) }
}

extension Message {
    fileprivate static func answer(to request: Message, status: Int, reason: Text? = nil, adding headers: [(HeaderName, Text)] = [])
        -> Message
    {
        var response = Message.response(to: request, status: status, reason: reason)
        for (name, value) in headers { response.append(name, value) }
        return response
    }
}
