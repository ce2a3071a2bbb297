/// The part of a content that a request asks for (RFC 9110 §14.1.2, §14.2).
public enum ByteRange: Equatable, Sendable {
    case whole
    case part(Range<Int>)
    /// The part begins behind the end.
    case unsatisfiable

    /// - Parameters:
    ///   - field: the value of Range. What is no range of bytes, or several ranges, is ignored, as it may be.
    ///   - condition: the value of If-Range: where it is not this tag the whole is sent.
    ///   - length: of the whole.
    ///   - tag: the strong entity tag of the content, with its quotes.
    public init(_ field: String?, if condition: String? = nil, of length: Int, tag: String) {
        self = condition == nil || condition == tag ? field.flatMap { Self.parse($0, length) } ?? .whole : .whole
    }

    private static func parse(_ field: String, _ length: Int) -> ByteRange? {
        let halves = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].lowercased() == "bytes" else { return nil }
        let ends = halves[1].trimmingBlanks.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let count = number(ends[1]) else { return nil }
            return count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        }
        guard let first = number(ends[0]) else { return nil }
        guard !ends[1].isEmpty else { return first < length ? .part(first..<length) : .unsatisfiable }
        guard let last = number(ends[1]), last >= first else { return nil }
        return first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
    }

    /// Digits alone; more than fit are as many as there can be.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text).map { min($0, .max - 1) } ?? .max - 1
    }
}
