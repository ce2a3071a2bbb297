import CallJournal
import Primitives
import Testing

/// A good journal with one thing wrong in it, and the one rule that must notice.
struct BrokenJournal: CustomTestStringConvertible, Sendable {
    let rule: AuditRule.ID
    let fault: String
    /// Advice only on the line of an app.
    let level: Violation.Level
    let events: [JournalEvent]
    var testDescription: String { "\(rule.rawValue): \(fault)" }

    init(
        _ rule: AuditRule.ID, _ fault: String, _ good: GoodJournal, _ level: Violation.Level = .fault, _ change: (inout Editor) -> Void
    ) {
        var editor = Editor(events: good.events)
        change(&editor)
        (self.rule, self.fault, self.level, events) = (rule, fault, level, editor.renumbered)
    }

    static let alice = JournalScript.alice, bob = JournalScript.bob, carol = JournalScript.carol

    static let all: [BrokenJournal] = calls + ends + holds + media + applications + apps + adoptions

    private static let calls: [BrokenJournal] = [
        BrokenJournal(.R1, "no 100", .echo) { $0.remove(the(.sipSent, status: 100)) },
        BrokenJournal(.R1, "no reservation before the report", .doNotDisturb) { $0.move(the(.mediaReserved), after: the(.reportIncoming)) },
        BrokenJournal(.R1, "two INVITEs", .echo) { $0.duplicate(the(.sipReceived, method: "INVITE")) },
        BrokenJournal(.R1, "an app reports a call again", .echo) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.insert(.reportIncomingRefused, alice, [.error: "callUUIDAlreadyExists"], after: the(.reportIncomingAccepted))
            $0.insert(.reportIncoming, alice, [:], after: the(.reportIncomingAccepted))
        },
        BrokenJournal(.R2, "180 before the report was accepted", .echo) {
            $0.move(the(.reportIncomingAccepted), after: the(.sipSent, status: 180))
        },
        BrokenJournal(.R2, "180 after a refused report", .doNotDisturb) {
            $0.insert(.sipSent, alice, [.method: "INVITE", .status: 180, .cseq: 1], after: the(.reportIncomingRefused))
        },
        BrokenJournal(.R3, "two 200s", .echo) { $0.duplicate(the(.sipSent, status: 200)) },
        BrokenJournal(.R3, "200 before the answer", .cancelled) {
            $0.insert(.sipSent, alice, [.method: "INVITE", .status: 200, .cseq: 1], after: the(.sipSent, status: 180))
            $0.remove(the(.sipReceived, method: "CANCEL"))
        },
        BrokenJournal(.R3, "an app fulfils before the 200", .echo) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.move(the(.actionFulfilled), before: the(.sipSent, status: 200))
        },
        BrokenJournal(.R3, "200 after CANCEL", .cancelled) {
            $0.insert(.sipSent, alice, [.method: "INVITE", .status: 200, .cseq: 1], after: the(.sipReceived, method: "CANCEL"))
            $0.insert(.mediaOpened, alice, [.port: 20_000], after: the(.sipSent, status: 180))
            $0.insert(.mediaConfigured, alice, [:], after: the(.sipSent, status: 180))
            $0.insert(.performAnswer, alice, [.action: 901], after: the(.sipSent, status: 180))
            $0.insert(.transactionAccepted, nil, [.transaction: 900, .actions: "answer:901"], after: the(.sipSent, status: 180))
            $0.insert(.mediaClosed, alice, [:], after: the(.callEnded))
        },
        BrokenJournal(.R4, "an action of no transaction", .echo) {
            $0.insert(.performMuted, alice, [.action: 999, .on: 1], after: the(.mediaStarted))
        },
        BrokenJournal(.R4, "performed twice", .hold) { $0.duplicate(the(.performHeld)) },
        BrokenJournal(.R4, "out of order", .holdAndAccept) { $0.move(the(.performAnswer, carol), before: the(.performHeld, alice)) },
        BrokenJournal(.R5, "fulfilled twice", .echo) { $0.duplicate(the(.actionFulfilled)) },
        BrokenJournal(.R5, "never completed", .localHangUp) { $0.remove(the(.actionFulfilled, nth: 1)) },
        BrokenJournal(.R5, "timed out too early", .answerTimeout) { $0.shift(from: the(.actionTimedOut), by: .seconds(-1)) },
        BrokenJournal(.R5, "timed out twice", .answerTimeout) { $0.duplicate(the(.actionTimedOut)) },
        BrokenJournal(.R5, "fulfilled and not performed", .echo) {
            $0.insert(.actionFulfilled, alice, [.action: 901], after: the(.mediaStarted))
            $0.insert(.transactionAccepted, nil, [.transaction: 900, .actions: "muted:901"], after: the(.mediaStarted))
        },
        BrokenJournal(.R6, "INVITE before start is performed", .busy) {
            $0.move(the(.sipSent, method: "INVITE"), before: the(.performStart))
        },
        BrokenJournal(.R6, "start fulfilled before the INVITE", .busy) {
            $0.move(the(.actionFulfilled), before: the(.sipSent, method: "INVITE"))
        },
        BrokenJournal(.R6, "a second INVITE without a challenge", .busy) { $0.duplicate(the(.sipSent, method: "INVITE")) },
        BrokenJournal(.R6, "a third INVITE after one that was not answered", .busy) {
            $0.duplicate(the(.sipSent, method: "INVITE"))
            $0.duplicate(the(.sipSent, method: "INVITE"))
            $0.insert(.inviteUnanswered, bob, [.status: 408], after: the(.sipSent, method: "INVITE"))
        },
        BrokenJournal(.R7, "connecting before any 1xx", .busy) { $0.move(the(.reportConnecting), before: the(.sipReceived, status: 180)) },
        BrokenJournal(.R7, "connecting twice", .busy) { $0.duplicate(the(.reportConnecting)) },
        BrokenJournal(.R7, "connected without a 2xx", .busy) { $0.insert(.reportConnected, bob, [:], after: the(.reportConnecting)) },
        BrokenJournal(.R7, "connected twice", .forkedUpstream) { $0.duplicate(the(.reportConnected)) },
        BrokenJournal(.R7, "answered and never connected", .failedBindAtOK) {
            $0.insert(.mediaClosed, bob, [:], after: the(.callEnded))
            $0.insert(.mediaOpened, bob, [.port: 20_000], after: the(.mediaConfigured))
        },
    ]

    private static let ends: [BrokenJournal] = [
        BrokenJournal(.R8, "BYE out of nothing", .hold) {
            $0.insert(.sipSent, alice, [.method: "BYE", .cseq: 4], after: the(.mediaStopped))
        },
        BrokenJournal(.R8, "CANCEL before the end is performed", .cancelCrossing) {
            $0.move(the(.sipSent, method: "CANCEL"), before: the(.performEnd))
        },
        BrokenJournal(.R8, "CANCEL of the server that is being asked", .passedOver) { $0.set(the(.sipSent, method: "CANCEL"), .cseq, 2) },
        BrokenJournal(.R8, "BYE to the server that is being asked", .passedOver) {
            $0.set(the(.sipSent, method: "BYE"), .remoteTag, "won")
        },
        BrokenJournal(.R8, "a refusal before the end is performed", .declined) {
            $0.move(the(.sipSent, status: 603), before: the(.performEnd))
        },
        BrokenJournal(.R9, "a remote end is not reported", .busy) { $0.remove(the(.reportEnded)) },
        BrokenJournal(.R9, "a remote end is reported twice", .busy) { $0.duplicate(the(.reportEnded)) },
        BrokenJournal(.R9, "a remote end is performed", .busy) {
            $0.insert(.actionFulfilled, bob, [.action: 901], after: the(.reportEnded))
            $0.insert(.performEnd, bob, [.action: 901], after: the(.reportEnded))
            $0.insert(.transactionAccepted, nil, [.transaction: 900, .actions: "end:901"], after: the(.reportEnded))
        },
        BrokenJournal(.R9, "a remote end is performed, and nobody is looked for", .redirected) { $0.remove(the(.redirectionLookup)) },
        BrokenJournal(.R9, "a remote end is performed, and nobody was named", .redirected) {
            $0.set(the(.sipReceived, status: 302), .status, 486)
        },
        BrokenJournal(.R9, "a remote end is performed after nobody was found", .redirected) {
            $0.insert(.redirectionLookup, bob, [.on: false], after: the(.redirectionLookup))
        },
        BrokenJournal(.R9, "nobody was found, and the end is not reported", .redirectedInVain) { $0.remove(the(.reportEnded)) },
        BrokenJournal(.R9, "a call ends by itself while somebody is looked for", .redirectedInVain) {
            $0.remove(the(.reportEnded))
            $0.set(the(.redirectionLookup, nth: 1), .on, true)
        },
        BrokenJournal(.R10, "ended twice", .echo) { $0.duplicate(the(.callEnded)) },
        BrokenJournal(.R10, "never ended", .localHangUp) { $0.remove(the(.callEnded)) },
        BrokenJournal(.R10, "updated after the end", .echo) { $0.insert(.reportUpdated, alice, [:], after: the(.callEnded)) },
        BrokenJournal(.R11, "BYE before the ACK", .endBeforeACK) {
            $0.move(the(.sipReceived, method: "ACK"), after: the(.sipSent, method: "BYE"))
        },
        BrokenJournal(.R11, "BYE before 64·T1", .neverAcknowledged) { $0.shift(from: the(.mediaStopped), by: .seconds(-2)) },
        BrokenJournal(.R11, "BYE without a dialog", .declined) {
            $0.insert(.sipSent, alice, [.method: "BYE", .cseq: 2], after: the(.performEnd))
        },
        BrokenJournal(.R12, "CANCEL before any response", .deferredCancel) {
            $0.move(the(.sipSent, method: "CANCEL"), before: the(.sipReceived, status: 100))
        },
        BrokenJournal(.R12, "CANCEL of another INVITE than the one that rang", .deferredCancel) {
            $0.set(the(.sipSent, method: "CANCEL"), .cseq, 4_711)
        },
        BrokenJournal(.R13, "a status that does not fit", .doNotDisturb) { $0.set(the(.sipSent, status: 480), .status, 404) },
        BrokenJournal(.R13, "no status at all", .doNotDisturb) { $0.remove(the(.sipSent, status: 480)) },
        BrokenJournal(.R13, "performed", .doNotDisturb) {
            $0.insert(.performAnswer, alice, [.action: 901], after: the(.reportIncomingRefused))
            $0.insert(.transactionAccepted, nil, [.transaction: 900, .actions: "answer:901"], after: the(.reportIncomingRefused))
            $0.insert(.actionFailed, alice, [.action: 901], after: the(.performAnswer))
        },
        BrokenJournal(.R17, "a call survives the reset", .reset) {
            $0.remove(the(.sipSent, carol, status: 500))
            $0.remove(the(.callEnded, carol))
        },
        BrokenJournal(.R17, "performed after the reset", .reset) {
            $0.insert(.transactionAccepted, nil, [.transaction: 900, .actions: "muted:901"], after: the(.reportIncomingAccepted, nth: 1))
            $0.insert(.actionFulfilled, carol, [.action: 901], after: the(.providerReset))
            $0.insert(.performMuted, carol, [.action: 901, .on: 1], after: the(.providerReset))
        },
        BrokenJournal(.R17, "the dialog is left open", .reset) { $0.remove(the(.sipSent, method: "BYE")) },
        BrokenJournal(.R17, "too late", .reset) { $0.shift(from: the(.callEnded, carol), by: .seconds(6)) },
        BrokenJournal(.R18, "a SIP reason in a response", .declined) {
            $0.set(the(.sipSent, status: 603), .reason, "Q.850;text=\"a,b\", SIP;cause=603")
        },
    ]

    /// Queues and menus.
    private static let applications: [BrokenJournal] = [
        BrokenJournal(.R19, "a place in the queue before the answer", .queued) {
            $0.move(the(.queueEntered), before: the(.performAnswer))
        },
        BrokenJournal(.R19, "two places", .queued) { $0.duplicate(the(.queueEntered)) },
        BrokenJournal(.R19, "offered when the caller has left", .queued) {
            $0.insert(.queueLeft, alice, [.cause: "abandoned", .count: 1], after: the(.queueEntered))
        },
        BrokenJournal(.R19, "answered by nobody that rang", .queued) { $0.remove(the(.queueOffered)) },
        BrokenJournal(.R19, "left twice", .queued) {
            $0.insert(.queueLeft, alice, [.cause: "wait", .count: 1], after: the(.transferred))
        },
        BrokenJournal(.R19, "connected before queue.answered", .queued) { $0.move(the(.queueAnswered), after: the(.transferred)) },
        BrokenJournal(.R19, "connected with a member that has not answered", .queued) {
            $0.remove(the(.queueAnswered))
            $0.remove(the(.transferred, alice))
            $0.insert(.transferred, alice, [.with: .text(bob.text)], after: the(.sipReceived, bob, status: 180))
            $0.insert(.queueAnswered, alice, [.remote: "1001", .count: 900], after: the(.sipReceived, bob, status: 180))
        },
        BrokenJournal(.R20, "a prompt before the answer", .queued) { $0.move(the(.menuEntered), before: the(.performAnswer)) },
        BrokenJournal(.R20, "a choice outside of the menu", .queued) { $0.remove(the(.menuEntered)) },
    ]

    /// Calls of a gateway that has died.
    private static let adoptions: [BrokenJournal] = [
        BrokenJournal(.R21, "an INVITE in a dialog that nobody has adopted", .adopted) { $0.remove(the(.callAdopted)) },
        BrokenJournal(.R21, "adopted twice", .adopted) { $0.duplicate(the(.callAdopted)) },
        BrokenJournal(.R21, "adopted before the start", .adopted) {
            $0.move(the(.mediaReserved), after: the(.callAdopted))
            $0.move(the(.callAdopted), before: the(.performStart))
        },
        BrokenJournal(.R21, "adopted after the INVITE", .adopted) { $0.move(the(.callAdopted), after: the(.sipSent, method: "INVITE")) },
        BrokenJournal(.R21, "an INVITE in another dialog", .adopted) {
            $0.set(the(.sipSent, method: "INVITE"), .callid, "alice@elsewhere")
        },
        BrokenJournal(.R21, "adopted from nobody", .adopted) { $0.set(the(.callAdopted), .node, 1) },
        BrokenJournal(.R6, "adopted, and not started", .notAdopted) {
            $0.move(the(.sipSent, method: "INVITE"), after: the(.actionFulfilled))
        },
        BrokenJournal(.R7, "adopted and connected before the far end has answered", .adopted) {
            $0.insert(.reportConnected, bob, [:], after: the(.sipSent, bob, method: "INVITE"))
            $0.remove(the(.reportConnected, nth: 1))
        },
        BrokenJournal(.R7, "adopted and answered, and never connected", .adopted) { $0.remove(the(.reportConnected, alice)) },
        BrokenJournal(.R8, "an adopted call that nobody ends", .notAdopted) {
            $0.insert(.sipSent, bob, [.method: "BYE", .cseq: 1_002, .remoteTag: "won"], after: the(.actionFulfilled))
            $0.remove(the(.sipSent, method: "BYE", nth: 1))
        },
        BrokenJournal(.R9, "an adopted call that is refused, and whose end is not reported", .notAdopted) { $0.remove(the(.reportEnded)) },
        BrokenJournal(.R10, "an adopted call that never ends", .notAdopted) { $0.remove(the(.callEnded)) },
        BrokenJournal(.M6, "the media of an adopted call after the ACK", .adopted) {
            $0.move(the(.mediaOpened, bob), after: the(.reportConnected, bob))
        },
        BrokenJournal(.M7, "the media of an adopted call before the far end has answered", .adopted) {
            $0.move(the(.mediaConfigured, bob), after: the(.sipSent, bob, method: "INVITE"))
            $0.move(the(.mediaOpened, bob), after: the(.mediaConfigured, bob))
        },
        BrokenJournal(.M8, "the media of an adopted call that is never closed", .adopted) {
            $0.remove(the(.mediaReleased, bob))
        },
    ]

    /// On the line of an app, where telephones put up with some.
    private static let apps: [BrokenJournal] = [
        BrokenJournal(.R7, "an app reports connecting before any 1xx", .busy, .advice) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.move(the(.reportConnecting), before: the(.sipReceived, status: 180))
        },
        BrokenJournal(.R7, "an app reports connecting twice", .busy) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.duplicate(the(.reportConnecting))
        },
        BrokenJournal(.R7, "an app reports connected without a 2xx", .busy) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.insert(.reportConnected, bob, [:], after: the(.reportConnecting))
        },
        BrokenJournal(.R9, "an app ends what the far end has ended", .busy, .advice) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.insert(.actionFulfilled, bob, [.action: 901], after: the(.reportEnded))
            $0.insert(.performEnd, bob, [.action: 901], after: the(.reportEnded))
            $0.insert(.transactionAccepted, nil, [.transaction: 900, .actions: "end:901"], after: the(.reportEnded))
        },
        BrokenJournal(.R9, "an app does not report a remote end", .busy) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.remove(the(.reportEnded))
        },
        BrokenJournal(.M12, "an app sends no packet", .echo, .advice) {
            $0.set(the(.lineConfigured), .app, 1)
            $0.remove(the(.mediaStarted))
            $0.remove(the(.mediaStopped))
            $0.set(the(.mediaClosed), .packets, 0)
            $0.shift(from: the(.mediaClosed), by: .seconds(1))
        },
    ]

    private static let holds: [BrokenJournal] = [
        BrokenJournal(.R14, "fulfilled before the stop", .hold) { $0.move(the(.actionFulfilled, nth: 1), before: the(.mediaStopped)) },
        BrokenJournal(.R14, "started while on hold", .hold) {
            $0.insert(.mediaStopped, alice, [.packets: 0], after: the(.mediaStopped))
            $0.insert(.mediaStarted, alice, [:], after: the(.mediaStopped))
        },
        BrokenJournal(.R15, "remote hold sets the flag", .hold) { $0.set(the(.remoteHold), .onHold, 1) },
        BrokenJournal(.R16, "two calls run", .bridge(scope: "perLine")) {
            $0.remove(the(.performGroup))
            $0.remove(the(.actionFulfilled, nth: 1))
        },
    ]
}

/// One event of a journal: the nth of those that fit.
struct Place {
    var kind: JournalEvent.Kind
    var call: CallUUID?
    var method: Text?
    var status: Int64?
    var nth: Int
    /// A method without a status means the request.
    private var isRequest: Bool { method != nil && status == nil }

    func fits(_ event: JournalEvent) -> Bool {
        event.kind == kind && (call == nil || event.call == call) && (method == nil || event.details.text(.method) == method)
            && (isRequest ? event.details.number(.status) == nil : status == nil || event.details.number(.status) == status)
    }
}

func the(_ kind: JournalEvent.Kind, _ call: CallUUID? = nil, method: Text? = nil, status: Int64? = nil, nth: Int = 0) -> Place {
    Place(kind: kind, call: call, method: method, status: status, nth: nth)
}

/// Changes a journal; a place that is not there fails the test.
struct Editor {
    var events: [JournalEvent]

    private func index(_ place: Place) -> Int {
        let fitting = events.indices.filter { place.fits(events[$0]) }
        guard place.nth < fitting.count else { fatalError("no \(place)") }
        return fitting[place.nth]
    }

    mutating func remove(_ place: Place) { events.remove(at: index(place)) }
    mutating func duplicate(_ place: Place) { let at = index(place); events.insert(events[at], at: at) }
    mutating func set(_ place: Place, _ key: JournalEvent.Key, _ value: JournalEvent.Value) { events[index(place)].details[key] = value }

    mutating func insert(_ kind: JournalEvent.Kind, _ call: CallUUID?, _ details: JournalEvent.Details, after place: Place) {
        var event = events[index(place)]
        (event.kind, event.call, event.details) = (kind, call, details)
        events.insert(event, at: index(place) + 1)
    }

    /// The times stay with the places.
    mutating func move(_ place: Place, before other: Place) {
        let times = events.map(\.time)
        let event = events.remove(at: index(place))
        events.insert(event, at: index(other))
        for at in events.indices { events[at].time = times[at] }
    }

    mutating func move(_ place: Place, after other: Place) {
        let times = events.map(\.time)
        let event = events.remove(at: index(place))
        events.insert(event, at: index(other) + 1)
        for at in events.indices { events[at].time = times[at] }
    }

    mutating func shift(from place: Place, by duration: Duration) {
        for at in index(place)..<events.count { events[at].time += duration }
    }

    var renumbered: [JournalEvent] {
        events.indices.map {
            var event = events[$0]
            event.sequence = UInt64($0 + 1)
            return event
        }
    }
}
