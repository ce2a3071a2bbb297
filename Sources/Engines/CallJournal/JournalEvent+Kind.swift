extension JournalEvent {
    /// What happened. The raw value is the text in the file.
    ///
    /// Each case lists its details; those in brackets are optional. "SIP details" are `method` (of the CSeq, also in responses), `status`
    /// (in responses only), `cseq`, `callid`, [`remoteTag`], [`phrase`], [`reason`] (the Reason header as it stands), [`retransmission`],
    /// [`transport`], [`remote`].
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        // The gateway and its lines.
        /// The first event of a run. [`version`] (of the program that writes), [`run`] (see ``JournalRun``)
        case gatewayStarted = "gateway.started"
        /// An orderly stop: a journal that ends with it is complete. [`text`] (what was refused in the whole run, by cause)
        case gatewayStopped = "gateway.stopped"
        /// `scope`: `perLine` (one audio session for the line, as on a telephone) or `perGroup` (one for each call group)
        case lineConfigured = "line.configured"
        /// Requests are refused: `cause` (as in the counts of refusals: `legs`, `ports` ...), `remote` (the one that it is said of),
        /// `count` (of that cause since
        /// the start). Once in ten seconds for a cause.
        case overload = "overload"
        /// A wrong password: `user` (as it was said), `remote`, `count` (of this user from there within a minute). `cause`:
        /// `wrong-password`, or `throttled` for the
        /// first one too many; the ones after that are counted, and not written.
        case accessRefused = "access.refused"
        /// A trunk: `cause` (`resolved`, `unresolved`, `registered`, `refused`, `unregistered`, `flow-failed`, `up`, `down`), [`remote`],
        /// [`status`], [`text`]
        /// (its servers, or the name that has none), [`count`] (seconds granted, or until the next attempt)
        case trunkState = "trunk.state"
        /// CallKit was reset or invalidated: every call of the line ends.
        case providerReset = "provider.reset"

        // What a line's user sets.
        /// `on`
        case doNotDisturbChanged = "dnd.changed"
        /// A caller was put on the block list or taken off. `on`, `remote`
        case blockListChanged = "block.changed"
        /// A device dialled a feature code. `digits`
        case featureDialled = "feature.dialled"
        /// A call back that the line's provider does not take. `error`: `handleTypeUnsupported`, `class`: the type, `remote`
        case callBackRefused = "callback.refused"

        // Devices that sleep.
        /// The call waits for a device to wake. `count`: pushes sent
        case pushSent = "push.sent"
        /// A push was not taken. `cause`, `text` (the number of the line whose device it was for)
        case pushFailed = "push.failed"
        /// A call ended that waited and was never reported. `cause`: `timeout`, `cancelled`, `push-failed`, `draining`
        case pushUnreported = "push.unreported"

        // Requests from outside that begin something, taken or refused. ``JournalEvent/Details`` makes their details of a message.
        /// An INVITE from outside that would begin a call, before anything else of it, whatever becomes of it. The event has the UUID of the call, also
        /// where it is refused: people name it by that. `callid`, `from`, `to`, `uri`, [`agent`], [`media`], [`transport`], [`remote`]
        case inviteReceived = "invite.received"
        /// An INVITE became no call, and this is why. With the UUID of its `invite.received`. `callid`, `status`, `reason` (in words), [`cause`]
        /// (``RequestRefusal``), [`count`] (of others like it that were not written since the last, where there were too many)
        case callRefused = "call.refused"
        /// A device registered, or took its registration back. `user`, `count` (contacts that the line has now), `expires` (seconds granted; 0: taken
        /// back), [`agent`], [`transport`], [`remote`]
        case registerAccepted = "register.accepted"
        /// `user`, `status`, `reason` (in words), [`cause`] (``RequestRefusal``), [`agent`], [`transport`], [`remote`], [`count`] (as of `call.refused`)
        case registerRefused = "register.refused"

        // SIP, in wire order.
        /// A message received. SIP details.
        case sipReceived = "sip.rx"
        /// A message sent. SIP details.
        case sipSent = "sip.tx"
        /// Our INVITE had no answer in time, or no way to its hop: what RFC 3261 §8.1.3.1 takes for a final response. `status` (408 or
        /// 503), [`remote`]
        case inviteUnanswered = "sip.unanswered"
        /// The place is looked for that a 3xx to our INVITE names (`on`, `remote`): the call goes on, with another INVITE if there is one.
        /// Not `on`: there is
        /// none, and what the far end said last ends the call.
        case redirectionLookup = "sip.lookup"
        /// A 18x carried a session description; nothing was opened for it. [`status`]
        case earlyMediaIgnored = "early-media.ignored"
        /// The far end put us on hold or resumed us. `on`, `onHold` (CallKit's flag of the call, which this must not change)
        case remoteHold = "remote.hold"
        /// The far end asked (REFER) for whom it talks with to be called by somebody else. `remote`: whom
        case transferRequested = "transfer.requested"
        /// The leg talks with another one from here on: `with`. Or the far end did what our REFER asked for: `status`.
        case transferred = "transfer.done"
        /// Everything is as before. `status`
        case transferFailed = "transfer.failed"
        /// `digits`
        case dtmfReceived = "dtmf.received"

        // What the gateway tells CallKit.
        /// [`remote`] (the caller's handle)
        case reportIncoming = "report.incoming"
        /// The completion without an error: the call exists and rings.
        case reportIncomingAccepted = "report.incoming.ok"
        /// `error`: the name of the CallKit error, as `filteredByDoNotDisturb`
        case reportIncomingRefused = "report.incoming.error"
        case reportConnecting = "report.connecting"
        case reportConnected = "report.connected"
        case reportUpdated = "report.updated"
        /// `reason`: the name of the CXCallEndedReason. [`cause`]: `media-failed` and so on
        case reportEnded = "report.ended"

        // Transactions and actions.
        /// A controller's request. `transaction`, `actions` (see `Key.actions`)
        case transactionRequested = "tx.requested"
        /// `transaction`, `actions`
        case transactionAccepted = "tx.accepted"
        /// `transaction`, `code`
        case transactionRefused = "tx.refused"
        /// Actions that the system issues by itself (ring limit, hold before start). `transaction`, `actions`
        case systemAction = "sys.action"
        /// The delegate is asked to act: `action`, [`created`]. For start also [`remote`].
        case performStart = "perform.start"
        case performAnswer = "perform.answer"
        case performEnd = "perform.end"
        /// `action`, `on`
        case performHeld = "perform.held"
        /// `action`, [`with`] (UUID of a call of the group that is joined; absent: leaves its group)
        case performGroup = "perform.group"
        /// `action`, `on`
        case performMuted = "perform.muted"
        /// `action`, `digits`
        case performDTMF = "perform.dtmf"
        /// `action`, `class`, [`created`]
        case actionFulfilled = "action.fulfilled"
        /// `action`, `class`, [`created`], [`cause`]
        case actionFailed = "action.failed"
        /// `action`, `class`, `created`
        case actionTimedOut = "action.timeout"
        /// CallKit's call is gone: once for every call that existed. [`reason`]
        case callEnded = "call.ended"

        // Media.
        /// A port number left the pool; no socket. `port`, [`rtcpPort`]
        case mediaReserved = "media.reserved"
        /// No number was left, or a bind failed: `cause`. With `port` another program has that one, and the call goes on with the number
        /// that is reserved next.
        case mediaRefused = "media.refused"
        /// Codecs and direction are decided; still no socket. [`codec`]
        case mediaConfigured = "media.configured"
        /// Sockets bound, codecs made. `port`
        case mediaOpened = "media.opened"
        /// Packets may flow. [`session`]
        case mediaStarted = "media.started"
        /// No packet leaves from here on. `packets` sent since the start, `firstSent` and `lastSent` (when there were any), [`received`];
        /// [`incoming`], [`outgoing`]: whether the far end and we were heard (`heard`, `silent`, `paused`, `nothing`; absent: not measured,
        /// or none
        /// due), [`incomingBasis`], [`outgoingBasis`]: by what (`level`, `size`, `packets`); [`oneWay`] when one was heard and the other
        /// not
        ///
        /// The quality of the leg from its opening on, each where it was measured: of what came [`lost`], [`expected`], [`loss`],
        /// [`jitter`], [`mos`]; of what was sent, by the far end's last report, [`remoteLost`], [`remoteExpected`], [`remoteLoss`],
        /// [`remoteJitter`], [`remoteMOS`]; [`roundTrip`]
        case mediaStopped = "media.stopped"
        /// A re-INVITE or UPDATE changed where or what is sent; nothing is bound anew. `codec` (`none` where the sound was taken away),
        /// [`remote`]
        case mediaUpdated = "media.updated"
        /// All that is said and heard on the leg is written to a file from here on: `text` (its path; where there is a file of that name,
        /// another goes before its extension)
        case recordingStarted = "recording.started"
        /// The file is complete, or `cause`, why it ends before its call. [`text`] (the path that was written, where that is known
        /// already), `count` (packets that were not written in time)
        case recordingEnded = "recording.ended"
        /// The far end of the bridge holds, and this leg hears music meanwhile: `on`
        case holdMusic = "hold.music"
        /// Sockets closed, codecs freed. [`packets`] sent in the whole life, [`received`]; the quality of what was sent, as in
        /// `media.stopped`, where the far end reported after that. A far end that we hang up on reports once more, when these
        /// sockets are gone
        case mediaClosed = "media.closed"
        /// The number went to quarantine. `port`
        case mediaReleased = "media.released"
        /// The quarantine is over: the number is in the pool again. `port`. Belongs to no call. Ours takes numbers back when it needs them,
        /// and writes none.
        case portFree = "port.free"
        /// didActivate. `session`; the call is one of those that the session is for (needed where the scope is `perGroup`).
        case sessionActivated = "session.activated"
        /// didDeactivate. `session`
        case sessionDeactivated = "session.deactivated"

        // About the journal itself; the audit looks at these only where it cannot judge, because events are missing.
        /// `rule`, `count` (the sequence number of the event that broke it), `text`
        case auditViolation = "audit.violation"
        /// Events could not be written, and this stands in the place of the last of them, with its sequence number. `count`: how many are missing,
        /// itself included; `calls`: how many had begun in the run by then (`report.incoming` and `perform.start`), written or not
        case journalLost = "journal.lost"
    }

    /// The closed set of detail names. The raw value is the text in the file.
    public enum Key: String, CaseIterable, Hashable, Sendable {
        case method, status, phrase, cseq, callid, remoteTag, reason, retransmission, transport, remote
        /// The identity of a transaction: any text or number that is unique in the journal.
        case transaction
        /// The actions of a transaction in order: `class:identity` separated by single spaces, as `end:17 answer:18`.
        /// The classes are `start`, `answer`, `end`, `held`, `group`, `muted`, `dtmf`, `translating`, and `other` for any other name
        /// (`ActionClass`).
        case actions
        /// The identity of an action, as in `actions`.
        case action
        case `class`
        /// When the action was made, nanoseconds of the monotonic clock.
        case created
        case on, onHold, digits, with
        case port, rtcpPort, packets, received
        /// Nanoseconds of the monotonic clock.
        case firstSent, lastSent
        case session, scope, codec
        case error, code, cause, version
        case rule, count, text
        case incoming, outgoing, incomingBasis, outgoingBasis, oneWay
        case user
        /// The addresses of From and To: the display name, where there is one, and the URI; no tag.
        case from, to
        /// The Request-URI.
        case uri
        /// The User-Agent.
        case agent
        /// What a session description offers, in short: ``SDP/SessionDescription/summary``.
        case media
        /// Seconds.
        case expires
        /// Tells the runs of a journal apart: a text that no other run has.
        case run
        case calls
        /// Packets that never came, and how many they are a part of (RFC 3550 A.3).
        case lost, expected
        /// In hundredths of a percent of `expected`.
        case loss
        /// Interarrival jitter in microseconds, as it was last (RFC 3550 §6.4.1).
        case jitter
        /// MOS of conversation in hundredths, 100 to 450 (ITU-T G.107).
        case mos
        /// The same of what was sent, by the far end's last report.
        case remoteLost, remoteExpected, remoteLoss, remoteJitter, remoteMOS
        /// To the far end and back in microseconds, as it was last measured.
        case roundTrip
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
