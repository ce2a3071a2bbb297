import Primitives

/// The violations that were found, until the journal tells of them as well: what it alone tells of was found while nothing was missing in
/// it.
/// A lack of a call at its end is found at another event where events are missing, and is known by its rule and call.
final class Findings {
    private struct Name: Hashable { let rule: AuditRule.ID, call: CallUUID?, sequence: UInt64? }

    private var found: Set<Name> = []
    /// Those that the journal alone told of, without their events.
    private var adopted: Set<Name> = []

    func note(_ violation: Violation) { found.insert(Name(rule: violation.rule, call: violation.call, sequence: violation.sequence)) }

    /// Notes a lack of a call at its end; false where the journal has told of it.
    func noteClosing(_ rule: AuditRule.ID, _ call: CallUUID?) -> Bool {
        let name = Name(rule: rule, call: call, sequence: nil)
        if adopted.contains(name) { return false }
        found.insert(name)
        return true
    }

    /// Whether it was found; it is told of once.
    func confirm(_ violation: Violation) -> Bool {
        found.remove(Name(rule: violation.rule, call: violation.call, sequence: violation.sequence)) != nil
            || found.remove(Name(rule: violation.rule, call: violation.call, sequence: nil)) != nil
    }

    func adopt(_ violation: Violation) { adopted.insert(Name(rule: violation.rule, call: violation.call, sequence: nil)) }

    func removeAll() { (found, adopted) = ([], []) }
}
