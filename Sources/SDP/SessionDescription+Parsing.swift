import Primitives

extension SessionDescription {
    /// Reads a description whose lines end in CRLF or LF, in any order after the `v=` line.
    ///
    /// A missing `s=` or `t=` is made good; a missing `o=` is an error. RFC 8866 §5.
    public init(parsing bytes: [UInt8]) throws(ParseError) { try self.init(parsing: Text(bytes)) }

    /// As above. What it keeps are slices of the text.
    public init(parsing text: Text) throws(ParseError) {
        guard text.count <= Limits.bytes else { throw .tooLarge }
        var reader = Reader()
        var number = 0
        var rest = text.bytes
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            number += 1
            let line = end > rest.startIndex && rest[end - 1] == UInt8(ascii: "\r") ? rest[..<(end - 1)] : rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            if line.isEmpty { continue }
            try reader.take(line, number: number)
        }
        self = try reader.finish()
    }

    /// Collects lines; the session's own until the first `m=`.
    private struct Reader {
        var hasVersion = false
        var origin: Origin?
        var sessionName: Text?
        var timing: Text?
        var session = Section(limit: Limits.sessionLines)
        var media: [(media: Media, section: Section)] = []

        mutating func take(_ line: ArraySlice<UInt8>, number: Int) throws(ParseError) {
            let valueStart = line.startIndex + 2
            guard line.count >= 2, line[line.startIndex + 1] == UInt8(ascii: "="), !line.contains(where: { $0 == 0 || $0 == 0x0D }) else {
                throw hasVersion ? .malformed(line: number) : .version
            }
            let (type, value) = (line[line.startIndex], Text(line[valueStart...]))
            guard hasVersion else {
                guard type == UInt8(ascii: "v"), value.trimmed == "0" else { throw .version }
                return hasVersion = true
            }
            if type == UInt8(ascii: "m") {
                guard media.count < Limits.media else { throw .tooLarge }
                guard let next = Media(parsing: value) else { throw .malformed(line: number) }
                guard next.formats.count <= Limits.formats else { throw .tooLarge }
                return media.append((next, Section(limit: Limits.streamLines)))
            }
            guard media.isEmpty else { return try media[media.count - 1].section.take(type, value, number: number) }
            try takeSessionLine(type, value, number: number)
        }

        private mutating func takeSessionLine(_ type: UInt8, _ value: Text, number: Int) throws(ParseError) {
            switch type {
            case UInt8(ascii: "o") where origin == nil:
                guard let parsed = Origin(parsing: value) else { throw .malformed(line: number) }
                origin = parsed
            case UInt8(ascii: "s") where sessionName == nil: sessionName = value
            case UInt8(ascii: "t") where timing == nil: timing = value
            default: try session.take(type, value, number: number)
            }
        }

        consuming func finish() throws(ParseError) -> SessionDescription {
            guard hasVersion else { throw .version }
            guard let origin else { throw .missingOrigin }
            var description = SessionDescription(
                origin: origin, sessionName: sessionName ?? "-", connection: session.connection, timing: timing ?? "0 0")
            description.otherLines = inCanonicalOrder(session.otherLines)
            description.attributes = session.attributes
            description.media = media.map { media, section in
                var media = media
                media.connection = section.connection
                media.otherLines = inCanonicalOrder(section.otherLines)
                media.attributes = section.attributes
                return media
            }
            return description
        }
    }

    /// The lines that both levels may have.
    private struct Section {
        /// Of attributes, and of other lines.
        let limit: Int
        var connection: Connection?
        var otherLines: [Line] = []
        var attributes: [Attribute] = []

        init(limit: Int) { self.limit = limit }

        mutating func take(_ type: UInt8, _ value: Text, number: Int) throws(ParseError) {
            switch type {
            case UInt8(ascii: "a"):
                guard attributes.count < limit else { throw .tooLarge }
                attributes.append(Attribute(parsing: value))
            case UInt8(ascii: "c") where connection == nil:
                guard let parsed = Connection(parsing: value) else { throw .malformed(line: number) }
                connection = parsed
            default:
                guard otherLines.count < limit else { throw .tooLarge }
                otherLines.append(Line(type: type, value: value))
            }
        }
    }

    /// The order in which `serialized()` writes lines, so that what was parsed compares equal to its own copy.
    private static func inCanonicalOrder(_ lines: [Line]) -> [Line] {
        lines.count < 2 ? lines : LinePlace.allCases.flatMap { place in lines.filter { LinePlace($0.type) == place } }
    }
}

/// Where a line without a field of its own stands among the others (RFC 8866 §9, the grammar's order).
enum LinePlace: CaseIterable {
    case beforeConnection, beforeTiming, last

    init(_ type: UInt8) {
        switch type {
        case UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "e"), UInt8(ascii: "p"): self = .beforeConnection
        case UInt8(ascii: "b"): self = .beforeTiming
        default: self = .last
        }
    }
}

extension SessionDescription.Origin {
    /// A user name with spaces in it, which some clients write, is kept whole.
    fileprivate init?(parsing value: Text) {
        let fields = value.fields
        guard fields.count >= 6 else { return nil }
        let tail = fields.suffix(5)
        let first = tail.startIndex
        let username = Text(value.bytes[..<tail[first].bytes.startIndex]).trimmed
        self.init(
            username: username, sessionID: tail[first], version: tail[first + 1], addressType: tail[first + 3], address: tail[first + 4])
    }
}

extension SessionDescription.Connection {
    fileprivate init?(parsing value: Text) {
        let fields = value.fields
        guard fields.count == 3, fields[0].equalsIgnoringCase(.internet) else { return nil }
        self.init(addressType: fields[1], host: fields[2])
    }
}

extension SessionDescription.Attribute {
    fileprivate init(parsing value: Text) {
        if let colon = value.bytes.firstIndex(of: UInt8(ascii: ":")) {
            self.init(Text(value.bytes[..<colon]), Text(value.bytes[(colon + 1)...]))
        } else {
            self.init(value)
        }
    }
}

extension SessionDescription.Media {
    fileprivate init?(parsing value: Text) {
        let fields = value.fields
        guard fields.count >= 3 else { return nil }
        let port = fields[1].bytes.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = Text(port[0]).integer(UInt16.self) else { return nil }
        self.init(kind: fields[0], port: number, proto: fields[2], formats: Array(fields[3...]))
        portCount = port.count == 2 ? Text(port[1]) : nil
    }
}

extension Text {
    /// The pieces between spaces and tabs.
    var fields: [Text] { bytes.split { $0 == 0x20 || $0 == 0x09 }.map { Text($0) } }
}
