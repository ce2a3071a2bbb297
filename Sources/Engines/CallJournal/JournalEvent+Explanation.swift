extension JournalEvent.Kind {
    /// The meaning of a kind, and the details that its events carry: the one table that the reference reads, and that tests hold events to.
    public struct Explanation: Sendable {
        public var help: String
        public var details: [Detail]

        init(_ help: String, _ details: [Detail] = []) { (self.help, self.details) = (help, details) }
    }

    public struct Detail: Sendable {
        public var key: JournalEvent.Key
        /// Some events of the kind go without it.
        public var isOptional: Bool
        /// More than the key itself means; empty: no more.
        public var meaning: String

        public init(key: JournalEvent.Key, isOptional: Bool, meaning: String) {
            (self.key, self.isOptional, self.meaning) = (key, isOptional, meaning)
        }

        static func always(_ key: JournalEvent.Key, _ meaning: String = "") -> Detail {
            Detail(key: key, isOptional: false, meaning: meaning)
        }

        static func maybe(_ key: JournalEvent.Key, _ meaning: String = "") -> Detail {
            Detail(key: key, isOptional: true, meaning: meaning)
        }
    }

    public var explanation: Explanation {
        switch self {
        case .gatewayStarted: .init("The first event of a run.", [.maybe(.version), .maybe(.run), .maybe(.ports)])
        case .gatewayStopped:
            .init("An orderly stop: a journal that ends with it is complete.", [.maybe(.text, "the refusals of the run, by cause")])
        case .lineConfigured: .init("A line is there.", [.always(.scope), .maybe(.app)])
        case .configurationReloaded:
            .init(
                "Another configuration of lines, trunks and limits holds from here on.",
                [.maybe(.added), .maybe(.changed), .maybe(.removed), .always(.on, "1 where limits changed")])
        case .overload:
            .init(
                "Requests are refused; once in ten seconds for a cause.",
                [
                    .always(.cause, "as in `hookswitch_refused_total`"), .always(.remote, "the refused source"),
                    .always(.count, "since the start"),
                ])
        case .accessRefused:
            .init(
                "A wrong password. After the first one too many they are counted, and not written.",
                [
                    .always(.cause, "`wrong-password`, or `throttled` for the first one too many"), .always(.user), .always(.remote),
                    .always(.count, "those of this user from there within a minute"),
                ])
        case .trunkState:
            .init(
                "A trunk changed.",
                [
                    .always(
                        .cause,
                        "`resolved`, `unresolved`, `registered`, `refused`, `unregistered`, `flow-failed`, `up`, `down`, `held` (this gateway registers it), `elsewhere` (another one does), `stands-back` (the carrier does not answer this one, and another may try)"
                    ),
                    .maybe(.remote), .maybe(.status), .maybe(.node, "the gateway that registers it, of those that share a database"),
                    .maybe(.text, "its servers, or the name that has none"),
                    .maybe(.count, "seconds granted, or until the next attempt"),
                ])
        case .callOrphanEnded:
            .init(
                "A call of a gateway that has died was ended: with a BYE, or before its answer with a CANCEL or the refusal of the caller.",
                [
                    .always(.callid), .always(.with, "the UUID of the call in the journal of that gateway"), .always(.node),
                    .always(.remote, "the Contact of the far end"),
                    .maybe(
                        .status,
                        "the answer to the BYE or CANCEL; 408: none came; 503: it could not be sent; not there: the caller was refused"),
                    .maybe(.cause, Self.obstacles),
                ])
        case .callAdopted:
            .init(
                "A call of a gateway that has died goes on here: the INVITE that follows is one in its dialog. With the UUID that the call has in the journal of that gateway.",
                [
                    .always(.callid), .always(.node), .always(.with, "the call that it talks with, adopted with it"),
                    .always(.remote, "the Contact of the far end"), .always(.count, "seconds since its answer"),
                ])
        case .providerReset: .init("CallKit was reset or invalidated: every call of the line ends.")

        case .doNotDisturbChanged: .init("Do Not Disturb was turned on or off.", [.always(.on)])
        case .blockListChanged: .init("A caller was put on the block list or taken off.", [.always(.on), .always(.remote, "the caller")])
        case .featureDialled: .init("A device dialled a feature code.", [.always(.digits)])
        case .callBackRefused:
            .init(
                "A call back that the provider of the line does not take.",
                [.always(.error, "`handleTypeUnsupported`"), .always(.class, "the type of the handle"), .always(.remote, "the handle")])

        case .pushSent: .init("The call waits for a device to wake.", [.always(.count, "pushes sent")])
        case .pushFailed:
            .init("A push was not taken.", [.always(.cause), .always(.text, "the number of the line whose device it was for")])
        case .pushUnreported:
            .init(
                "A call ended that waited and was never reported.",
                [.maybe(.cause, "`timeout`, `cancelled`, `push-failed`, `draining`; none in the journal of an app")])

        case .inviteReceived:
            .init(
                "An INVITE from outside of a dialog, before anything else of its call, whatever becomes of it.",
                [.always(.callid), .always(.from), .always(.to), .maybe(.uri), .maybe(.media)] + Self.sender)
        case .callRefused:
            .init(
                "An INVITE became no call. With the UUID of its `invite.received`.",
                [.always(.callid), .always(.status), .always(.cause, "see `reason`"), .always(.reason, "the cause in words")]
                    + Self.unwritten)
        case .hookAsked:
            .init(
                "The decision hook is asked about a call, before it is a call.",
                [.always(.callid), .always(.from), .always(.to, "the number that was dialled")])
        case .hookAnswered: .init("The decision hook has decided.", Self.decision)
        case .hookDefaulted:
            .init("The decision hook did not decide: the default holds.", Self.decision + [.always(.cause, "why, in words")])
        case .registerAccepted:
            .init(
                "A device registered, or took its registration back.",
                [
                    .always(.user), .always(.count, "contacts that the line has now"),
                    .always(.expires, "that were granted; 0: taken back"),
                ] + Self.sender)
        case .registerRefused:
            .init(
                "A REGISTER was refused; not the challenge that each begins with.",
                [.always(.user), .always(.status), .always(.cause, "see `reason`"), .always(.reason, "the cause in words")] + Self.sender
                    + Self.unwritten)
        case .registerExpired:
            .init(
                "Devices of a line did not register again in time, were taken off by an operator, or went with their connection.",
                [.always(.user), .always(.count, "contacts that the line still has"), .maybe(.reason, "where the connection ended")])

        case .sipReceived: .init("A message was received.", Self.message)
        case .sipSent: .init("A message was sent.", Self.message)
        case .inviteUnanswered:
            .init(
                "Our INVITE had no answer in time, or no way to its hop (RFC 3261 §8.1.3.1).",
                [.always(.status, "408 or 503"), .maybe(.remote)]
            )
        case .redirectionLookup:
            .init(
                "The place is looked for that a 3xx to our INVITE names.",
                [.always(.on, "0: there is none, and what the far end said last ends the call"), .maybe(.remote, "the place")])
        case .earlyMediaIgnored: .init("An 18x carried a session description; nothing was opened for it.", [.maybe(.status)])
        case .remoteHold:
            .init(
                "The far end put us on hold or resumed us.",
                [.always(.on), .always(.onHold, "CallKit's flag of the call, which this must not change")])
        case .transferRequested:
            .init("The far end asked (REFER) for its partner to be called by somebody else.", [.always(.remote, "the one to call")])
        case .transferred:
            .init(
                "The leg talks with another one from here on, or the far end did what our REFER asked for.",
                [
                    .maybe(.with, "the other leg"), .maybe(.status, "the far end's answer"),
                    .maybe(.remote, "in the journal of an app: the one that it calls"),
                ])
        case .transferFailed: .init("A transfer came to nothing: everything is as before.", [.always(.status)])
        case .dtmfReceived: .init("The far end pressed a key.", [.always(.digits)])
        case .queueEntered: .init("The caller waits in a queue.", [.always(.count, "the position, from 1")])
        case .queueOffered: .init("Members of the queue ring for the caller.", [.always(.text, "their numbers, with spaces between them")])
        case .queueAnswered:
            .init(
                "A member talks with the caller.",
                [.always(.remote, "the member's number"), .always(.count, "milliseconds that the caller waited")])
        case .queueLeft:
            .init(
                "The caller waits no more, and no member has answered.",
                [
                    .always(.cause, "`abandoned`, `wait`, or `full` for one who found no place"),
                    .always(.count, "milliseconds that the caller waited"),
                ])
        case .mailboxEnded:
            .init(
                "A mailbox ends the message of its caller, and hangs up.",
                [.always(.cause, "`key`: the caller pressed #, `maximum`: the longest message, or `silence`")])
        case .mailboxMessage:
            .init(
                "A message is in a mailbox, its file complete. Its call, whose UUID names the message, may have ended before.",
                [
                    .always(.remote, "the caller's number; empty for one who is not to be known"),
                    .always(.count, "milliseconds of the message"), .always(.text, "the path of the file"),
                ])
        case .mailboxDiscarded: .init("A message had too little sound, or no place for its file: there is none.")
        case .menuEntered:
            .init("The caller is in a menu, or in another level of it.", [.always(.text, "the keys that lead there, or `top`")])
        case .menuChoice: .init("The caller chose.", [.always(.digits), .always(.text, "what follows, as `number 1001`")])
        case .menuFailed:
            .init(
                "An attempt to choose came to nothing.",
                [
                    .always(.cause, "`timeout`, `invalid`, or `undecided` by the hook"), .always(.digits, "none where no key was pressed"),
                    .always(.count, "attempts that failed at this level"),
                ])

        case .reportIncoming: .init("An incoming call is reported to CallKit.", [.maybe(.remote, "the caller's handle")])
        case .reportAdopted:
            .init(
                "In the journal of an app: it reports a waiting INVITE under a UUID of its own, and has the call under that from here on.",
                [.always(.with, "the app's UUID of the call"), .always(.count, "INVITEs that waited for a report")])
        case .reportAmbiguous:
            .init(
                "In the journal of an app: it reports a call under a UUID of its own, and nothing tells which of several INVITEs it means.",
                [.always(.with, "the app's UUID of the call"), .always(.count, "INVITEs that it may mean")])
        case .reportIncomingAccepted: .init("The report was taken: the call exists and rings.")
        case .reportIncomingRefused:
            .init("The report was refused.", [.always(.error, "the name of the CallKit error, as `filteredByDoNotDisturb`")])
        case .reportConnecting: .init("An outgoing call is reported as connecting.")
        case .reportConnected: .init("An outgoing call is reported as connected.")
        case .reportUpdated: .init("The handle, the name or the abilities of a call changed.")
        case .reportEnded:
            .init(
                "The end of a call is reported.",
                [.always(.reason, "the name of the CXCallEndedReason"), .maybe(.cause, "`media-failed` and so on")])

        case .transactionRequested: .init("A controller requests actions.", [.always(.transaction), .always(.actions)])
        case .transactionAccepted: .init("The request was taken.", [.always(.transaction), .always(.actions)])
        case .transactionRefused: .init("The request was refused.", [.always(.transaction), .always(.code)])
        case .systemAction:
            .init("Actions that the system issues by itself (ring limit, hold before start).", [.always(.transaction), .always(.actions)])
        case .performStart:
            .init("The delegate is asked to start a call.", [.always(.action), .maybe(.created), .maybe(.remote, "the callee's handle")])
        case .performAnswer: .init("The delegate is asked to answer.", [.always(.action), .maybe(.created)])
        case .performEnd: .init("The delegate is asked to end the call.", [.always(.action), .maybe(.created)])
        case .performHeld: .init("The delegate is asked to hold or resume.", [.always(.action), .maybe(.created), .always(.on)])
        case .performGroup:
            .init(
                "The delegate is asked to move the call to another group.",
                [.always(.action), .maybe(.created), .maybe(.with, "a call of the group that is joined; absent: it leaves its group")])
        case .performMuted: .init("The delegate is asked to mute or unmute.", [.always(.action), .maybe(.created), .always(.on)])
        case .performDTMF: .init("The delegate is asked to send keys.", [.always(.action), .maybe(.created), .always(.digits)])
        case .actionFulfilled: .init("The delegate did what it was asked.", [.always(.action), .always(.class), .maybe(.created)])
        case .actionFailed:
            .init("The delegate could not, or its call was over.", [.always(.action), .always(.class), .maybe(.created), .maybe(.cause)])
        case .actionTimedOut: .init("The delegate took too long.", [.always(.action), .always(.class), .maybe(.created)])
        case .callEnded:
            .init(
                "CallKit's call is gone: once for every call that existed.",
                [.maybe(.reason), .maybe(.endedBy), .maybe(.q850, "of a Reason header, or that of the status; absent where none is known")])

        case .mediaReserved: .init("A port number left the pool; no socket.", [.always(.port), .maybe(.rtcpPort)])
        case .mediaRefused:
            .init(
                "No number was left, or a bind failed.",
                [.always(.cause), .maybe(.port, "another program has it, and the call goes on with the next number")])
        case .mediaConfigured: .init("Codecs and direction are decided; still no socket.", [.maybe(.codec)])
        case .mediaOpened: .init("Sockets are bound, codecs made.", [.always(.port), .maybe(.codec)])
        case .mediaStarted: .init("Packets may flow.", [.maybe(.session)])
        case .mediaStopped:
            .init(
                "No packet leaves from here on; how the leg was from its opening on, as far as it was measured.",
                Self.traffic + Self.heard + Self.received + Self.reported)
        case .mediaUpdated:
            .init(
                "A re-INVITE or UPDATE changed where or what is sent; nothing is bound anew.",
                [.always(.codec, "`none` where the sound was taken away"), .maybe(.remote)])
        case .mediaArmed:
            .init("The kernel relays the packets of the far end from here on: no process sees them (`media.kernel-relay`).", [])
        case .mediaTaken:
            .init(
                "The packets of the far end come to the gateway's socket again.",
                [
                    .always(
                        .cause, "`packet`: one that the kernel leaves alone; `change`: something about the bridge changes; `stop`: it ends"),
                    .always(.packets, "that the kernel relayed"),
                    .maybe(.count, "packets that it dropped: more in a second than a far end may send, or no memory for one"),
                ])
        case .recordingStarted:
            .init(
                "All that is said and heard on the leg is written to a file from here on.",
                [.always(.text, "its path; where there is a file of that name, another goes before its extension")])
        case .recordingEnded:
            .init(
                "The file is complete, or ends before its call. A message of a mailbox with too little sound leaves none.",
                [
                    .maybe(.cause, "why it ends early"), .maybe(.text, "the path that was written"),
                    .always(.count, "packets that were not written in time"),
                ])
        case .streamStarted:
            .init(
                "The program of a stream is called, or waited for; from here on it may hear and speak.",
                [
                    .always(
                        .direction,
                        "`both`: it hears the far end, and speaks; `tap-in`, `tap-out`, `tap-both`: it listens to what the far end says, what that "
                            + "hears, or both"),
                    .always(.codec, "the format: `twilio`, or as `raw/l16/16000`"),
                    .always(.remote, "the host and the port of the program; `api`: it comes to the control interface"),
                ])
        case .streamPaused: .init("The call of a stream is held, and the program was told; or no more.", [.always(.on)])
        case .streamStopped:
            .init(
                "Nothing more passes to the program or from it.",
                [
                    .always(.direction),
                    .always(
                        .cause,
                        "`call-ended`, `transferred`, `closed`, `hang-up` and `detached` (by the control interface), or a failure: `unreachable`, `refused`, `tls`, `timeout`, `gone`, "
                            + "`stalled`, `nonsense`"
                    ),
                    .maybe(.text, "what the program did wrong and what came too late, counted, as `malformed:3 underruns:1`"),
                ])
        case .holdMusic: .init("The far end of the bridge holds, and this leg hears music meanwhile.", [.always(.on)])
        case .mediaClosed:
            .init(
                "Sockets are closed, codecs freed; what the far end reported after the stop.",
                [.maybe(.packets, "in the whole life of the leg"), .maybe(.received, "in the whole life of the leg")] + Self.reported)
        case .mediaReleased: .init("The number went to quarantine.", [.always(.port)])
        case .portFree: .init("The quarantine of a number is over; the gateway writes none.", [.always(.port)])
        case .sessionActivated: .init("didActivate: the audio session of the call's group, or of its line, is active.", [.always(.session)])
        case .sessionDeactivated: .init("didDeactivate.", [.always(.session)])

        case .auditViolation:
            .init(
                "A rule was broken.", [.always(.rule), .always(.count, "the sequence number of the event that broke it"), .always(.text)])
        case .auditAdvice:
            .init(
                "An app did on its line what telephones put up with, and what is better not done: no fault.",
                [.always(.rule), .always(.count, "the sequence number of the event that broke it"), .always(.text)])
        case .journalLost:
            .init(
                "Events could not be written. It stands in the place of the last of them, with its sequence number.",
                [.always(.count, "events that are missing, itself included"), .always(.calls)])
        }
    }

    private static let obstacles =
        "why the call did not go on here, where calls do (`takeover: reinvite`): `held`, `dtls`, `ice`, `application`, `conference`, `transfer`, `alone`, `no-audio`, `own`, `unanswered`, `unknown`; `no-room`: this gateway cannot take it"

    private static let sender: [Detail] = [.maybe(.agent), .maybe(.transport), .maybe(.remote)]

    private static let decision: [Detail] = [
        .always(.callid), .always(.text, "`as-dialled`, `number N`, `reject STATUS`, `trunk N`, `ring N,N` or `application NAME`"),
        .always(.count, "milliseconds since it was asked"),
    ]
    private static let unwritten: [Detail] = [.maybe(.count, "refusals that were not written since the last, where there were too many")]

    private static let message: [Detail] = [
        .always(.method, "that of the CSeq, also in responses"), .maybe(.status, "in responses"), .maybe(.phrase), .always(.cseq),
        .always(.callid), .maybe(.remoteTag), .maybe(.reason, "the Reason header as it stands"), .maybe(.retransmission),
        .maybe(.transport),
        .maybe(.remote),
    ]

    private static let traffic: [Detail] = [
        .always(.packets, "sent since the start"), .maybe(.received), .maybe(.firstSent), .maybe(.lastSent),
    ]

    private static let heard: [Detail] = [
        .maybe(.incoming), .maybe(.incomingBasis), .maybe(.outgoing), .maybe(.outgoingBasis), .maybe(.oneWay),
    ]

    private static let received: [Detail] = [.maybe(.lost), .maybe(.expected), .maybe(.loss), .maybe(.jitter), .maybe(.mos)]

    private static let reported: [Detail] = [
        .maybe(.remoteLost), .maybe(.remoteExpected), .maybe(.remoteLoss), .maybe(.remoteJitter), .maybe(.remoteMOS), .maybe(.roundTrip),
    ]
}
