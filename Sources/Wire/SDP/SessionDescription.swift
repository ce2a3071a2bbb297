import Primitives

/// A session description (RFC 8866, and RFC 4566 before it): what a SIP body of type `application/sdp` says.
///
/// Lines and attributes that are not understood are kept and come out as they came in. Text values share the buffer
/// of the body that they were parsed from.
public struct SessionDescription: Hashable, Sendable {
    /// The `o=` line. The numbers stay text, for they may be longer than any integer.
    public struct Origin: Hashable, Sendable {
        /// `-` where the host knows no users (RFC 8866 §5.2).
        public var username: Text
        /// Digits that are unique with the name and the address of the host.
        public var sessionID: Text
        /// Digits; each change of the description makes it one more.
        public var version: Text
        /// `IP4` or `IP6`.
        public var addressType: Text
        /// The address of the machine that made the session, which need not be where media goes.
        public var address: Text

        /// An `o=` line of the Internet (`IN`).
        public init(username: Text = SessionDescription.noName, sessionID: Text, version: Text, addressType: Text, address: Text) {
            (self.username, self.sessionID, self.version) = (username, sessionID, version)
            (self.addressType, self.address) = (addressType, address)
        }
    }

    /// A `c=` line, at either level.
    public struct Connection: Hashable, Sendable {
        /// `IP4` or `IP6`.
        public var addressType: Text
        /// As written: an address, a name, or a multicast group with `/ttl`.
        public var host: Text

        /// - Parameter host: an address, a name, or a multicast group with `/ttl`.
        public init(addressType: Text, host: Text) { (self.addressType, self.host) = (addressType, host) }

        /// A line with this address.
        public init(_ address: IPAddress) {
            self.init(addressType: address.family == .v4 ? .ip4 : .ip6, host: address.text)
        }

        /// The address without `/ttl`; nil for a name.
        public var address: IPAddress? { IPAddress(Text(host.bytes.prefix { $0 != UInt8(ascii: "/") })) }
    }

    /// An `a=` line: `a=name` or `a=name:value`.
    public struct Attribute: Hashable, Sendable {
        /// The text before the colon; case counts.
        public var name: Text
        /// nil for a property attribute, which has no colon.
        public var value: Text?

        /// - Parameter value: nil for a property attribute.
        public init(_ name: Text, _ value: Text? = nil) { (self.name, self.value) = (name, value) }
    }

    /// A line that has no field of its own here, such as `b=` or `i=`.
    public struct Line: Hashable, Sendable {
        /// The letter before the `=`.
        public var type: UInt8
        /// The text behind the `=`, as written.
        public var value: Text

        /// - Parameter type: the letter before the `=`.
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
        /// Its own `c=` line; nil where that of the session counts.
        public var connection: Connection?
        /// Lines that have no field here, in their order.
        public var otherLines: [Line] = []
        /// In their order; a name may come more than once.
        public var attributes: [Attribute] = []

        /// - Parameters:
        ///   - kind: `audio`, `video`, `application` ...
        ///   - port: 0 refuses the stream, or takes it away (RFC 3264 §6, §8.2).
        ///   - proto: `RTP/AVP`, `UDP/TLS/RTP/SAVPF` ...
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
        /// It has no `o=` line.
        case missingOrigin
        /// The line of that number (from 1) is no line of SDP.
        case malformed(line: Int)
    }

    /// The bounds of one description.
    public enum Limits {
        /// Bytes of a whole description.
        public static let bytes = 65_536
        /// Streams.
        public static let media = 64
        /// Attributes of the session; likewise other lines of it. Each of them is looked through for every stream.
        public static let sessionLines = 128
        /// Attributes of one stream; likewise other lines of it. The video of a browser has more than a hundred.
        public static let streamLines = 1_024
        /// Formats of one stream. All attributes of it are looked through for each.
        public static let formats = 128
    }

    /// The text in place of a name that nobody needs.
    public static let noName: Text = "-"
    /// A `t=` line of times that bound nothing.
    public static let always: Text = "0 0"

    /// The maker of the session, and the version of it that this is.
    public var origin: Origin
    /// The `s=` line; `-` where it has no name.
    public var sessionName: Text
    /// The `c=` line of all streams that have none of their own.
    public var connection: Connection?
    /// The value of the first `t=` line; further ones are in `otherLines`.
    public var timing: Text
    /// Lines of the session that have no field here, in their order.
    public var otherLines: [Line] = []
    /// Attributes of the session, in their order.
    public var attributes: [Attribute] = []
    /// The streams, in the order that an answer has to keep (RFC 3264 §6).
    public var media: [Media] = []

    /// A description without streams.
    public init(origin: Origin, sessionName: Text = noName, connection: Connection? = nil, timing: Text = always) {
        (self.origin, self.sessionName, self.connection, self.timing) = (origin, sessionName, connection, timing)
    }

    /// The first session attribute of that name; nil when there is none.
    public func attribute(_ name: Text) -> Attribute? { attributes.first { $0.name == name } }

    // The values for a stream: its own, else the session's.
    func attribute(_ name: Text, of media: Media) -> Attribute? { media.attribute(name) ?? attribute(name) }
    func connection(of media: Media) -> Connection? { media.connection ?? connection }
    func direction(of media: Media) -> Direction? { Direction(in: media.attributes) ?? Direction(in: attributes) }
}
