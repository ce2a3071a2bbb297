import Console
import Foundation
import Primitives

extension SettingValue {
    /// The address of a WebSocket, in characters that may stand in a policy of a page.
    var webSocketURL: String {
        get throws {
            let text = try text
            guard text.wholeMatch(of: /wss?:\/\/([a-z0-9.\-]+|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?(\/[A-Za-z0-9._~\-\/]*)?/) != nil else {
                throw fail("takes the address of a WebSocket as wss://pbx.example.test/sip, got \(shown)")
            }
            return text
        }
    }

    /// The control interface of a gateway: `gateway-2=https://10.0.0.2:8080`.
    var node: NodeSettings.Node {
        get throws {
            let parts = try text.split(separator: "=", maxSplits: 1).map { String($0).trimmingSpaces }
            guard parts.count == 2, NodeSettings.isName(parts[0]), let url = URL(string: parts[1]), let host = url.host(), !host.isEmpty,
                url.scheme == "https" || url.scheme == "http", url.path.isEmpty || url.path == "/", url.query == nil, url.user == nil,
                let port = UInt16(exactly: url.port ?? (url.scheme == "https" ? 443 : 80)), port > 0
            else { throw fail("takes a name and an address as gateway-2=https://10.0.0.2:8080, got \(shown)") }
            let name = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            // The secret of the gateways goes with each request.
            guard url.scheme == "https" || IPAddress(name)?.isLoopback == true || name == "localhost" else {
                throw fail("takes https:// where the address is of another machine, got \(shown)")
            }
            return NodeSettings.Node(name: parts[0], isSecure: url.scheme == "https", host: name, port: port)
        }
    }

    /// A web origin as browsers write it (RFC 6454 §6.2): scheme, host, and the port where it is not the usual one.
    var origin: String {
        get throws {
            let text = try text
            guard let url = URL(string: text.lowercased()), let scheme = url.scheme, ["http", "https"].contains(scheme),
                let host = url.host(),
                !host.isEmpty
            else { throw fail("takes an origin as https://console.example.test, got \(shown)") }
            let usual = scheme == "https" ? 443 : 80, name = host.contains(":") ? "[\(host)]" : host
            let origin = "\(scheme)://\(name)" + (url.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? "")
            guard origin == text else { throw fail("takes an origin as a browser writes it, \(origin), got \(shown)") }
            return origin
        }
    }
}
