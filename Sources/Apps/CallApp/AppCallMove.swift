import CallJournal
import CallKit
import Calls
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// A transfer that the far end of a call asked for (REFER): a second dialog on the call's own media, which takes the place of the first
/// when it is answered. The call keeps its UUID, its port and its audio session.
///
/// The first dialog stays until whoever asked ends it (RFC 5589 §6.1), which may be before the second is answered, or until the call is
/// over.
final class AppCallMove {
    private unowned let call: AppCall
    let request: TransferRequest
    let target: String
    private(set) var session: InviteSession?
    private var signalling: CallSession
    private let scribe: LegJournal

    init(_ call: AppCall, _ request: TransferRequest, sessionID: UInt64) {
        (self.call, self.request) = (call, request)
        target = "\(request.target.text)"
        signalling = CallSession(OfferAnswer(local: call.call.negotiation.local, sessionID: sessionID))
        scribe = call.scribe
    }

    /// The INVITE leaves, with the port that the call has.
    func start() {
        let settings = call.line.settings
        let from = NameAddress(displayName: settings.displayName, uri: URI(user: settings.number, host: settings.domain))
        var invite = OutgoingInvite(
            target: request.target, flow: call.line.agent.living(call.flow), from: from, to: NameAddress(uri: request.target))
        invite.credentials = settings.credentials
        if let replaces = request.replaces { invite.headers.append((.replaces, replaces.value)) }
        if let referredBy = request.referredBy { invite.headers.append((.referredBy, referredBy)) }
        invite.body = signalling.negotiation.offer(direction: call.call.wantedDirection).serialized()
        session = call.line.agent.invite(invite, delegate: self, at: call.now)
    }

    /// The call is over.
    func cancel() { session?.cancel(reasons: [], at: call.now) }
}

extension AppCallMove: InviteSessionDelegate {
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        self.session = session
        switch event {
        case .traced(let direction, let message, let isRetransmission):
            scribe.trace(message, direction, isRetransmission, over: FlowLabel(call.flow), at: call.now)
        case .provisional(let response):
            signalling.note(provisional: response)
            report(response.status ?? 100)
        case .accepted(let response): accepted(response, session)
        case .rejected(let status, _): fail(status)
        default: break
        }
    }

    private func report(_ status: Int) {
        call.session?.report(request, status: status, at: call.now)
        call.line.tell(.transferProgress(status: status), of: call)
    }

    private func fail(_ status: Int) {
        guard call.move === self else { return }
        call.move = nil
        call.scribe.write(.transferFailed, at: call.now, [.status: .init(status)])
        report(status)
        call.moveFailed()
    }

    private func accepted(_ response: Message, _ session: InviteSession) {
        session.acknowledge(at: call.now)
        guard call.move === self, call.state == .connected, let audio = try? signalling.accept(response) else {
            session.bye(at: call.now)
            return fail(488)
        }
        report(200)
        call.move(to: session, signalling.negotiation, audio)
    }
}

extension AppCall {
    /// The far end wants this call to go on with somebody else.
    func transferRequested(_ request: TransferRequest) {
        guard let session else { return }
        scribe.write(.transferRequested, at: now, [.remote: .init(request.target.text)])
        line.tell(.transferRequested(to: "\(request.target.text)"), of: self)
        guard line.settings.acceptsTransfers, request.target.mayGo(over: flow), state == .connected, move == nil else {
            return session.refuse(request, status: 603, at: now)
        }
        session.accept(request, at: now)
        let move = line.makeMove(self, request)
        self.move = move
        move.start()
    }

    var isBeingMoved: Bool { move != nil && state == .connected }

    /// The call goes on as it was, or is over where whoever wanted to hand it on has gone.
    func moveFailed() {
        guard state == .connected, session?.state == .ended else { return }
        endByNetwork(.remoteEnded, cause: .normalClearing, tellsPeer: false)
    }

    /// The second dialog is the call's from now on.
    func move(to session: InviteSession, _ negotiation: OfferAnswer, _ audio: NegotiatedAudio) {
        let target = move?.target ?? ""
        move = nil
        if let former = self.session { formers.append(FormerDialog(former, of: self)) }
        self.session = session
        session.delegate = self
        call.negotiation = negotiation
        scribe.write(.transferred, at: now, [.remote: .init(target)])
        adopt(audio)
        startMedia()
        line.tell(.transferred(to: target), of: self)
        offerWhenPossible()
    }
}

extension AppLine {
    /// The leg journal for a message of a dialog that may end without its call. The rules of the call would take a BYE for the call's
    /// end: it stands under the line.
    func scribe(of call: AppCall, forDialogWith message: Message, _ direction: SessionEvent.Direction) -> LegJournal {
        guard direction == .received, message.isRequest, message.cseq.method == .bye else { return call.scribe }
        return LegJournal(journal: journal, call: nil, line: settings.number)
    }
}

/// The dialog with whoever handed the call on: waits for its BYE. The call's sound is elsewhere, so offers are refused; a REFER is declined
/// where nobody takes it up.
final class FormerDialog: InviteSessionDelegate {
    let session: InviteSession
    private unowned let call: AppCall

    init(_ session: InviteSession, of call: AppCall) {
        (self.session, self.call) = (session, call)
        session.delegate = self
    }

    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .traced(let direction, let message, let isRetransmission):
            call.line.scribe(of: call, forDialogWith: message, direction).trace(
                message, direction, isRetransmission, over: FlowLabel(call.flow), at: now)
        case .offered(let offer): session.answer(offer, status: 488, at: now)
        case .transferRequested(let request): session.refuse(request, status: 603, at: now)
        default: break
        }
    }
}
