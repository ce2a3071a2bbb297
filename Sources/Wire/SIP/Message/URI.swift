import Primitives

/// A `sip:`, `sips:` or `tel:` URI, or one of another scheme kept as it is (RFC 3261 §19.1, RFC 3966).
///
/// A buffer and where the parts are in it: taking one out of a message copies nothing. The text is kept as it came; setting a
/// part writes the URI anew. Parts are wire text, that is with their %-escapes; `decodedUser` is for people and routes.
/// `==` compares the text; `isEquivalent(to:)` is RFC 3261's comparison.
public struct URI: Hashable, Sendable, CustomStringConvertible {
    /// The part before the colon.
    public enum Scheme: Hashable, Sendable {
        /// Schemes whose parts are read; compared without case.
        case sip, sips, tel
        /// Any other, as it is written; all that follows the colon is one part.
        case other(Text)
    }

    /// The places of the parts. An empty extent is an absent part.
    @usableFromInline struct Layout: Sendable {
        @usableFromInline enum SchemeKind: UInt8, Sendable { case sip, sips, tel, other }

        @usableFromInline var whole = Extent.none
        @usableFromInline var scheme = Extent.none
        /// The number of a `tel:` URI; all of what follows the colon for other schemes.
        @usableFromInline var user = Extent.none
        @usableFromInline var password = Extent.none
        @usableFromInline var host = Extent.none
        @usableFromInline var parameters = Extent.none
        @usableFromInline var headers = Extent.none
        /// -1 without a port.
        @usableFromInline var port: Int32 = -1
        @usableFromInline var kind = SchemeKind.other
    }

    @usableFromInline private(set) var buffer: [UInt8]
    @usableFromInline private(set) var layout: Layout

    @inlinable init(buffer: [UInt8], layout: Layout) { (self.buffer, self.layout) = (buffer, layout) }

    /// The whole text must be one URI.
    public init(parsing text: Text) throws(SyntaxError) { try self.init(reading: Array(text.bytes)) }

    private init(reading buffer: [UInt8]) throws(SyntaxError) {
        self.buffer = buffer
        layout = try buffer.read { reader throws(SyntaxError) in
            var layout = Layout()
            try layout.read(&reader)
            guard reader.isAtEnd else { throw .malformed }
            return layout
        }
    }

    /// A `sip:` or `sips:` URI of parts. What may not stand in a user part is %-escaped; escapes that are there already are kept.
    /// - Precondition: `host` is a host name, an IPv4 address or an IPv6 address (brackets are added where they are missing).
    public init(scheme: Scheme = .sip, user: Text? = nil, host: Text, port: UInt16? = nil, parameters: Parameters = Parameters()) {
        let made = URI.made(
            scheme: scheme, user: user?.asWritten, password: nil, host: host, port: port, parameters: parameters, headers: nil)
        guard let made else { preconditionFailure("not a host: \(host)") }
        self = made
    }

    /// `sip:user@address:port`.
    public init(scheme: Scheme = .sip, user: Text? = nil, address: SocketAddress, parameters: Parameters = Parameters()) {
        self.init(scheme: scheme, user: user, host: Text("\(address.address)"), port: address.port, parameters: parameters)
    }

    /// The URI as it stands on the wire.
    @inlinable public var text: Text { buffer[layout.whole] }
    public var description: String { text.description }

    public static func == (left: URI, right: URI) -> Bool { left.text == right.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The kind of URI.
    public var scheme: Scheme {
        switch layout.kind {
        case .sip: .sip
        case .sips: .sips
        case .tel: .tel
        case .other: .other(buffer[layout.scheme])
        }
    }

    /// Whether it is `sip:` or `sips:`, with a host to send to.
    @inlinable public var isSIP: Bool { layout.kind == .sip || layout.kind == .sips }

    /// The user part without password; the number of a `tel:` URI. Wire text.
    public var user: Text? {
        @inlinable get { layout.user.isEmpty ? nil : buffer[layout.user] }
        set { remake(user: .some(newValue?.asWritten)) }
    }

    /// The user with its %-escapes decoded.
    public var decodedUser: Text? { user?.percentDecoded }

    /// Whether an escape in the user part stands for a reserved character: it is none of that character, and ends no number (RFC 3261
    /// §19.1.4). "+" is escaped by telephones that mean it.
    public var escapesReserved: Bool { user.map { $0.escapedBytes.contains { ";/?:@&=$,".utf8.contains($0) } } ?? false }

    /// The user as most write it: without escapes where none of them is needed, else as on the wire; safe to stand in a URI.
    public var plainUser: Text? {
        user.map { user in
            let isNeeded = user.escapedBytes.contains { !CharacterSet.unreserved.contains($0) && $0 != 0x2B && $0 != 0x23 }
            return isNeeded ? user : user.percentDecoded
        }
    }

    /// The password behind the user, which RFC 3261 §19.1.1 advises against; wire text.
    public var password: Text? { layout.password.isEmpty ? nil : buffer[layout.password] }

    /// Host name or address as written: IPv6 in brackets. Empty unless the scheme is sip or sips.
    @inlinable public var host: Text { buffer[layout.host] }

    /// The host when it is an address.
    public var address: IPAddress? { host.referredAddress }

    /// The host that a request for it is sent to: an address in `maddr`, else its own (RFC 3261 §19.1.1, RFC 3263 §4). A name in `maddr` is
    /// not looked up.
    public var targetHost: Text {
        guard isSIP, let maddr = parameters.value(of: "maddr"), maddr.referredAddress != nil else { return host }
        return maddr
    }

    /// The same when it is an address.
    public var targetAddress: IPAddress? { targetHost.referredAddress }

    /// The port; nil where none is written, which means that of the transport.
    public var port: UInt16? {
        @inlinable get { layout.port < 0 ? nil : UInt16(truncatingIfNeeded: layout.port) }
        set { remake(port: .some(newValue)) }
    }

    /// The parameters behind the host, or behind the number of a `tel:` URI.
    public var parameters: Parameters {
        get { Parameters(checked: buffer[layout.parameters]) }
        set { remake(parameters: newValue) }
    }

    /// The part behind "?", without it.
    public var headers: Text? {
        get { layout.headers.isEmpty ? nil : buffer[layout.headers] }
        set { remake(headers: .some(newValue)) }
    }

    /// The `transport` parameter, in lower case.
    public var transport: Text? { parameters.value(of: "transport")?.lowercased }

    /// Whether it names a loose router (RFC 3261 §16.12).
    public var isLooseRouter: Bool { parameters.contains("lr" as StaticString) }

    /// Whether a request can be sent to it: a SIP URI, no longer than a Request-URI may be (`Limits.requestURI`).
    public var isUsableAsRequestURI: Bool { isSIP && layout.whole.count <= Limits.requestURI }

    /// Without headers and method, which have no place in a Request-URI or in the Contact of a dialog (RFC 3261 §19.1.1 table 1).
    public var asRequestURI: URI {
        guard isSIP, !layout.headers.isEmpty || !layout.parameters.isEmpty else { return self }
        var uri = self
        if headers != nil { uri.headers = nil }
        if parameters.contains("method" as StaticString) { uri.parameters["method"] = nil }
        return uri
    }

    /// Host and port replaced together.
    /// - Precondition: `host` is a host.
    public mutating func setHost(_ host: Text, port: UInt16?) { remake(host: host, port: .some(port)) }

    private mutating func remake(
        user: Text?? = .none, host: Text? = nil, port: UInt16?? = .none, parameters: Parameters? = nil, headers: Text?? = .none
    ) {
        let made = URI.made(
            scheme: scheme, user: user ?? self.user, password: password, host: host ?? self.host, port: port ?? self.port,
            parameters: parameters ?? self.parameters, headers: headers ?? self.headers)
        guard let made else { preconditionFailure("not a part of a URI") }
        self = made
    }
}

extension URI {
    /// Writes a URI of its parts and reads it back, so that what is made is what a peer would accept.
    private static func made(
        scheme: Scheme, user: Text?, password: Text?, host: Text, port: UInt16?, parameters: Parameters, headers: Text?
    ) -> URI? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((user?.count ?? 0) + host.count + parameters.text.count + 16)
        switch scheme {
        case .sip: bytes += "sip:" as StaticString
        case .sips: bytes += "sips:" as StaticString
        case .tel: bytes += "tel:" as StaticString
        case .other(let name): bytes += name + ":"
        }
        let isSIP = scheme == .sip || scheme == .sips
        // There is no user part without a character (RFC 3261 §25.1).
        if let user, !(isSIP && user.isEmpty) {
            if isSIP { bytes.append(escaping: user, keeping: .user) } else { bytes += user }
            if let password { bytes.append(0x3A); bytes.append(escaping: password, keeping: .password) }
            if isSIP { bytes.append(0x40) }
        }
        let needsBrackets = host.bytes.contains(0x3A) && host.bytes.first != 0x5B
        bytes += needsBrackets ? "[" + host + "]" : host
        if let port { bytes.append(0x3A); bytes.append(decimal: port) }
        bytes.append(escaping: parameters.text, keeping: .uriParameters)
        if let headers { bytes.append(0x3F); bytes.append(escaping: headers, keeping: .uriHeader) }
        return try? URI(reading: bytes)
    }
}

extension URI.Layout {
    /// The same in another buffer, where it stands so much further behind.
    func moved(by shift: Int) -> Self {
        var layout = self
        (layout.whole, layout.scheme, layout.user) = (whole.moved(by: shift), scheme.moved(by: shift), user.moved(by: shift))
        (layout.password, layout.host) = (password.moved(by: shift), host.moved(by: shift))
        (layout.parameters, layout.headers) = (parameters.moved(by: shift), headers.moved(by: shift))
        return layout
    }

    /// Reads from the scheme on; ends before the first character that cannot be part of the URI.
    ///
    /// Without angle brackets around it (`isBare`), ";" begins the header's parameters and "?" is an error (RFC 3261 §20.10).
    mutating func read(_ reader: inout Reader, isBare: Bool = false) throws(SyntaxError) {
        let start = reader.at
        if reader.skip("sip:") {
            (scheme, kind) = (Extent(start, start + 3), .sip)
        } else {
            scheme = reader.take(.scheme)
            guard !scheme.isEmpty, reader.byte(start) | 0x20 >= 0x61, reader.skip(0x3A) else { throw .malformed }
            kind = Self.kind(scheme, reader)
        }
        switch kind {
        case .sip, .sips: try readSIP(&reader, isBare: isBare)
        case .tel:
            user = reader.take(.telephoneNumber)
            guard !user.isEmpty else { throw .malformed }
            if !isBare { parameters = try reader.takeURIParameters() }
        case .other:
            user = reader.take(isBare ? .bareOpaque : .opaque)
            guard !user.isEmpty else { throw .malformed }
        }
        whole = Extent(start, reader.at)
    }

    private static func kind(_ scheme: Extent, _ reader: Reader) -> SchemeKind {
        switch scheme.count {
        case 3 where reader.matches(scheme, "sip"): .sip
        case 3 where reader.matches(scheme, "tel"): .tel
        case 4 where reader.matches(scheme, "sips"): .sips
        default: .other
        }
    }

    private mutating func readSIP(_ reader: inout Reader, isBare: Bool) throws(SyntaxError) {
        // A user part is there when an "@" follows it; without one the same text is the host.
        let start = reader.at
        let name = try reader.takeEscaped(isBare ? .bareUser : .user)
        if reader.next == 0x40 || reader.next == 0x3A, let after = try readUserInfo(name, reader) {
            reader.at = after
        } else {
            reader.at = start
        }
        host = try reader.takeHost()
        if reader.skip(0x3A) { port = Int32(try reader.takeNumber(maximum: 65_535)) }
        if isBare {
            guard reader.next != 0x3F else { throw .malformed }
            return
        }
        parameters = try reader.takeURIParameters()
        if reader.skip(0x3F) {
            headers = try reader.takeEscaped(.uriHeader)
            guard !headers.isEmpty else { throw .malformed }
        }
    }

    /// Keeps user and password and returns the position behind the "@", or nil when there is none.
    private mutating func readUserInfo(_ name: Extent, _ reader: Reader) throws(SyntaxError) -> Int? {
        var reader = reader
        var secret = Extent.none
        if reader.skip(0x3A) { secret = try reader.takeEscaped(.password) }
        guard reader.skip(0x40) else { return nil }
        guard !name.isEmpty else { throw .malformed }
        (user, password) = (name, secret)
        return reader.at
    }
}

extension Text {
    /// %-escapes decoded; a "%" that begins none is kept.
    public var percentDecoded: Text {
        guard bytes.contains(0x25) else { return self }
        var result: [UInt8] = []
        decode { byte, _ in result.append(byte) }
        return Text(result)
    }

    /// The bytes that its %-escapes stand for.
    fileprivate var escapedBytes: [UInt8] {
        var result: [UInt8] = []
        if bytes.contains(0x25) { decode { byte, isEscaped in if isEscaped { result.append(byte) } } }
        return result
    }

    private func decode(_ take: (_ byte: UInt8, _ isEscaped: Bool) -> Void) {
        var at = bytes.startIndex
        while at < bytes.endIndex {
            if bytes[at] == 0x25, at + 2 < bytes.endIndex, let high = hexadecimalDigit(bytes[at + 1]),
                let low = hexadecimalDigit(bytes[at + 2])
            {
                take(high << 4 | low, true)
                at += 3
            } else {
                take(bytes[at], false)
                at += 1
            }
        }
    }

    /// As the user part that we write: "#" is understood without an escape, as telephones send it, but has one.
    fileprivate var asWritten: Text {
        guard bytes.contains(0x23) else { return self }
        return Text(bytes.flatMap { $0 == 0x23 ? Array("%23".utf8) : [$0] })
    }

    /// `2001:db8::1` of `[2001:db8::1]`; other text as it is.
    public var withoutBrackets: Text {
        count >= 2 && bytes.first == 0x5B && bytes.last == 0x5D ? Text(bytes.dropFirst().dropLast()) : self
    }
}

extension [UInt8] {
    /// Appends text with every byte outside the set %-escaped; escapes that are there already are kept.
    mutating func append(escaping text: Text, keeping set: CharacterSet) {
        if text.bytes.allSatisfy(set.contains) { return append(contentsOf: text.bytes) }
        let digits = "0123456789ABCDEF" as StaticString
        for (index, byte) in zip(text.bytes.indices, text.bytes) {
            let rest = text.bytes[index...].dropFirst().prefix(2)
            if set.contains(byte) || (byte == 0x25 && rest.count == 2 && rest.allSatisfy { hexadecimalDigit($0) != nil }) {
                append(byte)
            } else {
                append(contentsOf: [0x25, digits.utf8Start[Int(byte >> 4)], digits.utf8Start[Int(byte & 15)]])
            }
        }
    }
}
