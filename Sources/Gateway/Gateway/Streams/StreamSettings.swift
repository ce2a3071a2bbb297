import Audio
import Foundation
import Primitives
public import Streaming

/// The program of a stream, and what happens without it.
public struct StreamSettings: Sendable, Equatable {
    /// The place of a WebSocket.
    public struct Place: Sendable, Equatable {
        /// Over TLS, with a certificate that is checked.
        public var isSecure: Bool
        public var host: String
        public var port: UInt16
        /// The path with its query, as a request has it.
        public var target: String

        /// Nil for what is no address as `ws://127.0.0.1:8080/calls` or `wss://voice.example.test/calls?token=…`.
        public init?(_ text: String) {
            guard let url = URL(string: text), url.scheme == "ws" || url.scheme == "wss", url.user() == nil, url.fragment() == nil,
                let host = url.host(percentEncoded: false), !host.isEmpty, (1...65_535).contains(url.port ?? 443)
            else { return nil }
            isSecure = url.scheme == "wss"
            self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            port = UInt16(url.port ?? (isSecure ? 443 : 80))
            let path = url.path(percentEncoded: true), query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
            target = (path.isEmpty ? "/" : path) + query
        }

        /// Without the target, which may hold a secret.
        var name: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
    }

    /// The name in the journal of a program that comes to the control interface.
    static let caller = Text("api")

    /// The way of a call whose program cannot be reached, or breaks off.
    public enum Fallback: Sendable, Equatable {
        case hangUp
        /// It is played once, and the call ends.
        case announcement(WAV)
        /// The call goes on with this number.
        case transfer(Text)
    }

    /// nil: the program comes to the control interface.
    public var place: Place?
    public var format: StreamFormat
    /// Fields of the request that opens the WebSocket.
    public var headers: [StreamHeader]
    public var fallback: Fallback

    public init(place: Place?, format: StreamFormat = .twilio, headers: [StreamHeader] = [], fallback: Fallback = .hangUp) {
        (self.place, self.format, self.headers, self.fallback) = (place, format, headers, fallback)
    }
}

extension StreamFormat {
    /// As the journal has it.
    var name: Text {
        switch self {
        case .twilio: "twilio"
        case .raw(let encoding): Text("raw/\(encoding.name)/\(encoding.sampleRate)")
        }
    }
}
