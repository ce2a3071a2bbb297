import Calls
import Media
import Primitives
import RTP
import Runtime
import SDP
import SIP
import UserAgent

/// One call of a telephone of ours, on either side: its session, its offer and answer, its media, and the record of all that.
///
/// Media exists only between answer and end: sockets are bound when the 2xx was parsed, or is about to leave; packets flow from our
/// ACK on, or from theirs; none leaves after the BYE. Early media is not opened. Lives on its phone's lane.
public final class PhoneCall {
    /// Events of a call, in the order in which they happen.
    public enum Event: Sendable {
        /// A message of this call, in the order of the wire.
        case traced(SessionEvent.Direction, Message, retransmission: Bool)
        /// 101–199, received or sent.
        case ringing(status: Int)
        /// The first answer is agreed, ours or theirs: what is spoken, and where the packets of both ends go.
        case answered(codec: Text, MediaEncryption, local: SocketAddress, remote: SocketAddress)
        /// Media flows.
        case connected
        /// Packets may leave from here on, and after each hold of ours again.
        case mediaStarted
        /// No packet leaves after this, for good or for a hold.
        case mediaStopped(MediaInterval)
        /// The other side holds us, and ends that.
        case held, resumed
        /// Our own hold, or its end, is agreed; or was refused, and everything is as before.
        case holdChanged(isHolding: Bool), holdRefused(status: Int)
        /// A key of the other side; and ours have all left.
        case digit(DTMFDigit), digitsSent
        /// The sound that we play is heard no more, or again.
        case muted(Bool)
        /// The progress of the transfer that we asked for. 200 or more is the last: 2xx when it is done, else why everything is as before.
        case transferProgress(status: Int)
        /// Heard just now; up to a second. Only where the script wants it.
        case recorded([Int16], sampleRate: Int)
        /// Over. The last event.
        case ended(CallRecord)
    }

    /// States of a call.
    public enum State: Hashable, Sendable {
        /// Before the answer. Next: all others.
        case inviting
        /// A callee's 200 is out, its ACK is not here. Next: `connected`, `ending`, `closed`.
        case answered
        /// The ACK has come, or was sent. Next: `ending`, `closed`.
        case connected
        /// We have hung up, and wait for the answer to that. Next: `closed`.
        case ending
        /// Its media is gone; what was on its way from there may still come. Next: nothing.
        case closed
    }

    /// The state of the call.
    public internal(set) var state = State.inviting
    /// The record of the call so far; it is complete when the call is over.
    public internal(set) var record: CallRecord
    /// Nil before the INVITE is sent.
    public internal(set) var session: InviteSession?
    /// Whether we hold the other side.
    public internal(set) var isHolding = false
    /// Whether silence is sent in place of what we play.
    public internal(set) var isMuted = false

    unowned let phone: Phone
    /// Our identity in the call.
    let identity: PhoneIdentity
    let script: CallScript
    var media: CallMedia
    /// The state of its dialog, and what was agreed.
    var signalling: CallSession
    /// The hold that we have asked for by a re-INVITE that is not answered: to hold or not.
    var wishesHold: Bool?
    /// Any message of the other side has come.
    var hasResponse = false
    /// A BYE of the other side has come.
    var hasBye = false

    var answersAt: Instant? { didSet { schedule() } }
    var pressesAt: Instant? { didSet { schedule() } }
    var hangsUpAt: Instant? { didSet { schedule() } }
    var givesUpAt: Instant? { didSet { schedule() } }
    var lingersUntil: Instant? { didSet { schedule() } }
    /// The script's steps: which is next, and when; nil while one waits for an answer, and after the last.
    var nextStep = 0
    var stepsAt: Instant? { didSet { schedule() } }
    /// The keys of the last step: the next one comes when they are sent, and at `stepsAt` at the latest.
    var keysUnderWay: [DTMFDigit]?
    /// Keys of ours are not all sent: what we play waits, and with it what comes back.
    var isPressing = false
    private var alarm: (token: TimerToken, due: Instant)?

    /// The time after the end in which media may still report what it had heard before.
    static let lingering = Duration.milliseconds(50)
    /// The time after a hang-up for a first response, which a CANCEL waits for (RFC 3261 §9.1): the INVITE was sent three times then.
    private static let timeoutAfterHangUp = Duration.seconds(2)

    init(phone: Phone, leg: MediaLegID, peer: Text, isOutgoing: Bool, identity: PhoneIdentity, script: CallScript, at now: Instant)
        throws(MediaError)
    {
        (self.phone, self.identity, self.script) = (phone, identity, script)
        media = CallMedia(leg: leg, plane: phone.plane)
        try media.reserve(at: now)
        record = CallRecord(peer: peer, isOutgoing: isOutgoing, script: script, began: now)
        let port = media.reservation?.rtp ?? 0
        var local = LocalMedia(address: identity.mediaAddress, port: port, rtcpPort: port | 1, codecs: identity.codecs)
        local.security = phone.makeSecurity()
        signalling = CallSession(OfferAnswer(local: local, sessionID: phone.takeRandom()))
    }

    /// Names its media.
    public var leg: MediaLegID { media.leg }

    /// Hangs up, cancels or refuses, whatever is due. Packets stop before the message leaves.
    public func hangUp(at now: Instant) {
        guard state != .ending, state != .closed else { return }
        record.endedBy = .us
        end(at: now)
        session?.bye(at: now)
        // A callee that rings has refused by that, and no event follows.
        if state == .ending, session?.state ?? .ended == .ended {
            if session != nil, record.status == 0 { record.status = 480 }
            close(at: now)
        }
        if state == .ending, isUnheard { givesUpAt = now + Self.timeoutAfterHangUp }
    }

    /// It is over as it is, though our BYE or its like is not answered; nothing but what has been sent is said to the other side.
    func abandon(at now: Instant) {
        hangUp(at: now)
        if state != .closed { close(at: now) }
    }

    /// We call, and nothing has come back.
    var isUnheard: Bool { record.isOutgoing && !hasResponse }

    /// Gives up. If no response at all has come, the call is over now, and not when the transaction is.
    /// The session handles what may still come.
    private func giveUp(at now: Instant) {
        givesUpAt = nil
        guard isUnheard else { return hangUp(at: now) }
        if state != .ending {
            end(at: now)
            session?.bye(at: now)
        }
        noteUnanswered(408, at: now)
        close(at: now)
    }

    /// Presses keys, one after the other, where the call is connected: as telephone-events, else by INFO where the other side takes that,
    /// else as sound.
    public func press(_ digits: [DTMFDigit], at now: Instant) throws(MediaError) {
        if telephoneEventsAreMissing, tellKeys(digits, at: now) { return }
        record.playedWithPauses = true
        try media.send(digits, at: now)
        isPressing = media.isRunning
        noteSoundDue(at: now)
    }

    private var telephoneEventsAreMissing: Bool { signalling.agreed?.telephoneEvents.isEmpty == true }

    private func tellKeys(_ digits: [DTMFDigit], at now: Instant) -> Bool {
        let keys = digits.compactMap { $0.character.asciiValue.map { DTMFPress(key: $0, duration: nil) } }
        return session?.tell(keys, at: now) { [weak self] now in self?.receive(.digitsSent, at: now) } ?? false
    }

    /// When `advance` next has something to do.
    private var deadline: Instant? {
        var earliest = answersAt
        for due in [pressesAt, hangsUpAt, givesUpAt, lingersUntil, stepsAt] { if let due { earliest = min(earliest ?? due, due) } }
        return earliest
    }

    /// Keeps the phone's timer for this call where it must be.
    private func schedule() {
        let due = deadline
        guard due != alarm?.due else { return }
        let token = phone.setAlarm(alarm?.token, of: leg, to: due)
        alarm = due.flatMap { due in token.map { ($0, due) } }
    }

    /// The phone's timer for this call has come.
    func alarmed(at now: Instant) {
        alarm = nil
        advance(to: now)
        schedule()
    }

    private func advance(to now: Instant) {
        if isDue(answersAt, now) {
            answersAt = nil
            answer(at: now)
        }
        if isDue(pressesAt, now) {
            pressesAt = nil
            press(script.digits, failingAt: now)
        }
        if isDue(stepsAt, now) { takeSteps(at: now) }
        if isDue(hangsUpAt, now) { hangUp(at: now) }
        if isDue(givesUpAt, now) { giveUp(at: now) }
        if isDue(lingersUntil, now) {
            lingersUntil = nil
            phone.finish(self, at: now)
        }
    }

    private func isDue(_ alarm: Instant?, _ now: Instant) -> Bool { alarm.map { $0 <= now } ?? false }

    /// - Returns: whether they are on their way.
    @discardableResult
    func press(_ digits: [DTMFDigit], failingAt now: Instant) -> Bool {
        do throws(MediaError) { try press(digits, at: now) } catch {
            record.failure = record.failure ?? Text("digits cannot be sent: ") + Text(error)
            return false
        }
        return media.isRunning
    }

    func report(_ event: Event, at now: Instant) { phone.report(event, of: self, at: now) }

    /// Takes an event of the media.
    func receive(_ event: MediaEvent, at now: Instant) {
        switch event {
        case .recorded(let samples, let rate):
            record.heard.append(samples, sampleRate: rate)
            if script.tellsRecording { report(.recorded(samples, sampleRate: rate), at: now) }
        case .digit(let digit):
            if record.digits.count < 1_000 { record.digits.append(digit) }
            report(.digit(digit), at: now)
        case .digitsSent:
            isPressing = false
            if state == .connected { noteSoundDue(at: now) }
            report(.digitsSent, at: now)
            guard let keysUnderWay else { break }
            record.pressed += keysUnderWay
            if state == .connected { takeSteps(at: now) }
        case .sourceFinished: hangsUpAt = script.hangUpAfterPlaying.map { now + $0 } ?? hangsUpAt
        case .unprotected: if state == .connected { fail("no keys: the handshake for encrypted media failed", at: now) }
        case .firstSent, .firstReceived, .silent, .report, .relayArmed, .relayTaken: break
        }
    }
}

extension Text {
    init(_ error: some Error) { self.init("\(error)") }
}
