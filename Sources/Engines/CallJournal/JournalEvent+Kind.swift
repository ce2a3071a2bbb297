extension JournalEvent {
    /// A kind of event. The raw value is the text in the file. The meaning of each and its details stand in ``explanation``.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        // The gateway and its lines.
        case gatewayStarted = "gateway.started"
        case gatewayStopped = "gateway.stopped"
        case lineConfigured = "line.configured"
        case configurationReloaded = "configuration.reloaded"
        case overload = "overload"
        case accessRefused = "access.refused"
        case trunkState = "trunk.state"
        case callOrphanEnded = "call.orphan-ended"
        case callAdopted = "call.adopted"
        case providerReset = "provider.reset"

        // Settings that a line's user changes.
        case doNotDisturbChanged = "dnd.changed"
        case blockListChanged = "block.changed"
        case featureDialled = "feature.dialled"
        case callBackRefused = "callback.refused"

        // Devices that sleep.
        case pushSent = "push.sent"
        case pushFailed = "push.failed"
        case pushUnreported = "push.unreported"

        // Requests from outside that begin something, taken or refused. ``JournalEvent/Details`` makes their details of a message.
        case inviteReceived = "invite.received"
        case callRefused = "call.refused"
        case hookAsked = "hook.asked"
        case hookAnswered = "hook.answered"
        case hookDefaulted = "hook.defaulted"
        case registerAccepted = "register.accepted"
        case registerRefused = "register.refused"
        case registerExpired = "register.expired"

        // SIP, in wire order.
        case sipReceived = "sip.rx"
        case sipSent = "sip.tx"
        case inviteUnanswered = "sip.unanswered"
        case redirectionLookup = "sip.lookup"
        case earlyMediaIgnored = "early-media.ignored"
        case remoteHold = "remote.hold"
        case transferRequested = "transfer.requested"
        case transferred = "transfer.done"
        case transferFailed = "transfer.failed"
        case dtmfReceived = "dtmf.received"
        case menuEntered = "menu.entered"
        case menuChoice = "menu.choice"
        case menuFailed = "menu.failed"
        case queueEntered = "queue.entered"
        case queueOffered = "queue.offered"
        case queueAnswered = "queue.answered"
        case queueLeft = "queue.left"
        case mailboxEnded = "mailbox.ended"
        case mailboxMessage = "mailbox.message"
        case mailboxDiscarded = "mailbox.discarded"

        // Reports of the gateway to CallKit.
        case reportIncoming = "report.incoming"
        case reportAdopted = "report.adopted"
        case reportAmbiguous = "report.ambiguous"
        case reportIncomingAccepted = "report.incoming.ok"
        case reportIncomingRefused = "report.incoming.error"
        case reportConnecting = "report.connecting"
        case reportConnected = "report.connected"
        case reportUpdated = "report.updated"
        case reportEnded = "report.ended"

        // Transactions and actions.
        case transactionRequested = "tx.requested"
        case transactionAccepted = "tx.accepted"
        case transactionRefused = "tx.refused"
        case systemAction = "sys.action"
        case performStart = "perform.start"
        case performAnswer = "perform.answer"
        case performEnd = "perform.end"
        case performHeld = "perform.held"
        case performGroup = "perform.group"
        case performMuted = "perform.muted"
        case performDTMF = "perform.dtmf"
        case actionFulfilled = "action.fulfilled"
        case actionFailed = "action.failed"
        case actionTimedOut = "action.timeout"
        case callEnded = "call.ended"

        // Media.
        case mediaReserved = "media.reserved"
        case mediaRefused = "media.refused"
        case mediaConfigured = "media.configured"
        case mediaOpened = "media.opened"
        case mediaStarted = "media.started"
        case mediaStopped = "media.stopped"
        case mediaUpdated = "media.updated"
        case mediaArmed = "media.armed"
        case mediaTaken = "media.taken"
        case recordingStarted = "recording.started"
        case recordingEnded = "recording.ended"
        case streamStarted = "stream.started"
        case streamPaused = "stream.paused"
        case streamStopped = "stream.stopped"
        case holdMusic = "hold.music"
        case mediaClosed = "media.closed"
        case mediaReleased = "media.released"
        case portFree = "port.free"
        case sessionActivated = "session.activated"
        case sessionDeactivated = "session.deactivated"

        // About the journal itself; the audit looks at these only where it cannot judge, because events are missing.
        case auditViolation = "audit.violation"
        case auditAdvice = "audit.advice"
        case journalLost = "journal.lost"
    }

    /// The closed set of detail names. The raw value is the text in the file. The meaning of each stands in ``meaning``.
    public enum Key: String, CaseIterable, Hashable, Sendable {
        case method, status, phrase, cseq, callid, remoteTag, reason, retransmission, transport, remote
        case transaction
        case actions
        case action
        case `class`
        case created
        case on, onHold, digits, with
        case port, rtcpPort, ports, packets, received
        case firstSent, lastSent
        case session, scope, app, codec
        case error, code, cause, version
        case rule, count, text
        case incoming, outgoing, incomingBasis, outgoingBasis, oneWay
        case user, from, to, uri, agent, media, expires, run, calls
        case lost, expected
        case loss
        case jitter
        case mos
        case remoteLost, remoteExpected, remoteLoss, remoteJitter, remoteMOS
        case roundTrip
        case added, changed, removed
        case endedBy, q850
        case direction
        case node
    }
}

extension JournalEvent.Kind {
    /// A call is CallKit's from here on: once for each that ever is.
    var beginsCall: Bool { self == .reportIncoming || self == .performStart }

    /// Its place in `allCases`. An enumeration without payloads is this number in memory; looking it up would mean hashing the raw value.
    var ordinal: Int { Int(unsafeBitCast(self, to: UInt8.self)) }
}

extension JournalEvent.Key {
    /// Its place in `allCases`, as that of a kind.
    var ordinal: Int { Int(unsafeBitCast(self, to: UInt8.self)) }
}
