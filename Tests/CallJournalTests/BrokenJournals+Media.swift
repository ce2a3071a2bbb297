import CallJournal
import Primitives

// Journals that break a rule of media.
extension BrokenJournal {
    static let media: [BrokenJournal] = [
        BrokenJournal(.M1, "configured before the answer", .echo) { $0.move(the(.mediaConfigured), before: the(.performAnswer)) },
        BrokenJournal(.M1, "configured before the start", .failedBindAtOK) { $0.move(the(.mediaConfigured), before: the(.performStart)) },
        BrokenJournal(.M2, "started before the session", .echo) { $0.move(the(.mediaStarted), before: the(.sessionActivated)) },
        BrokenJournal(.M2, "started twice", .echo) { $0.duplicate(the(.mediaStarted)) },
        BrokenJournal(.M2, "started without the group's session", .twoSessions) {
            $0.move(the(.mediaStarted, carol), before: the(.sessionActivated, carol))
        },
        BrokenJournal(.M3, "configured after the end", .cancelCrossing) {
            $0.insert(.mediaConfigured, bob, [:], after: the(.sipReceived, status: 200))
        },
        BrokenJournal(.M3, "opened after CANCEL", .cancelled) {
            $0.insert(.mediaOpened, alice, [.port: 20_000], after: the(.sipReceived, method: "CANCEL"))
            $0.insert(.mediaConfigured, alice, [:], after: the(.sipSent, status: 180))
            $0.insert(.performAnswer, alice, [.action: 901], after: the(.sipSent, status: 180))
            $0.insert(.transactionAccepted, nil, [.transaction: 900, .actions: "answer:901"], after: the(.sipSent, status: 180))
            $0.insert(.mediaClosed, alice, [:], after: the(.callEnded))
        },
        BrokenJournal(.M4, "BYE while media runs", .localHangUp) { $0.move(the(.mediaStopped), after: the(.sipSent, method: "BYE")) },
        BrokenJournal(.M4, "never stopped", .echo) {
            $0.remove(the(.mediaStopped))
            $0.set(the(.mediaClosed), .packets, 0)
        },
        BrokenJournal(.M5, "released before the end", .declined) { $0.move(the(.mediaReleased), before: the(.performEnd)) },
        BrokenJournal(.M5, "released before it is closed", .echo) { $0.move(the(.mediaReleased), before: the(.mediaClosed)) },
        BrokenJournal(.M5s, "closed before the deactivation", .echo) { $0.move(the(.sessionDeactivated), after: the(.mediaClosed)) },
        BrokenJournal(.M6, "opened after the 200", .echo) { $0.move(the(.sipSent, status: 200), before: the(.mediaConfigured)) },
        BrokenJournal(.M6, "opened after the ACK", .forkedUpstream) { $0.move(the(.sipSent, method: "ACK"), before: the(.mediaOpened)) },
        BrokenJournal(.M6, "not configured", .echo) { $0.move(the(.mediaConfigured), after: the(.mediaOpened)) },
        BrokenJournal(.M7, "early media opens", .forkedUpstream) {
            $0.move(the(.mediaConfigured), before: the(.earlyMediaIgnored))
            $0.move(the(.mediaOpened), before: the(.earlyMediaIgnored))
        },
        BrokenJournal(.M8, "never released", .declined) {
            $0.remove(the(.mediaReleased))
            $0.remove(the(.portFree))
        },
        BrokenJournal(.M8, "another port for no reason", .otherPort) { $0.remove(the(.mediaRefused)) },
        BrokenJournal(.M8, "another port once media is open", .otherPort) {
            $0.move(the(.mediaReserved, nth: 1), after: the(.mediaOpened))
            $0.set(the(.mediaOpened), .port, 20_000)
            $0.remove(the(.mediaRefused))
        },
        BrokenJournal(.M8, "another program's port is opened", .otherPort) { $0.set(the(.mediaOpened), .port, 20_000) },
        BrokenJournal(.M8, "another program's port is kept", .otherPort) {
            $0.remove(the(.mediaReleased, nth: 1))
            $0.remove(the(.portFree))
        },
        BrokenJournal(.M8, "released twice", .declined) { $0.duplicate(the(.mediaReleased)) },
        BrokenJournal(.M8, "free before the quarantine is over", .declined) { $0.shift(from: the(.portFree), by: .milliseconds(-1500)) },
        BrokenJournal(.M8, "reserved by two calls", .holdAndAccept) {
            for kind: JournalEvent.Kind in [.mediaReserved, .mediaOpened, .mediaReleased] { $0.set(the(kind, carol), .port, 20_000) }
        },
        BrokenJournal(.M8, "reserved in quarantine", .samePort) { $0.shift(from: the(.sipReceived, carol), by: .milliseconds(-600)) },
        BrokenJournal(.M8, "never closed", .echo) {
            $0.remove(the(.mediaClosed))
            $0.remove(the(.mediaReleased))
            $0.remove(the(.portFree))
        },
        BrokenJournal(.M9, "activated twice", .echo) { $0.duplicate(the(.sessionActivated)) },
        BrokenJournal(.M9, "activated for nobody", .declined) {
            $0.insert(.sessionActivated, nil, [.session: "s"], after: the(.sipSent, status: 180))
            $0.insert(.sessionDeactivated, nil, [.session: "s"], after: the(.sessionActivated))
        },
        BrokenJournal(.M9, "deactivated while a call is connected", .localHangUp) {
            $0.move(the(.sessionDeactivated), before: the(.performEnd))
        },
        BrokenJournal(.M9, "deactivated while the other of the group is connected", .bridge(scope: "perGroup")) {
            $0.move(the(.sessionDeactivated), before: the(.mediaClosed, alice))
        },
        BrokenJournal(.M10, "a packet before the start", .echo) { $0.set(the(.mediaStopped), .firstSent, 1) },
        BrokenJournal(.M10, "a packet after the stop", .echo) { $0.set(the(.mediaStopped), .lastSent, 9_000_000_000_000_000_000) },
        BrokenJournal(.M10, "more packets than between start and stop", .echo) { $0.set(the(.mediaClosed), .packets, 6) },
        BrokenJournal(.M11, "recorded before the answer", .recorded) { $0.move(the(.recordingStarted), before: the(.performAnswer)) },
        BrokenJournal(.M11, "recorded when the call was over", .recorded) {
            $0.remove(the(.recordingStarted))
            $0.insert(.recordingStarted, alice, [.text: "a.wav"], after: the(.sessionDeactivated))
        },
        BrokenJournal(.M11, "recorded twice at a time", .recorded) { $0.duplicate(the(.recordingStarted)) },
        BrokenJournal(.M11, "a recording that does not end", .recorded) { $0.remove(the(.recordingEnded)) },
        BrokenJournal(.M11, "an end without a recording", .recorded) { $0.remove(the(.recordingStarted)) },
        BrokenJournal(.M13, "streamed before the answer left", .streamed) { $0.move(the(.streamStarted), before: the(.mediaOpened)) },
        BrokenJournal(.M13, "streamed when the far end had hung up", .streamed) {
            $0.insert(.streamStopped, alice, [.direction: "both", .cause: "call-ended"], after: the(.sipReceived, method: "BYE"))
            $0.insert(.streamStarted, alice, [.direction: "both", .codec: "twilio"], after: the(.sipReceived, method: "BYE"))
        },
        BrokenJournal(.M13, "streamed twice at a time", .streamed) { $0.duplicate(the(.streamStarted)) },
        BrokenJournal(.M13, "a stream that outlives its call", .streamed) {
            $0.remove(the(.streamStopped))
            $0.insert(.streamStopped, alice, [.direction: "both", .cause: "call-ended"], after: the(.callEnded))
        },
        BrokenJournal(.M13, "a stop without a stream", .streamed) { $0.duplicate(the(.streamStopped)) },
        BrokenJournal(.M15, "relayed after the stop", .relayed) {
            $0.remove(the(.mediaTaken, nth: 1))
            $0.insert(.mediaTaken, alice, [.cause: "stop", .packets: 3], after: the(.mediaStopped))
        },
        BrokenJournal(.M15, "relayed before the start", .relayed) { $0.move(the(.mediaArmed), before: the(.mediaStarted)) },
        BrokenJournal(.M15, "armed while it is held", .relayed) {
            $0.remove(the(.mediaTaken, nth: 1))
            $0.remove(the(.mediaArmed, nth: 1))
            $0.insert(.mediaArmed, alice, [:], after: the(.mediaStopped))
        },
        BrokenJournal(.M15, "armed twice", .relayed) { $0.duplicate(the(.mediaArmed)) },
        BrokenJournal(.M15, "taken twice", .relayed) { $0.duplicate(the(.mediaTaken)) },
        BrokenJournal(.M14, "heard in our own hold", .streamed) {
            $0.remove(the(.streamPaused, nth: 1))
            $0.remove(the(.streamPaused, nth: 0))
        },
        BrokenJournal(.M14, "heard in the far end's hold", .streamed) {
            $0.remove(the(.streamPaused, nth: 3))
            $0.remove(the(.streamPaused, nth: 2))
        },
        BrokenJournal(.M14, "resumed while the call is on hold", .streamed) {
            $0.move(the(.streamPaused, nth: 1), before: the(.performHeld, nth: 1))
        },
    ]
}
