import Primitives

/// The members of a journal's line before its details, found without reading the rest.
struct JournalLineHead {
    let sequence: UInt64
    let time: Instant
    /// Nanoseconds since 1970-01-01 UTC.
    let wall: UInt64
    let call: CallUUID?
    /// The number of the line, as it stands there; empty where the event is of none.
    let line: Text
    let kind: Text

    /// nil for what is no event.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        var rest = bytes.dropFirst(), numbers = (sequence: UInt64?.none, time: UInt64(0), wall: UInt64(0))
        var call: CallUUID?, line = Text.empty
        while let (name, value) = Self.member(&rest) {
            switch name {
            case "seq": numbers.sequence = Self.number(value)
            case "t": numbers.time = Self.number(value) ?? 0
            case "wall": numbers.wall = Self.number(value) ?? 0
            case "call": call = CallUUID(Text(value))
            case "line": line = Text(value)
            case "kind":
                guard let sequence = numbers.sequence else { return nil }
                (self.sequence, time, wall) = (sequence, Instant(nanoseconds: numbers.time), numbers.wall)
                (self.call, self.line, kind) = (call, line, Text(value))
                return
            default: break
            }
        }
        return nil
    }

    /// An event that stands for the whole line where only its place counts.
    var placeholder: JournalEvent { JournalEvent(sequence: sequence, time: time, wall: wall, kind: .portFree) }

    /// `"name":value`, and the comma behind it: a number, or a text without its quotes.
    private static func member(_ rest: inout ArraySlice<UInt8>) -> (name: Text, value: ArraySlice<UInt8>)? {
        guard let name = text(&rest), rest.popFirst() == UInt8(ascii: ":"), let first = rest.first else { return nil }
        let value: ArraySlice<UInt8>
        if first == UInt8(ascii: "\"") {
            guard let found = text(&rest) else { return nil }
            value = found
        } else {
            value = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard !value.isEmpty else { return nil }
            rest = rest[value.endIndex...]
        }
        if rest.first == UInt8(ascii: ",") { rest.removeFirst() }
        return (Text(name), value)
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var end = rest.startIndex
        while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") { end += rest[end] == UInt8(ascii: "\\") ? 2 : 1 }
        guard end < rest.endIndex else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        digits.count <= 19
            ? digits.reduce(0) { $0 * 10 + UInt64($1 &- UInt8(ascii: "0")) } : UInt64(String(decoding: digits, as: UTF8.self))
    }
}
