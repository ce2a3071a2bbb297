import Primitives

/// The fault of a line of a journal.
public enum JournalLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Not JSON of the shape that events have; the offset is in bytes from the start of the line.
    case syntax(offset: Int)
    /// A field that no event has.
    case unknownField(String)
    /// A field that is there twice.
    case duplicateField(String)
    /// A field that every event has is not there.
    case missingField(String)
    /// A kind that this version does not know.
    case unknownKind(String)
    /// A call that is no UUID.
    case badCall(String)
    /// The end of the file without a newline.
    case unfinished
    /// More bytes than any event takes.
    case tooLong

    public var description: String {
        switch self {
        case .syntax(let offset): "not an event: unexpected byte at column \(offset + 1)"
        case .unknownField(let name): "unknown field \"\(name)\""
        case .duplicateField(let name): "field \"\(name)\" twice"
        case .missingField(let name): "field \"\(name)\" is missing"
        case .unknownKind(let kind): "unknown kind \"\(kind)\""
        case .badCall(let text): "\"\(text)\" is not a call UUID"
        case .unfinished: "the line is not finished"
        case .tooLong: "the line is too long for an event"
        }
    }
}

/// Parses one line: a flat JSON object with the fields of an event in any order, and white space where JSON allows it.
struct JournalLine {
    static func parse(_ line: ArraySlice<UInt8>) throws(JournalLineError) -> JournalEvent {
        var parser = JournalLine(bytes: line)
        return try parser.event()
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    private init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    private static let kinds = Dictionary(uniqueKeysWithValues: JournalEvent.Kind.allCases.map { (Text($0.rawValue), $0) })
    private static let keys = Dictionary(uniqueKeysWithValues: JournalEvent.Key.allCases.map { (Text($0.rawValue), $0) })

    private mutating func event() throws(JournalLineError) -> JournalEvent {
        var event = JournalEvent(sequence: 0, time: .zero, kind: .gatewayStarted)
        var seen: Set<Text> = []
        try object { (parser, name) throws(JournalLineError) in
            guard seen.insert(name).inserted else { throw .duplicateField(name.description) }
            try parser.field(name, of: &event)
        }
        for name: Text in ["seq", "t", "wall", "lane", "kind"] where !seen.contains(name) { throw .missingField(name.description) }
        skipSpace()
        guard position == bytes.endIndex else { throw unexpected }
        return event
    }

    private mutating func field(_ name: Text, of event: inout JournalEvent) throws(JournalLineError) {
        switch name {
        case "seq": event.sequence = try unsigned()
        case "t": event.time = Instant(nanoseconds: try unsigned())
        case "wall": event.wall = try unsigned()
        case "line": event.line = try string()
        case "lane": event.lane = try string()
        case "call":
            let text = try string()
            guard let call = CallUUID(text) else { throw .badCall(text.description) }
            event.call = call
        case "kind":
            let text = try string()
            guard let kind = Self.kinds[text] else { throw .unknownKind(text.description) }
            event.kind = kind
        case "details": event.details = try details()
        default: throw .unknownField(name.description)
        }
    }

    private mutating func details() throws(JournalLineError) -> JournalEvent.Details {
        var details: JournalEvent.Details = [:]
        try object { (parser, name) throws(JournalLineError) in
            guard let key = Self.keys[name] else { throw .unknownField(name.description) }
            guard details[key] == nil else { throw .duplicateField(name.description) }
            details[key] = try parser.value()
        }
        return details
    }

    private mutating func value() throws(JournalLineError) -> JournalEvent.Value {
        skipSpace()
        return peek == 0x22 ? .text(try string()) : .number(try signed())
    }

    // MARK: JSON

    private var peek: UInt8? { position < bytes.endIndex ? bytes[position] : nil }
    private var unexpected: JournalLineError { .syntax(offset: position - bytes.startIndex) }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0D { position += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws(JournalLineError) {
        skipSpace()
        guard peek == byte else { throw unexpected }
        position += 1
    }

    private mutating func object(_ member: (inout JournalLine, Text) throws(JournalLineError) -> Void) throws(JournalLineError) {
        try expect(0x7B)
        skipSpace()
        if peek == 0x7D { position += 1; return }
        while true {
            let name = try string()
            try expect(0x3A)
            try member(&self, name)
            skipSpace()
            if peek == 0x7D { position += 1; return }
            try expect(0x2C)
        }
    }

    private mutating func signed() throws(JournalLineError) -> Int64 {
        let token = numberToken()
        guard let number = Int64(token.description), token.bytes.first != 0x2B else { throw unexpected }
        return number
    }

    private mutating func unsigned() throws(JournalLineError) -> UInt64 {
        let token = numberToken()
        guard let number = token.integer(UInt64.self) else { throw unexpected }
        return number
    }

    private mutating func numberToken() -> Text {
        skipSpace()
        let start = position
        while let byte = peek, byte == 0x2D || (0x30...0x39).contains(byte) { position += 1 }
        return Text(bytes[start..<position])
    }

    private mutating func string() throws(JournalLineError) -> Text {
        try expect(0x22)
        let start = position
        while let byte = peek, byte != 0x22, byte != 0x5C, byte >= 0x20 { position += 1 }
        if peek == 0x22 {
            defer { position += 1 }
            return Text(bytes[start..<position])
        }
        return try escapedString(Array(bytes[start..<position]))
    }

    private mutating func escapedString(_ prefix: [UInt8]) throws(JournalLineError) -> Text {
        var text = prefix
        while let byte = peek, byte >= 0x20 {
            position += 1
            if byte == 0x22 { return Text(text) }
            if byte == 0x5C { try escape(into: &text) } else { text.append(byte) }
        }
        throw unexpected
    }

    private mutating func escape(into text: inout [UInt8]) throws(JournalLineError) {
        guard let byte = peek else { throw unexpected }
        position += 1
        switch byte {
        case 0x22, 0x5C, 0x2F: text.append(byte)
        case 0x6E: text.append(0x0A)
        case 0x72: text.append(0x0D)
        case 0x74: text.append(0x09)
        case 0x62: text.append(0x08)
        case 0x66: text.append(0x0C)
        case 0x75: text += Array(String(try unicodeScalar()).utf8)
        default: throw unexpected
        }
    }

    private mutating func unicodeScalar() throws(JournalLineError) -> Unicode.Scalar {
        let first = try hexadecimalUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00 else { throw unexpected }
        try expect(0x5C)
        try expect(0x75)
        let second = try hexadecimalUnit()
        guard (0xDC00...0xDFFF).contains(second), let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) else {
            throw unexpected
        }
        return scalar
    }

    private mutating func hexadecimalUnit() throws(JournalLineError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = hexadecimalDigit(byte) else { throw unexpected }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
