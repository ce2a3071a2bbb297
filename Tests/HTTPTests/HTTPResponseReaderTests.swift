import HTTP
import Primitives
import Testing

@Suite struct HTTPResponseReaderTests {
    /// Status, content and how it ended.
    private static func words(_ pieces: [[UInt8]], to method: HTTPRequest.Method = .post) -> String {
        var reader = HTTPResponseReader(to: method), text = ""
        func note(_ output: HTTPResponseReader.Output) {
            switch output {
            case .head(let head): text += "\(head.status.code) "
            case .content(let bytes): text += String(decoding: bytes, as: UTF8.self)
            case .end: text += " end"
            case .broken: text += " broken"
            }
        }
        for piece in pieces {
            reader.receive(piece)
            while let output = reader.next() { note(output) }
        }
        if let last = reader.finish() { note(last) }
        return text
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcrest", "200 abc end"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", "201  end"),
            ("HTTP/1.1 204 No Content\r\n\r\n", "204  end"), ("HTTP/1.0 200\r\n\r\nto the end", "200 to the end end"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: x\r\n\r\n", "200 abcde end"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "200 abc broken"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "200  broken"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", "200 ab broken"),
            ("220 mail.example.test\r\n", " broken"), ("HTTP/2 200\r\n\r\n", " broken"), ("HTTP/1.1 2x0 OK\r\n\r\n", " broken"),
            ("HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n", " broken"), ("HTTP/1.1 200", " broken"), ("", " broken"),
        ])
    func `an answer is read in any pieces, or refused`(text: String, expected: String) {
        let bytes = Array(text.utf8)
        #expect(Self.words([bytes]) == expected)
        #expect(Self.words(bytes.map { [$0] }) == expected, "byte by byte")
    }

    @Test func `the answer to a HEAD has no content`() {
        #expect(Self.words([Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n".utf8)], to: .head) == "200  end")
    }
}
