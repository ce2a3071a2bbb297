import Primitives

/// A way to code sound in RTP, as `a=rtpmap` and `a=fmtp` name it.
public struct Codec: Hashable, Sendable {
    /// The encoding name as in the catalogue below, or as the peer wrote it when it is not there.
    public var name: Text
    /// The rate of RTP timestamps, in hertz. G.722 says 8000 though it samples at 16,000 (RFC 3551 §4.5.2).
    public var clockRate: UInt32
    /// As `a=rtpmap` writes them; 1 where it does not.
    public var channels: UInt8
    /// The format parameters, verbatim: what the side that wrote them wishes to receive.
    public var fmtp: Text?

    /// - Parameters:
    ///   - name: as registered with IANA; compared without case.
    ///   - fmtp: what stands behind the payload type in `a=fmtp`.
    public init(name: Text, clockRate: UInt32, channels: UInt8 = 1, fmtp: Text? = nil) {
        (self.name, self.clockRate, self.channels, self.fmtp) = (name, clockRate, channels, fmtp)
    }

    /// RFC 7587: always written with two channels, whatever is sent.
    public static let opus = Codec(name: "opus", clockRate: 48_000, channels: 2)
    /// Payload type 9 (RFC 3551 §4.5.2).
    public static let g722 = Codec(name: "G722", clockRate: 8_000)
    /// G.711 with µ-law, payload type 0 (RFC 3551 §4.5.14).
    public static let pcmu = Codec(name: "PCMU", clockRate: 8_000)
    /// G.711 with A-law, payload type 8 (RFC 3551 §4.5.14).
    public static let pcma = Codec(name: "PCMA", clockRate: 8_000)
    /// 16-bit samples as they are (RFC 3551 §4.5.11).
    public static func l16(_ clockRate: UInt32) -> Codec { Codec(name: linearName, clockRate: clockRate) }

    /// The noise behind silence that is not sent (RFC 3389), at the clock of the sound that it accompanies.
    public static func comfortNoise(_ clockRate: UInt32) -> Codec { Codec(name: comfortNoiseName, clockRate: clockRate) }

    /// Keypad digits as events (RFC 4733), 0 to 15, at the clock of the sound that they accompany.
    public static func telephoneEvent(_ clockRate: UInt32) -> Codec {
        Codec(name: telephoneEventName, clockRate: clockRate, fmtp: allDigits)
    }

    /// Every codec for sound that the gateway knows, best first.
    public static let catalogue: [Codec] = usual + [.l16(48_000), .l16(44_100), .l16(16_000), .l16(8_000)]

    /// Those that are offered where nothing else is said.
    public static let usual: [Codec] = [.opus, .g722, .pcmu, .pcma]

    /// A codec of the catalogue by its name in any case, as a configuration file writes it: `opus`, `l16/16000`.
    public init?(catalogueName name: Text) {
        guard let found = Self.catalogue.first(where: { $0.catalogueName.equalsIgnoringCase(name) }) else { return nil }
        self = found
    }

    /// Its name, with the clock where the catalogue has several of that name.
    public var catalogueName: Text {
        let name = name.lowercased
        return Self.catalogue.count { $0.name.equalsIgnoringCase(name) } > 1 ? name + "/" + Text(clockRate) : name
    }

    /// Keys as events (RFC 4733), whatever the clock.
    public var isTelephoneEvent: Bool { name.equalsIgnoringCase(Self.telephoneEventName) }
    /// The noise behind silence (RFC 3389), whatever the clock.
    public var isComfortNoise: Bool { name.equalsIgnoringCase(Self.comfortNoiseName) }
    /// Neither keys nor noise, which only go with others.
    public var isSound: Bool { !isTelephoneEvent && !isComfortNoise }
    private static let comfortNoiseName: Text = "CN"
    private static let linearName: Text = "L16"
    var isOpus: Bool { name.equalsIgnoringCase(Self.opus.name) }
    private static let telephoneEventName: Text = "telephone-event"
    private static let allDigits: Text = "0-15"

    /// The same encoding: name in any case, clock and channels; format parameters do not count.
    public func matches(_ other: Codec) -> Bool { isEncoded(other.name, other.clockRate, other.channels) }

    func isEncoded(_ name: Text, _ clockRate: UInt32, _ channels: UInt8) -> Bool {
        self.clockRate == clockRate && self.channels == channels && self.name.equalsIgnoringCase(name)
    }

    /// The longest packet of it that fits an Ethernet frame whole, beside the headers of IPv6 and SRTP, in tens of milliseconds up to 120:
    /// only L16 is ever too long.
    var longestPacket: Int {
        guard name.equalsIgnoringCase(Self.linearName) else { return 120 }
        return max(10, min(120, 1_280 * 1_000 / (Int(clockRate) * 2 * Int(channels)) / 10 * 10))
    }

    /// The number that RFC 3551 gave it for ever; nil for those that need one per session.
    var staticPayloadType: UInt8? {
        guard channels == 1, clockRate == 8_000 || clockRate == 44_100 else { return nil }
        return Self.staticTypes.first { $0.codec.matches(self) }?.number
    }

    static func withStaticPayloadType(_ number: UInt8) -> Codec? { staticTypes.first { $0.number == number }?.codec }

    private static let staticTypes: [(number: UInt8, codec: Codec)] = [
        (0, .pcmu), (8, .pcma), (9, .g722), (11, .l16(44_100)), (13, .comfortNoise(8_000)),
    ]

    /// The dynamic number that we offer unless it is taken: those that most clients use.
    var customaryPayloadType: UInt8 {
        if isOpus { return 111 }
        if isTelephoneEvent { return clockRate == 48_000 ? 110 : clockRate == 8_000 ? 101 : 96 }
        return 96
    }

    /// Appends `name/clock`, and `/channels` where there is more than one.
    func appendMap(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: name.bytes)
        bytes.append(UInt8(ascii: "/"))
        bytes.append(decimal: clockRate)
        guard channels > 1 else { return }
        bytes.append(UInt8(ascii: "/"))
        bytes.append(decimal: channels)
    }

    /// Reads `name/clock[/channels]`; Opus without its `/2` is taken as meant.
    init?(rtpmap: Text) {
        let text = rtpmap.trimmed.bytes
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")), slash > text.startIndex else { return nil }
        let rest = text[(slash + 1)...]
        let second = rest.firstIndex(of: UInt8(ascii: "/"))
        guard let clockRate = Text(rest[..<(second ?? rest.endIndex)]).integer(UInt32.self), clockRate > 0 else { return nil }
        var channels: UInt8 = 1
        if let second {
            guard let written = Text(rest[(second + 1)...]).integer(UInt8.self), written > 0 else { return nil }
            channels = written
        }
        self.init(name: Text(text[..<slash]), clockRate: clockRate, channels: channels)
        if isOpus, clockRate == 48_000 { self.channels = 2 }
    }
}
