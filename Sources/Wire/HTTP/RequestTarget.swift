/// The target of a request: the segments of its path and the items of its query, percent-decoded (RFC 3986 §3.3, §3.4).
///
/// No segment is `.` or `..`, and none has a NUL: a path never leads out of where it is looked for.
public struct RequestTarget: Sendable, Hashable {
    /// As it came, in origin form: path and query, still encoded. `*` for OPTIONS of the whole server.
    public let text: String
    /// The segments of the path, decoded; that of `/` has none. An empty last one says that the path ends in a slash.
    public let segments: [String]
    /// `name=value`, decoded, in their order; a plus is a blank. An item without `=` has an empty value.
    public let query: [(name: String, value: String)]

    /// nil for what is no target in origin form, in absolute form (which every server takes, RFC 9112 §3.2.2), or `*`.
    public init?(_ target: some StringProtocol) {
        guard let origin = Self.origin(of: target) else { return nil }
        text = origin
        guard origin != "*" else {
            (segments, query) = ([], [])
            return
        }
        let halves = origin.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let raw = halves[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var segments: [String] = []
        for segment in raw {
            guard let decoded = Self.decoded(segment), decoded != ".", decoded != "..", !decoded.utf8.contains(0) else { return nil }
            segments.append(decoded)
        }
        self.segments = segments == [""] ? [] : segments
        guard let query = Self.items(halves.count > 1 ? halves[1] : "") else { return nil }
        self.query = query
    }

    /// The value of the first item of this name.
    public subscript(name: String) -> String? { query.first { $0.name == name }?.value }

    public static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    private static func origin(of target: some StringProtocol) -> String? {
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else { return nil }
        if target == "*" || target.hasPrefix("/") { return String(target) }
        let scheme = target.lowercased().hasPrefix("https://") ? 8 : 7
        guard scheme == 8 || target.lowercased().hasPrefix("http://") else { return nil }
        let rest = target.dropFirst(scheme).drop { $0 != "/" && $0 != "?" }
        return rest.hasPrefix("/") ? String(rest) : "/" + rest
    }

    private static func items(_ text: Substring) -> [(name: String, value: String)]? {
        var items: [(name: String, value: String)] = []
        for item in text.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0], inQuery: true), let value = decoded(parts.count > 1 ? parts[1] : "", inQuery: true) else {
                return nil
            }
            items.append((name, value))
        }
        return items
    }

    /// nil where a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
    static func decoded(_ text: Substring, inQuery: Bool = false) -> String? {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return String(text) }
        var bytes: [UInt8] = [], rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal) else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where inQuery: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The value of a hexadecimal digit; nil for any other byte.
func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
