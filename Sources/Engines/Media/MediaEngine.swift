import Audio
import Primitives
import RTP
import Runtime
import SDP

/// The legs of one media lane: all that happens to their packets, told the time and given its sockets.
///
/// Belongs to one lane. Whoever drives it calls `ready` when a socket has something to read, `advance` when `deadline` has come, and
/// fetches `takeEvents` after every call. In steps the contract is that of `MediaPlane`.
public final class MediaEngine {
    /// The longest datagram that is taken, in bytes; RTP of sound on an Ethernet is far shorter.
    public static let longestPacket = 2_048
    /// Datagrams of one socket that are taken in a row before its sender is known.
    static let datagramsPerTurn = 32

    let binder: any PortBinder
    private let opus: OpusSettings
    var random: any RandomNumberGenerator
    // The compiler cannot see that no two accesses overlap, and asking the runtime costs a sixth of a packet: these are not checked.
    var legs: [MediaLeg?] = []
    var timers: TimerWheel<(slot: MediaSlot, alarm: LegAlarm)>
    /// No later than the first timer: looking it up in the wheel with every packet would cost more than the packet.
    var due = Instant.distantFuture
    /// Conferences by their number, and when the first of them is due.
    var mixers: [UInt64: Mixer] = [:]
    var mixDue = Instant.distantFuture
    let incoming = UnsafeMutableRawBufferPointer.allocate(byteCount: longestPacket, alignment: 8)
    let outgoing = UnsafeMutableRawBufferPointer.allocate(byteCount: longestPacket, alignment: 8)
    /// For what leaves encrypted.
    let sealed = UnsafeMutableRawBufferPointer.allocate(byteCount: longestPacket + SRTPSender.overhead, alignment: 8)
    private var places: [MediaLegID: Int] = [:]
    private var vacant: [Int] = []
    private var generation: UInt32 = 0
    private var events: [(leg: MediaLegID, event: MediaEvent)] = []
    private(set) var started = 0
    /// When the frames were due that left in this turn; nil where nobody asks.
    var framesDue: [Instant]?
    private var pacing = Lateness()
    /// Nil: a leg's own clock begins when it starts.
    var phases: FramePhases?
    /// Passes on packets of bridges before they reach the sockets; nil: none does. To be set before any leg is opened.
    public var packetRelay: (any PacketRelay)?
    /// The directions of bridges that `packetRelay` had.
    public internal(set) var relayCounts = RelayCounts()

    /// - Parameter opus: for all that is encoded here, within what each far end can take.
    public init(binder: any PortBinder, random: any RandomNumberGenerator, opus: OpusSettings = OpusSettings(), at now: Instant) {
        self.binder = binder
        self.opus = opus
        self.random = random
        timers = TimerWheel(at: now)
    }

    deinit {
        for leg in legs { leg?.partner = nil }
        incoming.deallocate()
        outgoing.deallocate()
        sealed.deallocate()
    }

    /// Binds the sockets of a leg and makes its codecs. Nothing leaves and nothing is taken before `start`.
    public func open(_ id: MediaLegID, reservation: PortReservation, plan: MediaPlan, at now: Instant) throws(MediaError) {
        guard places[id] == nil else { throw .knownLeg(id) }
        let slot = nextSlot()
        var state = LegMediaState()
        try state.apply(.configure)
        let leg = try MediaLeg(
            id: id, slot: slot, port: reservation.rtp, plan: plan, opus: opus, sockets: try bind(reservation, plan, slot), random: &random,
            at: now)
        try state.apply(.open)
        leg.state = state
        try seat(leg, at: now)
        add(leg, at: slot)
        route(leg)
    }

    /// The call system has given the leg its audio session.
    public func activate(_ id: MediaLegID) throws(MediaError) { try leg(id).state.apply(.activate) }

    /// The call system has taken the audio session back.
    public func deactivate(_ id: MediaLegID) throws(MediaError) { try leg(id).state.apply(.deactivate) }

    /// Packets leave and are taken from now on.
    public func start(_ id: MediaLegID, at now: Instant) throws(MediaError) {
        let leg = try leg(id)
        takeBack(leg, for: .change, at: now)
        try leg.state.apply(.start)
        started += 1
        leg.begin(at: now)
        leg.seek()
        leg.beginHearing(at: now)
        armAll(leg, at: now)
    }

    /// No packet leaves and none is taken any more.
    /// - Parameter ending: for good, so that RTCP says goodbye.
    /// - Returns: what passed since the start.
    @discardableResult
    public func stop(_ id: MediaLegID, ending: Bool = false, at now: Instant) throws(MediaError) -> MediaInterval {
        let leg = try leg(id)
        takeBack(leg, for: .stop, at: now)
        if leg.state == .started { takeWaitingReports(of: leg, at: now) }
        leg.endHearing(at: now)
        try leg.state.apply(.stop)
        if ending { sendByes(leg, at: now) }
        started -= 1
        disarmAll(leg)
        leg.stream.pause()
        leg.transcoding.transcoder?.receiver.pause()
        leg.pauseIncoming()
        leg.passingKey.converter?.stop()
        endKeys(of: leg, at: now)
        (leg.ownKeys.digits, leg.ownKeys.player) = (nil, nil)
        if let recorder = leg.sound.recorder {
            flush(recorder, of: leg)
            recorder.pause()
        }
        return leg.interval(until: now)
    }

    /// Another agreement, or another source: what was measured goes on.
    public func update(_ id: MediaLegID, plan: MediaPlan, at now: Instant) throws(MediaError) {
        let leg = try leg(id)
        takeBack(leg, for: .change, at: now)
        if let recorder = leg.sound.recorder, plan.sink == .none { flush(recorder, of: leg) }
        let old = leg.plan
        leg.pauseHearing(at: now)
        try leg.update(plan, using: &random, at: now)
        do throws(MediaError) { try seat(leg, at: now) } catch {
            try leg.update(old, using: &random, at: now)
            try seat(leg, at: now)
            throw error
        }
        leg.resumeHearing(after: old, at: now)
        route(leg)
        if let partner = leg.partner {
            route(partner)
            if partner.state == .started { armFrames(partner, at: now) }
        }
        if leg.state == .started { armAll(leg, at: now) }
    }

    /// Bridges two legs: each sends what the other receives.
    public func link(_ first: MediaLegID, _ second: MediaLegID, at now: Instant) throws(MediaError) {
        let (left, right) = (try leg(first), try leg(second))
        guard left !== right, left.partner == nil, right.partner == nil else { throw .cannotLink(first, second) }
        (left.partner, right.partner) = (right, left)
        for leg in [left, right] {
            leg.stream.pause()
            route(leg)
            if leg.state == .started { armFrames(leg, at: now) }
        }
    }

    /// Takes a bridge apart; both legs stay open.
    public func unlink(_ id: MediaLegID) throws(MediaError) { separate(try leg(id)) }

    /// Without a time there is no verdict on whether a running leg is heard.
    public func statistics(of id: MediaLegID, at now: Instant = .zero) throws(MediaError) -> MediaStatistics {
        let leg = try leg(id)
        refresh(leg)
        return leg.statistics(at: now)
    }

    /// Closes the sockets of a leg.
    /// - Returns: what passed in all.
    @discardableResult
    public func close(_ id: MediaLegID) throws(MediaError) -> MediaStatistics {
        let leg = try leg(id)
        if leg.state.wasStarted { takeWaitingReports(of: leg, at: leg.run.began) }
        try leg.state.apply(.close)
        let statistics = leg.statistics(at: leg.run.began)
        separate(leg)
        unseat(leg)
        remove(leg)
        return statistics
    }

    /// Lets an open leg without a partner go to another lane. Its sockets are watched by none until it has joined there.
    func leave(_ id: MediaLegID) throws(MediaError) -> MediaLeg {
        let leg = try leg(id)
        guard leg.partner == nil else { throw .cannotLink(id, leg.partner?.id ?? id) }
        disarmAll(leg)
        unseat(leg)
        if leg.state == .started { started -= 1 }
        remove(leg)
        for socket in [leg.rtpSocket, leg.control.socket].compactMap(\.self) { binder.release(socket) }
        return leg
    }

    /// Takes a leg that has left another lane, as it is. Where its sockets cannot be watched it is here all the same, to be stopped and
    /// closed.
    func join(_ leg: MediaLeg, at now: Instant) throws(MediaError) {
        add(leg, at: nextSlot())
        try seat(leg, at: now)
        if leg.state == .started {
            started += 1
            armAll(leg, at: now)
        }
        do throws(SocketError) {
            try binder.adopt(leg.rtpSocket, token: leg.slot.token(.rtp))
            if let socket = leg.control.socket { try binder.adopt(socket, token: leg.slot.token(.rtcp)) }
        } catch {
            throw .cannotBind(error)
        }
    }

    /// Events since the last call, in order.
    public func takeEvents() -> [(leg: MediaLegID, event: MediaEvent)] {
        guard !events.isEmpty else { return [] }
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Legs, started legs, sockets and timers, added to what is there already.
    public func add(to counts: inout MediaCounts) {
        counts.legs += places.count
        counts.started += started
        counts.sockets += legs.reduce(0) { $0 + ($1 == nil ? 0 : $1?.control.socket == nil ? 1 : 2) }
        counts.timers += timers.count + mixers.count
        counts.relayed = counts.relayed + relayCounts
    }

    func report(_ event: MediaEvent, of leg: MediaLeg) { events.append((leg.id, event)) }

    /// Whether legs begin up to 20 ms later, each in its place, so that many of them do not send at once.
    public var spreadsFrames: Bool {
        get { phases != nil }
        set { phases = newValue ? phases ?? FramePhases() : nil }
    }

    /// Whether `takePacing` has something to say. Whoever drives the engine then calls `settlePacing` after every turn.
    public var measuresPacing: Bool {
        get { framesDue != nil }
        set { framesDue = newValue ? [] : nil }
    }

    /// Takes the lateness of the frames made here that left since the last time.
    func takePacing() -> Lateness {
        defer { pacing = Lateness() }
        return pacing
    }

    /// The frames of a turn left one after the other between its two ends.
    func settlePacing(from begin: Instant, to end: Instant) {
        guard var frames = framesDue.take() else { return }   // one owner, so that its memory stays
        let turn = (end - begin).wholeNanoseconds, count = Int64(max(1, frames.count))
        for index in frames.indices { pacing.note(begin + .nanoseconds(turn * Int64(index + 1) / count) - frames[index]) }
        frames.removeAll(keepingCapacity: true)
        framesDue = frames
    }

    /// Nil for a leg that is gone, also when its place has a new one.
    func leg(at slot: MediaSlot) -> MediaLeg? {
        guard slot.index < legs.count, let leg = legs[slot.index], leg.slot == slot else { return nil }
        return leg
    }

    func flush(_ recorder: Recorder, of leg: MediaLeg) {
        if let samples = recorder.take() { report(.recorded(samples, sampleRate: recorder.sampleRate), of: leg) }
    }

    func leg(_ id: MediaLegID) throws(MediaError) -> MediaLeg {
        guard let place = places[id], let leg = legs[place] else { throw .unknownLeg(id) }
        return leg
    }

    /// The place that the next leg gets.
    private func nextSlot() -> MediaSlot { MediaSlot(index: vacant.last ?? legs.count, generation: generation) }

    private func add(_ leg: MediaLeg, at slot: MediaSlot) {
        generation &+= 1
        if vacant.popLast() == nil { legs.append(leg) } else { legs[slot.index] = leg }
        leg.slot = slot
        places[leg.id] = slot.index
    }

    private func remove(_ leg: MediaLeg) {
        places[leg.id] = nil
        legs[leg.slot.index] = nil
        vacant.append(leg.slot.index)
    }

    /// Sockets for a reservation, one where RTCP shares that of RTP: all or none.
    private func bind(_ ports: PortReservation, _ plan: MediaPlan, _ slot: MediaSlot) throws(MediaError) -> (
        rtp: any MediaSocket, rtcp: (any MediaSocket)?
    ) {
        do throws(SocketError) {
            let rtp = try binder.bind(SocketAddress(plan.localAddress, port: ports.rtp), token: slot.token(.rtp))
            guard !plan.audio.rtcpMux, let rtcp = ports.rtcp else { return (rtp, nil) }
            return (rtp, try binder.bind(SocketAddress(plan.localAddress, port: rtcp), token: slot.token(.rtcp)))
        } catch {
            throw .cannotBind(error)
        }
    }

    /// Sets under which numbers payloads leave on this leg, by who feeds it, and makes the codecs for those that cannot be passed on.
    private func route(_ leg: MediaLeg) {
        prepareTranscoder(of: leg)
        // A far end is asked for packets of the length that the other one wishes.
        leg.packets.rate.limit = PacketRate.limit(min(leg.plan.audio.ptime, leg.partner?.plan.audio.ptime ?? leg.plan.audio.ptime))
        switch leg.plan.source {
        case .relay: leg.stream.payloadTypes = leg.partner.map { $0.plan.audio.payloadTypes(towards: leg.plan.audio) } ?? PayloadTypeMap()
        case .echo: leg.stream.payloadTypes = leg.plan.audio.payloadTypes(towards: leg.plan.audio)
        case .tone, .samples, .stream, .silence, .conference: leg.stream.payloadTypes = PayloadTypeMap()
        }
    }

    /// The transcoder that turns the partner's packets that cannot be passed on into this leg's codec; nil where all can. Without memory
    /// for a codec they have nowhere to go, and are counted as such.
    func transcoder(of leg: MediaLeg) -> Transcoder? {
        if leg.transcoding.transcoder == nil, let format = leg.transcoding.format?.value {
            leg.transcoding.transcoder = try? Transcoder(format)
        }
        return leg.transcoding.transcoder
    }

    private func prepareTranscoder(of leg: MediaLeg) {
        let partner = leg.partner
        var format: Transcoder.Format?
        if case .relay = leg.plan.source, let partner { format = .init(from: partner.plan.audio, to: leg.plan.audio, opus: leg.opus) }
        leg.transcoding.format = format.map(Boxed.init)
        if let transcoder = leg.transcoding.transcoder, transcoder.format != format {
            partner?.keepPlayout()
            leg.transcoding.transcoder = nil
            leg.stream.pause()
        }
        guard let format, let partner, let codec = AudioCodec(partner.plan.audio.primary.codec), format.incoming.contains(codec) else {
            return
        }
        _ = transcoder(of: leg)
    }

    private func separate(_ leg: MediaLeg) {
        guard let partner = leg.partner else { return }
        takeBack(leg, for: .change, at: max(leg.packets.received.last ?? .zero, partner.packets.received.last ?? .zero))
        (leg.past.verdicts.ofPartner, partner.past.verdicts.ofPartner) = (
            partner.past.verdicts.atStop.incoming, leg.past.verdicts.atStop.incoming
        )
        leg.keepPlayout()
        partner.keepPlayout()
        (leg.partner, partner.partner) = (nil, nil)
        for leg in [leg, partner] {
            leg.stream.pause()
            route(leg)
        }
    }
}

extension MediaLeg {
    /// The interval since the last start. Packets of this very turn may be newer than the caller's clock.
    fileprivate func interval(until now: Instant) -> MediaInterval {
        var interval = MediaInterval(started: run.began, stopped: max(now, packets.sent.last ?? now, packets.received.last ?? now))
        (interval.packetsSent, interval.packetsReceived) = (packets.sent.count, packets.received.count)
        (interval.firstSent, interval.lastSent) = (packets.sent.first, packets.sent.last)
        (interval.firstReceived, interval.lastReceived) = (packets.received.first, packets.received.last)
        (interval.incoming, interval.outgoing) = past.verdicts.atStop
        interval.quality = LegQuality(statistics(at: now))
        interval.relayed = relay.arming
        return interval
    }
}
