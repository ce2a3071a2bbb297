import HTTP

/// The pages in browsers that may ask: those that come from this server, and for WebSockets those of further origins.
///
/// A program that is no browser names no origin, and is let in by what else it shows.
struct OriginRule: Sendable {
    /// Further origins, as `https://console.example.test`.
    var others: Set<String> = []

    /// nil: the request is let in.
    func refusal(_ ask: HTTPAsk) -> HTTPReply? {
        guard let origin = ask.request.head.headerFields[.origin], !Self.isOwn(origin, ask) else { return nil }
        if WebSocketUpgrade.isAsked(by: ask.request), others.contains(origin) { return nil }
        return Problem(.forbidden, "wrongOrigin", "a page of \(origin) may not ask here").reply
    }

    /// Whether the request is of a page of this server. A proxy before a server without TLS may have it.
    static func isOwn(_ origin: String, _ ask: HTTPAsk) -> Bool {
        guard let host = ask.request.head.authority else { return false }
        return origin == "https://\(host)" || !ask.isSecure && origin == "http://\(host)"
    }
}
