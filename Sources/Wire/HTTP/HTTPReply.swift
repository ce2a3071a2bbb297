/// The whole answer to a request.
public struct HTTPReply: Sendable, Equatable {
    public var status: HTTPResponse.Status
    /// Without Content-Length, Date and Connection, which are written with it.
    public var fields: HTTPFields
    public var body: [UInt8]

    /// - Parameter type: the Content-Type; nil where there is no content.
    public init(_ status: HTTPResponse.Status, body: [UInt8] = [], type: String? = nil, fields: HTTPFields = [:]) {
        (self.status, self.body, self.fields) = (status, body, fields)
        if let type { self.fields[.contentType] = type }
    }

    /// Plain text.
    public init(_ status: HTTPResponse.Status, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status, body: Array(text.utf8), type: type)
    }
}

/// Writes answers (RFC 9112 §4, §6, §7).
public enum HTTPWriter {
    /// - Parameters:
    ///   - method: of the request: to a HEAD the length is told, and no content follows.
    ///   - keepsAlive: the client may ask again over the connection.
    ///   - date: the value of the Date field (RFC 9110 §6.6.1).
    public static func bytes(of reply: HTTPReply, to method: HTTPRequest.Method, keepsAlive: Bool, date: String) -> [UInt8] {
        var fields = reply.fields
        // Neither a 204 nor a 304 has content, or tells its length.
        let hasContent = reply.status != .noContent && reply.status != .notModified
        if hasContent { fields[.contentLength] = String(reply.body.count) }
        var bytes = head(reply.status, fields, keepsAlive: keepsAlive, date: date)
        if method != .head, hasContent { bytes += reply.body }
        return bytes
    }

    /// The head of an answer whose content comes in pieces: in chunks, or to HTTP/1.0 until the connection ends.
    public static func streamHead(_ status: HTTPResponse.Status, _ fields: HTTPFields, isOld: Bool, date: String) -> [UInt8] {
        var fields = fields
        if !isOld { fields[.transferEncoding] = "chunked" }
        return head(status, fields, keepsAlive: false, date: date)
    }

    /// The head of an answer whose content is a file. The connection ends with it.
    ///
    /// - Parameter length: of the content.
    public static func fileHead(_ reply: HTTPReply, length: Int, date: String) -> [UInt8] {
        var fields = reply.fields
        fields[.contentLength] = String(length)
        return head(reply.status, fields, keepsAlive: false, date: date)
    }

    /// A piece of a stream, which is not empty: an empty chunk is the last.
    public static func piece(_ content: [UInt8], isOld: Bool) -> [UInt8] {
        isOld ? content : Array("\(String(content.count, radix: 16))\r\n".utf8) + content + [0x0D, 0x0A]
    }

    /// The end of a stream.
    public static func streamEnd(isOld: Bool) -> [UInt8] { isOld ? [] : Array("0\r\n\r\n".utf8) }

    /// The client may send the content of its request (RFC 9110 §15.2.1).
    public static let continues = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private static func head(_ status: HTTPResponse.Status, _ fields: HTTPFields, keepsAlive: Bool, date: String) -> [UInt8] {
        var text = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nDate: \(date)\r\n"
        for field in fields { text += "\(field.name.rawName): \(field.value)\r\n" }
        if !keepsAlive { text += "Connection: close\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
