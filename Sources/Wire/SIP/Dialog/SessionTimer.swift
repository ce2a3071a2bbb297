import Primitives

/// The time that a session may go without a refresh, and the side that refreshes it: RFC 4028, as a value.
///
/// Every 2xx to INVITE, re-INVITE or UPDATE begins the interval anew (`answer`, `accept`). Half of it later the refresher is told to
/// refresh (`.refresh`); without success both sides give the session up shortly before its end (`.expire`). With a peer that has never
/// heard of timers we refresh for both: then any answer shows that the peer is alive.
public struct SessionTimer: Sendable {
    /// The intervals that we ask of peers; all in seconds.
    public struct Policy: Hashable, Sendable {
        /// The interval that we ask for.
        public var interval: UInt32
        /// A shorter one is refused with 422 (§5). Never below 90.
        public var minimum: UInt32

        /// Seconds. The minimum is raised to 90, and the interval to the minimum.
        public init(interval: UInt32 = 1_800, minimum: UInt32 = 90) {
            self.minimum = max(minimum, SessionTimer.leastMinimum)
            self.interval = max(interval, self.minimum)
        }
    }

    /// The side that refreshes.
    public enum Refresher: Hashable, Sendable { case us, them }

    /// Tasks that are due.
    public enum Output: Hashable, Sendable {
        /// Send a re-INVITE or UPDATE; `accept` or `refreshFailed` follows.
        case refresh
        /// End the session with BYE (§10). Nothing comes after it.
        case expire
    }

    /// RFC 4028 §5: no Min-SE is lower, and one that is not there means this.
    public static let leastMinimum: UInt32 = 90
    /// A 422 that asks for more than a day is not believed.
    static let mostMinimum: UInt32 = 86_400

    /// The intervals that we ask for, as they were given.
    public let policy: Policy
    /// Seconds, as they were agreed last.
    public private(set) var interval: UInt32
    /// The side that refreshes, as it was agreed last.
    public private(set) var refresher = Refresher.us
    /// The peer takes part in it, and did not just leave it to us.
    public private(set) var isAgreed = false
    /// Raised by 422 (§7.1, §7.4).
    private var minimum: UInt32
    private var began: Instant?
    private var refreshDue: Instant?

    /// A timer that begins with the first 2xx.
    public init(policy: Policy) { (self.policy, interval, minimum) = (policy, policy.interval, policy.minimum) }

    /// When `advance` next has something to do; nil before the first 2xx.
    public var deadline: Instant? {
        guard let expiry else { return nil }
        return refreshDue.map { min($0, expiry) } ?? expiry
    }

    /// §10: BYE is sent the lesser of 32 seconds and a third of the interval before its end.
    private var expiry: Instant? {
        began.map { $0 + .milliseconds(Int64(interval) * 1_000 - min(32_000, Int64(interval) * 1_000 / 3)) }
    }

    /// Tells what is due; nil before `deadline`.
    public mutating func advance(to now: Instant) -> Output? {
        guard let expiry else { return nil }
        if now >= expiry {
            (began, refreshDue) = (nil, nil)
            return .expire
        }
        guard let due = refreshDue, now >= due else { return nil }
        refreshDue = nil
        return .refresh
    }

    /// `.refresh` was told, and nothing came of it yet.
    public var isRefreshing: Bool { began != nil && refresher == .us && refreshDue == nil }

    // MARK: Our requests

    /// The headers of our INVITE, re-INVITE or UPDATE about it (§7.1, §7.4). In a session that has a refresher the roles are kept.
    public var requestHeaders: [(HeaderName, Text)] {
        let role: SessionInterval.Role? = began == nil ? nil : refresher == .us ? .client : .server
        let expires = SessionInterval(seconds: max(interval, minimum), refresher: role).value
        return [(.sessionExpires, expires), (.minSE, Text(minimum))]
    }

    /// Takes a 422: whether the request may be sent again, with new `requestHeaders`.
    public mutating func raise(by response: Message) -> Bool {
        guard let demanded = response.minimumInterval, demanded > minimum, demanded <= Self.mostMinimum else { return false }
        (minimum, interval) = (demanded, max(interval, demanded))
        return true
    }

    /// A 2xx to our request came (§7.2).
    public mutating func accept(_ response: Message, at now: Instant) {
        if let agreed = response.sessionInterval {
            interval = max(agreed.seconds, Self.leastMinimum)
            refresher = agreed.refresher == .server ? .them : .us
            isAgreed = true
        } else {
            (interval, refresher, isAgreed) = (max(policy.interval, minimum), .us, false)
        }
        begin(at: now)
    }

    /// Our refresh had another final answer than a 2xx, and not one that ends the dialog; or none, for it could not be sent.
    public mutating func refreshFailed(wasAnswered: Bool, at now: Instant) {
        guard let expiry else { return }
        if !isAgreed, wasAnswered { return begin(at: now) }
        // Until the end, at ever shorter intervals.
        let rest = now < expiry ? (expiry - now) / 2 : .zero
        refreshDue = now + max(rest, .seconds(1))
    }

    /// The refresh cannot be sent now: another offer is under way.
    public mutating func postpone(at now: Instant) { refreshDue = now + .seconds(1) }

    // MARK: The peer's requests

    /// The Min-SE of a 422, if the request asks for an interval that we find too short, and its sender knows what that means (§9).
    public func refusal(of request: Message) -> Text? {
        guard request.headers.lists("timer", in: .supported), let asked = request.sessionInterval, asked.seconds < policy.minimum else {
            return nil
        }
        return Text(policy.minimum)
    }

    /// Begins the interval, and returns the headers of our 2xx about it (§9).
    public mutating func answer(_ request: Message, at now: Instant) -> [(HeaderName, Text)] {
        let isUnderstood = request.headers.lists("timer", in: .supported) || request.headers.lists("timer", in: .require)
        let asked = request.sessionInterval
        let least = max(request.minimumInterval ?? Self.leastMinimum, policy.minimum)
        interval = min(asked.map { max($0.seconds, Self.leastMinimum) } ?? .max, max(policy.interval, least))
        refresher = isUnderstood && asked?.refresher != .server ? .them : .us
        isAgreed = isUnderstood
        begin(at: now)
        guard isUnderstood || asked != nil else { return [] }
        let value = SessionInterval(seconds: interval, refresher: refresher == .them ? .client : .server).value
        return [(.sessionExpires, value)] + (refresher == .them ? [(.require, "timer")] : [])
    }

    private mutating func begin(at now: Instant) {
        began = now
        refreshDue = refresher == .us ? now + .milliseconds(Int64(interval) * 500) : nil
    }
}

/// The value of a Session-Expires header: RFC 4028 §4.
public struct SessionInterval: Hashable, Sendable {
    /// The side that refreshes, in the words of the transaction that carries the header.
    public enum Role: Hashable, Sendable { case client, server }

    /// Seconds that the session may go without a refresh.
    public var seconds: UInt32
    /// The side that refreshes; nil leaves it to the side that answers.
    public var refresher: Role?

    /// The value to be written.
    public init(seconds: UInt32, refresher: Role? = nil) { (self.seconds, self.refresher) = (seconds, refresher) }

    /// nil for what does not begin with a number.
    public init?(parsing value: Text) {
        let end = value.bytes.firstIndex(of: UInt8(ascii: ";")) ?? value.bytes.endIndex
        guard let seconds = Message.seconds(Text(value.bytes[..<end])) else { return nil }
        self.seconds = seconds
        let parameters = try? Parameters(parsing: Text(value.bytes[end...]))
        refresher = parameters?["refresher"].flatMap {
            $0.equalsIgnoringCase("uac" as Text) ? .client : $0.equalsIgnoringCase("uas" as Text) ? .server : nil
        }
    }

    /// The value of the header.
    public var value: Text {
        switch refresher {
        case nil: Text(seconds)
        case .client: Text(seconds) + ";refresher=uac"
        case .server: Text(seconds) + ";refresher=uas"
        }
    }
}

extension Message {
    /// RFC 4028 §4; nil when the header is missing or cannot be read.
    public var sessionInterval: SessionInterval? { headers[.sessionExpires].flatMap { SessionInterval(parsing: $0) } }

    /// Min-SE in seconds, RFC 4028 §5.
    public var minimumInterval: UInt32? {
        headers[.minSE].flatMap { value in Self.seconds(Text(value.bytes.prefix { $0 != UInt8(ascii: ";") })) }
    }
}
