import Primitives

/// Limits the rate of requests by source and in all, and counts refusals by cause.
///
/// A value, told the time. The rates of sources that are trusted, and of trunks, are not brought here.
struct RateControl {
    /// Why something was refused, or passed over in silence.
    enum Cause: String, CaseIterable {
        /// More legs than `limits.legs`.
        case legs
        /// More calls in a second than `limits.calls-per-second`.
        case callRate = "call-rate"
        /// More requests of one source in a second than `limits.requests-per-source`.
        case source
        /// Messages lie unread for longer than `limits.backlog`, and have for as long: more comes than is got done.
        case backlog
        /// No media port was left.
        case ports
        /// A media port that was drawn is another program's.
        case portTaken = "port-taken"
        /// `access.silent`, and nobody that we know.
        case stranger
        /// More queries to DNS at a time than `Gateway.questionLimit`.
        case questions
        /// More calls that wait for sleeping devices than `push` lets wait.
        case wakes
    }

    private(set) var counts: [Cause: UInt64] = [:]
    private var calls: Bucket?
    private let callRate: Double
    private var sources: SourceRates
    private let longestWait: Duration
    /// From when to when every message lay unread for longer than that; nil since one did not.
    private var behind: (since: Instant, until: Instant)?

    init(_ limits: GatewayConfiguration.Limits) {
        longestWait = limits.backlog
        callRate = Double(limits.callsPerSecond ?? 0)
        calls = limits.callsPerSecond.map { Bucket(tokens: Double($0), at: .zero) }
        sources = SourceRates(perSecond: limits.requestsPerSource.map(Double.init))
    }

    /// Other limits: rates are counted anew, and refusals on.
    mutating func adopt(_ limits: GatewayConfiguration.Limits) {
        let counts = counts
        self = RateControl(limits)
        self.counts = counts
    }

    /// A message lay unread for so long.
    mutating func note(backlog: Duration, at now: Instant) {
        behind = longestWait == .zero || backlog <= longestWait ? nil : (behind?.since ?? now, now)
    }

    /// Messages have lain unread for too long for as long again: a machine that stood still for a moment catches up before that, and
    /// refuses nobody.
    func isBehind(at now: Instant) -> Bool { behind.map { $0.until - $0.since >= longestWait && now - $0.until < .seconds(1) } ?? false }

    /// Sources that are kept in mind at the moment.
    var sourceCount: Int { sources.count }

    /// Whether another call may begin now.
    mutating func admitsCall(at now: Instant) -> Bool {
        guard calls != nil else { return true }
        return calls?.take(rate: callRate, burst: max(callRate, 1), at: now) == true || refuse(.callRate)
    }

    /// Whether another request outside of a dialog is listened to.
    mutating func admitsRequest(from source: IPAddress, at now: Instant) -> Bool { sources.take(source, at: now) || refuse(.source) }

    /// Counts; false, so that a check can end with it.
    @discardableResult
    mutating func refuse(_ cause: Cause) -> Bool {
        counts[cause, default: 0] += 1
        return false
    }
}

/// The allowance of a token bucket: it grows again with time.
struct Bucket {
    private var tokens: Double
    private var updated: Instant

    init(tokens: Double, at now: Instant) { (self.tokens, updated) = (tokens, now) }

    mutating func take(rate: Double, burst: Double, at now: Instant) -> Bool {
        tokens = filled(rate: rate, burst: burst, at: now)
        updated = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    func filled(rate: Double, burst: Double, at now: Instant) -> Double {
        min(burst, tokens + rate * max(0, (now - updated) / .seconds(1)))
    }
}

/// The rates of many sources, bounded in number: with too many at once those that have been quiet are forgotten, and then whoever comes
/// first.
struct SourceRates {
    static let limit = 10_000
    private let rate: Double?
    private var buckets: [IPAddress: Bucket] = [:]

    init(perSecond rate: Double?) { self.rate = rate }

    var count: Int { buckets.count }

    mutating func take(_ source: IPAddress, at now: Instant) -> Bool {
        guard let rate else { return true }
        let key = source.clientNetwork
        let burst = max(2 * rate, 1)
        if buckets[key] == nil { makeRoom(rate, burst, at: now) }
        return buckets[key, default: Bucket(tokens: burst, at: now)].take(rate: rate, burst: burst, at: now)
    }

    private mutating func makeRoom(_ rate: Double, _ burst: Double, at now: Instant) {
        guard buckets.count >= Self.limit else { return }
        buckets = buckets.filter { $0.value.filled(rate: rate, burst: burst, at: now) < burst }
        // A quarter at once, so that a flood from everywhere does not have us look through all of them for each.
        guard buckets.count > Self.limit / 4 * 3 else { return }
        for source in Array(buckets.keys.prefix(buckets.count - Self.limit / 4 * 3)) { buckets[source] = nil }
    }
}
