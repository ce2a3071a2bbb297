import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// One call of a telephone of ours, on either side: its session, its offer and answer, its media, and the record of all that.
///
/// Media exists only between answer and end: sockets are bound when the 2xx was parsed, or is about to leave; packets flow from our
/// ACK on, or from theirs; none leaves after the BYE. Early media is not opened. Lives on its phone's lane.
public final class PhoneCall {
    public enum Event: Sendable {
        /// A message of this call, in the order of the wire.
        case traced(SessionEvent.Direction, Message, retransmission: Bool)
        /// 101–199, received or sent.
        case ringing(status: Int)
        /// Media flows.
        case connected
        /// The other side holds us, and ends that.
        case held, resumed
        /// Our own hold, or its end, is agreed; or was refused, and everything is as before.
        case holdChanged(isHolding: Bool), holdRefused(status: Int)
        case digit(DTMFDigit), digitsSent
        /// Heard just now; up to a second. Only where the script wants it.
        case recorded([Int16], sampleRate: Int)
        /// Over. The last event.
        case ended(CallRecord)
    }

    public enum State: Hashable, Sendable {
        /// Before the answer. Next: all others.
        case inviting
        /// A callee's 200 is out, its ACK is not here. Next: `connected`, `ending`, `closed`.
        case answered
        case connected
        /// We have hung up, and wait for the answer to that. Next: `closed`.
        case ending
        /// Its media is gone; what was on its way from there may still come. Next: nothing.
        case closed
    }

    public internal(set) var state = State.inviting
    public internal(set) var record: CallRecord
    /// Nil before the INVITE is sent.
    public internal(set) var session: InviteSession?
    /// Whether we hold the other side.
    public internal(set) var isHolding = false

    unowned let phone: Phone
    let script: CallScript
    var media: CallMedia
    var negotiation: OfferAnswer
    /// What we have asked for by a re-INVITE that is not answered: to hold or not.
    var wishesHold: Bool?
    var isHeld = false

    var answersAt: Instant?
    var pressesAt: Instant?
    var hangsUpAt: Instant?
    var givesUpAt: Instant?
    private var lingersUntil: Instant?

    /// How long after the end media may still tell what it had heard before.
    private static let lingering = Duration.milliseconds(50)

    init(phone: Phone, leg: MediaLegID, peer: Text, isOutgoing: Bool, script: CallScript, at now: Instant) throws(MediaError) {
        (self.phone, self.script) = (phone, script)
        media = CallMedia(leg: leg, plane: phone.plane)
        try media.reserve(at: now)
        record = CallRecord(peer: peer, isOutgoing: isOutgoing, script: script, began: now)
        let port = media.reservation?.rtp ?? 0
        var local = LocalMedia(address: phone.identity.mediaAddress, port: port, rtcpPort: port | 1, codecs: phone.identity.codecs)
        local.security = phone.makeSecurity()
        negotiation = OfferAnswer(local: local, sessionID: phone.takeRandom())
    }

    public var leg: MediaLegID { media.leg }

    /// Hangs up, cancels or refuses, whatever is due. Packets stop before the message leaves.
    public func hangUp(at now: Instant) {
        guard state != .ending, state != .closed else { return }
        record.endedBy = .us
        end(at: now)
        session?.bye(at: now)
        if session == nil { close(at: now) }
    }

    /// Presses keys, one after the other, where the call is connected and the other side knows telephone-events.
    public func press(_ digits: [DTMFDigit], at now: Instant) throws(MediaError) { try media.send(digits, at: now) }

    /// When `advance` next has something to do.
    var deadline: Instant? { [answersAt, pressesAt, hangsUpAt, givesUpAt, lingersUntil].compactMap { $0 }.min() }

    func advance(to now: Instant) {
        if isDue(&answersAt, now) { answer(at: now) }
        if isDue(&pressesAt, now) { pressScripted(at: now) }
        if isDue(&hangsUpAt, now) || isDue(&givesUpAt, now) { hangUp(at: now) }
        if isDue(&lingersUntil, now) { phone.finish(self, at: now) }
    }

    private func isDue(_ alarm: inout Instant?, _ now: Instant) -> Bool {
        guard let due = alarm, due <= now else { return false }
        alarm = nil
        return true
    }

    private func pressScripted(at now: Instant) {
        do throws(MediaError) { try media.send(script.digits, at: now) } catch { record.failure = record.failure ?? Text("digits cannot be sent: ") + Text(error) }
    }

    func report(_ event: Event, at now: Instant) { phone.report(event, of: self, at: now) }

    /// What media has to say.
    func receive(_ event: MediaEvent, at now: Instant) {
        switch event {
        case .recorded(let samples, let rate):
            record.heard.append(samples, sampleRate: rate)
            if script.tellsRecording { report(.recorded(samples, sampleRate: rate), at: now) }
        case .digit(let digit):
            if record.digits.count < 1_000 { record.digits.append(digit) }
            report(.digit(digit), at: now)
        case .digitsSent: report(.digitsSent, at: now)
        case .sourceFinished: hangsUpAt = script.hangUpAfterPlaying.map { now + $0 } ?? hangsUpAt
        case .unprotected: if state == .connected { fail("no keys: the handshake for encrypted media failed", at: now) }
        case .firstSent, .firstReceived, .silent, .report: break
        }
    }
}

// The media side of the call's life.
extension PhoneCall {
    func plan(_ audio: NegotiatedAudio) -> MediaPlan {
        MediaPlan(localAddress: phone.identity.mediaAddress, audio: audio, source: script.source, sink: .record)
    }

    func open(_ audio: NegotiatedAudio, at now: Instant) throws(MediaError) {
        record.codec = audio.primary.codec.name
        try media.open(plan(audio), at: now)
    }

    /// Everything is agreed and acknowledged: packets may flow.
    func connect(at now: Instant) {
        do throws(MediaError) { try media.start(at: now) } catch { return fail(Text("media cannot start: ") + Text(error), at: now) }
        state = .connected
        givesUpAt = nil
        if !script.digits.isEmpty { pressesAt = now + script.digitsAfter }
        if let duration = script.duration { hangsUpAt = now + duration }
        report(.connected, at: now)
    }

    /// Ends an answered call that cannot be.
    func fail(_ failure: Text, at now: Instant) {
        record.failure = record.failure ?? failure
        end(at: now)
        session?.bye(at: now)
    }

    /// No packet after this; the session may still have to say BYE.
    private func end(at now: Instant) {
        (answersAt, pressesAt, hangsUpAt, givesUpAt) = (nil, nil, nil, nil)
        record.ended = now
        media.end(at: now)
        state = .ending
    }

    /// The session is over.
    func close(at now: Instant) {
        guard state != .closed else { return }
        if state != .ending { end(at: now) }
        state = .closed
        record.statistics = media.statistics
        lingersUntil = now + Self.lingering
    }
}

extension Text {
    init(_ error: some Error) { self.init("\(error)") }
}
