import CallKit
import Foundation
import Glibc
import Primitives

/// A call directory on disk: one entry a line, in ascending order of the numbers.
///
/// `+390551234567` or `390551234567, Who it is`; the label may stand in double quotes, where two of them mean one. Empty lines and lines
/// that begin with `#` count for nothing. Read piece by piece: memory does not grow with the file.
public struct DirectoryFile: Sendable {
    /// The path of a text file, one number a line.
    public let path: String

    public init(_ path: String) { self.path = path }

    /// Why a file cannot be used; the description is one line with file and line.
    public struct Failure: LocalizedError, CustomNSError, Equatable {
        public var place: String
        public var message: String
        public var code: CXErrorCodeCallDirectoryManagerError.Code

        public var description: String { "\(place): \(message)" }
        public var errorDescription: String? { description }
        public static var errorDomain: String { "DirectoryFile" }
        public var errorCode: Int { code.rawValue }
        public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
    }

    /// The list that the entries are for: numbers to block are there once, numbers to identify need a label and may have several.
    public enum List: Sendable { case block, identify }

    private static let pieceSize = 256 * 1024
    /// Longer lines are a mistake.
    private static let longestLine = 1_024

    /// Gives every entry to the body, in order. Throws `Failure`, with `.loadingInterrupted` for a file that cannot be read, or what the
    /// body throws.
    public func read(_ list: List, _ body: (_ number: CXCallDirectoryPhoneNumber, _ label: Substring) throws -> Void) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable }
        defer { close(descriptor) }
        var parser = Parser(path: path, list: list)
        var rest: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable }
            guard count > 0 else { break }
            rest += piece[..<count]
            var start = 0
            while let end = rest[start...].firstIndex(of: 0x0A) {
                try parser.take(rest[start..<end], body)
                start = end + 1
            }
            rest.removeSubrange(..<start)
            if rest.count > Self.longestLine { throw parser.failure("is longer than \(Self.longestLine) bytes", .unknown, next: true) }
        }
        if !rest.isEmpty { try parser.take(rest[...], body) }
    }

    /// With the system's words for the cause.
    private var unreadable: Failure {
        Failure(place: path, message: "cannot be read (\(String(cString: strerror(errno))))", code: .loadingInterrupted)
    }

    private struct Parser {
        let path: String
        let list: List
        var line = 0
        var last: CXCallDirectoryPhoneNumber?

        func failure(_ message: String, _ code: CXErrorCodeCallDirectoryManagerError.Code, next: Bool = false) -> Failure {
            Failure(place: "\(path):\(next ? line + 1 : line)", message: message, code: code)
        }

        mutating func take(_ bytes: ArraySlice<UInt8>, _ body: (CXCallDirectoryPhoneNumber, Substring) throws -> Void) throws {
            line += 1
            guard bytes.count <= DirectoryFile.longestLine else {
                throw failure("is longer than \(DirectoryFile.longestLine) bytes", .unknown)
            }
            let text = Text(line == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes).trimmed
            guard let first = text.bytes.first, first != UInt8(ascii: "#") else { return }
            let comma = text.bytes.firstIndex(of: UInt8(ascii: ",")) ?? text.bytes.endIndex
            let number = try number(Text(text.bytes[..<comma]).trimmed)
            try check(number)
            let label = comma < text.bytes.endIndex ? Self.label(Text(text.bytes[(comma + 1)...]).trimmed) : ""
            if list == .identify, label.isEmpty { throw failure("\(number) has no name: write \(number), Who it is", .unknown) }
            last = number
            try body(number, label[...])
        }

        private func number(_ text: Text) throws -> CXCallDirectoryPhoneNumber {
            var value: Int64 = 0, digits = 0
            for (index, byte) in text.bytes.enumerated() {
                switch byte {
                case 0x30...0x39:
                    digits += 1
                    guard digits <= 15 else { throw failure("'\(text)' has more than the 15 digits of E.164", .unknown) }
                    value = value * 10 + Int64(byte - 0x30)
                case UInt8(ascii: "+") where index == 0: break
                case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"): break
                default: throw failure("'\(text)' is no number as +390551234567", .unknown)
                }
            }
            guard digits > 0 else { throw failure("'\(text)' is no number as +390551234567", .unknown) }
            return value
        }

        private func check(_ number: CXCallDirectoryPhoneNumber) throws {
            guard let last else { return }
            if number < last { throw failure("\(number) comes after \(last): the numbers must ascend (sort -n)", .entriesOutOfOrder) }
            if number == last, list == .block { throw failure("\(number) is there twice", .duplicateEntries) }
        }

        /// Plain, or in quotes.
        private static func label(_ text: Text) -> String {
            guard text.count >= 2, text.bytes.first == 0x22, text.bytes.last == 0x22 else { return text.description }
            return Text(text.bytes.dropFirst().dropLast()).description.replacingOccurrences(of: "\"\"", with: "\"")
        }
    }
}

/// A call directory and the files that it is loaded from.
public struct DirectorySource: Sendable, Equatable {
    public var name: String
    /// Numbers that are blocked.
    public var block: String?
    /// Numbers and who they are.
    public var identify: String?

    public init(name: String, block: String? = nil, identify: String? = nil) {
        (self.name, self.block, self.identify) = (name, block, identify)
    }
}

/// Loads a directory from its files. All of it comes into force, or nothing.
final class DirectoryFileProvider: CXCallDirectoryProvider {
    private let source: DirectorySource

    init(_ source: DirectorySource) { self.source = source }

    override func beginRequest(with context: CXCallDirectoryExtensionContext) {
        do {
            try source.block.map(DirectoryFile.init)?.read(.block) { number, _ in
                context.addBlockingEntry(withNextSequentialPhoneNumber: number)
            }
            try source.identify.map(DirectoryFile.init)?.read(.identify) { number, label in
                context.addIdentificationEntry(withNextSequentialPhoneNumber: number, label: String(label))
            }
            context.completeRequest()
        } catch { context.cancelRequest(withError: error) }
    }
}

extension CallDirectories {
    /// Installs the sources, and loads each; the first line of what went wrong, or how many entries are in force, comes on a private queue.
    public func load(_ sources: [DirectorySource], outcome: @escaping @Sendable (DirectoryOutcome) -> Void) {
        for source in sources {
            register(source.name) { DirectoryFileProvider(source) }
            loadAgain(source.name, outcome: outcome)
        }
    }

    /// Loads one that is installed.
    func loadAgain(_ name: String, outcome: @escaping @Sendable (DirectoryOutcome) -> Void) {
        load(name) { [unowned self] error in
            let data = record(of: name)?.data
            outcome(
                DirectoryOutcome(
                    name: name, blocked: data?.blockedCount ?? 0, identified: data?.identifiedCount ?? 0,
                    failure: error.map { $0.localizedDescription }))
        }
    }
}

/// The outcome of a load.
public struct DirectoryOutcome: Sendable, Equatable {
    public var name: String
    /// In force now, old or new.
    public var blocked: Int, identified: Int
    /// nil: loaded.
    public var failure: String?
}
