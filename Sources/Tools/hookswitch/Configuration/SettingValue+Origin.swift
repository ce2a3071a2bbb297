import Foundation

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
