import Primitives

extension URI {
    /// Whether both name the same resource: RFC 3261 §19.1.4 for sip and sips, RFC 3966 §5 for tel, bytes for other schemes.
    ///
    /// Users compare by case with needless escapes undone, everything else without case. A `user`, `ttl`, `method`, `maddr` or
    /// `transport` parameter of one alone is a difference; other parameters count when both have them. Headers must be the same.
    public func isEquivalent(to other: URI) -> Bool {
        guard scheme.isSame(as: other.scheme) else { return false }
        switch layout.kind {
        case .sip, .sips:
            return Self.comparable(user) == Self.comparable(other.user) && Self.comparable(password) == Self.comparable(other.password)
                && hasSameHost(as: other) && port == other.port && parametersAgree(with: other) && headersAgree(with: other)
        case .tel: return Self.digits(user) == Self.digits(other.user) && telParametersAgree(with: other)
        case .other: return layout.user.count == other.layout.user.count && user == other.user
        }
    }

    private func hasSameHost(as other: URI) -> Bool {
        if let address, let otherAddress = other.address { return address == otherAddress }
        return host.equalsIgnoringCase(other.host)
    }

    private func parametersAgree(with other: URI) -> Bool {
        let mine = parameters
        for name in ["user", "ttl", "method", "maddr", "transport"] as [StaticString]
        where mine.contains(name) != other.parameters.contains(name) { return false }
        let theirs = Self.byName(other.parameters)
        return mine.all.allSatisfy { name, value in
            guard let counterpart = theirs[name.lowercased] else { return true }
            return counterpart.percentDecoded.equalsIgnoringCase(value.percentDecoded)
        }
    }

    /// The first of each name: looking for each in the text would take the square of what a stranger sends.
    private static func byName(_ parameters: Parameters) -> [Text: Text] {
        Dictionary(parameters.all.map { ($0.name.lowercased, $0.value) }) { first, _ in first }
    }

    private func telParametersAgree(with other: URI) -> Bool {
        let mine = parameters.all
        let theirs = Self.byName(other.parameters)
        return mine.count == other.parameters.all.count
            && mine.allSatisfy { name, value in theirs[name.lowercased].map { Self.digits($0) == Self.digits(value) } ?? false }
    }

    private func headersAgree(with other: URI) -> Bool {
        Self.sortedHeaders(headers) == Self.sortedHeaders(other.headers)
    }

    private static func sortedHeaders(_ headers: Text?) -> [[UInt8]] {
        guard let headers else { return [] }
        return headers.bytes.split(separator: 0x26).map { field in
            let parts = field.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            return parts[0].map(asciiLowercased) + [0x3D] + (parts.count == 2 ? Array(Text(parts[1]).percentDecoded.bytes) : [])
        }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Escapes of characters that need none are undone; those of the reserved set stay, in upper case (RFC 3261 §19.1.4).
    private static func comparable(_ text: Text?) -> Text? {
        guard let text, text.bytes.contains(0x25) else { return text }
        let reserved = Text(";/?:@&=+$,%")
        var result: [UInt8] = []
        var at = text.bytes.startIndex
        while at < text.bytes.endIndex {
            let escape = Text(text.bytes[at..<min(at + 3, text.bytes.endIndex)])
            let decoded = escape.percentDecoded
            if decoded.count == 1, escape.count == 3 {
                result +=
                    reserved.bytes.contains(decoded.bytes[0]) ? escape.bytes.map { $0 >= 0x61 ? $0 & 0xDF : $0 } : Array(decoded.bytes)
                at += 3
            } else {
                result.append(text.bytes[at])
                at += 1
            }
        }
        return Text(result)
    }

    /// A telephone number without its visual separators, letters in lower case.
    private static func digits(_ text: Text?) -> [UInt8] {
        (text?.bytes ?? []).filter { $0 != 0x2D && $0 != 0x2E && $0 != 0x28 && $0 != 0x29 }.map(asciiLowercased)
    }
}

extension URI.Scheme {
    fileprivate func isSame(as other: Self) -> Bool {
        if case (.other(let mine), .other(let theirs)) = (self, other) { return mine.equalsIgnoringCase(theirs) }
        return self == other
    }
}
