import Primitives

extension Message {
    /// Reads a whole datagram, or a message that `StreamFramer` cut out of a stream.
    ///
    /// Line ends before the start line are skipped and bytes behind Content-Length are cut off (RFC 3261 §7.5, §18.3). A broken
    /// request that can be answered throws `.reject`, everything else `.drop`.
    public init(parsing bytes: [UInt8]) throws(ParseError) {
        let draft = Draft(bytes)
        if let defect = draft.defect { throw draft.error(defect) }
        do throws(Defect) {
            let start = try draft.readStartLine()
            if let missing = draft.missing { throw .missing(HeaderName(missing)) }
            if let defect = draft.defect(of: start) { throw defect }
            self.init(fields: Headers(buffer: draft.buffer, fields: draft.fields), rest: Rest(start, try draft.cutBody(), draft))
        } catch {
            throw draft.error(error)
        }
    }
}

/// A message that is being read: its lines, what is located in them, and what went wrong first.
struct Draft: ~Copyable {
    private(set) var buffer: [UInt8]
    private(set) var fields: [Headers.Field] = []
    private(set) var core = Message.Core()
    private(set) var startLine = Extent.none
    private(set) var bodyStart = 0
    private(set) var defect: Defect?
    /// A header without which it is no message.
    private(set) var missing: HeaderName.Known?

    init(_ bytes: [UInt8]) {
        buffer = bytes
        if bytes.count > Limits.message { buffer.removeLast(bytes.count - Limits.message) }
        let folds = scan()
        if !folds.isEmpty {
            // A fold is as good as a space (RFC 3261 §7.3.1): the lines are joined in place and read again.
            for fold in folds { (buffer[fold], buffer[fold + 1]) = (0x20, 0x20) }
            (fields, core) = ([], Message.Core())
            _ = scan()
        }
        if bytes.count > Limits.message { defect = .tooLarge }
    }

    /// One pass over the lines. Returns where the line ends are that a fold follows; what was found is to be thrown away then.
    private mutating func scan() -> [Int] {
        fields.reserveCapacity(20)
        (startLine, bodyStart, defect) = (.none, buffer.count, nil)
        let buffer = buffer
        return buffer.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { defect = .keepAlive; return [] }
            return scan(Reader(base: base, at: 0, end: bytes.count))
        }
    }

    private mutating func scan(_ reader: Reader) -> [Int] {
        var reader = reader
        var folds: [Int] = []
        while reader.next == 0x0D, reader.byte(reader.at + 1) == 0x0A { reader.at += 2 }
        guard !reader.isAtEnd else { defect = .keepAlive; return folds }
        guard let end = reader.lineEnd() else { defect = .startLine; return folds }
        startLine = Extent(reader.at, end)
        let isResponse = reader.starts(with: "SIP/")
        let names = HeaderName.Known.table
        reader.at = end + 2
        while true {
            guard let end = reader.lineEnd() else { note(.headerLine); break }
            if end == reader.at { bodyStart = end + 2; break }
            if reader.byte(end + 2) == 0x20 || reader.byte(end + 2) == 0x09 { folds.append(end) }
            readField(reader, end, names, isResponse)
            reader.at = end + 2
        }
        missing = core.missing
        return folds
    }

    /// Cuts one line into name and value, and locates what is in it. Only Via and Contact may come more than once (RFC 3261 §7.3.1).
    private mutating func readField(_ reader: Reader, _ end: Int, _ names: UnsafePointer<HeaderName.Known.Entry>, _ isResponse: Bool) {
        let start = reader.at
        guard end &- start <= Limits.headerField else { return note(.headerTooLong) }
        var line = reader.part(from: start, to: end)
        line.at = reader.colon(before: end)
        var name = Extent(start, line.at)
        var known = HeaderName.Known(
            name: UnsafeBufferPointer(start: reader.base + start, count: name.count), readable: reader.end &- start, in: names)
        if known == .other {
            // Not all that is before a colon is a name, and between them may be space.
            line.at = start
            name = line.take(.token)
            line.skipSpace()
            known = HeaderName.Known(name: UnsafeBufferPointer(start: reader.base + start, count: name.count))
        }
        guard !name.isEmpty, line.skip(0x3A) else { return note(.headerLine) }
        line.skipSpace()
        var last = end
        while last > line.at, reader.base[last - 1] == 0x20 || reader.base[last - 1] == 0x09 { last &-= 1 }
        guard fields.count < Limits.headerFields || isNeeded(known) else { defect = .tooManyHeaders; return }
        fields.append(Headers.Field(known: known, name: name, value: Extent(line.at, last), lineEnd: UInt32(truncatingIfNeeded: end &+ 2)))
        guard Headers.isCore(known) else { return }
        if core.has(known), known != .contact {
            if known != .via { note(.repeated(HeaderName(known))) }
            return
        }
        var value = reader.part(from: line.at, to: last)
        do { try core.read(known, &value) } catch {
            // A registrar's answer lists what others registered; one bad Contact must not lose it.
            if !isResponse || known != .contact { note(.malformed(HeaderName(known))) }
        }
    }

    /// The first is told.
    private mutating func note(_ found: Defect) { defect = defect ?? found }

    /// Whether a field beyond the limit is still taken. A few are: those without which there is no answer to the message, and no end of it.
    private func isNeeded(_ known: HeaderName.Known) -> Bool {
        guard fields.count < Limits.headerFields + 8 else { return false }
        return switch known {
        case .from, .to, .callID, .cseq, .contentLength: true
        case .via: core.via.whole.isEmpty
        default: false
        }
    }

    /// The error for a defect: a request gets an answer when its way back can be read.
    func error(_ defect: Defect) -> Message.ParseError {
        let headers = Headers(buffer: buffer, fields: fields)
        let line = buffer[startLine].trimmed
        let method = Text(line.bytes.prefix { $0 != 0x20 && $0 != 0x09 })
        guard defect != .keepAlive, !line.isEmpty, !line.lowercased.hasPrefix("sip/"), method != "ACK", headers.contains(.cseq),
            let value = headers.elements(.via).first, let via = try? Via(salvaging: value)
        else { return .drop(defect) }
        return .reject(Message.Rejection(defect: defect, method: method, via: via, headers: headers))
    }

    /// The extent of the body, as far as Content-Length says.
    func cutBody() throws(Defect) -> Extent {
        var length = buffer.count - bodyStart
        if let announced = try contentLength() {
            guard announced <= length else { throw .truncatedBody }
            length = announced
        }
        return Extent(bodyStart, bodyStart + length)
    }

    /// Nil without the header; a second one is an error, whatever it says.
    func contentLength() throws(Defect) -> Int? {
        var length: Int?
        for field in fields where field.known == .contentLength {
            guard length == nil else { throw .repeated(.contentLength) }
            do {
                length = Int(try buffer.read(field.value) { reader throws(SyntaxError) in try reader.takeOnlyNumber(maximum: 0xFFFF_FFFF) })
            } catch { throw .malformed(.contentLength) }
        }
        return length
    }
}

extension Draft {
    /// The parts of a start line: a request's method and URI, or a response's status and phrase (RFC 3261 §7.1, §7.2).
    struct StartParts {
        /// 0 in a request.
        var status = 0
        var method = Extent.none
        var uri = URI.Layout()
        var phrase = Extent.none
    }

    func readStartLine() throws(Defect) -> StartParts {
        do {
            return try buffer.read(startLine) { reader throws(SyntaxError) in
                reader.starts(with: "SIP/") ? try Self.status(&reader) : try Self.request(&reader)
            }
        } catch {
            throw defectOfStartLine()
        }
    }

    private static func status(_ reader: inout Reader) throws(SyntaxError) -> StartParts {
        guard reader.starts(with: "SIP/2.0 ") else { throw .malformed }
        reader.at += 8
        let code = reader.at
        let status = Int(try reader.takeNumber(maximum: 699))
        guard reader.at - code == 3, status >= 100 else { throw .numberOutOfRange }
        guard reader.skip(0x20) || reader.isAtEnd else { throw .malformed }
        return StartParts(status: status, phrase: Extent(reader.at, reader.end))
    }

    /// Exactly one space between the parts; anything else is refused (RFC 4475 §3.1.2.8 to §3.1.2.10).
    private static func request(_ reader: inout Reader) throws(SyntaxError) -> StartParts {
        let method = reader.take(.token)
        guard !method.isEmpty, reader.skip(0x20) else { throw .malformed }
        var uri = URI.Layout()
        try uri.read(&reader)
        guard uri.whole.count <= Limits.requestURI, reader.end - reader.at == 8, reader.starts(with: " SIP/2.0") else { throw .malformed }
        return StartParts(method: method, uri: uri)
    }

    /// The defect of a request line that can be read.
    func defect(of start: StartParts) -> Defect? {
        guard start.status == 0 else { return nil }
        guard buffer.same(start.method, core.cseqMethod) else { return .methodMismatch }
        return start.uri.kind == .other ? .unknownScheme : nil
    }

    /// The exact defect of a start line that could not be read.
    private func defectOfStartLine() -> Defect {
        let parts = buffer[startLine].bytes.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, Text(parts[2]).lowercased.hasPrefix("sip/") else { return .startLine }
        guard parts[1].count <= Limits.requestURI else { return .requestURITooLong }
        let version = parts[2].dropFirst(4)
        let isNumber = version.count <= 16 && version.contains(0x2E) && version.allSatisfy { $0 == 0x2E || ($0 >= 0x30 && $0 <= 0x39) }
        return isNumber && !version.elementsEqual([0x32, 0x2E, 0x30]) ? .version : .startLine
    }
}

extension Reader {
    /// The position of the CR of the CRLF that ends this line; nil when a bare CR or LF, or the end, comes first.
    @inline(__always) func lineEnd() -> Int? {
        var position = at
        while true {
            position = firstControl(from: position)
            guard position < end else { return nil }
            switch base[position] {
            case 0x0D: return byte(position + 1) == 0x0A ? position : nil
            case 0x0A: return nil
            default: position += 1
            }
        }
    }

    /// Case-insensitive, from where the reader is.
    @inline(__always) func starts(with literal: StaticString) -> Bool {
        matches(Extent(at, min(at + literal.utf8CodeUnitCount, end)), literal)
    }

    /// A number and nothing else but space.
    mutating func takeOnlyNumber(maximum: UInt64) throws(SyntaxError) -> UInt64 {
        let number = try takeNumber(maximum: maximum)
        skipSpace()
        guard isAtEnd else { throw .trailingText }
        return number
    }
}
