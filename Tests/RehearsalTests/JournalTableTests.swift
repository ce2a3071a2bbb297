import Gateway
import Rehearsal
import Testing

/// The table of kinds and details, which the reference is made from, is what a gateway writes.
@Suite struct JournalTableTests {
    @Test(arguments: [1, 5] as [UInt64]) func `events carry the details of the table`(seed: UInt64) {
        let rehearsal = Rehearsal(RehearsalSettings(seed: seed))
        _ = rehearsal.run()
        let events = rehearsal.transcript().events
        for event in events { #expect(event.offences.isEmpty) }
        #expect(Set(events.map(\.kind)).count > 35)
    }
}

extension JournalEvent {
    /// Details that the table of kinds does not have, details of the table that are missing, and numbers where text is said or the reverse.
    var offences: [String] {
        let details = kind.explanation.details, known = details.map(\.key), present = self.details.fields.map(\.key)
        let missing = details.filter { !$0.isOptional && !present.contains($0.key) }
        let confused = self.details.fields.filter { field in
            if case .number = field.value { !field.key.isNumber } else { field.key.isNumber }
        }
        return present.filter { !known.contains($0) }.map { "\(kind.rawValue) has \($0.rawValue)" }
            + confused.map { "\(kind.rawValue): \($0.key.rawValue) is '\($0.value.text)'" }
            + missing.map { "\(kind.rawValue) has no \($0.key.rawValue)" }
    }
}
