import HTTP
import Testing

@Suite struct HTTPWriterTests {
    private static func text(_ reply: HTTPReply, to method: HTTPRequest.Method = .get, keepsAlive: Bool = true) -> String {
        String(decoding: HTTPWriter.bytes(of: reply, to: method, keepsAlive: keepsAlive, date: "D"), as: UTF8.self)
    }

    @Test func `an answer tells its length, and to a HEAD nothing else`() {
        let head = "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
        #expect(Self.text(HTTPReply(.ok, text: "abc")) == head + "\r\nabc")
        #expect(Self.text(HTTPReply(.ok, text: "abc"), to: .head) == head + "\r\n")
        #expect(Self.text(HTTPReply(.ok, text: "abc"), keepsAlive: false) == head + "Connection: close\r\n\r\nabc")
    }

    @Test func `an answer without content says so in the way of its status`() {
        #expect(Self.text(HTTPReply(.noContent)) == "HTTP/1.1 204 No Content\r\nDate: D\r\n\r\n")
        #expect(Self.text(HTTPReply(.notModified)) == "HTTP/1.1 304 Not Modified\r\nDate: D\r\n\r\n")
        #expect(Self.text(HTTPReply(.notFound)) == "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func `a stream comes in chunks, and to an old client as it is`() {
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let head = text(HTTPWriter.streamHead(.ok, [.contentType: "text/event-stream"], isOld: false, date: "D"))
        #expect(
            head
                == "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
        let piece = Array("0123456789abcdefg".utf8)
        #expect(text(HTTPWriter.piece(piece, isOld: false)) == "11\r\n0123456789abcdefg\r\n")
        #expect(text(HTTPWriter.streamEnd(isOld: false)) == "0\r\n\r\n")
        #expect(!text(HTTPWriter.streamHead(.ok, [:], isOld: true, date: "D")).contains("Transfer-Encoding"))
        #expect(HTTPWriter.piece(piece, isOld: true) == piece && HTTPWriter.streamEnd(isOld: true).isEmpty)
    }
}
