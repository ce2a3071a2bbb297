import Primitives

/// A session description (RFC 8866, and RFC 4566 before it): what a SIP body of type `application/sdp` says.
///
/// Lines and attributes that are not understood are kept and come out as they came in. Text values share the buffer
/// of the body that they were parsed from.
public struct SessionDescription: Hashable, Sendable {
    /// The `o=` line. The numbers stay text, for they may be longer than any integer.
    public struct Origin: Hashable, Sendable {
        public var username: Text
        public var sessionID: Text
        public var version: Text
        public var addressType: Text
        public var address: Text

        public init(username: Text = SessionDescription.noName, sessionID: Text, version: Text, addressType: Text, address: Text) {
            (self.username, self.sessionID, self.version) = (username, sessionID, version)
            (self.addressType, self.address) = (addressType, address)
        }
    }

    /// A `c=` line, at either level.
    public struct Connection: Hashable, Sendable {
        public var addressType: Text
        /// As written: an address, a name, or a multicast group with `/ttl`.
        public var host: Text

        public init(addressType: Text, host: Text) { (self.addressType, self.host) = (addressType, host) }

        public init(_ address: IPAddress) {
            self.init(addressType: address.family == .v4 ? .ip4 : .ip6, host: address.text)
        }

        /// The address without `/ttl`; nil for a name.
        public var address: IPAddress? { IPAddress(Text(host.bytes.prefix { $0 != UInt8(ascii: "/") })) }
    }

    /// An `a=` line: `a=name` or `a=name:value`.
    public struct Attribute: Hashable, Sendable {
        public var name: Text
        /// nil for a property attribute, which has no colon.
        public var value: Text?

        public init(_ name: Text, _ value: Text? = nil) { (self.name, self.value) = (name, value) }
    }

    /// A line that has no field of its own here, such as `b=` or `i=`.
    public struct Line: Hashable, Sendable {
        /// The letter before the `=`.
        public var type: UInt8
        public var value: Text

        public init(type: UInt8, value: Text) { (self.type, self.value) = (type, value) }
    }

    /// An `m=` line and the lines that belong to it.
    public struct Media: Hashable, Sendable {
        /// `audio`, `video` and so on, as written.
        public var kind: Text
        /// 0 says that the stream is refused or removed (RFC 3264 §6, §8.2).
        public var port: UInt16
        /// The number behind the port's slash, for layered streams.
        public var portCount: Text?
        /// `RTP/AVP` and so on, as written.
        public var proto: Text
        /// Payload type numbers for RTP; anything for other protocols.
        public var formats: [Text]
        public var connection: Connection?
        public var otherLines: [Line] = []
        public var attributes: [Attribute] = []

        public init(kind: Text, port: UInt16, proto: Text, formats: [Text]) {
            (self.kind, self.port, self.proto, self.formats) = (kind, port, proto, formats)
        }

        /// The first attribute of that name; nil when there is none.
        public func attribute(_ name: Text) -> Attribute? { attributes.first { $0.name == name } }
    }

    /// Why bytes are no session description.
    public enum ParseError: Error, Hashable, Sendable {
        /// Over 64 KiB, or more lines of some kind than `Limits` allows.
        case tooLarge
        /// The body does not begin with `v=0`.
        case version
        case missingOrigin
        /// The line of that number (from 1) is no line of SDP.
        case malformed(line: Int)
    }

    /// What one description may hold.
    public enum Limits {
        public static let bytes = 65_536
        public static let media = 64
        /// Attributes of the session; likewise other lines of it. Each of them is looked through for every stream.
        public static let sessionLines = 128
        /// Attributes of one stream; likewise other lines of it. The video of a browser has more than a hundred.
        public static let streamLines = 1_024
        /// Of one stream. All attributes of it are looked through for each.
        public static let formats = 128
    }

    /// What stands for a name that nobody needs.
    public static let noName: Text = "-"
    /// A `t=` line of times that bound nothing.
    public static let always: Text = "0 0"

    public var origin: Origin
    public var sessionName: Text
    public var connection: Connection?
    /// The value of the first `t=` line; further ones are in `otherLines`.
    public var timing: Text
    public var otherLines: [Line] = []
    public var attributes: [Attribute] = []
    public var media: [Media] = []

    public init(origin: Origin, sessionName: Text = noName, connection: Connection? = nil, timing: Text = always) {
        (self.origin, self.sessionName, self.connection, self.timing) = (origin, sessionName, connection, timing)
    }

    /// The first session attribute of that name; nil when there is none.
    public func attribute(_ name: Text) -> Attribute? { attributes.first { $0.name == name } }

    // What holds for a stream: its own, else the session's.
    func attribute(_ name: Text, of media: Media) -> Attribute? { media.attribute(name) ?? attribute(name) }
    func connection(of media: Media) -> Connection? { media.connection ?? connection }
    func direction(of media: Media) -> Direction? { Direction(in: media.attributes) ?? Direction(in: attributes) }
}
