import CallKit
import Foundation
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// Events of the network about a leg, as provider reports.
extension Leg: InviteSessionDelegate {
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .traced(let direction, let message, let isRetransmission):
            scribe.trace(message, direction, isRetransmission, over: flowLabel, at: now)
            if !isRetransmission, message.movesDialog { context.leg(self, did: .dialogMoved) }
        case .cancelled(let reasons): cancelled(reasons)
        case .acknowledged(let body): acknowledged(body)
        case .acknowledgeTimeout: end(.reported(.failed, .answerTimeout))
        case .provisional(let response): progressed(response)
        case .looking(let target): scribe.write(.redirectionLookup, at: now, [.on: true, .remote: .init(target.text)])
        case .foundNobody: scribe.write(.redirectionLookup, at: now, [.on: false])
        case .accepted(let response): accepted(response)
        case .rejected(let status, let response): rejected(status, response)
        case .ended(let reasons, let message):
            context.leg(self, did: .passedHeaders(message))
            farEndHungUp(reasons)
        case .offered(let offer): offered(offer)
        case .reanswered(let response): reanswered(response)
        case .refused(let status): refused(status)
        case .retryDue: offerWhenPossible()
        case .info(let request): informed(request)
        case .offerWithdrawn: call.withdrawOffer()
        case .provisionalTimeout: end(.reported(.failed, .unacknowledgedProvisional))
        case .refreshDue: refresh()
        case .expired: end(.reported(.failed, .sessionExpired))
        case .transferRequested(let request): context.leg(self, did: .transferRequested(request))
        case .transferProgress(let status): referred(status)
        case .dialogLost: end(.reported(.failed, .dialogLost))
        case .byeCompleted: break
        }
    }

    // MARK: Incoming

    private func cancelled(_ reasons: [Reason]) {
        guard direction == .incoming, state != .ended else { return }
        let cause = EndCause(status: 487, reasons: reasons)
        farEndEnded(StatusTable.endedReason(cancel: reasons), cause)
    }

    // MARK: Outgoing

    private func progressed(_ response: Message) {
        guard state == .calling || state == .early, let status = response.status else { return }
        if status == 199 { return call.note(provisional: response) }
        context.leg(self, did: .provisional(response))
        if state == .calling {
            call.enter(.early)
            context.leg(self, did: .startedRinging(status))
            line.provider.reportOutgoingCall(with: uuid, startedConnectingAt: nil)
        }
        guard !response.body.isEmpty else { return }
        scribe.write(.earlyMediaIgnored, at: now, [.status: .init(status)])
        call.note(provisional: response)
    }

    /// 2xx parsed < open < ACK < connected. An end that crossed it wins: ACK, BYE, nothing opened.
    private func accepted(_ response: Message) {
        guard let session else { return }
        guard state == .calling || state == .early else {
            session.acknowledge(at: now)
            session.bye(reasons: endCause?.reasons ?? [], at: now)
            return
        }
        guard let audio = try? call.accept(response) else { return fail(session, .notAcceptable) }
        context.leg(self, did: .passedHeaders(response))
        let isElsewhere: Bool
        do throws(MediaError) { isElsewhere = try media.openSomewhere(plan(for: audio), near: nil, at: now) } catch {
            return fail(session, mediaRefused(error))
        }
        listenOnReservation()
        session.acknowledge(at: now)
        connected()
        // The far end was told of a port that another program has.
        if isElsewhere { renegotiate() }
        line.provider.reportOutgoingCall(with: uuid, connectedAt: nil)
        context.leg(self, did: .connected)
        tellFirstHold()
        startMedia()
    }

    private func fail(_ session: InviteSession, _ cause: EndCause) {
        session.acknowledge(at: now)
        call.enter(.connected)
        end(.reported(.failed, cause))
    }

    private func rejected(_ status: Int, _ response: Message?) {
        guard state != .ended else { return }
        if destination?.value.adoption != nil { return notAdopted(status, isAnswered: response != nil) }
        let sawProvisional = state == .early
        let cause = EndCause.passing(status: status, response, isDevice: destination?.value.isDevice ?? false)
        if status == 408, response == nil, !reach.hasSpoken { context.leg(self, did: .unreachable) }
        // Any other answer over one of its flows is the device's own (RFC 5626 §7), or that of the party that it sent the call on to.
        if status == 430 && context.table.lineReached(by: self) != nil || response == nil && !reach.hasSpoken {
            context.leg(self, did: .flowFailed)
        }
        let reason = StatusTable.endedReason(status: status, sawProvisional: sawProvisional)
        if response == nil { end(.reported(reason, cause, tellsPeer: false)) } else { farEndEnded(reason, cause) }
    }

    /// The far end does not know us, or cannot take our offer: the call ends as it would without a takeover.
    private func notAdopted(_ status: Int, isAnswered: Bool) {
        if !isAnswered { scribe.write(.inviteUnanswered, at: now, [.status: .init(status), .remote: .init(flow.remote.description)]) }
        end(.reported(.failed, .gatewayLost))
    }

    /// As long as another server is waited for (RFC 3263 §4.3), where there is one.
    static var longestSilence: Duration { .seconds(4) }

    /// The device is called over another of its flows, where it has one; this one may be broken without anybody knowing. Where it was
    /// silent before it is not called any longer.
    func deviceIsSilent() {
        guard state == .calling, !reach.hasSpoken, let destination else { return }
        let hasOtherFlow = !destination.value.otherFlows.isEmpty
        if !hasOtherFlow, !reach.isSilent { return context.leg(self, did: .silent) }
        scribe.write(.inviteUnanswered, at: now, [.status: .init(408), .remote: .init(flow.remote.description)])
        context.leg(self, did: .silent)
        if hasOtherFlow { context.leg(self, did: .flowFailed) }
        end(.reported(.failed, .subscriberAbsent))
    }

    /// A response came from where it calls.
    func farEndSpoke() {
        reach.hasSpoken = true
        if reach.isSilent { context.leg(self, did: .heard) }
    }

    // MARK: Confirmed

    private func farEndHungUp(_ reasons: [Reason]) {
        let passed = reasons.isEmpty ? EndCause.normalClearing : EndCause(status: 480, reasons: reasons)
        farEndEnded(StatusTable.endedReason(bye: reasons), passed)
    }

    private func farEndEnded(_ reason: CXCallEndedReason, _ cause: EndCause) {
        guard state != .ended else { return }
        ending.ender = .remote
        end(.reported(reason, cause, tellsPeer: false))
    }

    /// A 2xx whose answer cannot be used leaves the session as it was; one with our stream at port 0 has taken the stream away, and one in
    /// the clear, where that may not be, ends the call as the first answer would.
    func notAgreed(_ agreement: CallSession.Agreement) {
        switch agreement {
        case .nothing, .agreed: break
        case .audioRemoved:
            audioWasRemoved()
            guard let resume = hold.resume else { break }
            call.resumeWithoutSound()
            resumed(resume)
        case .unusable(_, let refusesResume): if refusesResume { resumeFailed() }
        case .insecure:
            hold.resume?.fail()
            hold.resume = nil
            end(.reported(.failed, .notAcceptable))
        }
    }

    func resumeIsDone() { if let resume = hold.resume { resumed(resume) } }

    func failed(_ cause: EndCause) { end(.reported(.failed, cause)) }

    private func refused(_ status: Int) {
        switch call.refused(status) {
        case .nothing: break
        case .again: offerWhenPossible()
        case .resumeRefused: resumeFailed()
        case .dialogGone: end(.reported(.failed, .refreshFailed))
        }
    }

    /// The far end called whom we asked it to call, and needs us no more; or it could not.
    private func referred(_ status: Int) {
        scribe.write(status < 300 ? .transferred : .transferFailed, at: now, [.status: .init(status)])
        if (200..<300).contains(status) { context.leg(self, did: .wantsEnd(.transferred)) }
    }

    /// A key that INFO tells is the same event as one in the media (RFC 4733), as long as it says, and goes on as that where the other end
    /// knows it.
    private func informed(_ request: Message) {
        guard state == .connected else { return }
        let press = DTMFPress(request), digit = press.flatMap { DTMFDigit(Character(Unicode.Scalar($0.key))) }
        if let digit { note(digit) }
        guard let peer = context.table.peer(of: self),
            digit.map({ peer.send($0, lasting: press?.duration.map(Duration.milliseconds)) }) != true
        else { return }
        peer.passInfo(request)
    }

    /// False where it is to be told by INFO.
    private func send(_ digit: DTMFDigit, lasting length: Duration?) -> Bool {
        !keysBySignalling && media.send([digit], lasting: length, at: now)
    }

    private func passInfo(_ request: Message) {
        guard state == .connected, let contentType = request.headers[.contentType] else { return }
        session?.info(contentType: contentType.printable, body: request.body, at: now)
    }
}
