import CallJournal
import Foundation
import Primitives
import Testing

@Suite struct JournalAuditTests {
    static func violations(of events: [JournalEvent], options: Audit.Options = .init()) -> [Violation] {
        let audit = Audit(options: options)
        var found: [Violation] = []
        for event in events { found += audit.observe(event) }
        return found + audit.finish()
    }

    @Test(arguments: GoodJournal.all)
    func `a good journal breaks no rule`(journal: GoodJournal) {
        #expect(Self.violations(of: journal.events) == [])
    }
}

extension JournalAuditTests {
    @Test(arguments: BrokenJournal.all)
    func `a broken journal breaks the one rule that it is made for`(journal: BrokenJournal) {
        let violations = Self.violations(of: journal.events)
        #expect(Set(violations.map(\.rule)) == [journal.rule], "\(violations)")
        #expect(Set(violations.map(\.level)) == [journal.level], "\(violations)")
    }

    @Test(arguments: BrokenJournal.all.filter { $0.level == .advice })
    func `nothing is advice on a line of the gateway's own`(journal: BrokenJournal) {
        var events = journal.events
        for index in events.indices where events[index].kind == .lineConfigured { events[index].details[.app] = nil }
        let violations = Self.violations(of: events)
        #expect(violations.allSatisfy { $0.level == .fault } && violations.isEmpty == (journal.rule == .M12), "\(violations)")
    }

    @Test(arguments: BrokenJournal.all.filter { $0.level == .advice })
    func `a journal that advises live is advised by again, and counts no fault`(journal: BrokenJournal) {
        let sink = MemorySink(), live = Journal(lane: "s0", clock: WallClock(instant: .zero, unixNanoseconds: 0), sink: sink)
        var advice: [Violation] = []
        live.onAdvice = { advice.append($0) }
        for event in journal.events { live.record(event.kind, call: event.call, line: event.line, at: event.time, event.details) }
        live.flush()
        #expect(live.violations == 0 && live.advice == 1 && advice.map(\.rule) == [journal.rule])
        let read = JournalReader.parse(sink.bytes, name: "live").events
        #expect(read.count { $0.kind == .auditAdvice } == 1 && !read.contains { $0.kind == .auditViolation })
        #expect(Self.violations(of: read).map(\.level) == [.advice])
    }

    @Test(arguments: AuditRule.ID.allCases)
    func `without its rule a broken journal passes, so no rule is idle`(rule: AuditRule.ID) {
        var options = Audit.Options()
        options.rules.remove(rule)
        let broken = BrokenJournal.all.filter { $0.rule == rule }
        #expect(!broken.isEmpty)
        for journal in broken { #expect(Self.violations(of: journal.events, options: options) == [], "\(journal.fault)") }
    }

    @Test func `the table of rules has every id once, in order`() {
        #expect(AuditRule.all.map(\.id) == AuditRule.ID.allCases)
    }

    @Test func `numbers at the end of their range are numbers`() {
        var events = GoodJournal.hold.events
        for index in events.indices where events[index].kind == .mediaStopped { events[index].details[.packets] = .number(Int64.max) }
        #expect(events.count { $0.kind == .mediaStopped } > 1)
        for index in events.indices.suffix(2) { events[index].sequence = index == events.indices.last ? 0 : .max }
        _ = Self.violations(of: events)
    }

    @Test func `a killed process leaves unfinished calls, not violations`() {
        let cut = GoodJournal.hold.events.prefix { $0.kind != .performHeld }
        let audit = Audit()
        #expect(cut.flatMap { audit.observe($0) } == [])
        #expect(audit.finish() == [])
        #expect(audit.unfinishedCalls == [JournalScript.alice])
    }

    @Test func `the same cut journal said to be complete is violated by what is missing`() {
        var options = Audit.Options()
        options.complete = true
        let cut = Array(GoodJournal.hold.events.prefix { $0.kind != .performHeld })
        #expect(Set(Self.violations(of: cut, options: options).map(\.rule)) == [.R10, .M8, .M9])
    }

    @Test func `a new run forgets what the killed one left, and tells of it`() {
        let audit = Audit()
        let events = Array(GoodJournal.hold.events.prefix { $0.kind != .performHeld }) + GoodJournal.echo.events
        #expect(events.flatMap { audit.observe($0) } + audit.finish() == [])
        #expect(audit.unfinishedCalls == [JournalScript.alice])
        #expect(audit.gaps.isEmpty)
    }

    @Test(arguments: GoodJournal.all)
    func `a good journal is good wherever it breaks off, and wherever it begins`(journal: GoodJournal) {
        for index in journal.events.indices {
            #expect(Self.violations(of: Array(journal.events[..<index])) == [], "up to event \(index)")
            #expect(Self.violations(of: Array(journal.events[index...])) == [], "from event \(index + 1)")
        }
    }

    @Test func `a complete run is judged as a whole when the next one begins`() {
        let unending = BrokenJournal.all.filter { $0.fault == "never ended" }
        #expect(unending.count == 1)
        let violations = Self.violations(of: unending[0].events + GoodJournal.echo.events)
        #expect(violations.map(\.rule) == [.R10])
    }

    @Test func `a call that begins in a cut journal is judged`() {
        let journal = BrokenJournal.all.filter { $0.fault == "BYE while media runs" }
        #expect(journal.count == 1)
        let violations = Self.violations(of: Array(journal[0].events.dropFirst(2)))
        #expect(violations.map(\.rule) == [.M4])
    }

    @Test(arguments: GoodJournal.all)
    func `a good journal is good wherever events of it are missing`(journal: GoodJournal) {
        for length in [1, 4, 16] {
            for start in journal.events.indices.dropLast(length) {
                let left = Array(journal.events[..<start] + journal.events[(start + length)...])
                #expect(Self.violations(of: left) == [], "without \(length) from event \(start + 1) on")
            }
        }
    }

    @Test func `missing sequence numbers are a gap, and the call that was up there cannot be judged`() {
        let audit = Audit()
        let left = GoodJournal.echo.events.filter { $0.kind != .dtmfReceived }
        #expect(left.flatMap { audit.observe($0) } + audit.finish() == [])
        #expect(audit.gaps.count == 1 && audit.gaps.allSatisfy { $0.before == $0.after + 2 })
        #expect(audit.unfinishedCalls == [JournalScript.alice] && audit.partialCalls == [JournalScript.alice])
    }

    @Test func `a call that is wished for in a cut journal is not one of which a part is missing`() {
        let audit = Audit()
        for (sequence, kind) in [(5, JournalEvent.Kind.transactionRequested), (6, .transactionAccepted), (7, .callEnded)] {
            #expect(audit.partialCalls.isEmpty)
            _ = audit.observe(
                JournalEvent(
                    sequence: UInt64(sequence), time: Instant(nanoseconds: 1), wall: 1, call: JournalScript.alice, line: "1", lane: "s0",
                    kind: kind, details: [:]))
        }
        #expect(audit.partialCalls == [JournalScript.alice])
    }

    @Test func `what is taken away is told of, and a violation where the rest is numbered anew`() {
        let events = GoodJournal.echo.events.filter { $0.kind != .callEnded }
        let audit = Audit()
        #expect(events.flatMap { audit.observe($0) } + audit.finish() == [])
        #expect(audit.gaps.count == 1 && audit.partialCalls == [JournalScript.alice])
        let anew = events.enumerated().map { index, event in
            var event = event
            event.sequence = UInt64(index + 1)
            return event
        }
        #expect(Self.violations(of: anew).map(\.rule) == [.R10])
    }

    private static func numbered(_ events: some Sequence<JournalEvent>, from first: Int) -> [JournalEvent] {
        events.enumerated().map { index, event in
            var event = event
            event.sequence = UInt64(first + index)
            return event
        }
    }

    /// With a gap before the event of this index.
    private static func gapped(_ events: [JournalEvent], at index: Int) -> [JournalEvent] {
        numbered(events[..<index], from: 1) + numbered(events[index...], from: index + 101)
    }

    private static func told(_ violation: Violation, as sequence: UInt64) -> JournalEvent {
        JournalEvent(
            sequence: sequence, time: Instant(nanoseconds: 1 << 50), call: violation.call, kind: .auditViolation,
            details: [.rule: .init(violation.rule.rawValue), .count: .init(violation.sequence), .text: .init(violation.sentence)])
    }

    /// The lines are configured before it.
    @Test(arguments: [
        (AuditRule.ID.M2, "started without the group's session"), (.M9, "deactivated while the other of the group is connected"),
        (.M2, "started twice"),
        (.R16, "two calls run"), (.M4, "never stopped"),
    ])
    func `a call that begins behind a gap is judged, and its session where each group has one`(rule: AuditRule.ID, fault: String) {
        var events = BrokenJournal.all.filter { $0.fault == fault && $0.rule == rule }[0].events
        // The gateway names the last call that it was for.
        for index in events.indices where events[index].kind == .sessionDeactivated && rule == .M9 {
            events[index].call = JournalScript.alice
        }
        let audit = Audit()
        let violations = Self.gapped(events, at: 2).flatMap { audit.observe($0) } + audit.finish()
        #expect(Set(violations.map(\.rule)) == [rule] && audit.gaps.count == 1 && audit.partialCalls.isEmpty, "\(violations)")
        #expect(audit.unjudgedSessionLines.isEmpty == (rule == .M9 || fault.hasPrefix("started without")))
    }

    @Test func `a session that is left active behind a gap is a violation`() {
        let events = GoodJournal.hold.events
        let last = events.lastIndex { $0.kind == .sessionDeactivated } ?? 0
        let left = Self.numbered(events[..<last] + events[(last + 1)...], from: 1)
        var options = Audit.Options()
        options.rules = [.M9]
        #expect(Self.violations(of: left, options: options).map(\.rule) == [.M9])
        #expect(Self.violations(of: Self.gapped(left, at: 2), options: options).map(\.rule) == [.M9])
    }

    /// That call's session was activated before the gap, or a session for both while it was connected.
    @Test(arguments: [true, false]) func `who joins a call from before a gap, or is joined by one, is not accused`(joins: Bool) {
        let alice = JournalScript.alice, bob = JournalScript.bob
        var script = JournalScript(scope: "perGroup")
        script.ring(alice)
        script.answer(alice, script.request("answer")[0])
        if joins {
            script.activate(alice)
            script.start(alice)
        }
        let gap = script.events.count
        let start = script.request("start", "group")
        script.call(bob, start[0])
        let (one, other) = joins ? (bob, alice) : (alice, bob)
        script.perform(.performGroup, one, start[1], with: other)
        script.fulfil(one, start[1])
        script.rings(bob)
        if !joins { script.activate(bob) }
        script.answered(bob)
        if !joins { script.start(alice) }
        script.start(bob)
        #expect(Self.violations(of: script.events) == [])
        let audit = Audit()
        #expect(Self.gapped(script.events, at: gap).flatMap { audit.observe($0) } + audit.finish() == [])
        #expect(audit.partialCalls == [alice, bob] || audit.partialCalls == [alice])
        #expect(audit.unjudgedSessionLines == ["1002"])
    }

    @Test func `what the gateway found in a call that cannot be judged any more is told of`() {
        let alice = JournalScript.alice, witness = Violation(rule: .R10, call: alice, sequence: 17, sentence: "a call ends once")
        let events = GoodJournal.echo.events
        let journal = { (left: [JournalEvent]) in left + [Self.told(witness, as: UInt64(events.count + 1))] }
        #expect(Self.violations(of: journal(events)) == [], "all is there to be judged again")
        let left = events.filter { $0.kind != .dtmfReceived }
        #expect(Self.violations(of: journal(left)) == [witness])
        var options = Audit.Options()
        options.rules.remove(.R10)
        #expect(Self.violations(of: journal(left), options: options) == [])
    }

    @Test(arguments: ["BYE while media runs", "never ended"]) func `what is found again behind a gap is told of once`(fault: String) {
        let live = Self.gapped(BrokenJournal.all.filter { $0.fault == fault }[0].events, at: 2)
        let violations = Self.violations(of: live)
        #expect(violations.count == 1)
        let journal = live + violations.map { Self.told($0, as: (live.last?.sequence ?? 0) + 1) }
        #expect(Self.violations(of: journal).map(\.rule) == violations.map(\.rule))
        #expect(
            Self.violations(of: live.filter { $0.kind != .performEnd } + journal.suffix(1)).map(\.rule) == violations.map(\.rule),
            "a second gap")
    }

    @Test func `a call that is up at two gaps is unfinished once`() {
        let audit = Audit()
        let left = GoodJournal.hold.events.filter {
            $0.kind != .sessionActivated && !($0.kind == .sipSent && $0.details.number(.cseq) == 5)
        }
        #expect(left.flatMap { audit.observe($0) } + audit.finish() == [])
        #expect(audit.gaps.count > 1 && audit.unfinishedCalls == [JournalScript.alice])
    }

    @Test func `a late event of a call that was over before a gap does not make it one that cannot be judged`() {
        let events = GoodJournal.bridge(scope: "perGroup").events
        let late = events.lastIndex { $0.kind == .sipReceived } ?? 0
        let audit = Audit()
        #expect(Self.gapped(events, at: late).flatMap { audit.observe($0) } + audit.finish() == [])
        #expect(audit.gaps.count == 1 && audit.partialCalls.isEmpty && audit.unfinishedCalls.isEmpty)
    }

    @Test(arguments: [JournalEvent.Kind.sipReceived, .sipSent])
    func `a call of which a re-INVITE comes first is one of which a part is missing`(kind: JournalEvent.Kind) {
        let events = kind == .sipSent ? GoodJournal.hold.events : GoodJournal.bridge(scope: "perGroup", reinvited: true).events
        let first = events.lastIndex { $0.kind == kind && $0.details.text(.method) == "INVITE" && $0.details.number(.status) == nil } ?? 0
        let audit = Audit()
        for event in events[first...].prefix(2) { #expect(audit.observe(event) == []) }
        #expect(audit.partialCalls == [events[first].call])
    }

    @Test func `the message that ends a reset call may be missing at a gap`() {
        let alice = JournalScript.alice
        var script = JournalScript(scope: "perGroup")
        script.ring(alice)
        script.answer(alice, script.request("answer")[0])
        script.received("ACK", alice)
        script.add(.providerReset)
        script.add(.callEnded, alice, [.reason: "reset"])
        script.close(alice)
        let gap = script.events.count
        let audit = Audit()
        #expect(Self.gapped(script.stop(), at: gap).flatMap { audit.observe($0) } + audit.finish() == [])
        #expect(audit.unfinishedCalls == [alice] && audit.partialCalls == [alice])
    }

    @Test func `a gap takes back nothing of what was before it, and what begins behind it is judged`() {
        let broken = BrokenJournal.all.filter { $0.fault == "BYE while media runs" }[0].events
        // The first call is over, and only what it lacks shows that it broke a rule.
        let incomplete = BrokenJournal.all.filter { $0.fault == "never completed" }[0].events.dropLast()
        let events = Self.numbered(incomplete, from: 1) + Self.numbered(broken.dropFirst(2), from: 1_000)
        let audit = Audit()
        let violations = events.flatMap { audit.observe($0) } + audit.finish()
        #expect(violations.map(\.rule) == [.R5, .M4] && audit.gaps.count == 1, "\(violations)")
    }

    /// Both sides count their requests from where they like.
    @Test func `a re-INVITE of the far end may have the number of our INVITE`() {
        let journal = GoodJournal.bridge(scope: "perLine", reinvited: true)
        let audit = Audit()
        #expect(journal.events.flatMap { audit.observe($0) } == [])
    }

    @Test func `calls that are over are forgotten after a while`() {
        var script = JournalScript()
        let audit = Audit()
        for number in 1...200 {
            let call = CallUUID(high: 7, low: UInt64(number))
            script.received("INVITE", call)
            script.sent("INVITE", call, status: 404)
            script.received("ACK", call)
            script.wait(.seconds(1))
        }
        var most = 0
        for event in script.events {
            #expect(audit.observe(event) == [])
            most = max(most, audit.rememberedCalls)
        }
        #expect(most > 60 && most < 80)
    }
}

extension JournalAuditTests {
    /// The page for people says what the rules say.
    @Test func `the documentation lists every rule with its statement`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../Sources/Engines/CallJournal/CallJournal.docc/TheProof.md"), encoding: .utf8)
        for rule in AuditRule.all { #expect(page.contains("| \(rule.id.rawValue) | \(rule.statement) |")) }
    }
}
