import Primitives

extension Parameters {
    /// The `q` of a Contact in thousandths, 0 to 1000; 1000 when it says nothing (RFC 3261 §20.10).
    public var preference: Int { value(of: "q").flatMap(Self.thousandths) ?? 1_000 }

    /// `0.5` or `1.000`; nil for anything else.
    private static func thousandths(_ text: Text) -> Int? {
        let parts = text.bytes.split(separator: 0x2E, omittingEmptySubsequences: false).map { Text($0) }
        guard parts.count <= 2, let whole = parts[0].integer(Int.self), whole <= 1 else { return nil }
        guard parts.count == 2, !parts[1].isEmpty else { return whole * 1_000 }
        guard parts[1].count <= 3, let fraction = parts[1].integer(Int.self) else { return nil }
        let value = whole * 1_000 + fraction * [100, 10, 1][parts[1].count - 1]
        return value <= 1_000 ? value : nil
    }
}
