import Primitives
import SIP
import UserAgent

/// The callee, and the place that the INVITE goes to.
struct CallTarget {
    var uri: URI
    var server: SocketAddress
    var transport: Transport

    /// - Parameters:
    ///   - server: everything goes there; without it the URI's own host, an address or a name.
    ///   - transport: goes before what the URI says.
    init(_ text: String, server: SocketAddress?, transport wanted: Transport?) throws {
        if let server {
            (uri, self.server) = (try Self.uri(text, at: server), server)
        } else {
            try Self.mustNameServer(text)
            let target = try SIPTarget(text, over: wanted)
            (uri, self.server) = (target.uri, target.address)
        }
        guard uri.port != 0 else { throw Failure.usage("'\(text)': a port is a number from 1 to 65535") }
        let named = try uri.carrier()
        transport = wanted ?? named
        guard uri.scheme != .sips || transport.isSecure else {
            throw Failure.usage("'\(text)' asks for TLS: leave --transport out, or write sip:")
        }
    }

    /// A number alone, or that of a tel URI, is called at the server.
    private static func uri(_ text: String, at server: SocketAddress) throws -> URI {
        if let uri = try? URI(parsing: Text(text)), uri.scheme == .tel, let number = uri.user {
            return URI(user: Text(number.bytes.filter { !"-.()".utf8.contains($0) }), address: server, parameters: ["user": "phone"])
        }
        let scheme = text.hasPrefix("sips:") ? "sips:" : "sip:", bare = text.hasPrefix(scheme) ? String(text.dropFirst(scheme.count)) : text
        let whole = bare.contains("@") ? bare : "\(bare)@\(server)"
        guard let uri = try? URI(parsing: Text(scheme + whole)), uri.user != nil else {
            throw Failure.usage("'\(text)' is neither a number as 9196 nor a SIP URI as sip:9196@example.test")
        }
        return uri
    }

    private static func mustNameServer(_ text: String) throws {
        let bare = ["sip:", "sips:", "tel:"].first(where: text.hasPrefix).map { String(text.dropFirst($0.count)) } ?? text
        guard !bare.isEmpty, !bare.contains("@"), SocketAddress(bare, defaultPort: 5060) == nil, !bare.hasPrefix("localhost") else {
            return
        }
        throw Failure.usage("'\(text)' names no server: write sip:\(bare)@ADDRESS, or add --server ADDRESS")
    }
}

extension URI {
    /// Gives the transport that the URI names for its requests (RFC 3261 §26.2.2, RFC 3263 §4.1 without a lookup).
    ///
    /// - Throws: a `Failure` where there is no such transport.
    func carrier() throws -> Transport {
        switch transport {
        case nil, "udp", "tcp", "tls": scheme == .sips || transport == "tls" ? .tls : transport == "tcp" ? .tcp : .udp
        case "ws": scheme == .sips ? .wss : .ws
        case let other?: throw Failure.usage("'\(text)': there is no transport '\(other)' here; write udp, tcp, tls or ws")
        }
    }
}

extension Transport {
    /// - Throws: a `Failure` where a command that speaks UDP and TCP alone is to speak something else.
    func mustBePlain(for command: String, _ target: String) throws {
        guard self != .udp, self != .tcp else { return }
        throw Failure.usage("'\(target)': \(command) speaks UDP and TCP, not \(isWebSocket ? "WebSocket" : "TLS")")
    }
}
