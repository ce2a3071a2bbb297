import HTTP
import Primitives
import Testing

@Suite struct HTTPRequestReaderTests {
    private static func outputs(_ text: String, limits: HTTPRequestReader.Limits = .init()) -> [HTTPRequestReader.Output] {
        var reader = HTTPRequestReader(limits: limits)
        reader.receive(Array(text.utf8))
        return Array(sequence(state: reader) { $0.next() })
    }

    /// Method, target, content and whether the connection stays, or the status of the refusal.
    private static func words(_ output: HTTPRequestReader.Output) -> String {
        switch output {
        case .request(let request):
            "\(request.head.method.rawValue) \(request.target.text) \(request.keepsAlive ? "stays" : "ends") \(String(decoding: request.body, as: UTF8.self))"
                .trimmed
        case .wantsContinue: "100"
        case .refused(let status): "\(status.code)"
        }
    }

    @Test(
        arguments: [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", ["GET /metrics stays"]),
            ("HEAD /metrics HTTP/1.0\r\n\r\n", ["HEAD /metrics ends"]),
            ("GET /metrics?a=b HTTP/1.1\nhost:\n\n", ["GET /metrics?a=b stays"]),
            ("\r\nGET / HTTP/1.1\r\nHost: [::1]:9464 \r\nX-Y:\r\n\r\n", ["GET / stays"]),
            ("GET http://a.test:9464/health?x HTTP/1.1\r\nHost: x\r\n\r\n", ["GET /health?x stays"]),
            ("GET HTTP://a.test HTTP/1.1\r\nHost: x\r\n\r\n", ["GET / stays"]),
            ("GET http://a?x/y HTTP/1.1\r\nHost: x\r\n\r\n", ["GET /?x/y stays"]),
            ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", ["OPTIONS * stays"]),
            ("GET / HTTP/1.1\r\nHost: x\r\nConnection: Keep-Alive, Close\r\n\r\n", ["GET / ends"]),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", ["GET / ends"]),
            // Pipelined, with content and without.
            (
                "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\nHost: x\r\n\r\nGET /c",
                ["POST /a stays abc", "GET /b stays"]
            ),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", ["POST / stays"]),
            (
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\nGET /n HTTP/1.1\r\nHost: x\r\n\r\n",
                ["POST / stays abcde", "GET /n stays"]
            ),
            (
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n000A \r\n0123456789\r\n0\r\n\r\n",
                ["POST / stays 0123456789"]
            ),
            ("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", ["100"]),
            ("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nab", ["POST / stays ab"]),
            ("GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", ["GET / stays"]),
            ("GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", ["417"]),
            // Not whole.
            ("\r\n", []), ("", []), ("GET /met", []), ("GET /metrics HTTP/1.1\r\nHost: x\r\n", []),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab", []),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", []),
        ])
    func `requests are read`(text: String, expected: [String]) { #expect(Self.outputs(text).map(Self.words) == expected) }

    @Test(
        arguments: [
            // Two servers would take these for two different requests (RFC 9112 §11.2).
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\nabc", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", 413),
            ("GET / HTTP/1.1\r\nHost: x\r\nX : b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\nA: b\u{0}\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost x\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nHoSt: y\r\n\r\n", 400), ("GET / HTTP/1.1\r\nX-Host: x\r\n\r\n", 400),
            ("GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a b/\r\n\r\n", 400),
            // Other protocols and versions.
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), ("GET / HTTP/1.10\r\n\r\n", 505), ("GET / http/1.1\r\n\r\n", 400),
            ("OPTIONS sip:a SIP/2.0\r\n\r\n", 400), ("GET /\r\n\r\n", 400), (" / HTTP/1.1\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1 \r\n\r\n", 400), ("get / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
            ("BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 501), ("G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            // Targets.
            ("GET metrics HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET ftp://a/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET /a/../b HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /%2e%2E/b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET /a%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET /?a=%4 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ])
    func `what is no request, or might be two, is refused`(text: String, status: Int) {
        #expect(
            Self.outputs(text + "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n").map(Self.words) == ["\(status)"], "nothing is read behind it")
    }

    @Test func `a head, its fields, its content and its trailers are bounded`() {
        var limits = HTTPRequestReader.Limits()
        (limits.head, limits.fields, limits.body) = (200, 3, 10)
        let begin = "POST / HTTP/1.1\r\nHost: x\r\n", long = String(repeating: "x", count: 200)
        for (text, status) in [
            ("GET /\(long)", 414), ("GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n", 414), ("\(begin)A: \(long)", 431),
            ("\(begin)A: \(long)\r\n\r\n", 431),
            ("\(begin)A: 1\r\nB: 2\r\nC: 3\r\n\r\n", 431), ("\(begin)Content-Length: 11\r\n\r\n", 413),
            ("\(begin)Content-Length: 99999999999999999999999\r\n\r\n", 413),
            ("\(begin)Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n", 413),
            ("\(begin)Transfer-Encoding: chunked\r\n\r\n0\r\nT: \(long)\r\n\r\n", 431),
            ("\(begin)Transfer-Encoding: chunked\r\n\r\n1;\(String(repeating: "x", count: 5_000))", 400),
        ] {
            #expect(Self.outputs(text, limits: limits).map(Self.words) == ["\(status)"], "\(text.prefix(80))")
        }
        #expect(
            Self.outputs("\(begin)A: 1\r\nContent-Length: 10\r\n\r\n0123456789", limits: limits).map(Self.words) == [
                "POST / stays 0123456789"
            ])
    }

    @Test(arguments: 0..<40 as Range<UInt64>) func `bytes may come in any pieces`(seed: UInt64) {
        let text =
            "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcdPUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\nX: y\r\n\r\nGET /d HTTP/1.1\nHost: x\n\n"
        var random = SeededRandom(seed: seed), reader = HTTPRequestReader(), found: [String] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(seed == 0 ? 1 : Int.random(in: 1...rest.count, using: &random))
            reader.receive(Array(piece))
            while let output = reader.next() { found.append(Self.words(output)) }
            rest = rest.dropFirst(piece.count)
        }
        #expect(found == ["GET /a stays", "POST /b stays abcd", "PUT /c stays abcd", "GET /d stays"])
        #expect(reader.isBetweenRequests && reader.waitingCount == 0)
    }

    @Test func `what follows an upgrade is not read as HTTP`() {
        var reader = HTTPRequestReader()
        reader.receive(Array("GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n\u{1}\u{2}".utf8))
        #expect(reader.next() != nil)
        #expect(reader.takeRest() == [1, 2] && reader.next() == nil)
    }

    @Test func `fields are found whatever their case, and the host is the authority`() throws {
        var reader = HTTPRequestReader()
        reader.receive(Array("GET / HTTP/1.1\r\nhOST: a.test:80\r\naUthorization: \t Bearer x \r\nX-A: 1\r\nx-a: 2\r\n\r\n".utf8))
        guard case .request(let request) = reader.next() else { throw Missing() }
        #expect(request.head.authority == "a.test:80" && request.head.headerFields[.authorization] == "Bearer x")
        #expect(request.head.headerFields[values: try #require(HTTPField.Name("X-A"))] == ["1", "2"])
    }

    private struct Missing: Error {}
}

extension String {
    fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
