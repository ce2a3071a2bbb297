import HTTP
import Primitives

/// The answer with a file of sound: a recording, or a message of a mailbox.
enum SoundReply {
    /// The whole of it, or the part that is asked for (RFC 9110 §13, §14).
    static func send(_ file: HTTPFile, of path: String, _ request: IncomingRequest, _ responder: HTTPResponder, at now: Instant) {
        let asked = request.head.headerFields
        var reply = HTTPReply(.ok, type: type(of: path))
        (reply.fields[.eTag], reply.fields[.acceptRanges], reply.fields[.cacheControl]) = (file.tag, "bytes", "private, no-cache")
        reply.fields[.xContentTypeOptions] = "nosniff"
        reply.fields[.contentDisposition] = "inline; filename=\"\(name(of: path))\""
        if let tags = asked[.ifNoneMatch], tags == "*" || tags.contains(file.tag) {
            reply.status = .notModified
            return responder.reply(reply, at: now)
        }
        switch ByteRange(asked[.range], if: asked[.ifRange], of: file.length, tag: file.tag) {
        case .whole: break
        case .part(let part):
            (reply.status, reply.fields[.contentRange]) = (
                .partialContent, "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.length)"
            )
            file.select(part)
        case .unsatisfiable:
            var refusal = Problem(.rangeNotSatisfiable, "rangeNotSatisfiable", "the recording has \(file.length) bytes").reply
            refusal.fields[.contentRange] = "bytes */\(file.length)"
            return responder.reply(refusal, at: now)
        }
        responder.reply(reply, file, at: now)
    }

    /// The name of a file, without its folder, for a header field.
    static func name(of path: String) -> String {
        String((path.split(separator: "/").last ?? "recording").filter { $0.isASCII && $0 != "\"" && $0 != "\\" && $0 >= " " })
    }

    /// The media type of a file, by its name.
    static func type(of path: String) -> String { path.hasSuffix(".wav") ? "audio/wav" : "audio/ogg" }
}
