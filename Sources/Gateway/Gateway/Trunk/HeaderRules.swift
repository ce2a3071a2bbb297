import Primitives
import SIP

/// Headers that are passed from one side of a call to the other, and headers that are added towards a trunk.
///
/// For INVITE, 18x and 200 to it, and BYE; what a REFER passes goes with the INVITE that it asks for. What makes a dialog, describes a body
/// or proves who we are is never touched.
public struct HeaderRules: Sendable, Equatable {
    /// A name, or the beginning of names when it ends in `*`.
    public struct NamePattern: Sendable, Equatable {
        private let name: HeaderName
        /// The prefix of the names; nil where `name` is the whole name.
        private let prefix: Text?

        /// Nil when it is none, or names what is ours to write.
        public init?(_ text: Text) {
            let isPrefix = text.bytes.last == UInt8(ascii: "*"), bare = Text(text.bytes.dropLast(isPrefix ? 1 : 0))
            guard HeaderRules.isName(bare), !isPrefix || bare.count > 1 else { return nil }
            (name, prefix) = (HeaderName(bare), isPrefix ? bare.lowercased : nil)
            if !isPrefix, HeaderRules.isOurs(name) { return nil }
        }

        func matches(_ other: HeaderName) -> Bool { prefix.map(other.hasPrefix) ?? (other == name) }
    }

    /// Passed from leg to leg.
    public var copy: [NamePattern] = []
    /// Not passed, although `copy` names it.
    public var remove: [NamePattern] = []
    /// Added to what is sent to a trunk, in place of others of the name.
    public var set: [Field] = []

    /// A header field that is set.
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

    /// These are passed, and nothing is set.
    public init(copy: [NamePattern]) { self.copy = copy }

    /// The rules between lines where nothing else is said: they pass what one user tells another. Not `X-*`: there are telephones that
    /// answer by themselves where such a field says so.
    public static let betweenLines = HeaderRules(copy: ["Subject", "User-to-User"].compactMap { NamePattern($0) })

    /// No header is touched.
    public var isEmpty: Bool { copy.isEmpty && set.isEmpty }

    /// Gives the headers that a message of the one leg adds to that of the other. At most 32 fields and 1,000 bytes: the rest of a flood
    /// stays where it is, and what was one datagram stays one.
    func passed(from message: Message) -> [(HeaderName, Text)] {
        guard !copy.isEmpty else { return [] }
        var room = 1_000
        return message.headers.fields(atMost: 32, where: isPassed).compactMap { name, value in
            guard value.count <= room else { return nil }
            room -= value.count
            return (name, value.printable)
        }
    }

    /// The same, towards the trunk.
    func towardsTrunk(from message: Message?) -> [(HeaderName, Text)] {
        let added = set.map { (HeaderName($0.name), $0.value) }
        let passed = message.map(passed(from:)) ?? []
        return passed.filter { name, _ in !added.contains { $0.0 == name } } + added
    }

    private func isPassed(_ name: HeaderName) -> Bool {
        copy.contains { $0.matches(name) } && !Self.isOurs(name) && !remove.contains { $0.matches(name) }
    }

    private static func isName(_ text: Text) -> Bool {
        !text.isEmpty
            && text.bytes.allSatisfy { byte in
                byte >= 0x61 && byte <= 0x7A || byte >= 0x41 && byte <= 0x5A || byte >= 0x30 && byte <= 0x39
                    || "-.!%_+`'~".utf8.contains(byte)
            }
    }

    private static func isOurs(_ name: HeaderName) -> Bool { ours.contains(name) }

    private static let ours: Set<HeaderName> = [
        .via, .from, .to, .callID, .cseq, .contact, .maxForwards, .contentLength, .contentType, .contentEncoding, .contentDisposition,
        .route, .recordRoute,
        .path, .serviceRoute, .expires, .minExpires, .allow, .accept, .supported, .require, .proxyRequire, .unsupported, .userAgent,
        .server,
        .authorization, .proxyAuthorization, .wwwAuthenticate, .proxyAuthenticate, .reason, "RSeq", "RAck", "Session-Expires", "Min-SE",
        "Replaces", "Refer-To",
        "Referred-By", "MIME-Version", "Event", "Subscription-State", "Retry-After", "Warning",
    ]
}
