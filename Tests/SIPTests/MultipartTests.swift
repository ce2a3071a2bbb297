import Primitives
import Testing

@testable import SIP

/// RFC 2046 §5.1, RFC 5621, RFC 3261 §20.11.
@Suite struct MultipartTests {
    private static let sdp = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\n"

    /// A part: header lines and content.
    private static func part(_ lines: [String] = [], _ content: String) -> String { lines.map { $0 + "\r\n" }.joined() + "\r\n" + content }
    private static func described(_ content: String = sdp, _ lines: [String] = []) -> String {
        part(["Content-Type: application/sdp"] + lines, content)
    }
    private static func body(_ parts: [String], boundary: String = "b", end: String = "--b--\r\n") -> String {
        parts.map { "--\(boundary)\r\n\($0)\r\n" }.joined() + end
    }

    private static func message(_ type: String, _ body: String, _ lines: [String] = [], method: String = "INVITE") throws -> Message {
        try Message(parsing: request(method, adding: ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] + lines, body: body))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let type: String
        let body: String
        let found: String?
        var lines: [String] = []

        init(_ name: String, type: String = "multipart/mixed;boundary=b", _ body: String, _ found: String?, _ lines: [String] = []) {
            (testDescription, self.type, self.body, self.found, self.lines) = (name, type, body, found, lines)
        }
    }

    static let location = part(["Content-Type: application/pidf+xml", "Content-ID: <where@b>"], "<presence/>")
    static let rows: [Row] = [
        Row("one part", body([described()]), sdp),
        Row("behind another", body([location, described()]), sdp),
        Row("before another", body([described(), location]), sdp),
        Row("the first of two", body([described("first"), described("second")]), "first"),
        Row(
            "the last alternative", type: "multipart/alternative;boundary=b", body([described("plain"), described("better"), location]),
            "better"),
        Row(
            "an alternative that nobody understands, though it must be", type: "multipart/alternative;boundary=b",
            body([described(), part(["Content-Type: a/b", "Content-Disposition: render;handling=required"], "?")]), sdp),
        Row("related", type: "multipart/related; type=\"application/sdp\"; boundary=b", body([described()]), sdp),
        Row("quoted boundary, other case, spaces", type: "MULTIPART/Mixed ; Boundary=\"b\"", body([described()]), sdp),
        Row("preamble and epilogue", "to whom it may concern\r\n" + body([described()]) + "bye\r\n--b\r\n", sdp),
        Row("spaces behind the boundary", body([described()]).replacing("--b\r\n", with: "--b \t\r\n"), sdp),
        Row("bare line feeds", body([described("v=0")]).replacing("\r\n", with: "\n"), "v=0"),
        Row("a line that only begins as the boundary does", body([described("v=0\r\n--bc\r\n-- b\r\n")]), "v=0\r\n--bc\r\n-- b\r\n"),
        Row("folded header, other case, unknown headers", body([part(["X: y", "CONTENT-type:", " Application/SDP ;x=y"], sdp)]), sdp),
        Row("an empty description", body([described("")]), ""),
        Row("binary", body([described(sdp, ["Content-Transfer-Encoding: Binary"])]), sdp),
        Row("session by name", body([described(sdp, ["Content-Disposition: Session;handling=required"])]), sdp),
        Row("an early session is passed over", body([described("early", ["Content-Disposition: early-session"]), described()]), sdp),
        Row(
            "parts in a part",
            body([location, part(["Content-Type: multipart/alternative;boundary=c"], body([described()], boundary: "c", end: "--c--"))]),
            sdp),
        Row(
            "a signed part beside it",
            body([
                part(["Content-Type: multipart/signed;boundary=s"], body([described("signed")], boundary: "s", end: "--s--")), described(),
            ]), sdp),
        Row(
            "broken parts in a part",
            body([part(["Content-Type: multipart/mixed;boundary=c"], body([described()], boundary: "c", end: ""))]), nil),
        Row(
            "encoded parts in a part",
            body([part(["Content-Type: multipart/mixed;boundary=c", "Content-Transfer-Encoding: base64"], "LS1jDQo=")]), nil),
        Row("nothing of ours", body([location]), ""),
        Row("no parts", "--b--\r\n", ""),
        Row("an optional body", type: "application/xml", "<x/>", "", ["Content-Disposition: render;handling=optional"]),
        Row(
            "an optional body in an encoding", type: "application/sdp", "zip", "",
            ["Content-Disposition: session; Handling=Optional", "Content-Encoding: gzip"]),
        Row("optional parts that are none", "--x\r\n", "", ["Content-Disposition: render;handling=optional"]),
        Row("an optional early session alone", type: "application/sdp", sdp, "", ["Content-Disposition: early-session;handling=optional"]),
        Row("a description", type: "application/sdp", sdp, nil),
        Row(
            "a description of the session, as it says", type: "application/sdp", sdp, nil,
            ["Content-Disposition: Session;handling=optional"]),
        Row("an early session alone", type: "application/sdp", sdp, nil, ["Content-Disposition: early-session"]),
        Row("a description, otherwise written", type: "Application/SDP;a=b", sdp, nil),
        Row("a body of another type", type: "application/xml", "<x/>", nil),
        Row(
            "a part that must be understood",
            body([described(), part(["Content-Type: a/b", "Content-Disposition: render; handling=required"], "?")]), nil),
        Row("base64", body([described("dj0w", ["Content-Transfer-Encoding: base64"])]), nil),
        Row("signed", type: "multipart/signed;boundary=b", body([described()]), nil),
        Row("no boundary", type: "multipart/mixed", body([described()]), nil),
        Row("another boundary", type: "multipart/mixed;boundary=x", body([described()]), nil),
        Row(
            "a boundary that is too long", type: "multipart/mixed;boundary=" + String(repeating: "b", count: 71),
            body([described()], boundary: String(repeating: "b", count: 71), end: "--" + String(repeating: "b", count: 71) + "--"), nil),
        Row("no end", body([described()], end: ""), nil),
        Row("encoded", body([described()]), nil, ["Content-Encoding: gzip"]),
        Row("too many parts", body([String](repeating: location, count: 33) + [described()]), nil),
    ]

    @Test(arguments: rows)
    func `of a body the session description is left, or nothing, or all of it`(row: Row) throws {
        let reduced = try Self.message(row.type, row.body, row.lines).reducedToDescription
        #expect(reduced?.content.description == row.found)
        if let reduced {
            #expect(reduced.contentType == (reduced.content.isEmpty ? nil : "application/sdp"))
            #expect(!reduced.headers.contains(.contentDisposition) && !reduced.headers.contains(.contentEncoding))
            #expect(try Message(parsing: reduced.serialized()).content == reduced.content)
            #expect(reduced.reducedToDescription == nil, "once is enough")
        }
    }

    /// They cannot be refused, and are none for whoever looks for one.
    @Test(arguments: ["SIP/2.0 200 OK", "SIP/2.0 183 Session Progress", "ACK sip:bob@biloxi.com SIP/2.0"])
    func `an answer that is no description of the session is none`(start: String) throws {
        let rows: [(lines: [String], isTaken: Bool)] = [
            (["Content-Type: application/sdp"], true), (["Content-Type: application/sdp", "Content-Disposition: session"], true),
            ([], true),
            (["Content-Type: text/plain"], false), (["Content-Type: application/sdp", "Content-Encoding: gzip"], false),
            (["Content-Encoding: gzip"], false),
            (["Content-Type: application/sdp", "Content-Disposition: render"], false), (["Content-Type: multipart/mixed"], false),
            (["Content-Type: application/sdp", "Content-Disposition: early-session"], false),
        ]
        for (lines, isTaken) in rows {
            let method = start.hasPrefix("ACK") ? "ACK" : "INVITE"
            let whole = String(
                decoding: request(method, adding: lines + ["Content-Length: \(Self.sdp.utf8.count)"], body: Self.sdp), as: UTF8.self)
            let message = try Message(parsing: Array((start + whole.drop { $0 != "\r\n" }).utf8))
            #expect(message.reducedToDescription?.content == (isTaken ? nil : ""), "\(lines)")
        }
    }

    @Test func `an emergency call's offer is found behind its location`() throws {
        let message = try Message(parsing: corpus("multipart/location.dat"))
        let reduced = try #require(message.reducedToDescription)
        #expect(reduced.content.hasPrefix("v=0\r\n") && reduced.content.description.hasSuffix("m=audio 49172 RTP/AVP 0\r\n"))
        #expect(reduced.headers["Geolocation"] == "<cid:alice@gateway.example.test>")
    }

    @Test func `parts in parts are followed to a depth, and no further`() throws {
        for depth in 1...6 {
            var inner = Self.described()
            for level in (0..<depth).reversed() {
                let boundary = "l\(level)"
                let content = Self.body([inner], boundary: boundary, end: "--\(boundary)--\r\n")
                inner = level == 0 ? content : Self.part(["Content-Type: multipart/mixed;boundary=\(boundary)"], content)
            }
            let found = try Self.message("multipart/mixed;boundary=l0", inner).reducedToDescription
            #expect(found?.content.description == (depth <= 3 ? Self.sdp : nil), "depth \(depth)")
        }
    }

    @Test(arguments: ["ACK", "UPDATE", "PRACK"]) func `so it is for all that may hold a description`(method: String) throws {
        #expect(
            try Self.message("multipart/mixed;boundary=b", Self.body([Self.described()]), method: method).reducedToDescription?.content
                .description == Self.sdp)
    }

    @Test(arguments: ["MESSAGE", "INFO", "OPTIONS"]) func `other bodies are their receiver's affair`(method: String) throws {
        #expect(try Self.message("multipart/mixed;boundary=b", Self.body([Self.described()]), method: method).reducedToDescription == nil)
    }

    @Test(arguments: [(60, true), (5_000, false)]) func `a header may be folded, and not for ever`(count: Int, isRead: Bool) throws {
        let folds = String(repeating: " ;a=b\r\n", count: count)
        let found = try Self.message(
            "multipart/mixed;boundary=b", Self.body([Self.part(["Content-Type: application/sdp\r\n\(folds)X: y"], Self.sdp)])
        ).reducedToDescription
        #expect(found?.content.description == (isRead ? Self.sdp : nil))
    }

    @Test(arguments: [(15, true), (16, false)]) func `a part has so many header fields, and no more`(count: Int, isRead: Bool) throws {
        let fields = [String](repeating: "X: y", count: count) + ["Content-Type: application/sdp"]
        #expect(
            try Self.message("multipart/mixed;boundary=b", Self.body([Self.part(fields, Self.sdp)])).reducedToDescription?.content
                .description == (isRead ? Self.sdp : nil))
    }

    @Test func `bytes of any kind neither trap nor take long`() throws {
        var random = SeededRandom(seed: 5_621)
        let alphabet: [UInt8] = Array("--b\r\n: ;ac=\u{0}".utf8)
        for _ in 0..<2_000 {
            var bytes = Array(Self.body([Self.described(), Self.location]).utf8)
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes[place] = alphabet.randomElement(using: &random) ?? 0
                } else {
                    bytes.remove(at: place)
                }
            }
            var message = try Self.message("multipart/mixed;boundary=b", "")
            message.content = Text(bytes)
            let reduced = message.reducedToDescription
            #expect((reduced?.content.count ?? 0) <= bytes.count)
        }
    }
}
