import HTTP

// Content that is compressed for clients that take it (RFC 9110 §8.4).
extension HTTPReply {
    /// Shorter content does not pay; longer content would hold up the lane.
    static let codedLengths = 1_024...4 << 20

    /// The answer in the coding that the client takes.
    ///
    /// Answers to reads alone: what a POST answers may carry a secret, as a ticket, and its length would tell of it. What has a tag or is a
    /// part stays as it is, too.
    func coded(for exchange: HTTPConnection.Exchange) -> HTTPReply {
        guard exchange.isRead, isCodable else { return self }
        var coded = self
        coded.fields[.vary] = fields[.vary].map { "\($0), Accept-Encoding" } ?? "Accept-Encoding"
        guard exchange.takesGzip, let content = Gzip.compressed(body) else { return coded }
        (coded.body, coded.fields[.contentEncoding]) = (content, "gzip")
        return coded
    }

    private var isCodable: Bool {
        guard Self.codedLengths.contains(body.count), let type = fields[.contentType] else { return false }
        guard [.eTag, .contentRange, .contentEncoding, .setCookie].allSatisfy({ fields[$0] == nil }) else { return false }
        return ["application/json", "application/problem+json", "application/x-ndjson", "image/svg+xml", "text/"].contains {
            type.hasPrefix($0)
        }
    }
}
