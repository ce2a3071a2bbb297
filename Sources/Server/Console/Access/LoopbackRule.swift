import HTTP

/// Lets in without a token: programs of this machine. A name of somebody else's that leads here, as in DNS rebinding, is refused.
enum LoopbackRule {
    /// nil: the request is let in.
    static func refusal(_ ask: HTTPAsk) -> HTTPReply? {
        let host = ask.request.head.authority ?? ""
        guard !names.contains(Self.name(of: host)) else { return nil }
        return Problem(.misdirectedRequest, "wrongHost", "this server is called by its loopback address, and not as '\(host)'").reply
    }

    private static let names: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Without its port.
    private static func name(of host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return String(host[..<colon])
    }
}
