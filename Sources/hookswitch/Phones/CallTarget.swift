import Primitives
import SIP
import UserAgent

/// Whom to call, and where the INVITE goes.
struct CallTarget {
    var uri: URI
    var server: SocketAddress
    var transport: Transport

    /// - Parameter server: everything goes there; without it the URI's own host, which is an address then.
    init(_ text: String, server: SocketAddress?, usesTCP: Bool) throws {
        guard !text.hasPrefix("sips:") else { throw Failure.usage("'\(text)': TLS is not in this version; write sip:") }
        if let server {
            (uri, self.server) = (try Self.uri(text, at: server), server)
        } else {
            try Self.mustNameServer(text)
            let target = try SIPTarget(text)
            (uri, self.server) = (target.uri, target.address)
        }
        guard uri.port != 0 else { throw Failure.usage("'\(text)': a port is a number from 1 to 65535") }
        transport = usesTCP || uri.transport == "tcp" ? .tcp : .udp
    }

    /// A number alone is called at the server.
    private static func uri(_ text: String, at server: SocketAddress) throws -> URI {
        let bare = text.hasPrefix("sip:") ? String(text.dropFirst(4)) : text
        let whole = bare.contains("@") ? bare : "\(bare)@\(server)"
        guard let uri = try? URI(parsing: Text("sip:" + whole)), uri.user != nil else {
            throw Failure.usage("'\(text)' is neither a number as 9196 nor a SIP URI as sip:9196@example.test")
        }
        return uri
    }

    private static func mustNameServer(_ text: String) throws {
        let bare = text.hasPrefix("sip:") ? String(text.dropFirst(4)) : text
        guard !bare.contains("@"), SocketAddress(bare, defaultPort: 5060) == nil, !bare.hasPrefix("localhost") else { return }
        throw Failure.usage("'\(text)' names no server: write sip:\(bare)@ADDRESS, or add --server ADDRESS")
    }
}
