import CallJournal
import Primitives
import Testing

/// What a list of calls has of a journal.
private struct Expected: CustomTestStringConvertible, Sendable {
    let journal: GoodJournal
    /// `who how status: why`, with the legs that were begun for it behind a plus.
    let calls: [String]
    var testDescription: String { journal.testDescription }

    init(_ journal: GoodJournal, _ calls: String...) { (self.journal, self.calls) = (journal, calls) }

    static let all: [Expected] = [
        .init(.echo, "alice answered 200: the caller hung up"),
        .init(.recorded, "alice answered 200: the caller hung up"),
        .init(.relayed, "alice answered 200: the caller hung up"),
        .init(.localHangUp, "alice answered 200: the gateway hung up"),
        .init(.bridge(scope: "perLine"), "alice answered 200: the caller hung up + bob answered 200"),
        .init(.bridge(scope: "perGroup", reinvited: true), "alice answered 200: the caller hung up + bob answered 200"),
        .init(.twoSessions, "alice answered 200: the caller hung up", "carol answered 200: the caller hung up"),
        .init(.conference, "alice answered 200: the caller hung up", "carol answered 200: the caller hung up"),
        .init(.joinedAlone, "alice answered 200: the caller hung up", "carol answered 200: the caller hung up"),
        .init(.declined, "alice declined 603: 603 Decline (Q.850 21: call rejected)"),
        .init(.samePort, "alice busy 486: 486 Busy Here", "carol busy 486: 486 Busy Here"),
        .init(.ringLimit, "alice missed 480: nobody answered after 60.0 s of ringing"),
        .init(.answerTimeout, "alice failed 504: the answer was not completed in time"),
        .init(.cancelled, "alice cancelled 487: the caller gave up after 0.0 s of ringing"),
        .init(.cancelledBridge, "alice cancelled 487: the caller gave up after 0.0 s of ringing + bob cancelled -"),
        .init(.busy, "bob busy 486: 486 Busy Here"),
        .init(.challenged, "alice declined 603: 1002: 603 Decline + bob declined 603"),
        .init(.noAnswer, "bob missed -: nobody answered after 60.0 s of ringing"),
        .init(.cancelCrossing, "bob cancelled -: we gave up after 0.0 s of ringing"),
        .init(.deferredCancel, "bob cancelled -: it was given up"),
        .init(.redirected, "bob cancelled -: it was given up"),
        .init(.redirectedInVain, "bob refused 302: 302 Moved Temporarily"),
        .init(.passedOver, "bob busy 486: 486 Busy Here"),
        .init(.forkedUpstream, "bob answered 200: our BYE was not answered"),
        .init(.forkedDevices, "alice answered 200: our BYE was not answered + bob answered 200 + carol elsewhere -"),
        .init(.hold, "alice answered 200: the caller hung up"),
        .init(.streamed, "alice answered 200: the caller hung up"),
        .init(.queued, "alice answered 200: the caller hung up + bob answered 200"),
        .init(.holdAndAccept, "alice answered 200: the caller hung up", "carol answered 200: the caller hung up"),
        .init(.otherPort, "alice answered 200: the caller hung up"),
        .init(.failedBindAtAnswer, "alice failed 500: the media port could not be opened"),
        .init(.failedBindAtOK, "bob failed 200: the media port could not be opened"),
        .init(.reset, "alice answered 200: CallKit was reset; our BYE was not answered", "carol failed -: CallKit was reset"),
        .init(.neverAcknowledged, "alice answered 200: the 200 was never acknowledged; our BYE was not answered"),
        .init(.endBeforeACK, "alice answered 200: the gateway hung up"),
        .init(.byeCrossing, "alice answered 200: the gateway hung up"),
        .init(.doNotDisturb, "alice refused 480: Do Not Disturb"),
        .init(.unknownNumber, "alice refused 404: 404 Not Found"),
        .init(.noPorts, "alice failed 503: no media port is free"),
        .init(.adopted, "alice answered 200: the callee hung up + bob answered 200"),
        .init(.notAdopted, "bob refused 481: 481 Call/Transaction Does Not Exist (Q.850 41: temporary failure)"),
    ]
}

@Suite struct CallHistoryTests {
    static func history(_ events: [JournalEvent], isBeingWritten: Bool = false) -> CallHistory {
        var history = CallHistory()
        for event in events { history.note(event) }
        history.finish(isBeingWritten: isBeingWritten)
        return history
    }

    static func calls(_ events: [JournalEvent], isBeingWritten: Bool = false) -> [String] {
        history(events, isBeingWritten: isBeingWritten).calls.map { call in
            "\(state(call.first)): \(call.reason)" + call.branches.map { " + \(state($0))" }.joined()
        }
    }

    private static func state(_ leg: LegRecord) -> String {
        let name = [JournalScript.alice: "alice", JournalScript.bob: "bob", JournalScript.carol: "carol"][leg.call] ?? "\(leg.call)"
        return "\(name) \(leg.disposition.rawValue) \(leg.status.map { "\($0)" } ?? "-")"
    }

    @Test(arguments: Expected.all)
    private func `a call is there once, with how it ended and why`(expected: Expected) {
        #expect(Self.calls(expected.journal.events) == expected.calls)
    }

    @Test func `every good journal is in the table`() {
        #expect(Set(GoodJournal.all.map(\.name)).subtracting(Expected.all.map(\.journal.name)).isEmpty)
    }

    // MARK: INVITEs from outside

    /// An INVITE that the gateway refused before it was a call.
    private static func refused(_ call: CallUUID, _ id: String, status: Int64, _ cause: RequestRefusal, in script: inout JournalScript) {
        script.add(
            .inviteReceived, call, line: .empty,
            [.callid: .init(id), .from: "\"Zoe\" <sip:1001@a.test>", .to: "<sip:777@a.test>", .uri: "sip:777@127.0.0.1", .agent: "Phone 1"])
        script.add(
            .callRefused, call, line: .empty,
            [.callid: .init(id), .status: .number(status), .cause: .init(cause.rawValue), .reason: .text(cause.words)])
    }

    @Test(arguments: [
        (404, RequestRefusal.unknownNumber, CallDisposition.refused, "no line has this number"),
        (480, .noDevice, .refused, "no device of the line is registered"), (403, .forbidden, .refused, "the caller may not call here"),
        (503, .legs, .failed, "the gateway has as many calls as it may have"),
        (486, .lineFull, .busy, "the line has as many calls as it may have"),
    ])
    func `an INVITE that became no call is a call, with the gateway's words`(
        status: Int64, cause: RequestRefusal, disposition: CallDisposition, reason: String
    ) throws {
        var script = JournalScript()
        Self.refused(JournalScript.alice, "id", status: status, cause, in: &script)
        let calls = Self.history(script.stop()).calls, call = try #require(calls.first)
        #expect(calls.count == 1 && call.disposition == disposition && call.status == Int(status) && call.reason == reason)
        #expect(call.first.from?.shortAddress == "1001@a.test" && call.to?.shortAddress == "777@a.test" && call.first.agent == "Phone 1")
        #expect(call.isTroubled && call.endedBy == .gateway && call.length == nil)
    }

    @Test func `an INVITE that comes again with its password is one call with the first`() throws {
        var script = JournalScript()
        Self.refused(JournalScript.carol, "id", status: 401, .credentialsAsked, in: &script)
        script.add(.inviteReceived, JournalScript.alice, [.callid: "id", .from: "sip:1001@a.test"])
        script.ring(JournalScript.alice)
        let call = try #require(Self.history(script.events, isBeingWritten: true).calls.first)
        #expect(call.first.call == JournalScript.alice && call.disposition == .up && call.first.wasChallenged && call.reason == "rings")
        #expect(Self.history(script.events).calls.count == 1)
    }

    @Test func `an INVITE without a password that never comes again was refused, and another Call-ID is another call`() {
        var script = JournalScript()
        Self.refused(JournalScript.carol, "id", status: 401, .credentialsAsked, in: &script)
        Self.refused(JournalScript.bob, "other", status: 404, .unknownNumber, in: &script)
        #expect(
            Self.calls(script.stop()) == [
                "carol refused 401: a password is asked for", "bob refused 404: no line has this number",
            ])
    }

    @Test func `refused registrations are counted, and the last is kept`() {
        var script = JournalScript()
        script.add(.accessRefused, line: .empty, [.user: "1001", .remote: "192.0.2.1", .cause: "wrong-password"])
        script.add(.registerRefused, line: .empty, [.user: "1002", .status: 404, .reason: "no line has this number"])
        let history = Self.history(script.stop())
        #expect(history.refusedRegistrations == 2 && history.lastRefusedRegistration?.details.text(.user) == "1002")
        #expect(history.calls.isEmpty)
    }

    // MARK: What is missing

    @Test func `a call of a run that was killed is cut off, and one at the end of the journal is up while that is written`() {
        let cut = Array(GoodJournal.hold.events.prefix { $0.kind != .performHeld })
        #expect(
            Self.calls(cut + GoodJournal.echo.events) == [
                "alice cut-off 200: the gateway was killed meanwhile", "alice answered 200: the caller hung up",
            ], "the same UUID in two runs is two calls")
        #expect(Self.calls(cut) == ["alice cut-off 200: the journal ends before the call does"])
        #expect(Self.calls(cut, isBeingWritten: true) == ["alice up 200: goes on"])
        let history = Self.history(cut + GoodJournal.echo.events)
        #expect(history.calls.map { $0.length == nil } == [true, false], "nobody knows how long it was")
        #expect(history.calls.map { $0.first.run.position($0.first.sequence) } == ["1.3", "2.3"])
    }

    @Test func `where events are missing a call is cut off, or goes on as its later events say`() {
        let events = GoodJournal.echo.events, middle = events.filter { $0.kind != .dtmfReceived }
        #expect(Self.calls(middle) == ["alice answered 200: the caller hung up"])
        #expect(Self.history(middle).missingEvents == 1)
        let end = events.filter { $0.kind != .callEnded && $0.kind != .reportEnded }
        #expect(Self.calls(end) == ["alice cut-off 200: events are missing in the journal"])
    }

    @Test func `a call whose beginning is missing was answered where its media ran, and is else cut off`() {
        let events = GoodJournal.echo.events, stop = events.firstIndex { $0.kind == .mediaStopped } ?? 0
        #expect(Self.calls(Array(events[stop...])) == ["alice answered -: the caller hung up"])
        #expect(Self.calls(Array(events[(stop + 1)...])) == ["alice cut-off -: its beginning is missing in the journal"])
    }

    @Test func `advice to an app stands beside the verdict, and makes no call a failed one`() throws {
        let events = try #require(BrokenJournal.all.first { $0.rule == .M12 }).events
        let told = JournalEvent(
            sequence: UInt64(events.count + 1), time: events.last?.time ?? .zero, call: JournalScript.alice, kind: .auditAdvice,
            details: [.rule: "M12", .count: 1, .text: "no packet"])
        let call = try #require(Self.history(events + [told]).calls.first)
        #expect(!call.isTroubled && call.legs.map(\.advice) == [["M12"]] && call.legs.flatMap(\.violations) == [])
        #expect(call.reason.hasSuffix("; advice: M12"))
    }

    @Test(arguments: GoodJournal.all)
    func `a call whose beginning was rotated away is there once, and what is left of one is none`(journal: GoodJournal) {
        let whole = Set(Self.history(journal.events).calls.flatMap(\.legs).map(\.call))
        for index in journal.events.indices {
            let legs = Self.history(Array(journal.events[index...])).calls.flatMap(\.legs).map(\.call)
            #expect(Set(legs).count == legs.count && whole.isSuperset(of: legs), "from event \(index + 1)")
        }
        let released = journal.events.firstIndex { $0.kind == .mediaReleased } ?? journal.events.endIndex
        let rest = journal.events[released...].filter { $0.kind == .mediaReleased || $0.kind == .mediaClosed || $0.kind == .portFree }
        #expect(Self.history(Array(rest)).calls.isEmpty)
    }

    // MARK: What was wrong

    private static func echo(_ change: (inout JournalEvent) -> Void) -> [JournalEvent] {
        GoodJournal.echo.events.map { event in
            var event = event
            change(&event)
            return event
        }
    }

    @Test(
        arguments: [
            ("heard", "heard", nil), ("paused", "heard", nil), ("heard", "nothing", "the callee was not heard: no packets"),
            ("silent", "heard", "the caller was not heard: packets of silence"),
            ("nothing", "nothing", "the caller was not heard: no packets; the callee was not heard: no packets"),
        ] as [(Text, Text, String?)])
    func `a direction that is silent is a trouble`(incoming: Text, outgoing: Text, trouble: String?) throws {
        let events = Self.echo { event in
            guard event.kind == .mediaStopped else { return }
            (event.details[.incoming], event.details[.outgoing]) = (.text(incoming), .text(outgoing))
        }
        let call = try #require(Self.history(events).calls.first)
        #expect(call.trouble == trouble && call.isTroubled == (trouble != nil) && call.disposition == .answered)
        #expect(call.heardCaller?.rawValue == incoming.description && call.heardCallee?.rawValue == outgoing.description)
    }

    @Test func `a stretch in which somebody is heard counts, whatever the others were`() throws {
        var heard = ["silent", "heard"] as [Text]
        let events = GoodJournal.hold.events.map { event in
            var event = event
            if event.kind == .mediaStopped { event.details[.incoming] = .text(heard.removeFirst()) }
            return event
        }
        #expect(heard.isEmpty)
        #expect(try #require(Self.history(events).calls.first).heardCaller == .heard)
    }

    @Test(
        arguments: [
            ("Q.850;cause=16;text=\"Normal call clearing\"", nil),
            ("Q.850;cause=41;text=\"Media timeout\"", "ended by the far end: Q.850 41: Media timeout"),
            (
                "SIP;cause=200;text=\"Call completed elsewhere\", Q.850;cause=102",
                "ended by the far end: Q.850 102: recovery on timer expiry"
            ),
            ("SIP;cause=408", "ended by the far end: 408 Request Timeout"), ("nonsense", nil),
        ] as [(Text, String?)])
    func `a BYE says by its Reason that something went wrong`(reason: Text, trouble: String?) throws {
        let events = Self.echo { event in
            if event.kind == .sipReceived, event.details.text(.method) == "BYE" { event.details[.reason] = .text(reason) }
        }
        #expect(try #require(Self.history(events).calls.first).trouble == trouble)
    }

    @Test func `a BYE of ours without an answer is a trouble when its time is over`() throws {
        var script = JournalScript()
        script.ring(JournalScript.alice)
        script.answer(JournalScript.alice, script.request("answer")[0])
        script.received("ACK", JournalScript.alice)
        script.activate(JournalScript.alice)
        script.start(JournalScript.alice)
        script.hangUp(JournalScript.alice, script.request("end")[0])
        #expect(try #require(Self.history(script.events, isBeingWritten: true).calls.first).trouble == nil, "it may still come")
        script.wait(.seconds(33))
        script.add(.portFree, nil, [.port: 1])
        let late = try #require(Self.history(script.events, isBeingWritten: true).calls.first)
        #expect(late.trouble == "our BYE was not answered" && late.disposition == .answered)
        script.received("BYE", JournalScript.alice, status: 200, cseq: 9)
        #expect(try #require(Self.history(script.events, isBeingWritten: true).calls.first).trouble == nil)
    }

    @Test func `what a device said is the reason of the call that it was called for`() {
        var script = JournalScript()
        script.ring(JournalScript.alice)
        for (call, status) in [(JournalScript.bob, 486), (JournalScript.carol, 408)] as [(CallUUID, Int64)] {
            let start = script.request("start", "group")
            script.perform(.performStart, call, start[0])
            script.sent("INVITE", call)
            script.fulfil(call, start[0])
            script.perform(.performGroup, call, start[1], with: JournalScript.alice)
            if status == 408 {
                script.add(.inviteUnanswered, call, [.status: 408, .remote: "127.0.0.1:5070"])
            } else {
                script.received("INVITE", call, status: status, reason: "Q.850;cause=17")
            }
            script.add(.reportEnded, call, [.reason: "unanswered"])
            script.add(.callEnded, call)
        }
        script.perform(.performEnd, JournalScript.alice, script.request("end")[0])
        script.sent("INVITE", JournalScript.alice, status: 486, reason: "Q.850;cause=17")
        script.add(.callEnded, JournalScript.alice)
        #expect(
            Self.calls(script.events) == [
                "alice busy 486: 1002: 486 Busy Here (Q.850 17: user busy); 1002: no answer from 127.0.0.1:5070 + bob busy 486 + carol failed -"
            ])
    }

    // MARK: As it grows

    @Test func `calls are taken out when they are over, each once, and an INVITE waits for its password`() {
        var script = JournalScript(), history = CallHistory(), noted = 0
        func taken(_ history: inout CallHistory, challengedBefore wall: UInt64 = 0) -> [CallUUID] {
            for event in script.events[noted...] { history.note(event) }
            noted = script.events.count
            return history.takeFinished(challengedBefore: wall).map(\.first.call)
        }
        script.ring(JournalScript.alice)
        #expect(taken(&history) == [])
        Self.refused(JournalScript.bob, "id", status: 401, .credentialsAsked, in: &script)
        #expect(taken(&history) == [], "it may come again with a password")
        #expect(taken(&history, challengedBefore: script.now.nanoseconds + 1) == [JournalScript.bob])
        script.received("CANCEL", JournalScript.alice)
        script.sent("INVITE", JournalScript.alice, status: 487)
        script.add(.callEnded, JournalScript.alice)
        #expect(taken(&history) == [JournalScript.alice])
        script.release(JournalScript.alice)
        script.received("ACK", JournalScript.alice)
        #expect(taken(&history) == [] && history.calls.isEmpty, "what comes late begins no call")
    }
}

@Suite struct CallHistoryPropertyTests {
    /// Journals of good calls beside each other, with UUIDs of their own, in several runs of which most are killed.
    private static func journal(_ random: inout SeededRandom) -> (events: [JournalEvent], legs: [[CallUUID]]) {
        var events: [JournalEvent] = [], legs: [[CallUUID]] = []
        for run in 0..<Int.random(in: 1...3, using: &random) {
            var scripts: [[JournalEvent]] = [], found: Set<CallUUID> = [], names = UInt64(run * 1_000)
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                var renamed: [CallUUID: CallUUID] = [:]
                let journal = GoodJournal.all.randomElement(using: &random)!
                scripts.append(
                    journal.events.filter { $0.call != nil }.map { event in
                        var event = event
                        event.call = event.call.map { rename($0, &renamed, &names) }
                        if let other = event.details.uuid(.with) { event.details[.with] = .uuid(rename(other, &renamed, &names)) }
                        return event
                    })
            }
            var merged = [JournalEvent(sequence: 0, time: .zero, kind: .gatewayStarted)]
            while let index = scripts.indices.filter({ !scripts[$0].isEmpty }).randomElement(using: &random) {
                merged.append(scripts[index].removeFirst())
            }
            if Bool.random(using: &random) { merged = Array(merged.prefix(Int.random(in: 1...merged.count, using: &random))) }
            for event in merged where event.beginsLeg { found.insert(event.call!) }
            events += merged.enumerated().map { index, event in
                var event = event
                (event.sequence, event.time) = (UInt64(index + 1), Instant(nanoseconds: UInt64(index + 1) * 1_000_000))
                return event
            }
            legs.append(found.sorted { $0.low < $1.low })
        }
        return (events, legs)
    }

    private static func rename(_ call: CallUUID, _ renamed: inout [CallUUID: CallUUID], _ names: inout UInt64) -> CallUUID {
        if renamed[call] == nil { (renamed[call], names) = (CallUUID(high: 7, low: names), names + 1) }
        return renamed[call]!
    }

    @Test(arguments: 1...60) func `every leg of a journal is in one call, and every call in its run`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let journal = Self.journal(&random), calls = CallHistoryTests.history(journal.events).calls
        for (index, legs) in journal.legs.enumerated() {
            let found = calls.filter { $0.first.run.number == index + 1 }.flatMap(\.legs)
            #expect(found.map(\.call).sorted { $0.low < $1.low } == legs, "seed \(seed), run \(index + 1)")
            #expect(found.allSatisfy { $0.run.number == index + 1 })
        }
        #expect(calls.allSatisfy { $0.disposition != .up && !$0.reason.isEmpty }, "seed \(seed)")
    }

    @Test(arguments: 1...20) func `a journal that is followed gives the same calls`(seed: UInt64) {
        var random = SeededRandom(seed: seed), history = CallHistory()
        let journal = Self.journal(&random)
        var taken: [CallUUID] = []
        for event in journal.events {
            history.note(event)
            if Int.random(in: 0..<5, using: &random) == 0 { taken += history.takeFinished(challengedBefore: .max).map(\.first.call) }
        }
        history.finish(isBeingWritten: false)
        taken += history.takeFinished(challengedBefore: .max).map(\.first.call)
        let whole = CallHistoryTests.history(journal.events).calls.map(\.first.call)
        #expect(taken.count == whole.count && Set(taken) == Set(whole), "seed \(seed)")
    }
}

extension JournalEvent {
    /// With this there is a leg, whatever becomes of it.
    fileprivate var beginsLeg: Bool {
        kind == .performStart || kind == .mediaReserved || kind == .reportIncoming
            || (kind == .sipReceived || kind == .sipSent) && details.text(.method) == "INVITE" && details[.status] == nil
    }
}
