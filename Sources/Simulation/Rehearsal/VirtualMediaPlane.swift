import Media
import Primitives
import RTP
import Runtime
import SDP

/// Media without sockets: numbers come from the real pool, steps out of order throw, binding fails at random, and packets are counted as if
/// one left every 20 ms.
final class VirtualMediaPlane: MediaPlane {
    private struct Leg {
        let reservation: PortReservation
        var state = LegMediaState()
        var startedAt: Instant?
        var total = MediaStatistics()
        var partner: MediaLegID?
        var plan: MediaPlan
    }

    private var pool: PortPool
    private var random: SeededRandom
    private var legs: [MediaLegID: Leg] = [:]
    /// Out of a thousand attempts.
    var bindFailures = 0
    /// That many of the next ports are another program's.
    var nextBindsFail = 0
    private(set) var failedBinds = 0
    /// Protections that updates changed a leg to.
    private(set) var protections: [NegotiatedSecurity] = []
    private(set) var opened = 0
    private(set) var packets: UInt64 = 0
    /// Stops for good: the far end was told by RTCP that there is no more.
    private(set) var goodbyes = 0
    /// Bridges whose two legs had no codec in common at some time, and changes of codec within a call.
    private(set) var transcoded = 0, codecChanges = 0
    /// Keys that were sent in the media, with the length that was asked for.
    private(set) var keys: [(key: Character, length: Duration?)] = []

    init(ports: ClosedRange<UInt16>, quarantine: Duration, seed: UInt64) {
        pool = PortPool(range: ports, quarantine: quarantine)
        random = SeededRandom(seed: seed)
    }

    /// Legs with bound sockets: what a kernel would show.
    var openLegs: Int { legs.count }
    /// Limits on the silence of a far end, one for each open leg that has such a limit.
    var silenceLimits: [Duration] { legs.values.compactMap(\.plan.silenceLimit) }
    /// Legs whose packets go to another one.
    var linkedLegs: Int { legs.values.count { $0.partner != nil } }
    /// Legs whose packets may leave.
    var sendingLegs: Int { legs.values.count { $0.state == .started && $0.plan.audio.sends } }

    func reserve(_ demand: PortPool.Demand, at now: Instant) throws(MediaError) -> PortReservation {
        try pool.reserve(demand, using: &random, at: now)
    }

    func open(
        _ leg: MediaLegID, reservation: PortReservation, plan: MediaPlan, near: MediaLegID?, at now: Instant
    ) throws(MediaError) -> PortReservation {
        guard legs[leg] == nil else { throw .knownLeg(leg) }
        guard pool.state(of: reservation) == .reserved else { throw .notReserved(reservation) }
        if Int.random(in: 0..<1_000, using: &random) < bindFailures || nextBindsFail > 0 {
            nextBindsFail = max(0, nextBindsFail - 1)
            failedBinds += 1
            throw .cannotBind(.addressInUse(.udp, SocketAddress(plan.localAddress, port: reservation.rtp)))
        }
        let kept = plan.audio.rtcpMux ? try pool.share(reservation, at: now) : reservation
        try pool.opened(kept)
        legs[leg] = Leg(reservation: kept, state: .opened, plan: plan)
        opened += 1
        return kept
    }

    func activate(_ leg: MediaLegID) throws(MediaError) { try change(leg) { (leg) throws(MediaError) in try leg.state.apply(.activate) } }

    func start(_ leg: MediaLegID, at now: Instant) throws(MediaError) {
        try change(leg) { (leg) throws(MediaError) in
            try leg.state.apply(.start)
            leg.startedAt = now
        }
    }

    func stop(_ leg: MediaLegID, ending: Bool, at now: Instant) throws(MediaError) -> MediaInterval {
        try change(leg) { (leg) throws(MediaError) in
            try leg.state.apply(.stop)
            if ending { goodbyes += 1 }
            let interval = Self.interval(from: leg.startedAt ?? now, to: now, sends: leg.plan.audio.sends)
            leg.startedAt = nil
            leg.total.sending.packets += interval.packetsSent
            packets += interval.packetsSent
            return interval
        }
    }

    private static func interval(from start: Instant, to end: Instant, sends: Bool) -> MediaInterval {
        var interval = MediaInterval(started: start, stopped: end)
        let count = sends ? (end - start).wholeMilliseconds / 20 : 0
        guard count > 0 else { return interval }
        interval.packetsSent = UInt64(count)
        interval.firstSent = start
        interval.lastSent = start + .milliseconds(20 * (count - 1))
        return interval
    }

    func deactivate(_ leg: MediaLegID) throws(MediaError) {
        try change(leg) { (leg) throws(MediaError) in try leg.state.apply(.deactivate) }
    }

    func update(_ leg: MediaLegID, plan: MediaPlan, at now: Instant) throws(MediaError) {
        if let old = legs[leg]?.plan, !old.audio.primary.codec.matches(plan.audio.primary.codec) { codecChanges += 1 }
        if let old = legs[leg]?.plan, old.audio.security != plan.audio.security { protections.append(plan.audio.security) }
        try change(leg) { leg in leg.plan = plan }
        noteCodecs(of: leg)
    }

    func link(_ first: MediaLegID, _ second: MediaLegID, at now: Instant) throws(MediaError) {
        guard first != second, [nil, second].contains(legs[first]?.partner), [nil, first].contains(legs[second]?.partner) else {
            throw .cannotLink(first, second)
        }
        try change(first) { leg in leg.partner = second }
        try change(second) { leg in leg.partner = first }
        noteCodecs(of: first)
    }

    private func noteCodecs(of leg: MediaLegID) {
        guard let one = legs[leg], let partner = one.partner, let other = legs[partner] else { return }
        if !one.plan.audio.codecs.contains(where: { mine in other.plan.audio.codecs.contains { $0.codec.matches(mine.codec) } }) {
            transcoded += 1
        }
    }

    func unlink(_ leg: MediaLegID) throws(MediaError) {
        guard let partner = legs[leg]?.partner else { return }
        legs[leg]?.partner = nil
        legs[partner]?.partner = nil
    }

    func send(_ digits: [DTMFDigit], lasting length: Duration?, on leg: MediaLegID, at now: Instant) throws(MediaError) {
        try change(leg) { (leg) throws(MediaError) in
            guard leg.state == .started, !leg.plan.audio.telephoneEvents.isEmpty else { throw .unsupportedPlan }
        }
        keys += digits.map { ($0.character, length) }
    }

    func statistics(of leg: MediaLegID, at now: Instant) throws(MediaError) -> MediaStatistics {
        guard let known = legs[leg] else { throw .unknownLeg(leg) }
        return known.total
    }

    func close(_ leg: MediaLegID, at now: Instant) throws(MediaError) -> MediaStatistics {
        try unlink(leg)
        let closed = try change(leg) { (leg) throws(MediaError) in
            try leg.state.apply(.close)
            return leg
        }
        try pool.closed(closed.reservation)
        legs[leg] = nil
        return closed.total
    }

    func release(_ reservation: PortReservation, at now: Instant) throws(MediaError) { try pool.release(reservation, at: now) }

    func releaseTaken(_ reservation: PortReservation, at now: Instant) throws(MediaError) { try pool.releaseTaken(reservation, at: now) }

    func counts(at now: Instant) -> MediaCounts {
        pool.advance(to: now)
        var counts = MediaCounts(ports: pool.counts)
        counts.legs = legs.count
        counts.started = legs.values.count { $0.state == .started }
        counts.sockets = legs.count
        return counts
    }

    @discardableResult
    private func change<Result>(_ leg: MediaLegID, _ body: (inout Leg) throws(MediaError) -> Result) throws(MediaError) -> Result {
        guard var known = legs[leg] else { throw .unknownLeg(leg) }
        let result = try body(&known)
        legs[leg] = known
        return result
    }
}
