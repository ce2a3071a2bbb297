import Primitives

/// A rule over the ordered journal: a pure predicate of one event and of what came before it.
///
/// R rules are about calls and signalling, M rules about media; the numbers are those of the design. What each means exactly is said at
/// its declaration.
public final class AuditRule: Sendable {
    /// The number of a rule in the design; it stays the same for ever.
    public enum ID: String, CaseIterable, Hashable, Sendable {
        /// Calls and signalling.
        case R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17, R18, R19, R20, R21
        /// Media.
        case M1, M2, M3, M4, M5, M5s, M6, M7, M8, M9, M10, M11, M12, M13, M14, M15
    }

    /// Its number.
    public let id: ID
    /// One line for a person.
    public let statement: String
    /// The events that can break it.
    let kinds: [JournalEvent.Kind]
    /// The expectation, if the event breaks the rule. The facts are those before the event; `current` are those of its call.
    let check: @Sendable (JournalEvent, AuditFacts) -> String?
    /// Whether a break at this event is no fault but advice, as it may be on the line of an app. Facts as for `check`.
    let isAdvice: @Sendable (JournalEvent, AuditFacts) -> Bool
    /// The expectation, if a call that is over broke the rule by an event that is missing.
    let checkClosing: (@Sendable (CallFacts, AuditFacts) -> String?)?

    init(
        _ id: ID, _ statement: String, on kinds: [JournalEvent.Kind], check: @escaping @Sendable (JournalEvent, AuditFacts) -> String?,
        isAdvice: @escaping @Sendable (JournalEvent, AuditFacts) -> Bool = { _, _ in false },
        closing checkClosing: (@Sendable (CallFacts, AuditFacts) -> String?)? = nil
    ) {
        (self.id, self.statement, self.kinds, self.check, self.isAdvice) = (id, statement, kinds, check, isAdvice)
        self.checkClosing = checkClosing
    }

    /// A rule with its check beside it: reading that out of the rule would retain the rule, for each event.
    struct Check: Sendable {
        let rule: AuditRule
        let body: @Sendable (JournalEvent, AuditFacts) -> String?

        init(_ rule: AuditRule) { (self.rule, body) = (rule, rule.check) }
    }

    /// Every rule, in the order of `ID`.
    public static let all: [AuditRule] = [
        r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21, m1, m2, m3, m4, m5, m5s, m6, m7, m8,
        m9, m10, m11, m12, m13, m14, m15,
    ]
}

/// The event kinds that several rules look at.
extension [JournalEvent.Kind] {
    static let performs: Self = JournalEvent.Kind.allCases.filter(\.isPerform)
    static let sip: Self = [.sipSent, .sipReceived]
    static let completions: Self = [.actionFulfilled, .actionFailed, .actionTimedOut]
}
