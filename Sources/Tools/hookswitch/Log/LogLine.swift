import Foundation
import Gateway
import Logging
import Primitives

/// The value of a field of a log line.
enum FieldValue: Encodable, Equatable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    case text(String), number(Double), whole(Int64), none

    init(stringLiteral value: String) { self = .text(value) }
    /// Nothing is said of what is nil.
    init(_ text: String?) { self = text.map(FieldValue.text) ?? .none }
    init(_ number: Int64?) { self = number.map(FieldValue.whole) ?? .none }
    /// Seconds.
    init(_ duration: Duration?) { self = duration.map { .number(Double($0.wholeMilliseconds) / 1_000) } ?? .none }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .whole(let number): try container.encode(number)
        case .none: try container.encodeNil()
        }
    }
}

/// A line of the log as one JSON object: `time`, `level`, `message`, and the fields of the event.
struct LogLine: Encodable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    var fields: NoticeLog.Fields

    init(_ level: Logger.Level, _ message: String, _ fields: NoticeLog.Fields, at wall: UInt64) {
        let common: NoticeLog.Fields = [
            ("time", .text(WallTime.universal(wall))), ("level", .text(level.rawValue)), ("message", .text(message)),
        ]
        self.fields = common + fields
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, value) in fields where value != .none { try container.encode(value, forKey: Key(stringValue: name)) }
    }

    /// To standard error.
    static func write(_ level: Logger.Level, _ message: String, _ fields: NoticeLog.Fields) {
        guard let line = try? jsonLine(LogLine(level, message, fields, at: WallTime.now)) else { return }
        try? StandardOutput.write(line, to: STDERR_FILENO)
    }
}
