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

/// Events of a call on the network.
extension AppCall: InviteSessionDelegate {
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        self.session = session
        switch event {
        case .traced(let direction, let message, let isRetransmission): trace(direction, message, isRetransmission)
        case .cancelled(let reasons): cancelled(reasons)
        case .acknowledged(let body): acknowledged(body)
        case .acknowledgeTimeout: endByNetwork(.failed, cause: .answerTimeout, tellsPeer: true)
        case .provisional(let response): progressed(response)
        case .looking(let target): scribe.write(.redirectionLookup, at: now, [.on: true, .remote: .init(target.text)])
        case .foundNobody: scribe.write(.redirectionLookup, at: now, [.on: false])
        case .accepted(let response): accepted(response)
        case .rejected(let status, let response): rejected(status, response)
        case .ended(let reasons, _): hungUp(reasons)
        case .offered(let offer): offered(offer)
        case .reanswered(let response): reanswered(response)
        case .refused(let status): refused(status)
        case .retryDue: offerWhenPossible()
        case .dialogLost(let status): refused(status)
        case .provisionalTimeout: endByNetwork(.failed, cause: .unacknowledgedProvisional, tellsPeer: true)
        case .offerWithdrawn: call.withdrawOffer()
        case .transferRequested(let request): transferRequested(request)
        case .transferProgress(let status): line.tell(.transferProgress(status: status), of: self)
        case .info(let request): informed(request)
        case .byeCompleted, .refreshDue, .expired: break   // the line has no session timer
        }
    }

    private func trace(_ direction: SessionEvent.Direction, _ message: Message, _ isRetransmission: Bool) {
        let scribe = isBeingMoved ? line.scribe(of: self, forDialogWith: message, direction) : scribe
        scribe.trace(message, direction, isRetransmission, over: FlowLabel(flow), at: now)
    }

    /// Whoever hands the call on may go before it is known whether somebody takes it (RFC 5589 §6.1): the call waits for that.
    private func hungUp(_ reasons: [Reason]) {
        guard !isBeingMoved else { return stopMedia(holding: true) }
        endByNetwork(StatusTable.endedReason(bye: reasons), cause: .normalClearing, tellsPeer: false)
    }

    /// A key that INFO tells is heard as one in the media is.
    private func informed(_ request: Message) {
        if let digit = DTMFPress(request).flatMap({ DTMFDigit(Character(Unicode.Scalar($0.key))) }) { heard(.digit(digit)) }
    }

    // MARK: Incoming

    private func cancelled(_ reasons: [Reason]) {
        guard state == .new || state == .ringing else { return }
        endByNetwork(StatusTable.endedReason(cancel: reasons), cause: EndCause(status: 487, reasons: reasons), tellsPeer: false)
    }

    // MARK: Outgoing

    private func progressed(_ response: Message) {
        guard state == .calling || state == .early else { return }
        if state == .calling {
            call.enter(.early)
            line.tell(.connecting(uuid))
        }
        line.tell(.progress(status: response.status ?? 0), of: self)
        guard !response.body.isEmpty else { return }
        scribe.write(.earlyMediaIgnored, at: now, [.status: .init(response.status ?? 0)])
        call.note(provisional: response)
    }

    /// 2xx parsed < open < ACK < connected. An end that crossed it wins: ACK, BYE, nothing opened.
    private func accepted(_ response: Message) {
        guard let session else { return }
        guard state == .calling || state == .early, networkEnd == nil else {
            session.acknowledge(at: now)
            session.bye(reasons: (endCause ?? .normalClearing).reasons, at: now)
            return
        }
        guard let audio = try? call.accept(response) else { return fail(session, .notAcceptable) }
        guard let isElsewhere = open(audio) else { return fail(session, .mediaFailed) }
        session.acknowledge(at: now)
        call.enter(.connected)
        if isElsewhere { call.renegotiate() }
        line.tell(.connected(uuid))
        if standing == .known, line.settings.fillsGaps { line.system.reportConnected(uuid) }
        startMedia()
        offerWhenPossible()
    }

    private func fail(_ session: InviteSession, _ cause: EndCause) {
        session.acknowledge(at: now)
        call.enter(.connected)
        endByNetwork(.failed, cause: cause, tellsPeer: true)
    }

    private func rejected(_ status: Int, _ response: Message?) {
        guard state != .ended else { return }
        let reason = StatusTable.endedReason(status: status, sawProvisional: state == .early)
        endByNetwork(reason, cause: .passing(status: status, response), tellsPeer: false)
    }

    // MARK: Confirmed

    func resumeIsDone() {
        endResume(true)
        startMedia()
    }

    /// A 2xx whose answer cannot be used leaves the session as it was; one in the clear, where that may not be, ends the call as the first
    /// answer would.
    /// An app is told that its resume has failed where it brings no sound.
    func notAgreed(_ agreement: CallSession.Agreement) {
        switch agreement {
        case .nothing, .agreed: break
        case .audioRemoved(let refusesResume), .unusable(_, let refusesResume): if refusesResume { endResume(false) }
        case .insecure: endByNetwork(.failed, cause: .notAcceptable, tellsPeer: true)
        }
    }

    private func refused(_ status: Int) {
        switch call.refused(status) {
        case .nothing: break
        case .again: offerWhenPossible()
        case .resumeRefused: endResume(false)
        case .dialogGone:
            endResume(false)
            endByNetwork(.failed, cause: .refreshFailed, tellsPeer: true)
        }
    }

    func adopt(_ audio: NegotiatedAudio) {
        let (wasHeld, wasMissing) = (call.isHeldByRemote, call.hasNoAudio)
        call.adopt(audio)
        refreshPlan()
        if wasMissing { startMedia() }
        if call.isHeldByRemote != (wasHeld || wasMissing) { tellRemoteHold() }
    }

    private func tellRemoteHold() {
        let isHeld = call.isHeldByRemote
        scribe.write(.remoteHold, at: now, [.on: .init(isHeld), .onHold: .init(line.system.call(uuid)?.isOnHold ?? false)])
        line.tell(.remoteHold(isHeld), of: self)
    }

    func tellFirstHold() { if call.isHeldByRemote { tellRemoteHold() } }

    func stopRemovedAudio() { stopMedia(holding: true) }

    func audioIsGone() { line.tell(.remoteHold(true), of: self) }

    func failed(_ cause: EndCause) { endByNetwork(.failed, cause: cause, tellsPeer: true) }
}
