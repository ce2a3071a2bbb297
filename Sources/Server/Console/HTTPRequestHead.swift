import Foundation
import Gateway

/// The head of one HTTP request, gathered from a stream (RFC 9112 §2–§5): what a monitor asks. Bodies are not read.
///
/// A value: bytes in, a verdict out.
public struct HTTPRequestHead: Sendable {
    /// What is known of the head so far.
    public enum Verdict: Hashable, Sendable {
        /// The head is not whole yet.
        case incomplete
        /// `isHead`: the answer has no body. Without a query.
        case get(path: String, isHead: Bool)
        /// To be answered with that status: 400 what is no request, 405 another method, 431 a head too long, 501 a method that HTTP does
        /// not know, 505 another version.
        case refused(status: Int)
    }

    /// The longest head, in bytes.
    public static let longest = 8_192
    private var bytes: [UInt8] = []

    /// Nothing has come yet.
    public init() {}

    /// Takes what came. After a verdict other than `incomplete` nothing more is to be brought.
    public mutating func receive(_ more: [UInt8]) -> Verdict {
        bytes += more.prefix(Self.longest - bytes.count)
        // Empty lines before a request are passed over (RFC 9112 §2.2).
        let head = bytes.drop { $0 == 0x0D || $0 == 0x0A }
        guard let end = head.firstIndex(of: 0x0A) else { return bytes.count == Self.longest ? .refused(status: 431) : .incomplete }
        let line = String(decoding: head[..<end], as: UTF8.self), verdict = Self.read(line)
        guard case .get = verdict else { return verdict }
        guard let fields = Self.fields(behind: end, of: head) else {
            return bytes.count == Self.longest ? .refused(status: 431) : .incomplete
        }
        // One Host, which HTTP/1.0 alone may leave out (RFC 9112 §3.2).
        guard let hosts = Self.hosts(among: fields), hosts == 1 || hosts == 0 && Self.isOld(line) else {
            return .refused(status: 400)
        }
        return verdict
    }

    /// Whether a request line ends in the version 1.0.
    private static func isOld(_ line: String) -> Bool { line.hasSuffix(" HTTP/1.0") || line.hasSuffix(" HTTP/1.0\r") }

    /// The lines of the head behind its first; nil before the empty line at its end has come.
    private static func fields(behind first: Int, of head: ArraySlice<UInt8>) -> ArraySlice<ArraySlice<UInt8>>? {
        let lines = head[(first + 1)...].split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map {
            $0.last == 0x0D ? $0.dropLast() : $0
        }
        guard let end = lines.firstIndex(where: \.isEmpty) else { return nil }
        return lines[..<end]
    }

    /// How many of them are a Host; nil where a line is no field, or a Host no host.
    private static func hosts(among fields: ArraySlice<ArraySlice<UInt8>>) -> Int? {
        var count = 0
        for field in fields {
            // Nothing stands between a name and its colon (RFC 9112 §5.1).
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")), colon > field.startIndex, field[..<colon].allSatisfy(token.contains)
            else { return nil }
            guard String(decoding: field[..<colon], as: UTF8.self).lowercased() == "host" else { continue }
            let value = field[(colon + 1)...].drop(while: blanks.contains)
            guard value.drop(while: host.contains).allSatisfy(blanks.contains) else { return nil }
            count += 1
        }
        return count
    }

    private static let alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    /// RFC 9110 §5.6.2.
    private static let token = Set("!#$%&'*+-.^_`|~\(alphanumeric)".utf8)
    /// RFC 3986 §3.2.2, and a port.
    private static let host = Set("-._~%!$&'()*+,;=:[]\(alphanumeric)".utf8)
    private static let blanks = Set(" \t".utf8)
    /// Of HTTP, and so of what a server may know and not allow.
    private static let methods: Set<Substring> = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]

    private static func read(_ line: String) -> Verdict {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map { $0.hasSuffix("\r") ? $0.dropLast() : $0 }
        guard words.count == 3, !words[0].isEmpty, let target = path(of: words[1]), words[2].hasPrefix("HTTP/") else {
            return .refused(status: 400)
        }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { return .refused(status: 505) }
        guard words[0] == "GET" || words[0] == "HEAD" else { return .refused(status: methods.contains(words[0]) ? 405 : 501) }
        return .get(path: String(target.prefix { $0 != "?" }), isHead: words[0] == "HEAD")
    }

    /// Of a target in origin form, or in absolute form, which every server must take (RFC 9112 §3.2.1, §3.2.2).
    private static func path(of target: Substring) -> Substring? {
        if target.hasPrefix("/") { return target }
        guard target.lowercased().hasPrefix("http://") else { return nil }
        let rest = target.dropFirst(7).drop { $0 != "/" && $0 != "?" }
        return rest.hasPrefix("/") ? rest : "/" + rest
    }
}

/// One answer, after which the connection ends.
public struct HTTPResponse: Hashable, Sendable {
    /// 200 to 599; the reason phrase is made of it.
    public var status: Int
    /// The Content-Type.
    public var type = "text/plain; charset=utf-8"
    /// The body.
    public var text: String

    /// - Parameter type: the Content-Type.
    public init(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") {
        (self.status, self.text, self.type) = (status, text, type)
    }

    /// - Parameters:
    ///   - date: of the answer (RFC 9110 §6.6.1).
    ///   - withoutBody: for HEAD: the length is told all the same.
    public func serialized(at date: Date, withoutBody: Bool = false) -> [UInt8] {
        let allow = status == 405 ? "Allow: GET, HEAD\r\n" : ""
        let head =
            "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Error")\r\nDate: \(date.header)\r\n\(allow)Content-Type: \(type)\r\nContent-Length: \(text.utf8.count)\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
        return Array((withoutBody ? head : head + text).utf8)
    }

    private static let reasons = [
        200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 431: "Request Header Fields Too Large",
        501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
    ]
}
