import Audio
import Primitives
import RTP
import SDP

/// The media of one leg, on one lane: its sockets, the two streams, and what feeds and hears them.
///
/// Knows no timers and no other leg but its partner; `MediaEngine` drives it.
final class MediaLeg {
    // The fields that a packet touches come first and in as few cache lines as they can: between two packets of a leg its memory goes cold,
    // and that costs more than all instructions do.

    /// Its place in the engine.
    var slot: MediaSlot
    var state = LegMediaState() { didSet { change() } }
    private(set) var gates = MediaGates()
    var liveness = LegLiveness()
    /// Measures the sound of the far end.
    var hearing = HearingMeter()
    private var roles = PayloadRoles()
    /// The other end of the relay. The engine undoes both ends before a leg is let go. (A weak reference would make every retain on the
    /// packet's way a slow one.)
    var partner: MediaLeg?
    let rtpSocket: any MediaSocket
    /// Nil for a leg in the clear.
    private(set) var protection: LegProtection?
    var sound = LocalSound()
    /// In a conference.
    var member: Mixer.Member?
    /// Connectivity checks, where there are any; the latch follows them.
    private(set) var connectivity: LegConnectivity?
    var latch: SourceLatch
    /// Since the last start.
    var packets = LegPackets()
    var rtcp: RTCPSession
    /// The stream that leaves.
    var stream: RTPRewriter

    let id: MediaLegID
    private(set) var plan: MediaPlan { didSet { change() } }
    var control: ControlPort
    var keys: TelephoneEventReceiver
    /// Keys of ours that wait, or are on their way.
    var ownKeys = OutgoingKeys() { didSet { change() } }
    var transcoding = LegTranscoding() {
        didSet {
            assert(partner?.relay.isArmed != true, "a relay has the direction that is transcoded")
            setGates()
        }
    }
    var passingKey = PassingKey()
    /// Whether a relay has the direction that comes from the far end.
    var relay: LegRelay
    let opus: OpusSettings
    var frames = FrameClock()
    var timers = LegTimers()

    var refused = RefusedPackets()
    var run = MediaRun()
    var past = LegPast()

    init(
        id: MediaLegID, slot: MediaSlot, port: UInt16, plan: MediaPlan, opus: OpusSettings,
        sockets: (rtp: any MediaSocket, rtcp: (any MediaSocket)?), random: inout some RandomNumberGenerator, at now: Instant
    ) throws(MediaError) {
        (self.id, self.slot, self.plan, self.opus) = (id, slot, plan, opus)
        relay = LegRelay(local: SocketAddress(plan.localAddress, port: port))
        (rtpSocket, control) = (sockets.rtp, ControlPort(socket: sockets.rtcp))
        latch = SourceLatch(signalled: plan.audio.destination, payloadTypes: plan.audio.receivedTypes)
        stream = RTPRewriter(clockRate: plan.audio.primary.codec.clockRate, payloadTypes: PayloadTypeMap(), using: &random)
        let name = Text(String(random.next(), radix: 36))
        rtcp = RTCPSession(ssrc: stream.ssrc, cname: name, clockRate: stream.clockRate, seed: random.next(), at: now)
        keys = TelephoneEventReceiver(clockRate: plan.audio.keyRate)
        protection = LegProtection(plan.audio.security, separatesControl: separatesControl)
        connectivity = plan.audio.ice.map { LegConnectivity($0) }
        if connectivity != nil { latch.follow(nil) }
        try makeCodecs()
        roles = PayloadRoles(plan.audio)
        setGates()
        aim()
    }

    /// Counts anew from here on; the second of the limit goes on.
    func begin(at now: Instant) {
        if packets.sent.count + packets.received.count > 0 { past.packets = Boxed(total) }
        (run.began, packets, liveness.isSilent) = (now, LegPackets(rate: packets.rate), false)
    }

    /// Since the opening.
    var total: LegPackets { past.packets.map { $0.value + packets } ?? packets }

    /// Takes a copy of the packets of both directions while the leg is recorded.
    var tap: RecordingTap? { plan.recording }

    /// Takes a copy of the packets of the far end for a program.
    var listener: RecordingTap? { plan.listener }
    /// Takes what is sent for a program.
    var sentListener: RecordingTap? { plan.sentListener }

    /// The far end has a port for RTCP and we have none (it was given up for rtcp-mux): its reports come to our RTP port.
    var mixesPorts: Bool { control.socket == nil && !plan.audio.rtcpMux }

    /// RTCP goes between other ports than RTP does: it has one of ours of its own, or the far end has one. Checks have found one place
    /// alone.
    private var separatesControl: Bool {
        guard !plan.audio.rtcpMux else { return false }
        return control.socket != nil || plan.audio.ice == nil && plan.audio.remoteRTCP.map { $0 != plan.audio.remoteRTP } == true
    }

    /// The socket of RTCP: that of RTP where they share a port, or RTCP has none of its own.
    var controlSocket: (socket: any MediaSocket, channel: MediaSlot.Channel) {
        guard !plan.audio.rtcpMux, let rtcpSocket = control.socket else { return (rtpSocket, .rtp) }
        return (rtcpSocket, .rtcp)
    }

    private func change() {
        assert(!relay.isArmed && partner?.relay.isArmed != true, "a relay has a direction of a bridge that changes")
        setGates()
    }

    private func setGates() {
        gates.canSend = state == .started && !plan.audio.isSilenced
        gates.canReceive = state == .started && plan.audio.receives
        gates.isRelaying = plan.source == .relay
        gates.isTranscoding = transcoding.format != nil
        gates.hasKeys = ownKeys.digits != nil || ownKeys.player != nil
    }

    /// Takes a new plan as a whole. Throws before anything has changed.
    func update(_ new: MediaPlan, using random: inout some RandomNumberGenerator, at now: Instant) throws(MediaError) {
        let old = plan
        plan = new
        do throws(MediaError) { try makeCodecs(replacing: old) } catch {
            plan = old
            throw error
        }
        if !new.audio.security.isSame(as: old.audio.security) {
            protection = LegProtection(new.audio.security, separatesControl: separatesControl, after: protection)
        }
        protection?.separateControl(separatesControl, new.audio.security)
        let isSealedAnew = new.audio.security.beginsAnew(after: old.audio.security)
        latch.payloadTypes = new.audio.receivedTypes
        if new.audio.ice != old.audio.ice { connectivity = new.audio.ice.map { LegConnectivity($0, after: connectivity) } }
        if connectivity != nil {
            if old.audio.ice == nil { loseSight() }
        } else if new.audio.remoteRTP != old.audio.remoteRTP || new.audio.remoteRTCP != old.audio.remoteRTCP || old.audio.ice != nil {
            latch.rearm(signalled: new.audio.destination)
            control.source = nil
            aim()
        } else if old.audio.remoteHold != .none {
            seek()
        }
        if new.source != old.source || new.audio.isSilenced != old.audio.isSilenced {
            stream.pause()
            transcoding.transcoder?.receiver.pause()
        }
        if new.audio.receives != old.audio.receives { pauseIncoming() }
        let rate = new.audio.primary.codec.clockRate
        if rate != old.audio.primary.codec.clockRate && rate != stream.clockRate || isSealedAnew { renewStream(using: &random, at: now) }
        roles = PayloadRoles(plan.audio)
        updateKeys()
    }

    /// A hold is over: a far end behind a NAT may come from another port than before.
    func seek() {
        guard connectivity == nil, plan.audio.remoteHold == .none, latch.source != nil else { return }
        latch.rearm()
        rtpSocket.aim(at: latch.destination)
        control.source = nil
    }

    /// Sends to where the far end says that it is.
    func aim(_ channel: MediaSlot.Channel) {
        switch channel {
        case .rtp: rtpSocket.aim(at: plan.audio.destination)
        case .rtcp: control.socket?.aim(at: connectivity == nil && plan.audio.sendsRTCP ? plan.audio.remoteRTCP : nil)
        }
    }

    /// Keys may come under several payload types, each with a clock of its own (RFC 4733 §2.1).
    func keyRate(of payloadType: UInt8) -> UInt32 {
        plan.audio.telephoneEvents.first { $0.receivePayloadType == payloadType }.map { max(1, $0.codec.clockRate) } ?? keys.clockRate
    }

    /// The role of a payload type in packets that leave.
    func role(ofSent payloadType: UInt8) -> PayloadRole {
        if let sent = plan.audio.codecs.first(where: { $0.sendPayloadType == payloadType }) { return PayloadRole(sent.codec) }
        return plan.audio.comfortNoise.contains { $0.sendPayloadType == payloadType } ? .noise : .keys
    }

    func role(of payloadType: UInt8) -> PayloadRole { roles[payloadType] }

    /// The way of what comes from the far end over the partner, where a relay may have it: sound in the clear that goes on as it is, that is
    /// not listened to any more, and of which both ends are known.
    func route(over other: MediaLeg) -> RelayRoute? {
        guard gates.canReceive, !gates.hasKeys, other.gates.canSend, other.gates.isRelaying, !other.isTranscodingNow,
            !other.gates.hasKeys, isPlain, other.isPlain, other.tap == nil, other.sentListener == nil, tap == nil, listener == nil
        else { return nil }
        guard hearing.hasSound, keys.deadline == nil, member == nil, sound.recorder == nil, sound.inbandKeys == nil else { return nil }
        guard let remote = latch.settled, let next = other.latch.destination, next.port != 0,
            [remote, relay.local, other.relay.local].allSatisfy({ $0.address.family == next.address.family })
        else { return nil }
        return RelayRoute(local: relay.local, remote: remote, nextLocal: other.relay.local, nextRemote: next)
    }

    /// Sound that was transcoded is still to be sent; what comes in a codec of both sides is passed on, whatever else was agreed.
    private var isTranscodingNow: Bool { gates.isTranscoding && transcoding.transcoder?.receiver.isIdle == false }

    private var isPlain: Bool { protection == nil && connectivity == nil }

    /// The payload types of sound that go on in the clock of this packet; nil where the clocks of the two sides are not that one.
    func soundTypes(for header: RTPHeader, over other: MediaLeg) -> PayloadTypeSet? {
        let rate = roles[header.payloadType].clockRate
        guard rate == rtcp.receiver.clockRate, rate == other.stream.clockRate, rtcp.receiver.newest == other.stream.newest else {
            return nil
        }
        var types = PayloadTypeSet()
        for codec in plan.audio.codecs {
            let type = codec.receivePayloadType & 0x7F
            if roles[type].clockRate == rate, other.stream.payloadTypes[type] != nil { types.insert(type) }
        }
        return types.contains(header.payloadType) ? types : nil
    }

    /// A key of the partner's is down, or its last packets are due; one of which nothing comes any more is over.
    func isKeyPassing(at now: Instant) -> Bool {
        guard let converter = passingKey.converter else { return false }
        return now - passingKey.heardAt < (converter.isPressing ? TelephoneEventReceiver.timeout : .milliseconds(50))
    }

    func statistics(at now: Instant) -> MediaStatistics {
        var statistics = MediaStatistics()
        let total = total
        (statistics.sending, statistics.receiving) = figures
        (statistics.roundTrip, statistics.roundTrips) = (rtcp.roundTrip, rtcp.roundTrips)
        (statistics.incoming, statistics.outgoing) = (incomingVerdict(at: now), outgoingVerdict(at: now))
        (statistics.firstSent, statistics.lastSent) = (total.sent.first, total.sent.last)
        (statistics.firstReceived, statistics.lastReceived) = (total.received.first, total.received.last)
        (statistics.refused, statistics.keepAlives) = (refused, liveness.keepAlives)
        statistics.lateFrames = frames.late
        statistics.playout = playout
        statistics.peerMetrics = rtcp.peerMetrics
        judge(&statistics)
        return statistics
    }

    /// Figures of all RTCP sessions.
    private var figures: (sending: RTPFigures, receiving: RTPFigures) {
        guard let earlier = past.figures?.value else { return (rtcp.sending, rtcp.receiving) }
        return (rtcp.sending.after(earlier.sending, isSent: true), rtcp.receiving.after(earlier.receiving, isSent: false))
    }

    /// Decodes what the far end says: for the partner, or for the conference.
    var receiver: AudioReceiver? { partner?.transcoding.transcoder?.receiver ?? member?.receiver }

    /// Playout figures of all receivers.
    private var playout: PlayoutFigures? {
        guard let earlier = past.playout?.value else { return receiver.map(PlayoutFigures.init) }
        return receiver.map { PlayoutFigures($0).after(earlier) } ?? earlier
    }

    /// Keeps what `receiver` has counted, which is about to go.
    func keepPlayout() {
        guard receiver != nil, var figures = playout, figures.packets != JitterBuffer.Counters() else { return }
        figures.wait = 0
        past.playout = Boxed(figures)
    }

    /// Whether the sound that leaves needs a frame every so often.
    var makesFrames: Bool { ownKeys.player != nil || sound.player != nil || transcoding.transcoder?.receiver.isIdle == false }
    /// A key of ours is on its way: other sound waits.
    var isSendingKey: Bool { gates.hasKeys && (ownKeys.player != nil || ownKeys.digits?.isPressing == true) }
    /// From one frame to the next.
    var frameLength: Duration {
        .milliseconds((ownKeys.player ?? sound.player)?.milliseconds ?? transcoding.transcoder?.milliseconds ?? frameMilliseconds)
    }

    private func makeCodecs(replacing old: MediaPlan? = nil) throws(MediaError) {
        let primary = AudioCodec(plan.audio.primary.codec)
        let sameCodec = old.map { AudioCodec($0.audio.primary.codec) == primary } ?? false
        let sameFrames = sameCodec && old?.audio.ptime == plan.audio.ptime && old?.audio.primary.codec.fmtp == plan.audio.primary.codec.fmtp
        do throws(CodecError) {
            var sound = sound
            if old?.source != plan.source || !sameFrames { sound.player = try makePlayer(primary) }
            if old?.sink != plan.sink || !sameCodec { sound.recorder = plan.sink == .record ? try primary.map(Recorder.init) : nil }
            sound.inbandKeys = try makeInbandKeys()
            guard primary != nil || (!plan.source.isMadeHere && plan.sink == .none) else { throw .unsupported }
            sound.player?.isSilenced = plan.sendsSilence
            self.sound = sound
        } catch {
            throw .unsupportedPlan
        }
    }

    /// Only for a plan that asks for it, and a far end that cannot say it otherwise.
    private func makeInbandKeys() throws(CodecError) -> InbandDTMF? {
        guard plan.detectsDTMF, plan.audio.telephoneEvents.isEmpty else { return nil }
        let codecs = plan.audio.codecs.compactMap { AudioCodec($0.codec) }
        if let inbandKeys = sound.inbandKeys, codecs.allSatisfy(inbandKeys.knows) { return inbandKeys }
        return try InbandDTMF(codecs, after: sound.inbandKeys)
    }

    private func makePlayer(_ codec: AudioCodec?) throws(CodecError) -> Player? {
        guard let codec, plan.source.isMadeHere else { return nil }
        let settings = codec == .opus ? opus.honouring(OpusParameters(plan.audio.primary.codec.fmtp)) : opus
        return try Player(plan.source, codec: codec, milliseconds: plan.audio.frameLength(of: codec), opus: settings)
    }

    /// Until a check says where the far end is, nothing goes anywhere (RFC 8445 §12.1.2).
    private func loseSight() {
        latch.follow(nil)
        control.source = nil
        aim()
    }

    private func aim() {
        aim(.rtp)
        aim(.rtcp)
    }

    private func renewStream(using random: inout some RandomNumberGenerator, at now: Instant) {
        past.figures = Boxed(figures)
        stream.renew(clockRate: plan.audio.primary.codec.clockRate, using: &random)
        let old = rtcp
        rtcp = RTCPSession(ssrc: stream.ssrc, cname: old.cname, clockRate: stream.clockRate, seed: UInt64(stream.ssrc), at: now)
        rtcp.take(over: old)
        passingKey.timestamp = stream.beginEvent(at: now)   // for what is left of a key that is down
        ownKeys.digits?.move(to: passingKey.timestamp)
    }
}

extension MediaSource {
    /// Needs an encoder.
    var isMadeHere: Bool {
        switch self {
        case .tone, .samples, .stream: true
        case .relay, .echo, .silence, .conference: false
        }
    }
}

extension RTPFigures {
    /// These, with the counts of an earlier stretch.
    ///
    /// - Parameter isSent: what was lost is a part of the packets, which it is not where they were received.
    func after(_ earlier: RTPFigures, isSent: Bool) -> RTPFigures {
        guard earlier.packets > 0 else { return self }
        var sum = self
        sum.packets += earlier.packets
        sum.octets += earlier.octets
        if let lost = earlier.lost { sum.lost = lost + (self.lost ?? 0) }
        if let lost = sum.lost {
            let expected = isSent ? sum.packets : sum.packets + lost
            (sum.expected, sum.lossFraction) = (expected, min(1, Double(lost) / Double(expected)))
        }
        return sum
    }
}
