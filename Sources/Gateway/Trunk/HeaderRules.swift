import Primitives
import SIP

/// Which headers of the one side of a call are passed to the other, and which are added towards the trunk.
///
/// For INVITE, 18x and 200 to it, and BYE; what a REFER passes goes with the INVITE that it asks for. What makes a dialog, describes a body or proves who we are is never touched.
public struct HeaderRules: Sendable, Equatable {
    /// A name, or the beginning of names when it ends in `*`.
    public struct NamePattern: Sendable, Equatable {
        private let name: Text
        private let isPrefix: Bool

        /// Nil when it is none, or names what is ours to write.
        public init?(_ text: Text) {
            isPrefix = text.bytes.last == UInt8(ascii: "*")
            name = Text(text.bytes.dropLast(isPrefix ? 1 : 0)).lowercased
            guard HeaderRules.isName(name), !isPrefix || name.count > 1 else { return nil }
            if !isPrefix, HeaderRules.isOurs(HeaderName(name)) { return nil }
        }

        func matches(_ other: HeaderName) -> Bool {
            let text = other.text.lowercased
            return isPrefix ? text.hasPrefix(name) : text == name
        }
    }

    /// Passed from leg to leg.
    public var copy: [NamePattern] = []
    /// Not passed, although `copy` names it.
    public var remove: [NamePattern] = []
    /// Added to what is sent to the trunk, in place of others of the name.
    public var set: [Field] = []

    public struct Field: Sendable, Equatable {
        public var name: Text
        public var value: Text

        /// Nil when the name is none, or ours to write.
        public init?(name: Text, value: Text) {
            guard HeaderRules.isName(name), !HeaderRules.isOurs(HeaderName(name)) else { return nil }
            (self.name, self.value) = (name, value)
        }
    }

    public init() {}

    public var isEmpty: Bool { copy.isEmpty && set.isEmpty }

    /// What a message of the one leg adds to that of the other. At most 32 fields: the rest of a flood stays where it is.
    func passed(from message: Message) -> [(HeaderName, Text)] {
        guard !copy.isEmpty else { return [] }
        return message.headers.all.lazy.map { (HeaderName($0.name), $0.value.printable) }.filter { name, _ in isPassed(name) }.prefix(32).map { $0 }
    }

    /// The same, towards the trunk.
    func towardsTrunk(from message: Message?) -> [(HeaderName, Text)] {
        let added = set.map { (HeaderName($0.name), $0.value) }
        let passed = message.map(passed(from:)) ?? []
        return passed.filter { name, _ in !added.contains { $0.0 == name } } + added
    }

    private func isPassed(_ name: HeaderName) -> Bool {
        !Self.isOurs(name) && copy.contains { $0.matches(name) } && !remove.contains { $0.matches(name) }
    }

    private static func isName(_ text: Text) -> Bool {
        !text.isEmpty && text.bytes.allSatisfy { byte in
            byte >= 0x61 && byte <= 0x7A || byte >= 0x41 && byte <= 0x5A || byte >= 0x30 && byte <= 0x39 || "-.!%_+`'~".utf8.contains(byte)
        }
    }

    private static func isOurs(_ name: HeaderName) -> Bool { ours.contains(name) }

    private static let ours: Set<HeaderName> = [
        .via, .from, .to, .callID, .cseq, .contact, .maxForwards, .contentLength, .contentType, .contentEncoding, .contentDisposition, .route, .recordRoute,
        .path, .serviceRoute, .expires, .minExpires, .allow, .accept, .supported, .require, .proxyRequire, .unsupported, .userAgent, .server,
        .authorization, .proxyAuthorization, .wwwAuthenticate, .proxyAuthenticate, .reason, "RSeq", "RAck", "Session-Expires", "Min-SE", "Replaces", "Refer-To",
        "Referred-By", "MIME-Version", "Event", "Subscription-State", "Retry-After", "Warning",
    ]
}
