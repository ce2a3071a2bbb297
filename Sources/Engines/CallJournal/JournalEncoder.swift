import CallKit
import Primitives

/// Writes events as JSON lines: UTF-8, one object per event, no spaces, newline at the end.
///
/// `{"seq":7,"t":1000,"wall":1790000000000000000,"call":"…","line":"1002","lane":"s0","kind":"sip.rx","details":{"method":"INVITE"}}`;
/// `call`, `line` and `details` are left out when there is nothing in them.
enum JournalEncoder {
    /// Appends an event of the stamp's lane.
    static func append(_ event: borrowing JournalEvent, _ stamp: Stamp, to bytes: inout [UInt8]) {
        stamp.set(event.time, event.wall)
        stamp.set(event.call, event.line)
        bytes.append(addingCapacity: mostBytes(of: event)) { line in write(event, stamp, to: &line) }
    }

    /// The line that stands for events that could not be written: those behind number `last` up to the mark.
    static func lossLine(_ mark: JournalMark, since last: UInt64) -> [UInt8] {
        let event = JournalEvent(
            sequence: mark.sequence, time: mark.time, wall: mark.wall, kind: .journalLost,
            details: [.count: .init(mark.sequence &- last), .calls: .init(mark.calls)])
        var line: [UInt8] = []
        append(event, Stamp(lane: "journal"), to: &line)
        return line
    }

    /// The parts that the events of a lane have in common, and the words that they are written with. An object, which is lent where a value
    /// would be copied.
    final class Stamp {
        /// `,"lane":"s0","kind":"sip.rx"`
        fileprivate let kinds: Words
        fileprivate let firstKeys = JournalEvent.Key.firstMembers, keys = JournalEvent.Key.members
        private var moment: (time: Instant, wall: UInt64)?
        /// `,"t":…,"wall":…`: an event mostly shares it with the one before, for a turn of a lane has one time.
        fileprivate private(set) var bytes: [UInt8] = []

        private var subject: (call: CallUUID?, line: Text) = (nil, .empty)
        /// `,"call":"…","line":"1002"`: an event is mostly about what the one before was about.
        fileprivate private(set) var subjectBytes: [UInt8] = []

        init(lane: Text) {
            var member: [UInt8] = []
            member.append(addingCapacity: 16 + 6 * lane.count) { span in
                span.append(",\"lane\":")
                span.append(quoted: lane)
            }
            kinds = Words(JournalEvent.Kind.allCases.map { member + ",\"kind\":\"\($0.rawValue)\"".utf8 })
        }

        fileprivate func set(_ call: CallUUID?, _ line: Text) {
            if subject.call == call, subject.line == line { return }
            subject = (call, line)
            subjectBytes.removeAll(keepingCapacity: true)
            subjectBytes.append(addingCapacity: 64 + 6 * line.count) { span in
                if let call {
                    span.append(",\"call\":")
                    span.append(quoted: call)
                }
                if !line.isEmpty {
                    span.append(",\"line\":")
                    span.append(quoted: line)
                }
            }
        }

        fileprivate func set(_ time: Instant, _ wall: UInt64) {
            if let moment, moment == (time, wall) { return }
            moment = (time, wall)
            bytes.removeAll(keepingCapacity: true)
            bytes.append(addingCapacity: 64) { span in
                span.append(",\"t\":")
                span.append(decimal: time.nanoseconds)
                span.append(",\"wall\":")
                span.append(decimal: wall)
            }
        }
    }

    private static func write(_ event: borrowing JournalEvent, _ stamp: Stamp, to line: inout OutputSpan<UInt8>) {
        line.append("{\"seq\":")
        line.append(decimal: event.sequence)
        line.append(stamp.bytes)
        line.append(stamp.subjectBytes)
        line.append(stamp.kinds, event.kind.ordinal)
        write(event.details, stamp, to: &line)
        line.append("}\n")
    }

    private static func write(_ details: JournalEvent.Details, _ stamp: Stamp, to line: inout OutputSpan<UInt8>) {
        // Read where they lie: a loop over the array copies each.
        let fields = details.fields.span
        guard !fields.isEmpty else { return }
        for index in fields.indices {
            if index == 0 {
                line.append(stamp.firstKeys, fields[index].key.ordinal)
            } else {
                line.append(stamp.keys, fields[index].key.ordinal)
            }
            line.append(value: fields[index].value)
        }
        line.append("}")
    }

    /// More than the line will have: all names and numbers as long as they can be, and every byte of a text escaped.
    private static func mostBytes(of event: borrowing JournalEvent) -> Int {
        var most = 256 + 6 * (event.line.count + event.lane.count)
        for field in event.details.fields {
            most += 64
            switch field.value {
            case .text(let text): most += 6 * text.count
            case .actions(let actions): most += 64 * actions.count
            case .uuid, .number: break
            }
        }
        return most
    }
}

extension JournalEvent.Key {
    /// `,"details":{"method":`
    fileprivate static let firstMembers = Words(allCases.map { Array(",\"details\":{\"\($0.rawValue)\":".utf8) })
    /// `,"method":`
    fileprivate static let members = Words(allCases.map { Array(",\"\($0.rawValue)\":".utf8) })
}

/// Words by number, one behind the other: an array of each would be retained whenever its word is written.
private struct Words {
    let bytes: [UInt8]
    /// The places at which each begins, and the one at which the last ends.
    let bounds: [Int]

    init(_ words: [[UInt8]]) {
        bytes = words.flatMap(\.self)
        bounds = words.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(_ literal: StaticString) {
        append(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    fileprivate mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    fileprivate mutating func append(_ words: borrowing Words, _ number: Int) {
        let range = words.bounds[number]..<words.bounds[number + 1]
        words.bytes.withUnsafeBufferPointer { append(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        precondition(bytes.count <= freeCapacity, "a line is longer than foreseen")
        withUnsafeMutableBufferPointer { buffer, count in
            guard let source = bytes.baseAddress, let start = buffer.baseAddress else { return }
            (start + count).initialize(from: source, count: bytes.count)
            count &+= bytes.count
        }
    }

    fileprivate mutating func append(value: JournalEvent.Value) {
        switch value {
        case .text(let text): append(quoted: text)
        case .uuid(let uuid): append(quoted: uuid)
        case .number(let number):
            if number < 0 { append("-") }
            append(decimal: number.magnitude)
        case .actions(let actions): append(quoted: actions)
        }
    }

    /// As `text` of the actions has them.
    private mutating func append(quoted actions: [CallAction]) {
        append(Self.quote)
        for (index, action) in actions.enumerated() {
            if index > 0 { append(" ") }
            action.kind.actionClass.name.bytes.withUnsafeBufferPointer { append($0) }
            append(":")
            append(CallUUID(action.uuid))
        }
        append(Self.quote)
    }

    fileprivate mutating func append(decimal number: UInt64) {
        var digits = InlineArray<20, UInt8>(repeating: 0x30)
        var (first, rest) = (19, number)
        while rest > 9 {
            digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            first -= 1
        }
        digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest)
        digits.span.withUnsafeBufferPointer { append(UnsafeBufferPointer(rebasing: $0[first...])) }
    }

    fileprivate mutating func append(quoted uuid: CallUUID) {
        append(Self.quote)
        append(uuid)
        append(Self.quote)
    }

    private mutating func append(_ uuid: CallUUID) {
        precondition(CallUUID.textLength <= freeCapacity, "a line is longer than foreseen")
        withUnsafeMutableBufferPointer { buffer, count in
            uuid.write(to: UnsafeMutableRawBufferPointer(buffer.extracting(count...)))
            count &+= CallUUID.textLength
        }
    }

    private static var quote: UInt8 { 0x22 }

    /// Bytes that are not UTF-8 become replacement characters: a peer's display name may hold anything, a JSON string may not.
    fileprivate mutating func append(quoted text: Text) {
        append(Self.quote)
        text.bytes.withUnsafeBufferPointer { bytes in
            if bytes.isPlain { append(bytes) } else { append(escaping: text) }
        }
        append(Self.quote)
    }

    // Few texts need it: apart from those that do not.
    @inline(never) private mutating func append(escaping text: Text) {
        var repaired = text.description
        repaired.withUTF8 { bytes in
            for byte in bytes { append(escaped: byte) }
        }
    }

    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case 0x22: append("\\\"")
        case 0x5C: append("\\\\")
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        case 0..<0x20, 0x7F:
            append("\\u00")
            append(Self.hexadecimal(byte >> 4))
            append(Self.hexadecimal(byte & 15))
        default: append(byte)
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}

extension UnsafeBufferPointer<UInt8> {
    /// Printable ASCII without quotes and backslashes: eight bytes at a time, the last ones once more with what is left.
    fileprivate var isPlain: Bool {
        guard count >= 8 else { return allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C } }
        let bytes = UnsafeRawBufferPointer(self)
        var others = Self.others(in: bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        for offset in stride(from: 0, to: count - 8, by: 8) {
            others |= Self.others(in: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        return others == 0
    }

    /// The high bit of each byte that is not plain. Sums of seven bits cannot carry into the next byte.
    private static func others(in word: UInt64) -> UInt64 {
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let isNoControl = low &+ 0x6060_6060_6060_6060, isDelete = low &+ 0x0101_0101_0101_0101
        let isNoQuote = (low ^ 0x2222_2222_2222_2222) &+ 0x7F7F_7F7F_7F7F_7F7F,
            isNoBackslash = (low ^ 0x5C5C_5C5C_5C5C_5C5C) &+ 0x7F7F_7F7F_7F7F_7F7F
        return (word | isDelete | ~(isNoControl & isNoQuote & isNoBackslash)) & 0x8080_8080_8080_8080
    }
}
