import Primitives
import SIP

/// The line that a dialled number reaches: the line of that number, else the longest pattern that matches, those of the domain that was
/// called first.
struct Routing {
    private var byNumber: [Text: Int] = [:]
    private var patterns: [(pattern: NumberPattern?, domain: Text?, line: Int)] = []
    private var domains: [Int: Text] = [:]

    /// - Parameter places: the index of each line; nil: in their order.
    init(_ lines: [LineConfiguration], places: [Int]? = nil) {
        for (position, line) in lines.enumerated() {
            let index = places?[position] ?? position
            byNumber[line.number] = index
            domains[index] = line.domain
            if line.match != nil || line.domain != nil { patterns.append((line.match, line.domain, index)) }
        }
        patterns.sort { Self.rank($0.pattern, $0.domain) > Self.rank($1.pattern, $1.domain) }
    }

    private static func rank(_ pattern: NumberPattern?, _ domain: Text?) -> (Int, Int) {
        (domain == nil ? 0 : 1, pattern?.description.utf8.count ?? 0)
    }

    /// The index of the line, or nil where nobody has the number.
    /// - Parameter host: of the URI that was called.
    func line(for number: Text, host: Text?) -> Int? {
        if let line = byNumber[number], isIn(domains[line], host) { return line }
        return patterns.first { isIn($0.domain, host) && $0.pattern?.matches(number) ?? true }?.line
    }

    private func isIn(_ domain: Text?, _ host: Text?) -> Bool { domain.map { host?.equalsIgnoringCase($0) == true } ?? true }

    /// The index of the line that has just this number.
    func line(numbered number: Text) -> Int? { byNumber[number] }

    /// The number that a URI dials: the one that it names, but for escapes that mean something else without them (RFC 3261 §19.1.4).
    func dialledNumber(_ uri: URI) -> Text? { uri.escapesReserved ? nil : namedNumber(uri) }

    /// The number that a URI names, as whoever reads it may understand it: the user part of a SIP URI with its escapes decoded, as phones
    /// send the "#" of a feature code, or the number of a tel URI without its visual separators. nil where nobody can have it: with a
    /// control character, with a "%", which would be an escape again, or of nothing but separators.
    func namedNumber(_ uri: URI) -> Text? {
        switch uri.scheme {
        case .sip, .sips:
            uri.decodedUser.flatMap { user in
                user.bytes.contains { $0 == 0x25 || $0 < 0x20 || $0 == 0x7F } ? nil : subscriber(user, isTelephone: uri.isTelephone)
            }
        case .tel: (uri.user ?? uri.host).withoutSeparators.ifAny
        case .other: nil
        }
    }

    /// The number of a caller, as it may stand in a URI and in a handle.
    func callerNumber(_ uri: URI) -> Text? {
        uri.isSIP ? uri.plainUser.flatMap { subscriber($0, isTelephone: uri.isTelephone) } : dialledNumber(uri)
    }

    /// The number in a user part that is a telephone-subscriber (RFC 3261 §19.1.6): without its parameters (RFC 4694, RFC 4904) and its
    /// visual separators (RFC 3966 §5.1.1). Parameters behind a number are such also where the URI does not say so. Whom a line is named
    /// after is nobody else.
    private func subscriber(_ user: Text, isTelephone: Bool) -> Text? {
        let number = Text(user.bytes.prefix { $0 != UInt8(ascii: ";") })
        guard byNumber[user] == nil, !number.isEmpty else { return user }
        guard number.isDialled else { return isTelephone ? number : user }
        return isTelephone ? number.withoutSeparators.ifAny : number
    }
}

extension URI {
    /// Whether its user part is a telephone-subscriber (RFC 3261 §19.1.1).
    fileprivate var isTelephone: Bool { parameters.value(of: "user")?.equalsIgnoringCase("phone") ?? false }
}

extension Text {
    /// Nothing but what a telephone has keys for, and visual separators.
    fileprivate var isDialled: Bool { bytes.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || "+*#-.()".utf8.contains($0) } }

    fileprivate var ifAny: Text? { isEmpty ? nil : self }

    fileprivate var withoutSeparators: Text { Text(bytes.filter { !"-.() ".utf8.contains($0) }) }
}
