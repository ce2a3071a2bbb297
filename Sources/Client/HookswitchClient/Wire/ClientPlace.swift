import Foundation
import Primitives
import Runtime

/// The place of a control interface.
enum ClientPlace: Sendable {
    case socket(path: String)
    /// - tls: nil: in the clear.
    case server(host: String, port: UInt16, tls: TLSContexts?)

    init(_ url: URL, authorities: String?) throws(HookswitchClient.ConnectionError) {
        let scheme = url.scheme?.lowercased() ?? ""
        guard ["http", "https"].contains(scheme), let host = url.host(percentEncoded: false), !host.isEmpty, url.user == nil,
            url.password == nil, url.query == nil, url.fragment == nil,
            let port = UInt16(exactly: url.port ?? (scheme == "https" ? 443 : 80)), port != 0
        else { throw .invalidAddress(url.absoluteString) }
        let bare = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        self = .server(host: bare, port: port, tls: scheme == "https" ? try Self.trust(authorities) : nil)
    }

    private static func trust(_ authorities: String?) throws(HookswitchClient.ConnectionError) -> TLSContexts {
        var settings = TLSSettings()
        settings.serverAuthorities = authorities
        do { return try TLSContexts(settings) } catch { throw .authorities(reason: error.description) }
    }

    /// For the Host of requests, and for people.
    var name: String {
        switch self {
        case .socket(let path): path
        case .server(let host, let port, let tls):
            (host.contains(":") ? "[\(host)]" : host) + (port == (tls == nil ? 80 : 443) ? "" : ":\(port)")
        }
    }

    var host: String { if case .socket = self { "localhost" } else { name } }

    /// The way is this machine's own, or encrypted.
    var isPrivate: Bool {
        switch self {
        case .socket: true
        case .server(let host, _, let tls): tls != nil || host == "localhost" || IPAddress(host)?.isLoopback == true
        }
    }
}
