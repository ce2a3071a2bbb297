import Console
import Foundation
import Primitives
import Testing

@Suite struct HTTPRequestHeadTests {
    private func verdict(_ text: String) -> HTTPRequestHead.Verdict {
        var question = HTTPRequestHead()
        return question.receive(Array(text.utf8))
    }

    @Test(
        arguments: [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", .get(path: "/metrics", isHead: false)),
            ("HEAD /metrics HTTP/1.0\r\n\r\n", .get(path: "/metrics", isHead: true)),
            ("GET /metrics?a=b HTTP/1.1\nhost:\n\n", .get(path: "/metrics", isHead: false)),
            ("POST /metrics HTTP/1.1\r\n\r\n", .refused(status: 405)),
            ("GET /metrics HTTP/2\r\n\r\n", .refused(status: 505)), ("GET metrics HTTP/1.1\r\n\r\n", .refused(status: 400)),
            ("\r\n", .incomplete),
            ("OPTIONS sip:a SIP/2.0\r\n\r\n", .refused(status: 400)), ("GET /metrics HTTP/1.1\r\nHost: x\r\n", .incomplete),
            ("GET /met", .incomplete),
            ("GET http://a.test:9464/health/ready?x HTTP/1.1\r\nHost: x\r\n\r\n", .get(path: "/health/ready", isHead: false)),
            ("GET HTTP://a.test HTTP/1.1\r\nHost: x\r\n\r\n", .get(path: "/", isHead: false)),
            ("GET ftp://a/ HTTP/1.1\r\nHost: x\r\n\r\n", .refused(status: 400)),
            ("GET / HTTP/1.1\r\nX-Host: x\r\n\r\n", .refused(status: 400)),
            ("GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", .refused(status: 400)),
            ("\r\nGET / HTTP/1.1\r\nHost: [::1]:9464 \r\nX-Y:\r\n\r\n", .get(path: "/", isHead: false)),
            ("BREW / HTTP/1.1\r\n", .refused(status: 501)),
            ("GET / HTTP/1.1\r\nHost: x\r\nX : b\r\n\r\n", .refused(status: 400)),
            ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", .refused(status: 400)),
            ("GET / HTTP/1.1\r\nHost: a b/\r\n\r\n", .refused(status: 400)), (" / HTTP/1.1\r\n", .refused(status: 400)),
            ("GET / HTTP/1.1\r\nHOST:\t[::1] \t\r\n\r\n", .get(path: "/", isHead: false)),
            ("GET / HTTP/1.1\r\n: x\r\nHost: x\r\n\r\n", .refused(status: 400)),
            // Version 1.0 of the request, and not of its target.
            ("GET /HTTP/1.0 HTTP/1.1\r\n\r\n", .refused(status: 400)),
            ("GET /HTTP/1.1 HTTP/1.0\r\n\r\n", .get(path: "/HTTP/1.1", isHead: false)),
            ("GET / HTTP/1.0\nHost: x\n\n", .get(path: "/", isHead: false)), ("GET / http/1.1\r\n", .refused(status: 400)),
            ("GET / HTTP/1.10\r\n", .refused(status: 505)), ("GET  / HTTP/1.1\r\n", .refused(status: 400)),
            ("GET /\r\n", .refused(status: 400)),
            ("GET / HTTP/1.1 \r\n", .refused(status: 400)), ("get / HTTP/1.1\r\n", .refused(status: 501)), ("\n\n", .incomplete),
            ("", .incomplete),
            ("GET /a%20b HTTP/1.1\r\nHost: x\r\n\r\n", .get(path: "/a%20b", isHead: false)),
            ("GET http://a?x/y HTTP/1.1\r\nHost: x\r\n\r\n", .get(path: "/", isHead: false)),
            ("DELETE / HTTP/1.1\r\n", .refused(status: 405)), ("GET / HTTP/1.1\r\nHost x\r\n\r\n", .refused(status: 400)),
            ("GET / HTTP/1.1\r\nHost: x\r\nHoSt: y\r\n\r\n", .refused(status: 400)),
            // Is not weighed in more ways than one.
            ("GET / HTTP/1.1\r\nHost:" + String(repeating: " ", count: 8_000) + "\u{B}x\r\n\r\n", .refused(status: 400)),
        ] as [(String, HTTPRequestHead.Verdict)])
    func `a head is read or refused`(text: String, expected: HTTPRequestHead.Verdict) { #expect(verdict(text) == expected) }

    @Test(arguments: 0..<20 as Range<UInt64>) func `bytes may come in any pieces`(seed: UInt64) {
        var random = SeededRandom(seed: seed), question = HTTPRequestHead(), verdicts: [HTTPRequestHead.Verdict] = []
        var rest = Array("\r\nGET /health/live HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n".utf8)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(seed == 0 ? 1 : Int.random(in: 1...rest.count, using: &random))
            verdicts.append(question.receive(Array(piece)))
            rest = rest.dropFirst(piece.count)
        }
        #expect(verdicts.dropLast().allSatisfy { $0 == .incomplete } && verdicts.last == .get(path: "/health/live", isHead: false))
    }

    @Test(arguments: [(0, false), (1, true), (5_000, true)]) func `a head may have 8,192 bytes, whatever comes behind it`(
        more: Int, isTooLong: Bool
    ) {
        let start = "GET / HTTP/1.1\r\nHost: x\r\nX: ", end = "\r\n\r\n"
        let filling = String(repeating: "a", count: HTTPRequestHead.longest - start.utf8.count - end.utf8.count + more)
        let expected = isTooLong ? HTTPRequestHead.Verdict.refused(status: 431) : .get(path: "/", isHead: false)
        #expect(verdict(start + filling + end) == expected)
        #expect(verdict(start + filling + end + String(repeating: "b", count: 20_000)) == expected)
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\n"]) func `a head that does not end is refused, and not kept`(start: String) {
        var question = HTTPRequestHead()
        var verdict = question.receive(Array(start.utf8))
        for _ in 0..<9 where verdict == .incomplete { verdict = question.receive(Array(repeating: 0x61, count: 1_000)) }
        #expect(verdict == .refused(status: 431))
    }

    @Test(arguments: [
        (400, "Bad Request"), (404, "Not Found"), (431, "Request Header Fields Too Large"), (501, "Not Implemented"),
        (505, "HTTP Version Not Supported"), (599, "Error"),
    ])
    func `an answer without text has its reason, and no methods to tell`(status: Int, reason: String) {
        let text = String(decoding: HTTPResponse(status, "").serialized(at: Date()), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(status) \(reason)\r\n") && text.contains("\r\nContent-Length: 0\r\n") && !text.contains("Allow"))
    }

    @Test func `the length counts bytes, and 405 says what is allowed`() {
        let text = String(decoding: HTTPResponse(405, "é", type: "text/x").serialized(at: Date()), as: UTF8.self)
        #expect(text.contains("\r\nAllow: GET, HEAD\r\n") && text.contains("\r\nContent-Type: text/x\r\nContent-Length: 2\r\n"))
    }

    @Test func `an answer has its length, and says that it is the last`() {
        let text = String(decoding: HTTPResponse(503, "draining\n").serialized(at: Date(timeIntervalSince1970: 784_111_777)), as: UTF8.self)
        #expect(
            text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n") && text.contains("Content-Length: 9\r\n")
                && text.contains("Connection: close\r\n"))
        #expect(text.hasSuffix("\r\n\r\ndraining\n") && text.contains("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
        #expect(
            String(decoding: HTTPResponse(200, "live\n").serialized(at: Date(), withoutBody: true), as: UTF8.self).hasSuffix(
                "Content-Length: 5\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"))
    }
}
