import Primitives
import SIP

/// The audit's memory of one call. Bounded: counters, instants and the ports and actions that are open now.
///
/// An object: rules look at it for every event, and a value would be copied out of its table and back.
final class CallFacts {
    enum Direction: Sendable { case unknown, incoming, outgoing }
    enum Report: Equatable, Sendable { case none, pending, accepted, refused(error: Text) }

    /// The INVITEs that got no final response, and the place that a 3xx named: where we go on after them.
    struct Retry {
        /// The last INVITE had no answer in time.
        var isUnanswered = false
        /// The numbers of INVITEs that had no answer in time and were followed by another.
        var passedOver: Set<Int64> = []
        /// The tags of those that answered one of them later.
        var passedOverTags: Set<Text> = []
        /// A 3xx to our INVITE came.
        var wasRedirected = false
        /// The place is looked for that the 3xx named. Nothing has ended meanwhile, and nothing ends by itself.
        var isLooking = false
    }

    /// Provisional responses to the INVITE.
    struct Provisional {
        var sentTrying = false
        /// 101–199.
        var sentEarly = false
        var received = false
        /// 101–199.
        var receivedEarly = false
        /// The CSeq of the last later INVITE (a re-INVITE, or one that hands the call on) that got a provisional response.
        var later: Int64?
    }

    /// Reports to the provider.
    struct Reports {
        var incoming = Report.none
        var connecting = 0, connected = 0, ended = 0
    }

    /// Actions of the call.
    struct Actions {
        var beganStart = false, beganAnswer = false, beganEnd = false
        var fulfilledAnswer = false
        var failedStartOrAnswer = false
        /// The Call-ID of the dialog of another gateway that the call goes on with.
        var adopts: Text?
        /// The hold that the last `perform.held` wants, and the one that the last fulfilled action made.
        var wantsHold = false, isHeld = false
        /// Performed and not complete.
        var open: [JournalEvent.Value] = []
    }

    /// Ports, sockets and packets of the call.
    struct Media {
        var ports: [Int64] = []
        var isConfigured = false
        var isOpen = false
        /// When it was, the first time.
        var openedAt: Instant?
        var wasOpened: Bool { openedAt != nil }
        var runningSince: Instant?
        var packets: Int64 = 0
        var isRefused = false
        /// Numbers of the call that another program had.
        var takenPorts: [Int64] = []
        var isRecorded = false
        var isStreamed = false, isStreamPaused = false
        /// The kernel relays what the far end sends.
        var isArmed = false
        var isHeldByRemote = false
    }

    /// Progress of a call in the applications that it has come to.
    struct Application {
        /// A place in a queue. Next: `offered` when members ring, `answered` by one of them, `none` for who leaves.
        enum Queue: Sendable { case none, waiting, offered, answered }

        var queue = Queue.none
        /// It has entered a menu.
        var wasInMenu = false
    }

    /// The line that the call counts at, and as what.
    struct Presence {
        var line: AuditFacts.Line?
        var isRunning = false, isActive = false
    }

    var line = Text.empty
    var direction = Direction.unknown
    /// The first event was one with which a call begins: its start, or an INVITE, which may be one within its dialog.
    var isWhole = false

    // SIP. "The INVITE" is the one that makes the dialog; re-INVITEs have another CSeq.
    var inviteCSeq: Int64?
    var invitesReceived = 0
    var invitesSent = 0
    var provisional = Provisional()
    /// The 2xx to the INVITE, as callee.
    var sentOK: Instant?
    /// The first 2xx to the INVITE, as caller.
    var receivedOK = false
    var winnerTag: Text?
    var sentFinal: Int64?
    var receivedFinal: Int64?
    var retry = Retry()
    var sentACK = false, receivedACK = false
    var sentCancel = false, receivedCancel = false
    var sentBye = false, receivedBye = false
    /// Sequence of the event by which the far end ended the call.
    var remoteEnd: UInt64?
    /// Sequence of the far end's BYE by which it would end the call, until it is answered: one that is refused ends nothing (RFC 3261
    /// §15.1.2).
    var openBye: UInt64?

    var reports = Reports()
    var actions = Actions()
    var resetAt: Instant?
    var ended: Instant?
    var group: AuditFacts.Group?
    var media = Media()
    var application = Application()
    var presence = Presence()
    /// Waits to be dropped.
    var lingers = false
}

extension CallFacts {
    /// The call is over for its users, or about to be: nothing new may begin.
    var isEnding: Bool {
        actions.beganEnd || reports.ended > 0 || ended != nil || remoteEnd != nil || resetAt != nil || actions.failedStartOrAnswer
            || isRefused
    }

    /// Its INVITE has had a 2xx.
    var isAnswered: Bool { direction == .incoming ? sentOK != nil : receivedOK }

    /// All of it is in the journal, from its INVITE or its start on.
    var hasBegun: Bool { isWhole && (reports.incoming != .none || actions.beganStart) }

    /// The first event is no beginning, or later events show that it was none.
    var isPartial: Bool { !isWhole || !hasBegun && (isEstablished || ended != nil || sentBye || receivedBye) }

    var isRefused: Bool { if case .refused = reports.incoming { true } else { false } }

    /// CallKit has it as connected, and it is not on hold.
    var isActive: Bool {
        (direction == .incoming ? actions.fulfilledAnswer : reports.connected > 0) && !actions.isHeld && !isEnding
    }

    /// The INVITE was refused without a report, and nothing is held for it.
    var wasRefusedUnreported: Bool { sentFinal != nil && (reports.incoming == .none || isRefused) }

    var isOver: Bool { (ended != nil || wasRefusedUnreported) && media.ports.isEmpty && !media.isOpen }

    /// It is over, and nothing of it is to come.
    var isDone: Bool { isOver && (resetAt == nil || isSignalled) }

    /// A message told the other end that it is over, or came from there, or nobody is there.
    var isSignalled: Bool {
        let isSilent = direction == .outgoing && !provisional.received
        return sentBye || sentCancel || sentFinal != nil || receivedFinal != nil || receivedBye || receivedCancel || isSilent
    }

    /// A dialog of a fork that another 2xx had won, or of a server that had been passed over.
    func isLostFork(_ message: AuditMessage) -> Bool {
        if isPassedOver(message) { return true }
        guard let winnerTag, let tag = message.remoteTag else { return false }
        return tag != winnerTag
    }

    /// Whether a message is of an INVITE of ours that had no answer in time, and that we went on without.
    private func isPassedOver(_ message: AuditMessage) -> Bool {
        if message.isRequest(.cancel), message.isSent { return message.cseq.map(retry.passedOver.contains) ?? false }
        return message.remoteTag.map(retry.passedOverTags.contains) ?? false
    }

    /// Belongs to the transaction of the INVITE that makes the dialog.
    /// Each side counts its own requests: a re-INVITE of the far end may have the number of our INVITE, and ours that of theirs.
    func isOfInvite(_ message: AuditMessage) -> Bool {
        guard message.method == .invite, message.cseq == nil || message.cseq == inviteCSeq else { return false }
        let isTheirs = message.isSent == (message.status != nil)
        return direction == .unknown || isTheirs == (direction == .incoming)
    }

    /// Whether the INVITE that a CANCEL of ours names has got a provisional response.
    func mayCancel(_ message: AuditMessage) -> Bool {
        message.cseq == nil || message.cseq == inviteCSeq ? provisional.received : provisional.later == message.cseq
    }

    /// Whether a dialog is there, so that a new INVITE is a re-INVITE.
    var isEstablished: Bool { sentOK != nil || receivedOK }
}

extension CallFacts {
    func note(_ message: AuditMessage, of event: borrowing JournalEvent) {
        if message.status == nil {
            message.isSent ? noteSentRequest(message) : noteReceivedRequest(message, of: event)
        } else if isOfInvite(message) {
            message.isSent ? noteSentResponse(message, at: event.time) : noteReceivedResponse(message, of: event)
        } else if !message.isSent, message.isInviteResponse(100..<200) {
            provisional.later = message.cseq
        } else if !message.isSent, message.isInviteResponse(200..<300), let cseq = message.cseq, retry.passedOver.contains(cseq),
            let tag = message.remoteTag
        {
            retry.passedOverTags.insert(tag.detached)
        } else if message.isSent, message.method == .bye {
            noteAnswerToBye(message.status ?? 0)
        }
    }

    private func noteReceivedRequest(_ message: AuditMessage, of event: borrowing JournalEvent) {
        switch message.method {
        // An INVITE of the far end in a call of ours is in its dialog, and begins none.
        case .invite where !isEstablished && reports.incoming == .none && direction != .outgoing:
            direction = .incoming
            if sentFinal != nil {
                (invitesReceived, provisional.sentTrying, sentFinal, receivedCancel, remoteEnd) = (0, false, nil, false, nil)
            }
            invitesReceived += 1
            inviteCSeq = message.cseq
        case .ack where sentOK != nil: receivedACK = true
        case .cancel where sentOK == nil && direction != .outgoing:
            receivedCancel = true
            noteRemoteEnd(event)
        case .bye where !isLostFork(message):
            receivedBye = true
            noteRemoteEnd(event)
            if remoteEnd == event.sequence { openBye = remoteEnd }
        default: break
        }
    }

    /// Notes the status that RFC 3261 §8.1.3.1 takes for a final response.
    func noteUnanswered(_ status: Int64?) { (receivedFinal, retry.isUnanswered) = (status, true) }

    /// Only a 3xx names a place, and only where the INVITE was refused it is looked for.
    func noteLookup(_ event: borrowing JournalEvent) {
        guard retry.wasRedirected, receivedFinal != nil, !isEstablished else { return }
        if event.details.flag(.on) {
            (remoteEnd, retry.isLooking) = (nil, true)
        } else if retry.isLooking {
            retry.isLooking = false
            noteRemoteEnd(event)
        }
    }

    private func noteAnswerToBye(_ status: Int64) {
        guard let bye = openBye, status >= 200 else { return }
        openBye = nil
        if status >= 300, remoteEnd == bye { (receivedBye, remoteEnd) = (false, nil) }
    }

    private func noteSentRequest(_ message: AuditMessage) {
        switch message.method {
        case .invite where !isEstablished:
            if direction == .unknown { direction = .outgoing }
            invitesSent += 1
            if retry.isUnanswered, let inviteCSeq, inviteCSeq != message.cseq { retry.passedOver.insert(inviteCSeq) }
            (retry.isUnanswered, retry.isLooking) = (false, false)
            (inviteCSeq, provisional.received, receivedFinal, remoteEnd) = (message.cseq, false, nil, nil)
        case .ack where receivedOK && !isLostFork(message): sentACK = true
        case .cancel where !isLostFork(message): sentCancel = true
        case .bye where !isLostFork(message): sentBye = true
        default: break
        }
    }

    private func noteSentResponse(_ message: AuditMessage, at now: Instant) {
        switch message.status ?? 0 {
        case 100: provisional.sentTrying = true
        case 101..<200: provisional.sentEarly = true
        case 200..<300: sentOK = sentOK ?? now
        default: sentFinal = message.status
        }
    }

    private func noteReceivedResponse(_ message: AuditMessage, of event: borrowing JournalEvent) {
        switch message.status ?? 0 {
        case 100: provisional.received = true
        case 101..<200: (provisional.received, provisional.receivedEarly) = (true, true)
        case 200..<300 where !receivedOK: (receivedOK, winnerTag) = (true, message.remoteTag?.detached)
        case 200..<300: break
        default:
            receivedFinal = message.status
            if (300..<400).contains(message.status ?? 0) { retry.wasRedirected = true }
            noteRemoteEnd(event)
        }
    }

    /// An end that crosses one of ours is not the far end's.
    private func noteRemoteEnd(_ event: borrowing JournalEvent) {
        if !isEnding { remoteEnd = event.sequence }
    }
}
