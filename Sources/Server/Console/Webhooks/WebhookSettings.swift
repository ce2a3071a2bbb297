import Foundation
import Primitives
import Runtime

/// A receiver of events over HTTP, as the configuration has it.
public struct WebhookSettings: Equatable, Sendable {
    /// Names its file of the data folder: letters, digits, `-` and `_`.
    public let name: String
    /// With what it has of a user, a password and a query.
    public let url: URL
    /// The keys that its events are signed with: the newest first, and old ones until the receiver knows it.
    public let secrets: [WebhookSecret]
    /// nil: all.
    public let types: Set<EventType>?
    /// Those whose events it gets; nil: all, and what concerns no line.
    public let lines: Set<Text>?
    /// Time that an answer may take.
    public let timeout: Duration

    public init(
        name: String, url: URL, secrets: [WebhookSecret], types: Set<EventType>? = nil, lines: Set<Text>? = nil,
        timeout: Duration = .seconds(10)
    ) {
        (self.name, self.url, self.secrets, self.types, self.lines, self.timeout) = (name, url, secrets, types, lines, timeout)
    }

    /// The address without its secrets: no user, no password, no query.
    public var shownURL: String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return "" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? ""
    }
}

/// A symmetric key of the Standard Webhooks specification, `whsec_` and base64: 24 to 64 bytes. It shows itself nowhere.
public struct WebhookSecret: Equatable, Sendable, CustomStringConvertible {
    private let key: [UInt8]

    /// nil for what is none.
    public init?(_ text: String) {
        guard text.hasPrefix("whsec_"), let key = Data(base64Encoded: String(text.dropFirst(6))), (24...64).contains(key.count) else {
            return nil
        }
        self.key = Array(key)
    }

    public var description: String { "whsec_…" }

    /// `v1,` and the HMAC-SHA256 of identifier, time and content.
    func signature(of id: String, _ timestamp: Int64, _ content: [UInt8]) -> String {
        let code = OpenSSLDigest.hmac(.sha256, key: key, Array("\(id).\(timestamp).".utf8) + content)
        return "v1,\(Data(code).base64EncodedString())"
    }
}

/// One request to a webhook's receiver.
public struct WebhookRequest: Sendable {
    public let url: URL
    /// The fields of the Standard Webhooks specification, and the content's type.
    public let fields: [(name: String, value: String)]
    public let content: [UInt8]
    public let timeout: Duration

    /// - Parameter timestamp: of this attempt: seconds since 1970.
    init(_ webhook: WebhookSettings, id: String, content: [UInt8], timestamp: Int64) {
        (url, self.content, timeout) = (webhook.url, content, webhook.timeout)
        fields = [
            ("Content-Type", "application/cloudevents+json"), ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
            ("webhook-signature", webhook.secrets.map { $0.signature(of: id, timestamp, content) }.joined(separator: " ")),
        ]
    }
}

/// The answer to a request, or why there was none.
public enum WebhookAnswer: Equatable, Sendable {
    /// - Parameter retryAfter: that field of the answer.
    case answered(status: Int, retryAfter: String?)
    case unreachable(String)
    case timeout(String)
    /// No HTTP, or cut off.
    case broken(String)
}

/// Carries requests to receivers.
public protocol WebhookClient: Sendable {
    /// Must not block. `then` is called once, on any thread.
    func post(_ request: WebhookRequest, then: @escaping @Sendable (WebhookAnswer) -> Void)
}
