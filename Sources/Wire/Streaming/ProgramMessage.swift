import Primitives

/// A message of a program, understood.
public enum ProgramMessage: Sendable, Equatable {
    /// Sound in the stream's encoding, of any length.
    case sound([UInt8])
    /// To be told back when all sound before it has been played.
    case mark(String)
    /// All sound that waits is forgotten.
    case clear
    /// No more sound is played, or it goes on.
    case pause, resume
    /// Keys for the far end.
    case digits(String)
    case hangUp
    /// The call goes on with this number.
    case transfer(String)
    /// Well-formed, of a kind that nobody here knows.
    case unknown

    /// Bytes of a name or a number.
    public static let longestName = 256

    /// Reads a text message, which is valid UTF-8; nil for nonsense.
    public init?(text: [UInt8], format: StreamFormat) {
        guard let object = JSONObject(text[...]), let event = object.string("event") else { return nil }
        let message =
            switch format {
            case .twilio: Self.twilio(event, object)
            case .raw: Self.raw(event, object)
            }
        guard let message else { return nil }
        self = message
    }

    /// Reads a binary message; nil for nonsense.
    public init?(binary: [UInt8], format: StreamFormat) {
        guard case .raw = format, !binary.isEmpty else { return nil }
        self = .sound(binary)
    }

    private static func twilio(_ event: String, _ object: JSONObject) -> Self? {
        switch event {
        case "media":
            // JSON may write a slash as \/; nothing else of Base64 has an escape.
            guard let payload = object.object("media")?.rawString("payload") else { return nil }
            let isPlain = !payload.contains(UInt8(ascii: "\\"))
            return Base64.decode(isPlain ? Array(payload) : payload.filter { $0 != UInt8(ascii: "\\") }).map(Self.sound)
        case "mark": return object.object("mark")?.string("name").flatMap(name).map(Self.mark)
        case "clear": return .clear
        default: return .unknown
        }
    }

    private static func raw(_ event: String, _ object: JSONObject) -> Self? {
        switch event {
        case "mark": object.string("name").flatMap(name).map(Self.mark)
        case "clear": .clear
        case "pause": .pause
        case "resume": .resume
        case "digits": object.string("digits").flatMap(name).map(Self.digits)
        case "hang-up": .hangUp
        case "transfer": object.string("to").flatMap(name).map(Self.transfer)
        default: .unknown
        }
    }

    private static func name(_ text: String) -> String? { text.isEmpty || text.utf8.count > longestName ? nil : text }
}
