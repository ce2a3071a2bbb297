import Primitives

/// Writes events as JSON lines: UTF-8, one object per event, no spaces, newline at the end.
///
/// `{"seq":7,"t":1000,"wall":1790000000000000000,"call":"…","line":"1002","lane":"s0","kind":"sip.rx","details":{"method":"INVITE"}}`;
/// `call`, `line` and `details` are left out when there is nothing in them.
enum JournalEncoder {
    static func append(_ event: borrowing JournalEvent, to bytes: inout [UInt8]) {
        append("{\"seq\":", to: &bytes)
        append(event.sequence, to: &bytes)
        append(",\"t\":", to: &bytes)
        append(event.time.nanoseconds, to: &bytes)
        append(",\"wall\":", to: &bytes)
        append(event.wall, to: &bytes)
        if let call = event.call {
            append(",\"call\":\"", to: &bytes)
            call.append(to: &bytes)
            bytes.append(quote)
        }
        if !event.line.isEmpty {
            append(",\"line\":", to: &bytes)
            append(quoted: event.line, to: &bytes)
        }
        append(",\"lane\":", to: &bytes)
        append(quoted: event.lane, to: &bytes)
        append(",\"kind\":\"", to: &bytes)
        bytes.append(contentsOf: event.kind.rawValue.utf8)
        bytes.append(quote)
        append(event.details, to: &bytes)
        bytes.append(0x7D)
        bytes.append(0x0A)
    }

    private static func append(_ details: JournalEvent.Details, to bytes: inout [UInt8]) {
        guard !details.fields.isEmpty else { return }
        append(",\"details\":", to: &bytes)
        var separator: UInt8 = 0x7B
        for field in details.fields {
            bytes.append(separator)
            separator = 0x2C
            bytes.append(quote)
            bytes.append(contentsOf: field.key.rawValue.utf8)
            bytes.append(quote)
            bytes.append(0x3A)
            switch field.value {
            case .text(let text): append(quoted: text, to: &bytes)
            case .number(let number):
                if number < 0 { bytes.append(0x2D) }
                append(number.magnitude, to: &bytes)
            }
        }
        bytes.append(0x7D)
    }

    private static let quote: UInt8 = 0x22

    private static func append(_ literal: StaticString, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        guard number > 9 else { return bytes.append(0x30 + UInt8(number)) }
        let start = bytes.count
        var rest = number
        while rest > 0 {
            bytes.append(0x30 + UInt8(rest % 10))
            rest /= 10
        }
        bytes[start...].reverse()
    }

    /// Bytes that are not UTF-8 become replacement characters: a peer's display name may hold anything, a JSON string may not.
    private static func append(quoted text: Text, to bytes: inout [UInt8]) {
        bytes.append(quote)
        if text.bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != quote && $0 != 0x5C }) {
            bytes.append(contentsOf: text.bytes)
        } else {
            for byte in text.description.utf8 { append(escaped: byte, to: &bytes) }
        }
        bytes.append(quote)
    }

    private static func append(escaped byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case quote, 0x5C: bytes += [0x5C, byte]
        case 0x0A: bytes += [0x5C, 0x6E]
        case 0x0D: bytes += [0x5C, 0x72]
        case 0x09: bytes += [0x5C, 0x74]
        case 0..<0x20, 0x7F: bytes.append(contentsOf: Array("\\u00".utf8) + [hexadecimal(byte >> 4), hexadecimal(byte & 15)])
        default: bytes.append(byte)
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}
