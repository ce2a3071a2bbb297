import Audio
import Primitives
import RTP
import SDP

// Keys: those that are asked for, and those of one side of a bridge for the other, in the way that it has.
extension MediaEngine {
    public func send(_ digits: [DTMFDigit], lasting length: Duration? = nil, on id: MediaLegID, at now: Instant) throws(MediaError) {
        let leg = try leg(id)
        guard leg.gates.canSend else { throw .outOfOrder(.start, in: leg.state) }
        takeBack(leg, for: .change, at: now)
        guard let sender = leg.digitSender else { return try play(digits, lasting: length, on: leg, at: now) }
        guard sender.enqueue(digits, lasting: length, at: now) else { throw .tooManyDigits }
        leg.ownKeys.digits = sender
        arm(leg, .digit, at: sender.deadline)
    }

    /// As sound: the far end has no telephone-event.
    private func play(_ digits: [DTMFDigit], lasting length: Duration?, on leg: MediaLeg, at now: Instant) throws(MediaError) {
        let player = try keyPlayer(of: leg)
        guard player.press(digits, lasting: length.map { min(max($0, .milliseconds(40)), .seconds(5)) } ?? DTMFTones.usualLength) else {
            throw .tooManyDigits
        }
        leg.ownKeys.player = player
        armFrames(leg, at: now)
    }

    private func keyPlayer(of leg: MediaLeg) throws(MediaError) -> Player {
        if let player = leg.ownKeys.player { return player }
        guard let codec = AudioCodec(leg.plan.audio.primary.codec), leg.member == nil else { throw .unsupportedPlan }
        do throws(CodecError) {
            return try Player(keysIn: codec, milliseconds: leg.plan.audio.frameLength(of: codec), opus: leg.opus)
        } catch { throw .unsupportedPlan }
    }

    // MARK: From one side to the other

    /// One event, whichever way it came.
    func heardKeys(_ outputs: [TelephoneEventReceiver.Output], on leg: MediaLeg, at now: Instant) {
        for output in outputs {
            switch output {
            case .began(let digit): began(digit, on: leg, at: now)
            // Also where nobody listens just then: the key would stay down until the hold is over.
            case .ended(_, let length): leg.partner.map { release($0, lasting: length, at: now) }
            }
        }
    }

    func heardInband(_ payload: UnsafeRawBufferPointer, _ codec: AudioCodec, on leg: MediaLeg, at now: Instant) {
        leg.sound.inbandKeys?.receive(payload, codec: codec) { output in
            switch output {
            case .began(let key): if let digit = DTMFDigit(key) { began(digit, on: leg, at: now) }
            case .ended: leg.partner.map { release($0, lasting: .zero, at: now) }
            }
        }
    }

    /// No more of the keys of this leg will come.
    func endKeys(of leg: MediaLeg, at now: Instant) {
        heardKeys(leg.keys.stop(), on: leg, at: now)
        guard let keys = leg.sound.inbandKeys else { return }
        if keys.isDown { leg.partner.map { release($0, lasting: .zero, at: now) } }
        keys.reset()
    }

    private func began(_ digit: DTMFDigit, on leg: MediaLeg, at now: Instant) {
        report(.digit(digit), of: leg)
        hearer(of: leg).map { press(digit, on: $0, at: now) }
    }

    /// The other side, where the packets of this one do not tell it of a key: it has no events, or keys from here are on their way there
    /// already.
    private func hearer(of leg: MediaLeg) -> MediaLeg? {
        guard let partner = leg.partner, partner.plan.source == .relay, partner.gates.canSend, !partner.plan.keysBySignalling else {
            return nil
        }
        if partner.ownKeys.digits != nil, !leg.plan.audio.telephoneEvents.isEmpty { return partner }
        return leg.plan.audio.telephoneEvents.isEmpty == partner.plan.audio.telephoneEvents.isEmpty ? nil : partner
    }

    private func press(_ digit: DTMFDigit, on leg: MediaLeg, at now: Instant) {
        takeBack(leg, for: .change, at: now)
        if let sender = leg.digitSender {
            guard sender.press(digit, at: now) else { return }
            leg.ownKeys.digits = sender
            arm(leg, .digit, at: sender.deadline)
        } else if let player = try? keyPlayer(of: leg), player.press([digit], lasting: nil) {
            leg.ownKeys.player = player
            armFrames(leg, at: now)
        }
    }

    /// - Parameter length: of the press, for a far end that hears it as sound. One that is told by events was told when it ended.
    private func release(_ leg: MediaLeg, lasting length: Duration, at now: Instant) {
        leg.ownKeys.digits?.release()
        leg.ownKeys.player?.release(lasting: length)
    }

    /// Sound that is a key, or sounds as if one began, does not go on to a far end that gets an event for it.
    ///
    /// - Returns: whether the packet is dealt with; else it is to be passed on, as silence.
    func mutes(
        _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, _ role: PayloadRole, from leg: MediaLeg, over other: MediaLeg,
        at now: Instant
    ) -> Bool {
        guard case .audio(let codec) = role, !other.plan.audio.telephoneEvents.isEmpty else { return false }
        if let silence = codec.silentByte {
            for index in header.payloadOffset..<header.payloadOffset + header.payloadCount { packet[index] = silence }
            return false
        }
        if let transcoder = other.transcoding.transcoder, other.stream.payloadTypes[header.payloadType] == nil {
            withUnsafeBytes(of: ComfortNoise(level: 127).payload) { transcoder.receiver.receiveNoise($0, header: header, at: now) }
        } else {
            leg.refused.noReceiver += 1
        }
        return true
    }
}

extension MediaLeg {
    /// A key of the partner's that does not pass as it is only holds its place.
    func skipKey(_ header: RTPHeader, at now: Instant) {
        if let receiver = transcoding.transcoder?.receiver, !receiver.isIdle { receiver.pass(header, at: now) }
    }

    /// Keys of ours that wait go on as was agreed on now; those that the far end would not understand are dropped.
    func updateKeys() {
        if let player = ownKeys.player, AudioCodec(plan.audio.primary.codec) != player.codec {
            ownKeys.player = nil
            stream.pause()
        }
        guard let sender = ownKeys.digits else { return }
        if let event = plan.audio.telephoneEvents.first(where: {
            $0.sendPayloadType < 128 && max(1, $0.codec.clockRate) == sender.clockRate
        }) {
            sender.payloadType = event.sendPayloadType
        } else {
            ownKeys.digits = nil
        }
    }

    /// Sends keys to the far end as events, made now where there is none yet; nil where the far end takes no events.
    fileprivate var digitSender: DigitSender? {
        guard let event = plan.audio.telephoneEvent(for: plan.audio.primary.codec), event.sendPayloadType < 128 else { return nil }
        return ownKeys.digits ?? DigitSender(payloadType: event.sendPayloadType, clockRate: max(1, event.codec.clockRate))
    }
}
