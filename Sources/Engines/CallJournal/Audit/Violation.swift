import Primitives

/// A rule of the audit that an event broke.
public struct Violation: Equatable, Sendable, CustomStringConvertible {
    /// The rule that was broken.
    public let rule: AuditRule.ID
    /// How much it matters.
    public let level: Level
    /// nil where the rule is about a line, a session or a port.
    public let call: CallUUID?
    /// The sequence number of the event that broke it; for what is missing at the end, that of the last event.
    public let sequence: UInt64
    /// The expectation, for a person.
    public let sentence: String

    /// How much a violation matters.
    public enum Level: Hashable, Sendable {
        /// The contract is broken.
        case fault
        /// An app on its own line does what telephones put up with, and what is better not done.
        case advice
    }

    /// - `level`: how much it matters.
    /// - `sequence`: of the event that broke it.
    /// - `sentence`: what was expected, for a person.
    public init(rule: AuditRule.ID, level: Level = .fault, call: CallUUID?, sequence: UInt64, sentence: String) {
        (self.rule, self.level, self.call, self.sequence, self.sentence) = (rule, level, call, sequence, sentence)
    }

    /// The violation that an `audit.violation` or `audit.advice` tells of; nil where it names no rule of ours.
    init?(toldBy event: borrowing JournalEvent) {
        guard let rule = event.details.text(.rule).flatMap({ AuditRule.ID(rawValue: $0.description) }) else { return nil }
        let sequence = event.details.number(.count).flatMap(UInt64.init(exactly:)) ?? event.sequence
        self.init(
            rule: rule, level: event.kind == .auditAdvice ? .advice : .fault, call: event.call, sequence: sequence,
            sentence: event.details.text(.text)?.description ?? "")
    }

    /// `R3 at event 17, call …: the sentence`
    public var description: String {
        "\(rule.rawValue) at event \(sequence)\(call.map { ", call \($0)" } ?? ""): \(sentence)"
    }
}
