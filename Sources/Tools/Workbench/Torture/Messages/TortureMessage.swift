import Primitives

/// A message of RFC 4475 or RFC 5118, and what its section asks of whoever receives it.
public struct TortureMessage: Sendable {
    /// The RFC that the message is from.
    public let group: TortureCase.Group
    /// The name that the RFC gives it, such as `wsinv`.
    public let name: String
    /// The section of the RFC: `§3.1.1.1`.
    public let section: String
    /// The subject of the test, for a person.
    public let title: String
    /// The demand on the answer.
    public let demand: TortureDemand
    let traits: Traits
    private let text: String

    /// Peculiarities of the message on the wire.
    struct Traits: OptionSet, Sendable {
        var rawValue: Int

        /// It tests where a message ends in a datagram.
        static let datagramsOnly = Traits(rawValue: 1)
        /// A stream cannot be read on behind it: a connection that is closed is an answer too.
        static let breaksStream = Traits(rawValue: 2)
        /// Its Via is broken on purpose, so that a datagram with the answer may go to another port of ours.
        static let answerGoesAstray = Traits(rawValue: 4)
        /// Nothing at all is an answer as well.
        static let maySilence = Traits(rawValue: 8)
        /// Whoever does not serve its address may say that instead.
        static let addressComesFirst = Traits(rawValue: 16)
    }

    /// - Parameter text: as the RFC prints it, with the RFC's `<hex>` for octets that cannot be printed; a line ends with CRLF.
    init(
        _ group: TortureCase.Group, _ name: String, _ section: String, _ title: String, _ demand: TortureDemand, _ traits: Traits = [],
        text: String
    ) {
        (self.group, self.name, self.section, self.title) = (group, name, section, title)
        (self.demand, self.traits, self.text) = (demand, traits, text)
    }

    /// The octets of the message.
    public var bytes: [UInt8] { Self.expanded(text) }

    /// All 49 of RFC 4475, and those of RFC 5118, in the order of their sections.
    public static let all = rfc4475Valid + rfc4475Invalid + rfc4475Semantics + rfc5118

    private static func expanded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [], rest = Array(text.utf8)[...]
        while let byte = rest.first {
            if rest.starts(with: opening), let end = rest.firstRange(of: closing) {
                bytes += octets(rest[(rest.startIndex + opening.count)..<end.lowerBound])
                rest = rest[end.upperBound...]
                continue
            }
            bytes += byte == 0x0A ? [0x0D, 0x0A] : [byte]
            rest = rest.dropFirst()
        }
        return bytes
    }

    private static let opening = Array("<hex>".utf8), closing = Array("</hex>".utf8)

    private static func octets(_ digits: ArraySlice<UInt8>) -> [UInt8] {
        let values = digits.map { $0 <= 0x39 ? $0 - 0x30 : $0 - 0x37 }
        return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
