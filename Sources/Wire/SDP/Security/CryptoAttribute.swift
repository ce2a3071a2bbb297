import Primitives

/// A suite, a key and a number for them: the value of one `a=crypto` (RFC 4568 §4).
struct CryptoAttribute: Hashable, Sendable {
    /// The number of the attribute, by which an answer names the one of the offer that it takes.
    var tag: Int
    var key: SRTPKey

    init(tag: Int, key: SRTPKey) { (self.tag, self.key) = (tag, key) }

    /// Nil for what is malformed, and for what we do not do: other suites, several keys or one with an identifier in every packet (MKI),
    /// new session keys now and then (KDR), and packets that are not encrypted or not authenticated.
    init?(parsing value: Text) {
        let fields = value.fields
        guard fields.count >= 3, let tag = Self.tag(fields[0]), let suite = SRTPSuite(name: fields[1]), let key = Self.key(suite, fields[2])
        else { return nil }
        guard fields[3...].allSatisfy(Self.isHarmless) else { return nil }
        self.init(tag: tag, key: key)
    }

    var attribute: SessionDescription.Attribute {
        let inline = key.withMaterial { Base64.encode($0) }
        return .init("crypto", Text(tag) + " " + key.suite.name + " inline:" + Text(inline))
    }

    /// One to nine digits without a zero in front.
    private static func tag(_ text: Text) -> Int? {
        guard text.count <= 9, text.bytes.first != UInt8(ascii: "0") || text.count == 1 else { return nil }
        return text.integer(Int.self)
    }

    /// `inline:KEY[|LIFETIME]`. A lifetime binds the side that sends with the key, and none that the RFC allows ends before the call does.
    private static func key(_ suite: SRTPSuite, _ parameter: Text) -> SRTPKey? {
        guard parameter.bytes.count < 256, parameter.lowercased.hasPrefix("inline:"), !parameter.bytes.contains(UInt8(ascii: ";")) else {
            return nil
        }
        let pieces = parameter.bytes.dropFirst(7).split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        guard let first = pieces.first, pieces.count <= 2, pieces.count == 1 || isLifetime(Text(pieces[1])) else { return nil }
        guard let material = Base64.decode(first) else { return nil }
        return SRTPKey(suite, material)
    }

    /// Packets, in digits or as a power of two; at most 2^48 (RFC 3711 §9.2).
    private static func isLifetime(_ text: Text) -> Bool {
        if text.hasPrefix("2^") { return Text(text.bytes.dropFirst(2)).integer(Int.self).map { 1...48 ~= $0 } ?? false }
        return text.integer(UInt64.self).map { 1...(1 << 48) ~= $0 } ?? false
    }

    /// A window that the peer hints at, a rate of 0, and what may be ignored (RFC 4568 §6.3).
    private static func isHarmless(_ parameter: Text) -> Bool {
        parameter == "KDR=0" || parameter.hasPrefix("WSH=") || parameter.hasPrefix("-")
    }
}
