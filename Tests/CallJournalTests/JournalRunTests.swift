import CallJournal
import Primitives
import Testing

@Suite struct JournalRunTests {
    private static func event(_ sequence: UInt64, _ kind: JournalEvent.Kind, _ details: JournalEvent.Details = [:]) -> JournalEvent {
        JournalEvent(sequence: sequence, time: Instant(nanoseconds: sequence), kind: kind, details: details)
    }

    private static func positions(_ events: [JournalEvent]) -> [String] {
        var runs = JournalRuns()
        return events.map { event in
            runs.note(event)
            return runs.current.position(event.sequence)
        }
    }

    @Test func `a run begins with its start, or where the numbers go back`() {
        let events = [
            Self.event(1, .gatewayStarted), Self.event(2, .portFree), Self.event(1, .gatewayStarted), Self.event(2, .portFree),
            Self.event(9, .portFree), Self.event(4, .portFree), Self.event(4, .portFree),
        ]
        #expect(Self.positions(events) == ["1.1", "1.2", "2.1", "2.2", "2.9", "3.4", "4.4"])
    }

    @Test func `a run is named by its identifier where the journal has one`() {
        let events = [
            Self.event(7, .portFree), Self.event(1, .gatewayStarted, [.run: "5B4E7C36-FF65-4837-8F5D-C1CB53AF67E2", .version: "0.2"]),
            Self.event(2, .portFree), Self.event(1, .gatewayStarted, [.run: "short"]),
        ]
        #expect(Self.positions(events) == ["1.7", "5B4E7C36.1", "5B4E7C36.2", "short.1"])
        var runs = JournalRuns()
        let begun = events.map { runs.note($0) }
        #expect(begun == [false, true, false, true] && runs.current.number == 3)
    }

    // MARK: What an audit says is missing

    private static func audit(_ events: [JournalEvent]) -> Audit {
        let audit = Audit()
        for event in events { _ = audit.observe(event) }
        _ = audit.finish()
        return audit
    }

    @Test func `missing events are counted, and those that a line stands for`() {
        let audit = Self.audit([
            Self.event(1, .gatewayStarted), Self.event(5, .portFree), Self.event(9, .journalLost, [.count: 4, .calls: 3]),
            Self.event(10, .portFree),
        ])
        #expect(audit.gaps.map(\.missing) == [3, 4] && audit.missingCalls == 3 && audit.events == 3)
        #expect(audit.gaps.map { $0.run.position($0.before) } == ["1.5", "1.10"])
    }

    @Test func `calls that began where events are missing are counted by run`() {
        let call = CallUUID(high: 1, low: 1)
        func started(_ sequence: UInt64) -> JournalEvent {
            JournalEvent(sequence: sequence, time: Instant(nanoseconds: sequence), call: call, line: "1", kind: .performStart)
        }
        let audit = Self.audit([
            Self.event(1, .gatewayStarted), started(2), Self.event(20, .journalLost, [.count: 18, .calls: 5]), started(21),
            Self.event(30, .journalLost, [.count: 9, .calls: 8]), Self.event(1, .gatewayStarted),
            Self.event(3, .journalLost, [.count: 2, .calls: 1]),
        ])
        #expect(audit.missingCalls == 4 + 2 + 1)
        #expect(audit.gaps.map(\.missing) == [18, 9, 2])
    }

    @Test func `where the numbers go back without a start, what is missing before is counted, and it is another run`() {
        let audit = Self.audit([Self.event(1, .gatewayStarted), Self.event(50, .portFree), Self.event(3, .portFree)])
        #expect(audit.gaps.map(\.missing) == [48, 2])
        #expect(audit.gaps.map { "\($0.earlierRun.position($0.after)) \($0.run.position($0.before))" } == ["1.1 1.50", "1.50 2.3"])
    }
}
