/// The form of the messages that a stream exchanges with its program.
public enum StreamFormat: Hashable, Sendable {
    /// The messages of Twilio's Media Streams: JSON, with µ-law at 8 kHz in Base64.
    case twilio
    /// Sound in binary messages, and control in JSON.
    case raw(StreamEncoding)

    /// The coding of the sound, in both directions.
    public var encoding: StreamEncoding {
        switch self {
        case .twilio: .pcmu
        case .raw(let encoding): encoding
        }
    }
}

/// The coding of a stream's sound; one channel.
public enum StreamEncoding: Hashable, Sendable {
    /// µ-law at 8 kHz.
    case pcmu
    /// 16-bit samples, little-endian, at 8,000, 16,000, 24,000 or 48,000 Hz.
    case l16(sampleRate: Int)
    /// One Opus packet in each message (RFC 6716), at 48 kHz.
    case opus

    /// The rates of L16, in Hz.
    public static let sampleRates = [8_000, 16_000, 24_000, 48_000]

    /// Those of the format `raw`, as people write them.
    public static let choices: [String: StreamEncoding] = Dictionary(
        uniqueKeysWithValues: sampleRates.map { ("l16/\($0)", .l16(sampleRate: $0)) } + [("opus", .opus)])

    /// In Hz.
    public var sampleRate: Int {
        switch self {
        case .pcmu: 8_000
        case .l16(let sampleRate): sampleRate
        case .opus: 48_000
        }
    }

    /// As the start of a stream and the journal name it.
    public var name: String {
        switch self {
        case .pcmu: "pcmu"
        case .l16: "l16"
        case .opus: "opus"
        }
    }
}

/// One direction of a call's sound, as its far end has it: `inbound` comes from it, `outbound` goes to it.
public enum StreamTrack: String, Hashable, Sendable { case inbound, outbound }

/// The sound that a program listens to, which does not speak: what the far end says, what it hears, or both.
public enum StreamTap: String, Hashable, Sendable, CaseIterable {
    case `in`, out, both

    /// In the order of the channels.
    public var tracks: [StreamTrack] {
        switch self {
        case .in: [.inbound]
        case .out: [.outbound]
        case .both: [.inbound, .outbound]
        }
    }
}

/// The call that a stream belongs to, as its program is told.
public struct StreamCall: Hashable, Sendable {
    /// The UUID of the call.
    public var call: String
    /// The numbers of who calls and of who was called; empty: not known, or not to be told.
    public var caller: String, called: String
    /// Header fields of the INVITE that the program is told, in their order.
    public var headers: [StreamHeader]

    public init(call: String, caller: String, called: String, headers: [StreamHeader] = []) {
        (self.call, self.caller, self.called, self.headers) = (call, caller, called, headers)
    }
}

/// A header field.
public struct StreamHeader: Hashable, Sendable {
    public var name: String, value: String

    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

    /// Fields of one request at most.
    public static let most = 32
    /// Fields that the handshake itself writes.
    private static let ours: Set<String> = ["host", "connection", "upgrade", "user-agent", "content-length", "transfer-encoding"]

    /// It may stand in the request of a WebSocket: a token of RFC 9110 §5.6.2 that is none of the handshake's.
    public var isNameAllowed: Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
            && !Self.ours.contains(name.lowercased()) && !name.lowercased().hasPrefix("sec-websocket-")
    }

    /// One line of at most 4,096 bytes.
    public var isValueAllowed: Bool {
        !value.isEmpty && value.utf8.count <= 4_096 && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Both.
    public var isAllowed: Bool { isNameAllowed && isValueAllowed }
}
