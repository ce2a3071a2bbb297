import Audio
import Primitives
import RTP
import Runtime
import SDP

/// The set-up of a server's media.
public struct MediaSettings: Hashable, Sendable {
    /// Numbers for RTP and RTCP: one for each leg whose far end multiplexes them, else two.
    public var ports: ClosedRange<UInt16>
    /// The time that a released number rests before it is used again; 1 s or more.
    public var quarantine: Duration
    /// Media lanes, each with a poller; as many as cores serve best.
    public var lanes: Int
    /// The time that packets may gather before a lane looks at them.
    public var batch: Poller.Batch
    /// For all that is encoded, within what each far end can take.
    public var opus: OpusSettings

    /// - Parameters:
    ///   - ports: the first even number and all above it are used in pairs.
    ///   - quarantine: how long a released number stays out of use.
    public init(
        ports: ClosedRange<UInt16> = 16_384...32_767, quarantine: Duration = .seconds(2), lanes: Int, batch: Poller.Batch = .automatic,
        opus: OpusSettings = OpusSettings()
    ) {
        self.ports = ports
        self.quarantine = quarantine
        self.lanes = lanes
        self.batch = batch
        self.opus = opus
    }
}

/// The media plane of a server: the port pool, and the media lanes with the legs spread over them.
///
/// Belongs to the signalling lane. Its calls enter the leg's media lane and wait for it; media lanes never wait for signalling.
public final class MediaLanes: MediaPlane {
    // Not asked of the runtime: the signalling lane lets in one thread, and no lane comes back here from its turn.
    private var pool: PortPool
    private var random: any RandomNumberGenerator
    private let lanes: [any MediaLaneDoor]
    private var homes: [MediaLegID: Home] = [:]
    private var population: [Int]
    /// The lane of each conference, and the number of its legs.
    private var conferences: [UInt64: (lane: Int, legs: Int)] = [:]

    private struct Home {
        var lane: Int
        var reservation: PortReservation
        var conference: UInt64?
    }

    /// Media on the kernel's sockets, on as many threads as there are lanes.
    ///
    /// - Parameters:
    ///   - tap: sees all RTP and RTCP; nil costs nothing.
    ///   - relay: relays packets in the kernel, where there is no tap.
    ///   - report: called on a media lane with what a leg has to say, in the order of that leg; it must only post it onwards.
    public convenience init(
        settings: MediaSettings, random: any RandomNumberGenerator = SystemRandom(), tap: (any PacketTap)? = nil,
        relay: KernelRelayDevice? = nil,
        report: @escaping @Sendable (MediaLegID, MediaEvent) -> Void
    ) throws(PollerError) {
        precondition(settings.lanes > 0, "media needs a lane")
        var lanes: [any MediaLaneDoor] = []
        for number in 0..<settings.lanes {
            lanes.append(
                try KernelMediaLane(
                    number: number, batch: settings.batch, opus: settings.opus, tap: tap, relay: relay, report: report))
        }
        self.init(settings: settings, random: random, lanes: lanes)
    }

    /// Media of one engine that the caller drives himself, on his own queue: with virtual ports and in virtual time.
    public convenience init(settings: MediaSettings, random: any RandomNumberGenerator, driving engine: MediaEngine) {
        self.init(settings: settings, random: random, lanes: [InlineMediaLane(engine)])
    }

    init(settings: MediaSettings, random: any RandomNumberGenerator, lanes: [any MediaLaneDoor]) {
        pool = PortPool(range: settings.ports, quarantine: settings.quarantine)
        self.random = random
        self.lanes = lanes
        population = Array(repeating: 0, count: lanes.count)
    }

    deinit {
        for lane in lanes { lane.close() }
    }

    public func reserve(_ demand: PortPool.Demand, at now: Instant) throws(MediaError) -> PortReservation {
        try pool.reserve(demand, using: &random, at: now)
    }

    public func open(
        _ leg: MediaLegID, reservation: PortReservation, plan: MediaPlan, near: MediaLegID?, at now: Instant
    ) throws(MediaError) -> PortReservation {
        guard homes[leg] == nil else { throw .knownLeg(leg) }
        guard pool.state(of: reservation) == .reserved else { throw .notReserved(reservation) }
        let lane = plan.source.conference.flatMap { conferences[$0]?.lane } ?? near.flatMap { homes[$0]?.lane } ?? quietest
        try enter(lanes[lane]) { engine throws(MediaError) in try engine.open(leg, reservation: reservation, plan: plan, at: now) }
        let kept = plan.audio.rtcpMux ? try pool.share(reservation, at: now) : reservation
        try pool.opened(kept)
        homes[leg] = Home(lane: lane, reservation: kept)
        seat(leg, in: plan.source.conference)
        population[lane] += 1
        return kept
    }

    public func activate(_ leg: MediaLegID) throws(MediaError) {
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.activate(leg) }
    }

    public func start(_ leg: MediaLegID, at now: Instant) throws(MediaError) {
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.start(leg, at: now) }
    }

    @discardableResult
    public func stop(_ leg: MediaLegID, ending: Bool, at now: Instant) throws(MediaError) -> MediaInterval {
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.stop(leg, ending: ending, at: now) }
    }

    public func deactivate(_ leg: MediaLegID) throws(MediaError) {
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.deactivate(leg) }
    }

    public func update(_ leg: MediaLegID, plan: MediaPlan, at now: Instant) throws(MediaError) {
        if let conference = plan.source.conference, let lane = conferences[conference]?.lane, lane != homes[leg]?.lane {
            try unlink(leg)
            try move(leg, to: lane, at: now)
        }
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.update(leg, plan: plan, at: now) }
        seat(leg, in: plan.source.conference)
    }

    public func link(_ first: MediaLegID, _ second: MediaLegID, at now: Instant) throws(MediaError) {
        guard let left = homes[first] else { throw .unknownLeg(first) }
        guard let right = homes[second] else { throw .unknownLeg(second) }
        if left.lane != right.lane { try move(second, to: left.lane, at: now) }
        try enter(lanes[left.lane]) { engine throws(MediaError) in try engine.link(first, second, at: now) }
    }

    public func unlink(_ leg: MediaLegID) throws(MediaError) {
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.unlink(leg) }
    }

    public func send(_ digits: [DTMFDigit], lasting length: Duration?, on leg: MediaLegID, at now: Instant) throws(MediaError) {
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.send(digits, lasting: length, on: leg, at: now) }
    }

    public func statistics(of leg: MediaLegID, at now: Instant) throws(MediaError) -> MediaStatistics {
        try enter(lane(of: leg)) { engine throws(MediaError) in try engine.statistics(of: leg, at: now) }
    }

    @discardableResult
    public func close(_ leg: MediaLegID, at now: Instant) throws(MediaError) -> MediaStatistics {
        guard let home = homes[leg] else { throw .unknownLeg(leg) }
        let statistics = try enter(lanes[home.lane]) { engine throws(MediaError) in try engine.close(leg) }
        seat(leg, in: nil)
        homes[leg] = nil
        population[home.lane] -= 1
        try pool.closed(home.reservation)
        return statistics
    }

    public func release(_ reservation: PortReservation, at now: Instant) throws(MediaError) { try pool.release(reservation, at: now) }

    public func releaseTaken(_ reservation: PortReservation, at now: Instant) throws(MediaError) {
        try pool.releaseTaken(reservation, at: now)
    }

    public func counts(at now: Instant) -> MediaCounts {
        pool.advance(to: now)
        var counts = MediaCounts(ports: pool.counts)
        for lane in lanes { counts = lane.counts(added: counts) }
        return counts
    }

    private func seat(_ leg: MediaLegID, in conference: UInt64?) {
        guard let home = homes[leg], home.conference != conference else { return }
        if let old = home.conference, let seats = conferences[old] {
            conferences[old] = seats.legs > 1 ? (seats.lane, seats.legs - 1) : nil
        }
        if let conference {
            conferences[conference] = (conferences[conference]?.lane ?? home.lane, (conferences[conference]?.legs ?? 0) + 1)
        }
        homes[leg]?.conference = conference
    }

    /// From now on `takePacing` tells how late the frames made here left, and the legs' frames are spread over their 20 ms: for load tests,
    /// which must be in time themselves, and know whether they were.
    public func measurePacing() {
        for lane in lanes { lane.turn { ($0.measuresPacing, $0.spreadsFrames) = (true, true) } }
    }

    /// The scheduling class of the threads of the lanes: the lowest of any.
    public var urgency: Poller.Urgency { lanes.map { $0.urgency }.min { $0.rawValue < $1.rawValue } ?? .normal }

    /// The send delays of all lanes since the last time; empty without `measurePacing`.
    public func takePacing() -> Lateness {
        lanes.reduce(Lateness()) { sum, lane in enter(lane) { sum + $0.takePacing() } }
    }

    private var quietest: Int { population.indices.min { population[$0] < population[$1] } ?? 0 }

    private func lane(of leg: MediaLegID) throws(MediaError) -> any MediaLaneDoor {
        guard let home = homes[leg] else { throw .unknownLeg(leg) }
        return lanes[home.lane]
    }

    /// Brings an open leg to another lane, sockets and all. What arrives meanwhile waits in the kernel.
    private func move(_ leg: MediaLegID, to lane: Int, at now: Instant) throws(MediaError) {
        guard let home = homes[leg] else { throw .unknownLeg(leg) }
        let suitcase = try enter(lanes[home.lane]) { engine throws(MediaError) in LegInTransit(try engine.leave(leg)) }
        homes[leg]?.lane = lane
        population[home.lane] -= 1
        population[lane] += 1
        try enter(lanes[lane]) { engine throws(MediaError) in try engine.join(suitcase.leg, at: now) }
    }
}

extension MediaSource {
    var conference: UInt64? { if case .conference(let number) = self { number } else { nil } }
}

/// A leg on its way from one lane to another: neither has it, and so none can touch it.
struct LegInTransit: @unchecked Sendable {
    let leg: MediaLeg

    init(_ leg: MediaLeg) { self.leg = leg }
}

/// The way into one media lane, for signalling.
protocol MediaLaneDoor: AnyObject {
    /// Does `work` as one turn of that lane and waits for it.
    func turn(_ work: (MediaEngine) -> Void)

    /// The scheduling class of its thread.
    var urgency: Poller.Urgency { get }

    /// The last call: its sockets and its thread go away soon.
    func close()
}

extension MediaLaneDoor {
    func counts(added counts: MediaCounts) -> MediaCounts {
        enter(self) { engine in
            var sum = counts
            engine.add(to: &sum)
            return sum
        }
    }
}

/// A turn of a lane with an answer. No method of the door: it would not be compiled for the type of the answer, which would be looked up in
/// every turn.
private func enter<Value: Sendable, Failure: Error>(_ lane: any MediaLaneDoor, _ work: (MediaEngine) throws(Failure) -> Value)
    throws(Failure) -> Value
{
    var answer: Result<Value, Failure>?
    lane.turn { engine in
        do throws(Failure) { answer = .success(try work(engine)) } catch { answer = .failure(error) }
    }
    guard let answer else { preconditionFailure("the lane did not take its turn") }
    return try answer.get()
}

/// No lane of its own: the engine lives where signalling does, and someone else drives it.
private final class InlineMediaLane: MediaLaneDoor {
    private let engine: MediaEngine

    init(_ engine: MediaEngine) { self.engine = engine }

    func turn(_ work: (MediaEngine) -> Void) { work(engine) }

    var urgency: Poller.Urgency { .normal }

    func close() {}
}
