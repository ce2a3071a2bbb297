import Gateway
import Primitives
import Testing

@Suite struct JournalAuditTests {
    static func violations(of events: [JournalEvent], options: Audit.Options = .init()) -> [Violation] {
        var audit = Audit(options: options)
        var found: [Violation] = []
        for event in events { found += audit.observe(event) }
        return found + audit.finish()
    }

    @Test(arguments: GoodJournal.all)
    func `a good journal breaks no rule`(journal: GoodJournal) {
        #expect(Self.violations(of: journal.events) == [])
    }
}
