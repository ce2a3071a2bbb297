import Primitives

/// The side that ended a call, as its line sees it.
public enum CallEnder: String, Sendable, CaseIterable {
    /// The line: an end action was performed. A program or a user asked for it, or the call that it talked with ended.
    case local
    /// The far end: BYE, CANCEL or a final response.
    case remote
    /// Neither: a failure, or a limit.
    case gateway

    private static let texts = allCases.map { Text($0.rawValue) }

    /// Its name, which is made once.
    package var text: Text { Self.texts[Self.allCases.firstIndex(of: self)!] }
}
