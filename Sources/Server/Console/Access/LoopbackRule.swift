import HTTP

/// Lets in without a token: whoever can open the socket in the file system, and programs of this machine. A page of another origin in a
/// browser on this machine is refused.
enum LoopbackRule {
    /// nil: the request is let in.
    static func refusal(_ ask: HTTPAsk) -> HTTPReply? {
        guard !ask.isLocal else { return nil }
        let host = ask.request.head.authority ?? ""
        // A name of somebody else's that leads here, as in DNS rebinding, is none of this server's.
        guard names.contains(Self.name(of: host)) else {
            return Problem(.misdirectedRequest, "wrongHost", "this server is called by its loopback address, and not as '\(host)'").reply
        }
        guard let origin = ask.request.head.headerFields[.origin], origin != "http://\(host)" else { return nil }
        return Problem(.forbidden, "wrongOrigin", "a page of \(origin) may not ask here").reply
    }

    private static let names: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Without its port.
    private static func name(of host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return String(host[..<colon])
    }
}
