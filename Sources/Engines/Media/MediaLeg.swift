import Audio
import Primitives
import RTP
import SDP

/// The media of one leg, on one lane: its sockets, the two streams, and what feeds and hears them.
///
/// Knows no timers and no other leg but its partner; `MediaEngine` drives it.
final class MediaLeg {
    // What a packet touches comes first and in as few cache lines as it can: between two packets of a leg its memory goes cold, and that
    // costs more than all instructions do.

    /// Its place in the engine.
    var slot: MediaSlot
    var state = LegMediaState() { didSet { setGates() } }
    /// RTP may leave; it is expected and used; what leaves is the partner's; some of that cannot be passed on as it is.
    private(set) var canSend = false, canReceive = false, isRelaying = false, isTranscoding = false
    /// Keys of ours wait or are on their way.
    private var hasKeys = false
    /// Whether `.silent` was posted since the last packet.
    var isSilent = false
    /// What is heard of the far end.
    var hearing = HearingMeter()
    /// The payload type that comes most, and what it is.
    private var usual: (payloadType: UInt8, role: PayloadRole) = (0, .unknown)
    /// The other end of the relay. The engine undoes both ends before a leg is let go. (A weak reference would make every retain on the
    /// packet's way a slow one.)
    var partner: MediaLeg?
    let rtpSocket: any MediaSocket
    /// Nil for a leg in the clear.
    private(set) var protection: LegProtection?
    /// Keys heard in sound, from such a far end.
    var inbandKeys: InbandDTMF?
    var recorder: Recorder?
    /// In a conference, and which.
    var member: Mixer.Member?
    /// Where checks say where the far end is; the latch follows them.
    private(set) var connectivity: LegConnectivity?
    var latch: SourceLatch
    /// Since the last start.
    var received = PacketTimes()
    var rtcp: RTCPSession
    var sent = PacketTimes()
    /// What leaves.
    var stream: RTPRewriter
    /// What each incoming payload type is; the others are unknown. A leg has few: a table of all 128 would be a third of it.
    private var roles: [(payloadType: UInt8, role: PayloadRole)] = []

    let id: MediaLegID
    private(set) var plan: MediaPlan { didSet { setGates() } }
    /// Nil when RTCP comes on the RTP port.
    let rtcpSocket: (any MediaSocket)?
    /// Where RTCP came from on its own port.
    var rtcpSource: SocketAddress?
    var keys: TelephoneEventReceiver
    var digits: DigitSender? { didSet { setGates() } }
    /// Keys as sound, for a far end without telephone-event.
    var keyPlayer: Player? { didSet { setGates() } }
    var player: Player?
    /// Turns what the partner hears into what this leg sends, where it cannot be passed on.
    var transcoder: Transcoder?
    /// What `transcoder` is or would be: it is made when it is open that it will be needed, else with the first packet that needs it.
    var transcoderFormat: Boxed<Transcoder.Format>? { didSet { setGates() } }
    var conference: UInt64?
    /// Keys of the partner's on their way to this leg, and the timestamp that its packets carry.
    var converter: TelephoneEventConverter?
    var keyTimestamp: UInt32 = 0
    var keyHeardAt = Instant.zero
    let opus: OpusSettings
    /// When the next frame of the player or the transcoder is due, and how many left a frame too late.
    var nextFrame = Instant.zero
    var lateFrames: UInt64 = 0
    /// When the far end last let hear of itself otherwise: by RTCP, or by a packet of a payload type that was not agreed on.
    var lastSign: Instant?
    /// Its place in the 20 ms, where its lane spreads them.
    var phase: Int?
    var timers = LegTimers()

    var refused = RefusedPackets()
    var keepAlives: UInt64 = 0
    /// Before the last start; nil where nothing was.
    private var past: Boxed<(sent: PacketTimes, received: PacketTimes)>?
    private(set) var started = Instant.zero
    /// Since when the far end is listened to, and after how many packets of this run.
    var hearingBegan = Instant.zero
    var packetsBefore: UInt64 = 0
    /// The verdicts of the run that is over, of the stretch before a hold, and of a partner that has gone.
    var ended: (incoming: DirectionVerdict?, outgoing: DirectionVerdict?) = (nil, nil)
    var earlierVerdicts: (incoming: DirectionVerdict?, outgoing: DirectionVerdict?) = (nil, nil)
    var departed: DirectionVerdict?
    /// Counts of RTCP sessions of other streams of ours, before a change of clock or of protection.
    private var earlier: Boxed<(sending: RTPFigures, receiving: RTPFigures)>?
    /// Of what was heard through receivers that are gone.
    private var earlierPlayout: Boxed<PlayoutFigures>?
    /// Where the packets of both directions are laid down while the leg is recorded.
    private(set) var tap: RecordingTap?

    init(
        id: MediaLegID, slot: MediaSlot, plan: MediaPlan, opus: OpusSettings, sockets: (rtp: any MediaSocket, rtcp: (any MediaSocket)?),
        random: inout some RandomNumberGenerator, at now: Instant
    ) throws(MediaError) {
        (self.id, self.slot, self.plan, self.opus) = (id, slot, plan, opus)
        (rtpSocket, rtcpSocket) = sockets
        latch = SourceLatch(signalled: plan.audio.destination, payloadTypes: plan.audio.receivedTypes)
        stream = RTPRewriter(clockRate: plan.audio.primary.codec.clockRate, payloadTypes: PayloadTypeMap(), using: &random)
        let name = Text(String(random.next(), radix: 36))
        rtcp = RTCPSession(ssrc: stream.ssrc, cname: name, clockRate: stream.clockRate, seed: random.next(), at: now)
        keys = TelephoneEventReceiver(clockRate: plan.audio.keyRate)
        protection = LegProtection(plan.audio.security, separatesControl: separatesControl)
        connectivity = plan.audio.ice.map { LegConnectivity($0) }
        if connectivity != nil { latch.follow(nil) }
        tap = plan.recording
        try makeCodecs()
        setRoles()
        setGates()
        aim()
    }

    /// Counts anew from here on.
    func begin(at now: Instant) {
        if sent.count + received.count > 0 { past = Boxed(total) }
        (started, sent, received, isSilent) = (now, PacketTimes(), PacketTimes(), false)
    }

    /// Since the opening.
    var total: (sent: PacketTimes, received: PacketTimes) {
        guard let past = past?.value else { return (sent, received) }
        return (past.sent + sent, past.received + received)
    }

    /// The far end has a port for RTCP and we have none (it was given up for rtcp-mux): its reports come to our RTP port.
    var mixesPorts: Bool { rtcpSocket == nil && !plan.audio.rtcpMux }

    /// RTCP goes between other ports than RTP does: it has one of ours of its own, or the far end has one. Checks have found one place
    /// alone.
    private var separatesControl: Bool {
        guard !plan.audio.rtcpMux else { return false }
        return rtcpSocket != nil || plan.audio.ice == nil && plan.audio.remoteRTCP.map { $0 != plan.audio.remoteRTP } == true
    }

    /// Where RTCP comes: on the port of RTP where they share it, or ours has none of its own.
    var controlSocket: (socket: any MediaSocket, channel: MediaSlot.Channel) {
        guard !plan.audio.rtcpMux, let rtcpSocket else { return (rtpSocket, .rtp) }
        return (rtcpSocket, .rtcp)
    }

    private func setGates() {
        canSend = state == .started && !plan.audio.isSilenced
        canReceive = state == .started && plan.audio.receives
        isRelaying = plan.source == .relay
        isTranscoding = transcoderFormat != nil
        hasKeys = digits != nil || keyPlayer != nil
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
        tap = new.recording
        if new.audio.ice != old.audio.ice { connectivity = new.audio.ice.map { LegConnectivity($0, after: connectivity) } }
        if connectivity != nil {
            if old.audio.ice == nil { loseSight() }
        } else if new.audio.remoteRTP != old.audio.remoteRTP || new.audio.remoteRTCP != old.audio.remoteRTCP || old.audio.ice != nil {
            latch.rearm(signalled: new.audio.destination)
            rtcpSource = nil
            aim()
        } else if old.audio.remoteHold != .none {
            seek()
        }
        if new.source != old.source || new.audio.isSilenced != old.audio.isSilenced {
            stream.pause()
            transcoder?.receiver.pause()
        }
        if new.audio.receives != old.audio.receives { pauseIncoming() }
        let rate = new.audio.primary.codec.clockRate
        if rate != old.audio.primary.codec.clockRate && rate != stream.clockRate || isSealedAnew { renewStream(using: &random, at: now) }
        setRoles()
        updateKeys()
    }

    /// A hold is over: a far end behind a NAT may come from another port than before.
    func seek() {
        guard connectivity == nil, plan.audio.remoteHold == .none, latch.source != nil else { return }
        latch.rearm()
        rtpSocket.aim(at: latch.destination)
        rtcpSource = nil
    }

    /// Sends to where the far end says that it is.
    func aim(_ channel: MediaSlot.Channel) {
        switch channel {
        case .rtp: rtpSocket.aim(at: plan.audio.destination)
        case .rtcp: rtcpSocket?.aim(at: connectivity == nil && plan.audio.sendsRTCP ? plan.audio.remoteRTCP : nil)
        }
    }

    /// Keys may come under several payload types, each with a clock of its own (RFC 4733 §2.1).
    func keyRate(of payloadType: UInt8) -> UInt32 {
        plan.audio.telephoneEvents.first { $0.receivePayloadType == payloadType }.map { max(1, $0.codec.clockRate) } ?? keys.clockRate
    }

    /// What a payload type is in packets that leave.
    func role(ofSent payloadType: UInt8) -> PayloadRole {
        if let sent = plan.audio.codecs.first(where: { $0.sendPayloadType == payloadType }) { return PayloadRole(sent.codec) }
        return plan.audio.comfortNoise.contains { $0.sendPayloadType == payloadType } ? .noise : .keys
    }

    func role(of payloadType: UInt8) -> PayloadRole { payloadType == usual.payloadType ? usual.role : agreedRole(of: payloadType & 0x7F) }

    private func agreedRole(of payloadType: UInt8) -> PayloadRole {
        for entry in roles where entry.payloadType == payloadType { return entry.role }
        return .unknown
    }

    /// A key of the partner's is down, or its last packets are due; one of which nothing comes any more is over.
    func isKeyPassing(at now: Instant) -> Bool {
        guard let converter else { return false }
        return now - keyHeardAt < (converter.isPressing ? TelephoneEventReceiver.timeout : .milliseconds(50))
    }

    func statistics(at now: Instant) -> MediaStatistics {
        var statistics = MediaStatistics()
        let total = total
        (statistics.sending, statistics.receiving) = figures
        (statistics.roundTrip, statistics.roundTrips) = (rtcp.roundTrip, rtcp.roundTrips)
        (statistics.incoming, statistics.outgoing) = (incomingVerdict(at: now), outgoingVerdict(at: now))
        (statistics.firstSent, statistics.lastSent) = (total.sent.first, total.sent.last)
        (statistics.firstReceived, statistics.lastReceived) = (total.received.first, total.received.last)
        (statistics.refused, statistics.keepAlives) = (refused, keepAlives)
        statistics.lateFrames = lateFrames
        statistics.playout = playout
        statistics.peerMetrics = rtcp.peerMetrics
        judge(&statistics)
        return statistics
    }

    /// Of all RTCP sessions.
    private var figures: (sending: RTPFigures, receiving: RTPFigures) {
        guard let earlier = earlier?.value else { return (rtcp.sending, rtcp.receiving) }
        return (rtcp.sending.after(earlier.sending, isSent: true), rtcp.receiving.after(earlier.receiving, isSent: false))
    }

    /// Decodes what the far end says: for the partner, or for the conference.
    var receiver: AudioReceiver? { partner?.transcoder?.receiver ?? member?.receiver }

    /// Of all receivers.
    private var playout: PlayoutFigures? {
        guard let earlier = earlierPlayout?.value else { return receiver.map(PlayoutFigures.init) }
        return receiver.map { PlayoutFigures($0).after(earlier) } ?? earlier
    }

    /// Keeps what `receiver` has counted, which is about to go.
    func keepPlayout() {
        guard receiver != nil, var figures = playout, figures.packets != JitterBuffer.Counters() else { return }
        figures.wait = 0
        earlierPlayout = Boxed(figures)
    }

    /// What leaves needs a frame every so often.
    var makesFrames: Bool { keyPlayer != nil || player != nil || transcoder?.receiver.isIdle == false }
    /// A key of ours is on its way: other sound waits.
    var isSendingKey: Bool { hasKeys && (keyPlayer != nil || digits?.isPressing == true) }
    /// From one frame to the next.
    var frameLength: Duration { .milliseconds((keyPlayer ?? player)?.milliseconds ?? transcoder?.milliseconds ?? frameMilliseconds) }

    private func makeCodecs(replacing old: MediaPlan? = nil) throws(MediaError) {
        let primary = AudioCodec(plan.audio.primary.codec)
        let sameCodec = old.map { AudioCodec($0.audio.primary.codec) == primary } ?? false
        let sameFrames = sameCodec && old?.audio.ptime == plan.audio.ptime && old?.audio.primary.codec.fmtp == plan.audio.primary.codec.fmtp
        do throws(CodecError) {
            var (player, recorder) = (player, recorder)
            if old?.source != plan.source || !sameFrames { player = try makePlayer(primary) }
            if old?.sink != plan.sink || !sameCodec { recorder = plan.sink == .record ? try primary.map(Recorder.init) : nil }
            let inbandKeys = try makeInbandKeys()
            guard primary != nil || (!plan.source.isMadeHere && plan.sink == .none) else { throw .unsupported }
            player?.isSilenced = plan.sendsSilence
            (self.player, self.recorder, self.inbandKeys) = (player, recorder, inbandKeys)
        } catch {
            throw .unsupportedPlan
        }
    }

    /// Only for a plan that asks for it, and a far end that cannot say it otherwise.
    private func makeInbandKeys() throws(CodecError) -> InbandDTMF? {
        guard plan.detectsDTMF, plan.audio.telephoneEvents.isEmpty else { return nil }
        let codecs = plan.audio.codecs.compactMap { AudioCodec($0.codec) }
        if let inbandKeys, codecs.allSatisfy(inbandKeys.knows) { return inbandKeys }
        return try InbandDTMF(codecs, after: inbandKeys)
    }

    private func makePlayer(_ codec: AudioCodec?) throws(CodecError) -> Player? {
        guard let codec, plan.source.isMadeHere else { return nil }
        let settings = codec == .opus ? opus.honouring(OpusParameters(plan.audio.primary.codec.fmtp)) : opus
        return try Player(plan.source, codec: codec, milliseconds: plan.audio.frameLength(of: codec), opus: settings)
    }

    private func setRoles() {
        let audio = plan.audio
        roles = []
        roles.reserveCapacity(audio.comfortNoise.count + audio.telephoneEvents.count + audio.codecs.count)
        // The first that fits is taken.
        for noise in audio.comfortNoise { roles.append((noise.receivePayloadType & 0x7F, .noise)) }
        for keys in audio.telephoneEvents { roles.append((keys.receivePayloadType & 0x7F, .keys)) }
        for codec in audio.codecs.reversed() { roles.append((codec.receivePayloadType & 0x7F, PayloadRole(codec.codec))) }
        let payloadType = audio.primary.receivePayloadType & 0x7F
        usual = (payloadType, agreedRole(of: payloadType))
    }

    /// Until a check says where the far end is, nothing goes anywhere (RFC 8445 §12.1.2).
    private func loseSight() {
        latch.follow(nil)
        rtcpSource = nil
        aim()
    }

    private func aim() {
        aim(.rtp)
        aim(.rtcp)
    }

    private func renewStream(using random: inout some RandomNumberGenerator, at now: Instant) {
        earlier = Boxed(figures)
        stream.renew(clockRate: plan.audio.primary.codec.clockRate, using: &random)
        let old = rtcp
        rtcp = RTCPSession(ssrc: stream.ssrc, cname: old.cname, clockRate: stream.clockRate, seed: UInt64(stream.ssrc), at: now)
        rtcp.take(over: old)
        keyTimestamp = stream.beginEvent(at: now)   // for what is left of a key that is down
        digits?.move(to: keyTimestamp)
    }
}

/// When the first and the last packet of one direction passed, and how many did.
struct PacketTimes {
    private(set) var count: UInt64 = 0
    private(set) var first: Instant?, last: Instant?

    mutating func note(_ now: Instant) {
        count += 1
        if first == nil { first = now }
        last = now
    }

    static func + (earlier: Self, later: Self) -> Self {
        var sum = Self()
        (sum.count, sum.first, sum.last) = (earlier.count + later.count, earlier.first ?? later.first, later.last ?? earlier.last)
        return sum
    }
}

extension MediaSource {
    /// Needs an encoder.
    var isMadeHere: Bool {
        switch self {
        case .tone, .samples: true
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
