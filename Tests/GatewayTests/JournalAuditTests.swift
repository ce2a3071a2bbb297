import Foundation
import Gateway
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
                    sequence: UInt64(sequence), time: Instant(nanoseconds: 1), wall: 1, call: JournalScript.alice, line: "1", lane: "s0", kind: kind, details: [:]))
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

    @Test func `a gap takes back nothing of what was before it, and what begins behind it is judged`() {
        func numbered(_ events: [JournalEvent], from first: Int) -> [JournalEvent] {
            events.enumerated().map { index, event in
                var event = event
                event.sequence = UInt64(first + index)
                return event
            }
        }
        let broken = BrokenJournal.all.filter { $0.fault == "BYE while media runs" }[0].events
        // The first call is over, and only what it lacks shows that it broke a rule.
        let incomplete = BrokenJournal.all.filter { $0.fault == "never completed" }[0].events.dropLast()
        let events = numbered(Array(incomplete), from: 1) + numbered(Array(broken.dropFirst(2)), from: 1_000)
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
        let page = try String(contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Gateway/Gateway.docc/TheProof.md"), encoding: .utf8)
        for rule in AuditRule.all { #expect(page.contains("| \(rule.id.rawValue) | \(rule.statement) |")) }
    }
}
