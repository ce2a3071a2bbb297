import Foundation

extension HookswitchClient {
    /// Why the gateway did not do what it was asked for (`application/problem+json`, RFC 9457).
    public struct Problem: Error, Codable, Hashable, CustomStringConvertible {
        /// The HTTP status.
        public var status: Int
        /// The cause, for programs; the name of CallKit's error where it is one.
        public var code: String
        /// A sentence for a person.
        public var detail: String
        /// With the code `gone`: the oldest event that is kept.
        public var oldest: Position?

        init(status: Int, _ content: Data) {
            if let problem = try? JSONDecoder().decode(Problem.self, from: content) {
                self = problem
            } else {
                self.init(status: status, code: "http\(status)", detail: "what answers there says \(status), and no more")
            }
        }

        init(status: Int, code: String, detail: String, oldest: Position? = nil) {
            (self.status, self.code, self.detail, self.oldest) = (status, code, detail, oldest)
        }

        public var description: String { "\(detail) (\(code))" }
    }

    /// Events behind the position are not kept any more: take a ``HookswitchClient/snapshot()``, and go on behind its position.
    public struct EventsGone: Error, Hashable, CustomStringConvertible {
        /// The oldest event that is kept; nil: none.
        public var oldest: Position?
        public var description: String {
            "events after this position are not kept any more\(oldest.map { "; the oldest that is kept is \($0)" } ?? "")"
        }
    }

    /// The gateway left an event out: `prev` is not the event that came last.
    public struct EventGap: Error, Hashable, CustomStringConvertible {
        public var expected: Position, found: Position?
        public var description: String { "an event is missing behind \(expected): the next one follows \(found?.description ?? "none")" }
    }

    /// Why the gateway could not be asked, or its answer did not come to its end.
    public enum ConnectionError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The URL is neither `http` nor `https`, or has no host.
        case invalidAddress(String)
        /// The token has blanks, or characters that no token has.
        case invalidToken
        /// The token would go to another machine in the clear.
        case tokenInClear(host: String)
        /// A file of authorities cannot be used, with the reason.
        case authorities(reason: String)
        /// The name of the host has no address.
        case unknownHost(String)
        /// The gateway cannot be reached there, with the reason.
        case unreachable(String, reason: String)
        /// The certificate is of no authority that is believed, or over, with OpenSSL's reason.
        case untrusted(String, reason: String)
        /// The certificate names other hosts.
        case wrongName(String)
        /// TLS could not be established, with the reason.
        case noTLS(String, reason: String)
        /// No answer within the time.
        case timedOut(String)
        /// The connection ended before the answer did.
        case hungUp(String)
        /// Not HTTP.
        case notHTTP(String)
        /// The answer is longer than any of the interface.
        case tooLong(String)
        /// The answer is none of the interface's.
        case notUnderstood(reason: String)

        public var description: String {
            switch self {
            case .invalidAddress(let text): "'\(text)' is no address as http://127.0.0.1:8080 or https://gateway.example.net"
            case .invalidToken: "this is no token: it has blanks, or characters that no token has"
            case .tokenInClear(let host): "a token for \(host) would be readable by everybody on the way there: use https://"
            case .authorities(let reason): reason
            case .unknownHost(let host): "the name \(host) is unknown"
            case .unreachable(let place, let reason): "nobody can be reached at \(place): \(reason)"
            case .untrusted(let place, let reason): "the certificate of \(place) is not trusted: \(reason)"
            case .wrongName(let host): "the certificate that is shown there does not name \(host)"
            case .noTLS(let place, let reason): "\(place) does not speak TLS as we do: \(reason)"
            case .timedOut(let place): "\(place) did not answer in time"
            case .hungUp(let place): "\(place) hung up before its answer was complete"
            case .notHTTP(let place): "\(place) does not speak HTTP"
            case .tooLong(let place): "the answer of \(place) is too long"
            case .notUnderstood(let reason): "the answer is none of the control interface's: \(reason)"
            }
        }
    }
}
