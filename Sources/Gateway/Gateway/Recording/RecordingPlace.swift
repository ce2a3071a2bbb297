import Foundation
import Media
import Primitives

/// The place of a line's recordings: a pattern of paths, as `recordings/{line}/{date}-{time}-{caller}.opus`.
///
/// A pattern without an extension is a folder. What is put in for a name in braces has letters, digits, `+`, `-`, `_` and `.` alone, so
/// that no caller leads out of the folder.
public struct RecordingPlace: Hashable, Sendable {
    /// Why a text is no pattern. The description says what is wrong in a few words.
    public enum PatternError: Error, Hashable, Sendable, CustomStringConvertible {
        case empty
        /// A name in braces that there is not.
        case unknown(String)
        case unclosed
        /// An extension that is no format.
        case format(String)

        public var description: String {
            switch self {
            case .empty: "is empty"
            case .unknown(let name): "has no '{\(name)}'; there are \(Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " "))"
            case .unclosed: "has a '{' without its '}'"
            case .format(let name): "knows no format '.\(name)'; there are .wav and .opus"
            }
        }
    }

    /// Names that may stand in braces in a pattern.
    public enum Field: String, CaseIterable, Hashable, Sendable {
        /// The number that was called, who called, the line of the call.
        case called, caller, line
        /// UTC, as 20261122 and 001832Z.
        case date, time
        /// The UUID of the call.
        case call
    }

    private enum Part: Hashable, Sendable {
        case text(String)
        case field(Field)
    }

    /// As the configuration has it.
    public let pattern: String
    /// By the ending of the name.
    public let format: RecordingFormat
    private let parts: [Part]

    static let usualName = "{date}-{time}-{caller}-{called}-{call}.wav"

    public init(_ pattern: String) throws(PatternError) {
        guard !pattern.isEmpty else { throw .empty }
        self.pattern = pattern
        let name = pattern.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let isFolder = !name.contains(".") || name == "." || name == ".."
        let whole = isFolder ? (name.isEmpty ? pattern : pattern + "/") + Self.usualName : pattern
        let suffix = whole.split(separator: ".", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        guard let format = RecordingFormat(rawValue: suffix == "ogg" ? "opus" : suffix) else { throw .format(suffix) }
        self.format = format
        parts = try Self.parse(whole)
    }

    private static func parse(_ text: String) throws(PatternError) -> [Part] {
        var parts: [Part] = [], rest = text[...]
        while let brace = rest.firstIndex(of: "{") {
            parts.append(.text(String(rest[..<brace])))
            guard let end = rest[brace...].firstIndex(of: "}") else { throw .unclosed }
            let name = String(rest[rest.index(after: brace)..<end])
            guard let field = Field(rawValue: name) else { throw .unknown(name) }
            parts.append(.field(field))
            rest = rest[rest.index(after: end)...]
        }
        return parts + [.text(String(rest))]
    }

    /// The folder that all files are in: what stands before the first name in braces.
    public var folder: String {
        guard case .text(let text)? = parts.first, let slash = text.lastIndex(of: "/") else { return "." }
        return String(text[...slash])
    }

    /// The path of one call's file.
    func path(of call: UUID, caller: Text, called: Text, line: Text, at date: Date) -> String {
        let stamp = Self.stamp(date)
        return parts.map { part in
            switch part {
            case .text(let text): text
            case .field(.caller): Self.safe(caller)
            case .field(.called): Self.safe(called)
            case .field(.line): Self.safe(line)
            case .field(.date): stamp.date
            case .field(.time): stamp.time
            case .field(.call): CallUUID(call).text.description
            }
        }.joined()
    }

    /// At most 64 characters, none of which means anything to a file system.
    private static func safe(_ text: Text) -> String {
        let allowed = text.description.unicodeScalars.prefix(64).map { scalar -> Character in
            let isPlain =
                scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "+-_.".unicodeScalars.contains(scalar))
            return isPlain ? Character(scalar) : "_"
        }
        let name = String(allowed)
        if name.isEmpty { return "unknown" }
        return name.hasPrefix(".") ? "_" + name.dropFirst() : name
    }

    private static func stamp(_ date: Date) -> (date: String, time: String) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func digits(_ value: Int?, _ count: Int) -> String {
            let text = String(value ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return (
            digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2),
            digits(parts.hour, 2) + digits(parts.minute, 2) + digits(parts.second, 2) + "Z"
        )
    }
}
