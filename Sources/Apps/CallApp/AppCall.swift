import CallJournal
import CallKit
import Calls
import Foundation
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// One call of an app's line: its SIP dialog, its media, and how far the app and its CallKit system have taken it.
final class AppCall {
    enum Direction { case incoming, outgoing }

    /// The state of the call in CallKit.
    enum Standing: Equatable {
        case unreported, known
        /// Connected there: an answer was fulfilled, or a connection reported.
        case up
        case ended
    }

    /// The UUID that the app has it under.
    private(set) var uuid: UUID
    /// The UUID that it came to be with, which the journal has: another one where the app has reported it under its own.
    let journalUUID: UUID
    let direction: Direction
    unowned let line: AppLine
    let scribe: LegJournal
    let flow: Flow
    var session: InviteSession?
    /// The state of its dialog, and what was agreed.
    var call: CallSession
    var media: LegMedia
    var standing = Standing.unreported
    /// The cause that the far end is told when we end it; set by the system's own reasons before the app hears of them.
    var endCause: EndCause?
    /// Why the network ended it, until CallKit has heard of it.
    var networkEnd: CXCallEndedReason?
    /// When the line loses patience: with an app that does not report, or does not finish an end.
    var overdueAt: Instant?
    /// The app's provider that reported or started it.
    var provider: Int?
    var isMuted = false
    /// The app has stopped its sound by itself; the next `startAudio` begins it again.
    var isSilenced = false
    /// Waits for the answer to the re-INVITE that takes the other side back.
    var resume: ((Bool) -> Void)?
    /// The rest of a dial string behind a pause, and the time when the pause is over; nil: when the user plays keys again.
    var waitingKeys: (keys: Substring, until: Instant?)?
    /// The call that it is joined with, where they are two.
    var partner: UUID?
    /// A transfer by the far end that is under way.
    var move: AppCallMove?
    /// Dialogs that this call had before it was handed on.
    var formers: [FormerDialog] = []
    /// The conference that it is in, where they are or were three and more.
    var conference: UInt64?

    init(
        _ direction: Direction, uuid: UUID, line: AppLine, session: InviteSession?, flow: Flow, negotiation: OfferAnswer, media: LegMedia,
        scribe: LegJournal
    ) {
        (self.direction, self.uuid, self.line, self.session, self.flow) = (direction, uuid, line, session, flow)
        journalUUID = uuid
        (call, self.media, self.scribe) = (CallSession(negotiation), media, scribe)
    }

    var state: CallSession.State { call.state }

    var now: Instant { line.now }

    /// The app calls it otherwise from here on.
    func rename(_ uuid: UUID) { self.uuid = uuid }

    var isSignallingOver: Bool { ([session, move?.session] + formers.map(\.session)).allSatisfy { $0?.state ?? .ended == .ended } }

    // MARK: Time

    var deadline: Instant? { [overdueAt, waitingKeys?.until].compactMap(\.self).min() }

    func advance(to now: Instant) {
        if let waiting = waitingKeys, let until = waiting.until, until <= now { playAfterPause(waiting.keys) }
        guard let due = overdueAt, due <= now else { return }
        overdueAt = nil
        if standing == .unreported { return giveUpUnreported(status: 480) }
        line.system.reportEnded(uuid, reason: networkEnd ?? .failed)
    }

    /// The app has kept silent about it, or there is none.
    func giveUpUnreported(status: Int) {
        if state != .ended { session?.respond(status: status, at: now) }
        call.enter(.ended)
        forget()
    }

    /// Nobody waits for it any more.
    func forget() {
        if let figures = media.finish(at: now) { line.tell(.mediaStatistics(CallMediaStatistics(figures)), of: self) }
        line.remove(self)
        line.tell(.released(uuid, now))
    }

    // MARK: Media

    /// Packets flow where everything that they need is there.
    func startMedia() {
        guard line.audio.isOn, standing == .up, state == .connected, call.agreed != nil, !call.isHeld, !call.hasNoAudio,
            !isSilenced, media.state.isOpen, media.state != .started
        else { return }
        media.start(at: now)
    }

    /// - Parameter holding: it may go on later. Otherwise the far end is told by RTCP, too, that this was all (RFC 3550 §6.6).
    func stopMedia(holding: Bool = false) { media.stop(holding: holding, at: now) }

    /// Takes a number and decides about codecs, once. False when there is no number.
    func configure() -> Bool {
        if media.reservation == nil {
            do { try media.reserve(call.negotiation.ports, at: now) } catch {
                scribe.write(.mediaRefused, at: now, [.cause: "no-port"])
                endCause = EndCause(status: 503, reasons: [])
                return false
            }
            listenOnReservation()
        }
        if media.state == .reserved { media.configure(at: now, codecs: codecNames) }
        return true
    }

    /// - Returns: whether it is open at another port than the far end was told; nil where it cannot be opened.
    func open(_ audio: NegotiatedAudio) -> Bool? {
        do throws(MediaError) {
            let isElsewhere = try media.openSomewhere(plan(for: audio), near: nil, at: now)
            listenOnReservation()
            return isElsewhere
        } catch {
            scribe.write(.mediaRefused, at: now, [.cause: "bind"])
            return nil
        }
    }

    func plan(for audio: NegotiatedAudio) -> MediaPlan {
        var agreed = audio
        if call.isHeld { agreed.sends = false }
        let alone: MediaSource = partner != nil ? .relay : isMuted ? .silence : line.settings.microphone
        var plan = MediaPlan(
            localAddress: line.settings.mediaAddress, audio: agreed, source: conference.map(MediaSource.conference) ?? alone)
        plan.isMuted = isMuted
        return plan
    }

    /// Takes up a change of what the user switched.
    func refreshPlan() {
        if let agreed = call.agreed { media.update(plan(for: agreed), at: now) }
    }

    private var codecNames: Text { Text(Array(call.negotiation.local.codecs.map { Array($0.name.bytes) }.joined(separator: [0x20]))) }

    func heard(_ event: MediaEvent) {
        switch event {
        case .digit(let digit) where state == .connected:
            scribe.write(.dtmfReceived, at: now, [.digits: .init(String(digit.character))])
            line.tell(.digit(digit.character), of: self)
        case .firstSent(let time): line.tell(.firstSent(uuid, time))
        case .firstReceived(let time): line.tell(.firstReceived(uuid, time))
        default: break
        }
    }

    // MARK: End

    /// The system asked for something by itself: what the far end is to be told of it.
    func note(_ cause: SystemCause) {
        switch cause {
        case .ringTimeout: endCause = endCause ?? .ringTimeout
        case .answerTimeout: endCause = endCause ?? .answerTimeout
        case .automaticHold, .automaticResume: break
        }
    }

    /// stop < (BYE | CANCEL | final response).
    func hangUp() {
        guard state != .ended else { return }
        stopMedia()
        signalEnd(endCause ?? (direction == .incoming && state != .connected ? declined : .normalClearing))
        call.enter(.ended)
    }

    private var declined: EndCause {
        let status = line.settings.declineStatus
        return EndCause(status: status, reasons: [Reason(protocol: "Q.850", cause: StatusTable.q850(forStatus: status) ?? 21)])
    }

    private func signalEnd(_ cause: EndCause) {
        endOtherDialogs()
        guard let session else { return }
        switch (direction, state) {
        case (.incoming, .new), (.incoming, .ringing): session.refuse(cause, at: now)
        case (.outgoing, .calling), (.outgoing, .early): session.cancel(reasons: cause.reasons, at: now)
        case (_, .connected): session.bye(reasons: cause.reasons, at: now)
        default: break
        }
    }

    private func endOtherDialogs() {
        move?.cancel()
        for former in formers { former.session.bye(at: now) }
    }

    /// The network has ended it, or it cannot go on. CallKit hears of it from the app, or else from the line; the far end after that.
    func endByNetwork(_ reason: CXCallEndedReason, cause: EndCause, tellsPeer: Bool) {
        guard networkEnd == nil, standing != .ended else { return }
        (networkEnd, endCause) = (reason, endCause ?? cause)
        stopMedia()
        if !tellsPeer { call.enter(.ended) }
        line.tell(.ended(uuid, reason))
        if standing == .unreported {
            if tellsPeer { hangUp() }
            return   // the app may still be about to report it
        }
        guard standing != .ended else { return }
        let isUnderWay = line.hasEndUnderWay(uuid), limit = isUnderWay ? line.settings.endLimit : line.settings.endReportLimit
        if limit > .zero { overdueAt = now + limit } else { line.system.reportEnded(uuid, reason: reason) }
    }

    /// CallKit's call is gone.
    func systemEnded() {
        standing = .ended
        (overdueAt, waitingKeys) = (nil, nil)
        if state != .ended {
            stopMedia()
            signalEnd(endCause ?? .failed)
            call.enter(.ended)
        }
        endOtherDialogs()
        giveUpResume()
    }
}

/// Its answers have the codec in use where the far end offers it again, else the far end's favourite of ours (RFC 3264 §8.3.2). Two calls
/// that are joined by a relay keep the codec that they have in common.
extension AppCall: CallDriver {
    /// Before the answer nothing is agreed anew: whoever calls us waits for that, and whom we call tells it then (RFC 3311 §5.2).
    var takesEarlyOffers: Bool { false }

    func headers(refusing error: NegotiationError) -> [(HeaderName, Text)] { [] }

    func received(offerIn negotiation: inout OfferAnswer) {}
    func prepareAnswer(_ negotiation: inout OfferAnswer) {}
    func prepareOffer(_ negotiation: inout OfferAnswer, agreed: NegotiatedAudio?) {}

    func codecs(answering offer: OfferAnswer.RemoteOffer, ours: [Codec], agreed: NegotiatedAudio?) -> [Codec]? {
        let known = offer.codecs.filter { codec in ours.contains { $0.matches(codec) } }
        guard let present = agreed?.primary.codec else { return known.first.map { [$0] } }
        let usable = partner == nil ? known : []
        return [usable.contains { $0.matches(present) } ? present : usable.first ?? present]
    }

    var relayed: NegotiatedAudio? { nil }
}

extension InviteSession {
    /// The final response of a call that is not to be.
    func refuse(_ cause: EndCause, at now: Instant) {
        respond(status: cause.status, reason: cause.phrase, headers: cause.responseReasons.map { (HeaderName.reason, $0.value) }, at: now)
    }
}
