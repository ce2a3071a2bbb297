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
}
