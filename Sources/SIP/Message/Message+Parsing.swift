import Primitives

extension Message {
    /// Reads a whole datagram, or a message that `StreamFramer` cut out of a stream.
    ///
    /// Line ends before the start line are skipped and bytes behind Content-Length are cut off (RFC 3261 §7.5, §18.3). A broken
    /// request that can be answered throws `.reject`, everything else `.drop`.
    public init(parsing bytes: [UInt8]) throws(ParseError) {
        let draft = Draft(bytes)
        if let defect = draft.defect { throw draft.error(defect) }
        do {
            let startLine = try draft.readStartLine()
            let headers = Headers(buffer: draft.buffer, fields: draft.fields)
            let core = try Core(reading: headers)
            try Self.check(startLine, core, headers)
            let content = try draft.cutBody()
            self.init(startLine: startLine, headers: headers, content: content, core: core)
        } catch {
            throw draft.error(error)
        }
    }

    private static func check(_ startLine: StartLine, _ core: Core, _ headers: Headers) throws(Defect) {
        guard case .request(let method, let uri) = startLine else { return }
        guard method == core.cseqMethod else { throw .methodMismatch }
        if case .other = uri.scheme { throw .unknownScheme }
    }
}

/// A message that is being read: its lines, and what went wrong first.
struct Draft {
    var buffer: [UInt8]
    var fields: [Headers.Field] = []
    var startLine = Extent.none
    var bodyStart = 0
    /// Something that the lines themselves have wrong.
    var defect: Defect?

    init(_ bytes: [UInt8]) {
        buffer = bytes
        if bytes.count > Limits.message { buffer.removeLast(bytes.count - Limits.message) }
        cutLines()
        if bytes.count > Limits.message { defect = .tooLarge }
    }

    /// Finds the start line and the header fields. Folds are turned into spaces in place (RFC 3261 §7.3.1).
    private mutating func cutLines() {
        let folds = scan()
        guard !folds.isEmpty else { return }
        for fold in folds { (buffer[fold], buffer[fold + 1]) = (0x20, 0x20) }
        _ = scan()
    }

    /// One pass over the lines. Returns where the line ends are that a fold follows; what was found is to be thrown away then.
    private mutating func scan() -> [Int] {
        var folds: [Int] = []
        var fields: [Headers.Field] = []
        fields.reserveCapacity(20)
        var found: Defect?
        (startLine, bodyStart) = (.none, buffer.count)
        buffer.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { found = .keepAlive; return }
            var reader = Reader(base: base, at: 0, end: bytes.count)
            while reader.next == 0x0D, reader.byte(reader.at + 1) == 0x0A { reader.at += 2 }
            guard !reader.isAtEnd else { found = .keepAlive; return }
            guard let end = reader.lineEnd() else { found = .startLine; return }
            startLine = Extent(reader.at, end)
            reader.at = end + 2
            while true {
                guard let end = reader.lineEnd() else { found = found ?? .headerLine; break }
                if end == reader.at { bodyStart = end + 2; break }
                if reader.byte(end + 2) == 0x20 || reader.byte(end + 2) == 0x09 { folds.append(end) }
                if let problem = Self.cut(reader, end, into: &fields) { found = found ?? problem }
                if fields.count > Limits.headerFields { found = .tooManyHeaders; break }
                reader.at = end + 2
            }
        }
        (self.fields, defect) = (fields, found)
        return folds
    }

    /// Cuts one line into name and value.
    @inline(__always)
    private static func cut(_ reader: Reader, _ end: Int, into fields: inout [Headers.Field]) -> Defect? {
        let start = reader.at
        guard end - start <= Limits.headerField else { return .headerTooLong }
        guard let colon = reader.colon(before: end) else { return .headerLine }
        var nameEnd = colon
        while nameEnd > start, reader.byte(nameEnd - 1) == 0x20 || reader.byte(nameEnd - 1) == 0x09 { nameEnd -= 1 }
        let known = HeaderName.Known(name: UnsafeBufferPointer(start: reader.base + start, count: nameEnd - start))
        if known == .other {
            var name = Reader(base: reader.base, at: start, end: nameEnd)
            guard !name.take(.token).isEmpty, name.isAtEnd else { return .headerLine }
        }
        var (first, last) = (colon + 1, end)
        while first < last, reader.byte(first) == 0x20 || reader.byte(first) == 0x09 { first += 1 }
        while last > first, reader.byte(last - 1) == 0x20 || reader.byte(last - 1) == 0x09 { last -= 1 }
        fields.append(Headers.Field(known: known, name: Extent(start, nameEnd), value: Extent(first, last), lineEnd: UInt32(end + 2)))
        return nil
    }

    /// The error for a defect: a request gets an answer when its way back can be read.
    func error(_ defect: Defect) -> Message.ParseError {
        let headers = Headers(buffer: buffer, fields: fields)
        let line = buffer[startLine]
        let method = Text(line.bytes.prefix { $0 != 0x20 && $0 != 0x09 })
        guard defect != .keepAlive, !line.isEmpty, !line.hasPrefix("SIP/"), method != "ACK", headers.contains(.cseq),
            let value = headers.elements(.via).first, let via = try? Via(parsing: value)
        else { return .drop(defect) }
        return .reject(Message.Rejection(defect: defect, method: method, via: via, headers: headers))
    }

    /// `INVITE sip:bob@example.com SIP/2.0` or `SIP/2.0 200 OK` (RFC 3261 §7.1, §7.2).
    func readStartLine() throws(Defect) -> Message.StartLine {
        let isResponse = buffer[startLine].hasPrefix("SIP/")
        return isResponse ? try readStatusLine() : try readRequestLine()
    }

    private func readStatusLine() throws(Defect) -> Message.StartLine {
        do {
            return try buffer.read(startLine) { reader throws(SyntaxError) in
                guard reader.matches(Extent(reader.at, min(reader.at + 8, reader.end)), "SIP/2.0 ") else { throw .malformed }
                reader.at += 8
                let code = reader.at
                let status = Int(try reader.takeNumber(maximum: 699))
                guard reader.at - code == 3, status >= 100 else { throw .numberOutOfRange }
                guard reader.skip(0x20) || reader.isAtEnd else { throw .malformed }
                return .response(status: status, reason: buffer[Extent(reader.at, reader.end)])
            }
        } catch { throw .startLine }
    }

    private func readRequestLine() throws(Defect) -> Message.StartLine {
        let line: (method: Method, uri: Extent, version: Extent)
        do {
            line = try buffer.read(startLine) { reader throws(SyntaxError) in
                let name = reader.take(.token)
                guard !name.isEmpty, reader.skip(0x20) else { throw .malformed }
                let uriStart = reader.at
                while !reader.isAtEnd, reader.next != 0x20 { reader.at += 1 }
                let uri = Extent(uriStart, reader.at)
                guard !uri.isEmpty, reader.skip(0x20) else { throw .malformed }
                let version = Extent(reader.at, reader.end)
                guard reader.matches(Extent(reader.at, min(reader.at + 4, reader.end)), "SIP/") else { throw .malformed }
                let known = Method.named(UnsafeBufferPointer(start: reader.base + Int(name.start), count: name.count))
                return (known ?? .other(reader.text(name)), uri, version)
            }
        } catch { throw .startLine }
        guard line.uri.count <= Limits.requestURI else { throw .requestURITooLong }
        guard line.version.count == 7, buffer[line.version].equalsIgnoringCase("SIP/2.0" as StaticString) else {
            throw isVersion(line.version) ? .version : .startLine
        }
        do {
            let layout = try buffer.read(line.uri) { reader throws(SyntaxError) in
                let layout = try URI.Layout(reading: &reader)
                guard reader.isAtEnd else { throw .trailingText }
                return layout
            }
            return .request(line.method, URI(buffer: buffer, layout: layout))
        } catch { throw .startLine }
    }

    private func isVersion(_ extent: Extent) -> Bool {
        let number = buffer[extent].bytes.dropFirst(4)
        return number.count <= 16 && number.allSatisfy { $0 == 0x2E || ($0 >= 0x30 && $0 <= 0x39) } && number.contains(0x2E)
    }

    /// The body as far as Content-Length says.
    func cutBody() throws(Defect) -> Text {
        let lengths = fields.filter { $0.known == .contentLength }
        var length = buffer.count - bodyStart
        for field in lengths {
            guard let number = buffer[field.value].integer(Int.self) else { throw .malformed(.contentLength) }
            guard number <= buffer.count - bodyStart else { throw .truncatedBody }
            length = number
        }
        guard lengths.count <= 1 else { throw .repeated(.contentLength) }
        return Text(buffer[bodyStart..<(bodyStart + length)])
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

    @inline(__always) func colon(before limit: Int) -> Int? {
        var position = at
        while position < limit {
            if base[position] == 0x3A { return position }
            position += 1
        }
        return nil
    }
}

extension Message.Core {
    /// Locates the headers that every message must have and those that are wrong when they are there and broken.
    init(reading headers: Headers) throws(Defect) {
        self.init()
        var seen: UInt8 = 0
        for field in headers.fields {
            guard let bit = Self.bit(field.known) else { continue }
            // Only Via and Contact may come more than once.
            if seen & bit != 0 {
                if bit > Self.contactBit { throw .repeated(HeaderName(field.known)) }
                if bit == Self.viaBit { continue }
            }
            seen |= bit
            do { try read(field, headers) } catch { throw .malformed(HeaderName(field.known)) }
        }
        for (bit, name) in [(Self.viaBit, HeaderName.Known.via), (4, .from), (8, .to), (16, .callID), (32, .cseq)] as [(UInt8, HeaderName.Known)]
        where seen & bit == 0 {
            throw .missing(HeaderName(name))
        }
    }

    private static let viaBit: UInt8 = 1
    private static let contactBit: UInt8 = 2

    @inline(__always) private static func bit(_ known: HeaderName.Known) -> UInt8? {
        switch known {
        case .via: viaBit
        case .contact: contactBit
        case .from: 4
        case .to: 8
        case .callID: 16
        case .cseq: 32
        case .maxForwards: 64
        default: nil
        }
    }

    private mutating func read(_ field: Headers.Field, _ headers: Headers) throws(SyntaxError) {
        let known = field.known
        try headers.buffer.read(field.value) { reader throws(SyntaxError) in
            switch known {
            case .via: via = try Via.Layout(reading: &reader)
            case .from: from = try NameAddress.Layout(readingAll: &reader)
            case .to: to = try NameAddress.Layout(readingAll: &reader)
            case .callID: callID = try Self.callID(&reader)
            case .cseq:
                let cseq = try CSeq(reading: &reader)
                (cseqNumber, cseqMethod) = (cseq.number, cseq.method)
            case .maxForwards: maxForwards = Int16(try Self.wholeNumber(&reader, maximum: 255))
            default: try readContacts(&reader)
            }
        }
    }

    /// Reads every Contact of a line, so that a broken one is found, and keeps the first of all.
    private mutating func readContacts(_ reader: inout Reader) throws(SyntaxError) {
        reader.skipSpace()
        if reader.skip(0x2A) {
            reader.skipSpace()
            guard reader.isAtEnd else { throw .trailingText }
            return
        }
        while true {
            let address = try NameAddress.Layout(reading: &reader)
            contact = contact ?? address
            reader.skipSpace()
            guard !reader.isAtEnd else { return }
            guard reader.skip(0x2C) else { throw .trailingText }
        }
    }

    private static func callID(_ reader: inout Reader) throws(SyntaxError) -> Extent {
        let text = reader.take(.callID)
        guard !text.isEmpty else { throw .malformed }
        reader.skipSpace()
        guard reader.isAtEnd else { throw .trailingText }
        return text
    }

    private static func wholeNumber(_ reader: inout Reader, maximum: UInt64) throws(SyntaxError) -> UInt64 {
        let number = try reader.takeNumber(maximum: maximum)
        reader.skipSpace()
        guard reader.isAtEnd else { throw .trailingText }
        return number
    }
}
