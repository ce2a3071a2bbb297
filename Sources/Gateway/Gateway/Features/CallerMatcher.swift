import CallKit
import Primitives

/// Callers, by pattern or one by one: VIPs, the block list, contacts.
struct CallerMatcher {
    var patterns: [NumberPattern] = []

    /// Patterns see a number with and without its plus, and any other caller as user and as whole address.
    func contains(_ handle: CXHandle) -> Bool {
        guard !patterns.isEmpty else { return false }
        let value = Text(handle.value)
        let spellings = handle.type == .phoneNumber ? [value, Self.digits(value)] : [value, Self.user(of: value)]
        return patterns.contains { pattern in spellings.contains { pattern.matches($0) } }
    }

    /// The same for all ways to write one caller: a number's digits, or the address in lower case.
    static func key(of handle: CXHandle) -> String {
        if let number = handle.hookswitchDirectoryNumber { return String(number) }
        return handle.value.lowercased()
    }

    /// The key of a number or address as a person writes it; `sip:` may be left out, which the handle of a caller always has.
    static func key(ofWritten text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return key(of: CXHandle(type: .phoneNumber, value: text)) }
        let address = text.lowercased()
        return address.hasPrefix("sip:") || address.hasPrefix("sips:") ? address : "sip:" + address
    }

    private static func digits(_ number: Text) -> Text { number.hasPrefix("+") ? Text(number.bytes.dropFirst()) : number }

    private static func user(of address: Text) -> Text {
        let scheme: Text = "sip:"
        let bytes = address.hasPrefix(scheme) ? address.bytes.dropFirst(scheme.count) : address.bytes
        return Text(bytes.prefix { $0 != UInt8(ascii: "@") })
    }
}
