import Foundation
import HTTP
import Runtime

/// A client of the control interface `/v1` of a gateway: transactions, reads and events.
///
/// ```swift
/// let gateway = HookswitchClient(socket: "data/hookswitch.sock")
/// let position = try await gateway.snapshot().position
/// let outcome = try await gateway.start(to: "1002", on: "1001", wait: .connected)
/// for try await event in gateway.events(after: position, call: outcome.actions[0].call) { print(event.type) }
/// ```
///
/// The words are those of CallKit, and the paths, fields and errors those of the gateway's `/v1/openapi.json`. Each request has a
/// connection of its own. Thread-safe; copies share one lane.
///
/// Errors: ``Problem`` is the gateway's, ``ConnectionError`` that of the way to it; a stream of events may also end with ``EventsGone`` or
/// ``EventGap``. All of them describe themselves in one sentence.
public struct HookswitchClient: Sendable {
    let wire: ClientWire
    /// The time that an answer may take, beside what a transaction itself waits.
    let timeout: Duration

    /// A gateway on this machine, over the socket in its data folder. Whoever may open it may do everything.
    ///
    /// - Parameters:
    ///   - path: of the socket.
    ///   - timeout: for an answer.
    public init(socket path: String, timeout: Duration = .seconds(30)) {
        (wire, self.timeout) = (ClientWire(to: .socket(path: path), prefix: "", token: nil), timeout)
    }

    /// A gateway over TCP or TLS.
    ///
    /// - Parameters:
    ///   - server: `http` or `https`, with a path where a reverse proxy has the interface below one.
    ///   - token: is shown with each request; nil: none. Never sent in the clear to another machine.
    ///   - authorities: a PEM file of the authorities that a server's certificate is believed of; nil: those of the system.
    ///   - timeout: for an answer.
    /// - Throws: ``ConnectionError`` where the address, the token or the file is none.
    public init(server: URL, token: String? = nil, authorities: String? = nil, timeout: Duration = .seconds(30)) throws(ConnectionError) {
        let place = try ClientPlace(server, authorities: authorities)
        if let token {
            guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .invalidToken }
            guard place.isPrivate else { throw .tokenInClear(host: place.name) }
        }
        var prefix = server.path(percentEncoded: true)
        while prefix.hasSuffix("/") { prefix.removeLast() }
        (wire, self.timeout) = (ClientWire(to: place, prefix: prefix, token: token), timeout)
    }

    /// Asks for what has no function here.
    ///
    /// - Throws: ``Problem`` or ``ConnectionError``.
    public func send<Answer>(_ request: Request<Answer>) async throws -> Answer {
        try Self.decode(Answer.self, try await content(of: request))
    }

    /// The answer as it came: JSON, or nothing.
    ///
    /// - Throws: ``Problem`` or ``ConnectionError``.
    public func content<Answer>(of request: Request<Answer>) async throws -> Data {
        let bytes = request.body
        var answer = try await wire.open(
            WireRequest(method: request.method, path: request.path, body: bytes), timeout: timeout + request.wait)
        let content = try await answer.whole()
        guard (200..<300).contains(answer.status) else { throw Problem(status: answer.status, content) }
        return content
    }

    static func decode<Answer: Decodable>(_ type: Answer.Type, _ content: Data) throws -> Answer {
        if let nothing = Nothing() as? Answer { return nothing }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { try Date(timestamp: $0.singleValueContainer().decode(String.self)) }
        do { return try decoder.decode(type, from: content) } catch { throw ConnectionError.notUnderstood(reason: "\(error)") }
    }
}

extension Date {
    /// RFC 3339, with or without fractions of a second.
    init(timestamp: String) throws {
        let isFractional = timestamp.contains(".")
        self = try Date.ISO8601FormatStyle(includingFractionalSeconds: isFractional).parse(timestamp)
    }
}

extension HookswitchClient {
    /// A request of the control interface, and the type of what answers it.
    public struct Request<Answer: Decodable & Sendable>: Sendable {
        let method: HTTPRequest.Method
        let path: String
        let body: Data?
        /// The time that the answer may take besides, because it waits for something.
        var wait = Duration.zero

        /// - Parameters:
        ///   - method: `GET`, `POST` …
        ///   - path: from `/v1` on, with its query; percent-encoded.
        ///   - body: JSON; nil: none.
        public init(_ method: String, _ path: String, body: Data? = nil) {
            (self.method, self.path, self.body) = (HTTPRequest.Method(method) ?? .get, path, body)
        }

        init(_ method: HTTPRequest.Method, _ segments: [String], query: [(String, String?)] = [], _ body: (any Encodable)? = nil) {
            let written = query.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded)" } }
            let path = "/v1/" + segments.map(\.percentEncoded).joined(separator: "/")
            self.init(
                method.rawValue, written.isEmpty ? path : path + "?" + written.joined(separator: "&"),
                body: body.flatMap { try? JSONEncoder().encode($0) })
        }
    }

    /// An answer without content.
    public struct Nothing: Decodable, Sendable {}
}

extension String {
    /// As one segment of a path, or as a value of a query (RFC 3986 §2.3).
    var percentEncoded: String {
        utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte), isUnreserved = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            if scalar.isASCII, isUnreserved || "-._~".unicodeScalars.contains(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
