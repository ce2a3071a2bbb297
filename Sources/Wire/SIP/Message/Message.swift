import Primitives

/// A SIP request or response (RFC 3261 §7).
///
/// Always holds a readable Via, From, To, Call-ID and CSeq: `init(parsing:)` refuses a message without them and the builders make
/// them. Those five, Max-Forwards and the first Contact are located once and cost nothing to read; other typed accessors parse
/// their header when they are asked. Everything else comes out as it went in, in order.
///
/// A value: copies share their buffer until one is changed.
public struct Message: Sendable, CustomStringConvertible {
    /// The first line (RFC 3261 §7.1, §7.2).
    public enum StartLine: Sendable, Hashable {
        /// The method and the Request-URI.
        case request(Method, URI)
        /// The status, 100 to 699, and the reason phrase, which may be empty.
        case response(status: Int, reason: Text)
    }

    /// The first line. Setting it makes a request of a response, or the other way round.
    public var startLine: StartLine {
        get {
            guard let uri = rest.uri else { return .response(status: rest.status, reason: rest.reason) }
            return .request(rest.method, uri)
        }
        set { rest = Rest(newValue, fields, content, rest.core) }
    }

    /// The header fields. After a change of one that the message keeps parsed, that one is read again.
    /// - Precondition: a change leaves a well-formed Via, From, To, Call-ID and CSeq.
    public var headers: Headers {
        get { fields }
        set {
            fields = newValue
            if fields.touchedCore { relocate() }
        }
    }

    @usableFromInline private(set) var fields: Headers

    /// The body, as a slice of the buffer it came in.
    public var content: Text {
        get { rest.content }
        set { rest = Rest(startLine, fields, newValue, rest.core) }
    }

    /// In memory of its own: a message goes through many hands, and is copied at each.
    @usableFromInline private(set) var rest: Rest

    init(startLine: StartLine, headers: Headers, content: Text, core: Core) {
        self.init(fields: headers, rest: Rest(startLine, headers, content, core))
    }

    init(fields: Headers, rest: Rest) { (self.fields, self.rest) = (fields, rest) }

    /// A message of parts.
    /// - Precondition: the headers hold a well-formed Via, From, To, Call-ID and CSeq.
    public init(startLine: StartLine, headers: Headers, body: [UInt8] = []) {
        self.init(startLine: startLine, headers: headers, content: Text(body), core: Self.located(in: headers))
        fields.touchedCore = false
    }

    private mutating func relocate() {
        rest = Rest(startLine, fields, content, Self.located(in: fields))
        fields.touchedCore = false
    }

    private static func located(in headers: Headers) -> Core {
        do { return try Core(of: headers) } catch { preconditionFailure("a message needs its headers: \(error.reason)") }
    }

    /// Lets go the room for further header fields.
    mutating func trimIndex() { fields.trimIndex() }

    /// Without its body, and without room for more: for a request of ours that is kept.
    public var withoutBody: Message {
        var message = self
        message.content = .empty
        message.fields.trim()
        if message.fields.touchedCore { message.relocate() }
        return message
    }

    /// Adds a header field at the end, in place; through `headers` it would be a copy of them all.
    /// - Precondition: it is none of those of which a message has just one.
    public mutating func append(_ name: HeaderName, _ value: Text) {
        fields.append(name, value)
        if fields.touchedCore { relocate() }
    }

    /// A copy of the body; setting it changes Content-Length on the wire with it.
    public var body: [UInt8] {
        get { Array(content.bytes) }
        set { content = Text(newValue) }
    }

    public var description: String { String(decoding: serialized(), as: UTF8.self) }
}

extension Message {
    /// Values that hardly ever change once a message was made or read.
    @usableFromInline final class Rest: Sendable {
        let isRequest: Bool
        /// The method of a request, and of the request that a response answers.
        let method: Method
        /// Nil in a response.
        let uri: URI?
        /// 0 in a request.
        let status: Int
        /// Empty in a request.
        let reason: Text
        let content: Text
        @usableFromInline let cseq: CSeq
        @usableFromInline let core: Core

        /// The values of a message that was read: its CSeq has the method of its start line.
        init(_ start: Draft.StartParts, _ body: Extent, _ draft: borrowing Draft) {
            let buffer = draft.buffer
            cseq = draft.core.cseq(in: buffer)
            (isRequest, method, status) = (start.status == 0, cseq.method, start.status)
            if isRequest {
                (uri, reason) = (URI(buffer: buffer, layout: start.uri), .empty)
            } else {
                (uri, reason) = (nil, buffer[start.phrase])
            }
            (content, core) = (buffer[body], draft.core)
        }

        init(_ startLine: StartLine, _ headers: Headers, _ content: Text, _ core: Core) {
            cseq = core.cseq(in: headers.buffer)
            switch startLine {
            case .request(let method, let uri):
                (isRequest, self.method, self.uri, status, reason) = (true, method, uri, 0, .empty)
            case .response(let status, let reason):
                (isRequest, method, uri, self.status, self.reason) = (false, cseq.method, nil, status, reason)
            }
            (self.content, self.core) = (content, core)
        }
    }

    /// Whether it is a request; else it is a response.
    public var isRequest: Bool { rest.isRequest }

    /// The method of a request, and of the request that a response answers.
    public var method: Method { rest.method }

    /// Nil for a response.
    public var requestURI: URI? {
        get { rest.uri }
        set {
            guard isRequest, let newValue else { preconditionFailure("a response has no Request-URI") }
            startLine = .request(method, newValue)
        }
    }

    /// Nil for a request.
    public var status: Int? { isRequest ? nil : rest.status }

    /// The reason phrase of a response.
    public var reasonPhrase: Text? { isRequest ? nil : rest.reason }

    /// The topmost Via: where a response goes.
    public var via: Via {
        @inlinable @inline(__always) get { Via(buffer: fields.buffer, layout: rest.core.via) }
        set { headers.replaceFirstElement(of: .via, with: newValue.text) }
    }

    /// The sender of the request, with the tag of its side of the dialog (RFC 3261 §20.20).
    public var from: NameAddress {
        @inlinable @inline(__always) get { NameAddress(buffer: fields.buffer, layout: rest.core.from) }
        set { headers.set(.from, newValue.text) }
    }

    /// The addressee of the request, with the tag of that side of the dialog where there is one (RFC 3261 §20.39).
    public var to: NameAddress {
        @inlinable @inline(__always) get { NameAddress(buffer: fields.buffer, layout: rest.core.to) }
        set { headers.set(.to, newValue.text) }
    }

    /// Names the dialog, or the registrations of one client (RFC 3261 §20.8).
    public var callID: Text {
        @inlinable get { fields.buffer[rest.core.callID] }
        set { headers.set(.callID, newValue) }
    }

    /// The number of the request in its dialog, and its method (RFC 3261 §20.16).
    public var cseq: CSeq {
        @inlinable get { rest.cseq }
        set { headers.set(.cseq, newValue.text) }
    }

    /// Nil when the header is missing (RFC 3261 §20.22).
    public var maxForwards: Int? {
        @inlinable get { rest.core.maxForwards < 0 ? nil : Int(rest.core.maxForwards) }
        set { if let newValue { headers.set(.maxForwards, Text(newValue)) } else { headers.remove(.maxForwards) } }
    }

    /// The first Contact that is an address.
    public var contact: NameAddress? {
        @inlinable @inline(__always) get { rest.core.hasContact ? NameAddress(buffer: fields.buffer, layout: rest.core.contact) : nil }
        set { if let newValue { headers.set(.contact, newValue.text) } else { headers.remove(.contact) } }
    }

    /// Every Via, the topmost first.
    public var vias: [Via] { hasSingleVia ? [via] : headers.elements(.via).compactMap { try? Via(parsing: $0) } }

    /// Whether the topmost Via is the only one.
    public var hasSingleVia: Bool {
        var end: UInt32?
        for field in fields.fields where field.known == .via {
            guard end == nil else { return false }
            end = field.value.end
        }
        return end == rest.core.via.whole.end
    }

    /// Every Contact that is an address. In a request all are; in a response what cannot be read is left out.
    public var contacts: [NameAddress] { addresses(.contact) }

    /// Whether the Contact is "*", which takes away all bindings (RFC 3261 §10.2.2).
    public var contactIsWildcard: Bool { headers.elements(.contact).contains { $0.bytes.elementsEqual([0x2A]) } }

    /// The proxies that the request is still to pass, the next first; what cannot be read is left out.
    public var routes: [NameAddress] { addresses(.route) }
    /// The proxies that stay in the path of the dialog, in the order of the header; what cannot be read is left out.
    public var recordRoutes: [NameAddress] { addresses(.recordRoute) }
    /// RFC 3327.
    public var paths: [NameAddress] { addresses(.path) }

    /// The elements of an address list that can be read, in order.
    public func addresses(_ name: HeaderName) -> [NameAddress] { headers.elements(name).compactMap { try? NameAddress(parsing: $0) } }

    /// Seconds; nil when the header is missing, 2³²-1 at most. What is no number counts as 3,600 (RFC 3261 §20.19).
    public var expires: UInt32? { headers[.expires].map { Self.seconds($0) ?? 3_600 } }

    /// RFC 3326; values that cannot be read are left out.
    public var reasons: [Reason] { headers.elements(.reason).compactMap { try? Reason(parsing: $0) } }

    /// `type/subtype` in lower case, without parameters.
    public var contentType: Text? {
        headers[.contentType].map { $0.equalsIgnoringCase("application/sdp" as StaticString) ? .sdp : ContentType($0).name }
    }

    /// Digits as a number of seconds, saturating at 2³²-1; nil for what is not digits.
    static func seconds(_ text: Text) -> UInt32? {
        let digits = text.trimmed
        guard !digits.isEmpty, digits.bytes.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return digits.integer(UInt32.self) ?? .max
    }
}
