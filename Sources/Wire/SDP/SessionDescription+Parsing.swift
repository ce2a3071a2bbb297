import Primitives

extension SessionDescription {
    /// Reads a description whose lines end in CRLF or LF, in any order after the `v=` line.
    ///
    /// A missing `s=` or `t=` is made good; a missing `o=` is an error. RFC 8866 §5.
    public init(parsing bytes: [UInt8]) throws(ParseError) { try self.init(parsing: Text(bytes)) }

    /// As above. What it keeps are slices of the text.
    public init(parsing text: Text) throws(ParseError) {
        guard text.count <= Limits.bytes else { throw .tooLarge }
        origin = Origin(sessionID: .empty, version: .empty, addressType: .empty, address: .empty)
        (sessionName, connection, timing) = (Self.noName, nil, Self.always)
        var seen = Seen()
        var number = 0
        var rest = text.bytes
        while !rest.isEmpty {
            let end = rest.withUnsafeBufferPointer { $0.firstIndex(of: UInt8(ascii: "\n")) }.map { rest.startIndex + $0 } ?? rest.endIndex
            number += 1
            let line = end > rest.startIndex && rest[end - 1] == UInt8(ascii: "\r") ? rest[..<(end - 1)] : rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            if line.isEmpty { continue }
            try take(line, number: number, &seen)
        }
        guard seen.version else { throw .version }
        guard seen.origin else { throw .missingOrigin }
        arrange()
        for index in media.indices { media[index].arrange() }
    }

    /// The lines of the session's own that there were.
    private struct Seen {
        var version = false, origin = false, name = false, timing = false
    }

    /// The lines are the session's own until the first `m=`.
    private mutating func take(_ line: ArraySlice<UInt8>, number: Int, _ seen: inout Seen) throws(ParseError) {
        let valueStart = line.startIndex + 2
        guard line.count >= 2, line[line.startIndex + 1] == UInt8(ascii: "="),
            !line.withUnsafeBufferPointer({ $0.contains { $0 == 0 || $0 == 0x0D } })
        else {
            throw seen.version ? .malformed(line: number) : .version
        }
        let (type, value) = (line[line.startIndex], Text(line[valueStart...]))
        guard seen.version else {
            guard type == UInt8(ascii: "v"), value.trimmed == .zero else { throw .version }
            return seen.version = true
        }
        if type == UInt8(ascii: "m") {
            guard media.count < Limits.media else { throw .tooLarge }
            guard let next = Media(parsing: value) else { throw .malformed(line: number) }
            guard next.formats.count <= Limits.formats else { throw .tooLarge }
            return media.append(next)
        }
        let last = media.count - 1
        guard last < 0 else { return try media[last].take(type, value, number: number, atMost: Limits.streamLines) }
        switch type {
        case UInt8(ascii: "o") where !seen.origin:
            guard let origin = Origin(parsing: value) else { throw .malformed(line: number) }
            (self.origin, seen.origin) = (origin, true)
        case UInt8(ascii: "s") where !seen.name: (sessionName, seen.name) = (value, true)
        case UInt8(ascii: "t") where !seen.timing: (timing, seen.timing) = (value, true)
        default: try take(type, value, number: number, atMost: Limits.sessionLines)
        }
    }
}

/// The lines that both levels may have.
private protocol Section {
    var connection: SessionDescription.Connection? { get set }
    var otherLines: [SessionDescription.Line] { get set }
    var attributes: [SessionDescription.Attribute] { get set }
}

extension SessionDescription: Section {}
extension SessionDescription.Media: Section {}

extension Section {
    /// - Parameter limit: of attributes, and of other lines.
    fileprivate mutating func take(_ type: UInt8, _ value: Text, number: Int, atMost limit: Int) throws(SessionDescription.ParseError) {
        switch type {
        case UInt8(ascii: "a"):
            guard attributes.count < limit else { throw .tooLarge }
            attributes.append(SessionDescription.Attribute(parsing: value))
        case UInt8(ascii: "c") where connection == nil:
            guard let parsed = SessionDescription.Connection(parsing: value) else { throw .malformed(line: number) }
            connection = parsed
        default:
            guard otherLines.count < limit else { throw .tooLarge }
            otherLines.append(SessionDescription.Line(type: type, value: value))
        }
    }

    /// Puts lines into the order in which `serialized()` writes them, so that what was parsed compares equal to its own copy.
    fileprivate mutating func arrange() {
        guard otherLines.count > 1 else { return }
        otherLines = LinePlace.allCases.flatMap { place in otherLines.filter { LinePlace($0.type) == place } }
    }
}

/// The place of a line without a field of its own among the others (RFC 8866 §9, the grammar's order).
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
        let port = fields[1].bytes
        let slash = port.firstIndex(of: UInt8(ascii: "/"))
        guard let number = Text(port[..<(slash ?? port.endIndex)]).integer(UInt16.self) else { return nil }
        self.init(kind: fields[0], port: number, proto: fields[2], formats: Array(fields[3...]))
        portCount = slash.map { Text(port[($0 + 1)...]) }
    }
}

extension Text {
    /// The pieces between spaces and tabs.
    var fields: [Text] {
        var fields: [Text] = []
        fields.reserveCapacity(8)
        var start = bytes.startIndex
        for index in bytes.indices where bytes[index] == 0x20 || bytes[index] == 0x09 {
            if start < index { fields.append(Text(bytes[start..<index])) }
            start = index + 1
        }
        if start < bytes.endIndex { fields.append(Text(bytes[start...])) }
        return fields
    }
}
