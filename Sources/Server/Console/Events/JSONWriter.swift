import CallJournal
import Primitives

/// Writes JSON (RFC 8259) without a detour through Foundation's coders, whose cost each event would pay several times over.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init() { bytes.reserveCapacity(512) }

    mutating func object(_ body: (inout JSONWriter) -> Void) { enclose(UInt8(ascii: "{"), UInt8(ascii: "}"), body) }
    mutating func array(_ body: (inout JSONWriter) -> Void) { enclose(UInt8(ascii: "["), UInt8(ascii: "]"), body) }

    mutating func member(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        body(&self)
        needsComma = true
    }

    mutating func member(_ name: String, _ text: String?) { member(name) { $0.value(text) } }
    mutating func member(_ name: String, _ number: Int64?) { member(name) { $0.value(number) } }
    mutating func member(_ name: String, _ flag: Bool) { member(name) { $0.append(flag ? "true" : "false") } }

    mutating func member(_ name: String, _ value: JournalEvent.Value) {
        if case .number(let number) = value { member(name, number) } else { member(name, value.text.description) }
    }

    mutating func value(_ text: String?) {
        separate()
        guard let text else { return append("null") }
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { escape(byte) }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    mutating func value(_ number: Int64?) {
        separate()
        append(number.map { String($0) } ?? "null")
        needsComma = true
    }

    /// JSON that is written already.
    mutating func raw(_ json: [UInt8]) {
        separate()
        bytes += json
        needsComma = true
    }

    /// Members stand before this already, written elsewhere.
    mutating func continues() { needsComma = true }

    private mutating func key(_ name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func enclose(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func separate() { if needsComma { bytes.append(UInt8(ascii: ",")) } }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        case ..<0x20: append("\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16))
        default: bytes.append(byte)
        }
    }
}
