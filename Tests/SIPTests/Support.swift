import Foundation
import Primitives
import Testing

@testable import SIP

/// A file of `Tests/Corpus`.
func corpus(_ path: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus")
    return Array(try Data(contentsOf: folder.appending(path: path)))
}

func corpusFiles(_ folder: String) throws -> [String] {
    let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/\(folder)")
    return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().map { "\(folder)/\($0)" }
}

/// Lines to a message: each line gets its CRLF, and the empty line ends the head.
func wire(_ lines: [String], body: String = "") -> [UInt8] {
    Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
}

/// A request with all it must have; `replacing` swaps or adds header lines by their name before the colon.
func request(
    _ method: String = "INVITE", uri: String = "sip:bob@biloxi.com", replacing: [String: String?] = [:], adding: [String] = [],
    body: String = ""
) -> [UInt8] {
    var lines = [
        "Via: SIP/2.0/UDP pc33.atlanta.com;branch=z9hG4bK776asdhds", "Max-Forwards: 70", "To: Bob <sip:bob@biloxi.com>",
        "From: \"Alice\" <sip:alice@atlanta.com>;tag=1928301774", "Call-ID: a84b4c76e66710@pc33.atlanta.com", "CSeq: 314159 \(method)",
        "Contact: <sip:alice@pc33.atlanta.com>",
    ]
    for (name, line) in replacing {
        guard let index = lines.firstIndex(where: { $0.hasPrefix(name + ":") }) else { preconditionFailure("no \(name) to replace") }
        if let line { lines[index] = line } else { lines.remove(at: index) }
    }
    return wire(["\(method) \(uri) SIP/2.0"] + lines + adding, body: body)
}

/// What reading bytes comes to, in one word for tables: `ok`, `drop`, or the status of the answer.
func outcome(_ bytes: [UInt8]) -> String {
    do throws(Message.ParseError) {
        _ = try Message(parsing: bytes)
        return "ok"
    } catch {
        switch error {
        case .drop: return "drop"
        case .reject(let rejection): return "\(rejection.status)"
        }
    }
}

extension Text: CustomTestStringConvertible {
    public var testDescription: String { description }
}
