/// A rule over the ordered journal (see the doc comment of each in `AuditRule+…`).
public struct AuditRule: Sendable {
    public enum ID: String, CaseIterable, Hashable, Sendable {
        case R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17, R18
        case M1, M2, M3, M4, M5, M5s, M6, M7, M8, M9, M10
    }

    public let id: ID
    /// One line for a person.
    public let statement: String
}
