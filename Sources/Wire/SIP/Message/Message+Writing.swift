import Primitives

extension Message {
    /// The message as it goes on the wire.
    public func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        serialize(into: &bytes)
        return bytes
    }

    /// Appends the message as it goes on the wire. Content-Length is always written, with the length that the body has.
    public func serialize(into bytes: inout [UInt8]) {
        // The length comes from the parts: a `StartLine` would be a copy of the URI.
        let startLineCount = (rest.uri?.layout.whole.count ?? rest.reason.count) + method.count + 14
        bytes.reserveCapacity(bytes.count + startLineCount + headers.byteCount + Self.longestLength + content.count)
        if let uri = rest.uri {
            bytes += method
            bytes.append(0x20)
            bytes += uri.text
            bytes += " SIP/2.0\r\n" as StaticString
        } else {
            Self.writeStatusLine(rest.status, rest.reason, into: &bytes)
        }
        Self.write(headers, content, into: &bytes)
    }

    /// The same in as little memory as it takes, all of it in one buffer: for a message that is kept.
    public var compacted: Message {
        guard var message = isCompact ? self : try? Message(parsing: serialized()) else { return self }
        message.trimIndex()
        return message
    }

    /// Whether that is how it was read: body and header fields are in one buffer, and hardly anything else is there.
    private var isCompact: Bool {
        let (body, buffer) = (content.bytes, headers.buffer)
        guard headers[.contentLength]?.integer() == body.count, buffer.capacity - headers.byteCount - body.count < 512 else { return false }
        return body.withUnsafeBufferPointer { body in
            buffer.withUnsafeBufferPointer { $0.baseAddress.map { $0 + content.bytes.startIndex } == body.baseAddress }
        }
    }

    /// Writes the message behind its start line.
    static func write(_ headers: Headers, _ content: Text, into bytes: inout [UInt8]) {
        var hasLength = false
        // Lines that follow each other in the buffer are written with one copy.
        var run = Extent.none
        headers.buffer.withUnsafeBufferPointer { buffer in
            for field in headers.fields {
                if field.known == .contentLength {
                    guard !hasLength else { continue }
                    hasLength = true
                    if Text(headers.buffer[field.value.range]).integer(Int.self) != content.count {
                        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[run.range]))
                        run = .none
                        writeLength(content.count, into: &bytes)
                        continue
                    }
                }
                if field.name.start == run.end, !run.isEmpty {
                    run.end = field.lineEnd
                } else {
                    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[run.range]))
                    run = Extent(Int(field.name.start), Int(field.lineEnd))
                }
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[run.range]))
        }
        if !hasLength { writeLength(content.count, into: &bytes) }
        bytes += "\r\n" as StaticString
        bytes += content
    }

    /// The length of "Content-Length" with its line end, and the empty line behind it.
    private static let longestLength = 32

    private static func writeLength(_ length: Int, into bytes: inout [UInt8]) {
        bytes += "Content-Length: " as StaticString
        bytes.append(decimal: length)
        bytes += "\r\n" as StaticString
    }

    static func writeStatusLine(_ status: Int, _ reason: Text, into bytes: inout [UInt8]) {
        bytes += "SIP/2.0 " as StaticString
        bytes.append(decimal: status)
        bytes.append(0x20)
        bytes += reason.printable
        bytes += "\r\n" as StaticString
    }
}

extension Message {
    /// A request with what RFC 3261 §8.1.1 asks for, in the usual order. Contact, body and the rest are set on the result.
    ///
    /// - Parameters:
    ///   - via: our own; more are prepended by who forwards.
    ///   - routes: the route set, already arranged for loose or strict routing.
    public static func request(
        _ method: Method, uri: URI, via: Via, from: NameAddress, to: NameAddress, callID: Text, cseq: UInt32, maxForwards: Int = 70,
        routes: [NameAddress] = [], contact: NameAddress? = nil
    ) -> Message {
        precondition((0...255).contains(maxForwards) && cseq <= 0x7FFF_FFFF && !callID.isEmpty, "a request that nobody could read")
        var headers = Headers()
        headers.reserveCapacity(bytes: 768, fields: 16)
        // The places that the parts have located are not looked for again.
        var core = Core()
        core.take(via, at: headers.add(.via, via.text))
        core.take(maxForwards: maxForwards)
        headers.append(.maxForwards, Text(maxForwards))
        for route in routes { headers.append(.route, route.text) }
        core.take(from: from, at: headers.add(.from, from.text))
        core.take(to: to, at: headers.add(.to, to.text))
        core.take(callID: headers.add(.callID, callID))
        core.take(cseq, method, at: headers.add(.cseq, CSeq(number: cseq, method: method).text))
        if let contact { core.take(contact: contact, at: headers.add(.contact, contact.text)) }
        headers.touchedCore = false
        return Message(startLine: .request(method, uri), headers: headers, content: .empty, core: core)
    }

    /// A response to a request, with the headers that RFC 3261 §8.2.6.2 copies, in the order that they have there: every Via, From,
    /// To, Call-ID and CSeq; Timestamp into a 100; Record-Route into what can make a dialog (§12.1.1).
    ///
    /// - Parameters:
    ///   - reason: the usual phrase of the status when nil.
    ///   - toTag: added when To has no tag yet; not to a 100. A response above 100 must have one.
    ///   - contact: ours, behind what was copied.
    public static func response(to request: Message, status: Int, reason: Text? = nil, toTag: Text? = nil, contact: NameAddress? = nil)
        -> Message
    {
        precondition(request.isRequest && (100...699).contains(status), "\(status) to a request")
        var headers = Headers()
        headers.reserveCapacity(bytes: 640, fields: 12)
        let recordsRoute = status > 100 && status < 300 && request.method.makesDialog
        let newTag = status > 100 && request.to.tag == nil ? toTag : nil
        // The places that the request has located are not looked for again.
        var core = Core()
        for field in request.headers.fields {
            switch field.known {
            case .to:
                guard let newTag else { fallthrough }
                core.take(request.to, at: headers.append(.to, request.to.text, ";tag=", newTag), tagged: newTag)
            case .via, .from, .callID, .cseq:
                core.take(field.known, of: request.rest, movedBy: headers.copyLine(field, from: request.headers))
            case .recordRoute where recordsRoute, .timestamp where status == 100: headers.copyLine(field, from: request.headers)
            default: break
            }
        }
        if let contact { core.take(contact: contact, at: headers.add(.contact, contact.text)) }
        assert(headers.byteCount == headers.buffer.count, "what was located has moved")
        headers.touchedCore = false
        return Message(
            startLine: .response(status: status, reason: reason ?? reasonPhrase(status)), headers: headers, content: .empty, core: core)
    }

    /// The usual reason phrase of a status (RFC 3261 §21 and the extensions).
    public static func reasonPhrase(_ status: Int) -> Text {
        switch status {
        case 100: "Trying"
        case 180: "Ringing"
        case 181: "Call Is Being Forwarded"
        case 182: "Queued"
        case 183: "Session Progress"
        case 200: "OK"
        case 202: "Accepted"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Moved Temporarily"
        case 305: "Use Proxy"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 410: "Gone"
        case 413: "Request Entity Too Large"
        case 414: "Request-URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Unsupported URI Scheme"
        case 420: "Bad Extension"
        case 421: "Extension Required"
        case 422: "Session Interval Too Small"
        case 423: "Interval Too Brief"
        case 469: "Bad Info Package"
        case 480: "Temporarily Unavailable"
        case 481: "Call/Transaction Does Not Exist"
        case 482: "Loop Detected"
        case 483: "Too Many Hops"
        case 484: "Address Incomplete"
        case 485: "Ambiguous"
        case 486: "Busy Here"
        case 487: "Request Terminated"
        case 488: "Not Acceptable Here"
        case 489: "Bad Event"
        case 491: "Request Pending"
        case 493: "Undecipherable"
        case 500: "Server Internal Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Server Time-out"
        case 505: "Version Not Supported"
        case 513: "Message Too Large"
        case 600: "Busy Everywhere"
        case 603: "Decline"
        case 604: "Does Not Exist Anywhere"
        case 606: "Not Acceptable"
        default: status < 200 ? "Progress" : status < 300 ? "Success" : status < 400 ? "Redirect" : "Failure"
        }
    }
}

extension Message {
    /// The name in Event, without its parameters (RFC 6665 §8.2.1); nil without one.
    public var eventPackage: Text? {
        headers[.event].map { Text($0.bytes.prefix { $0 != UInt8(ascii: ";") }).trimmed }
    }

    /// Makes a request a NOTIFY about this event (RFC 6665 §4.2.2).
    /// - Parameters:
    ///   - event: as the subscriber wrote it, with its `id`.
    ///   - state: the state of the subscription.
    ///   - contentType: the type of the body.
    ///   - body: what is told.
    public mutating func notify(_ event: Text, _ state: Subscription.State, contentType: Text, body: [UInt8]) {
        headers.append(.event, event)
        headers.append(.subscriptionState, state.text)
        headers.append(.contentType, contentType)
        self.body = body
    }
}

extension Method {
    /// Whether a 2xx to it can make a dialog (RFC 3261 §12.1, RFC 6665, RFC 3515).
    var makesDialog: Bool {
        switch self {
        case .invite, .subscribe, .refer, .notify: true
        default: false
        }
    }
}
