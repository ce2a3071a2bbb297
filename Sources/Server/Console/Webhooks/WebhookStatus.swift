import Foundation
import HTTP
import Primitives

/// The state of a webhook, for reads and figures.
public struct WebhookStatus: Sendable {
    public enum State: String, Sendable, CaseIterable {
        /// Events are taken, or there are none.
        case delivering
        /// The last attempt failed.
        case retrying
        /// The receiver answered 410: nothing is sent until the configuration is read again.
        case gone
        /// The journal cannot be read.
        case stuck
    }

    /// Why an attempt failed.
    public enum Cause: String, Sendable, CaseIterable {
        case unreachable, timeout, broken
        case redirect = "3xx"
        case client = "4xx"
        case server = "5xx"
    }

    public let name: String
    public internal(set) var url: String
    /// Those whose events it gets; nil: all, and what concerns no line.
    public internal(set) var lines: Set<Text>?
    public internal(set) var state = State.delivering
    /// The position of the last event that was taken in this run.
    public internal(set) var delivered: EventPosition?
    /// When the oldest event happened that is not taken yet: nanoseconds since 1970; nil: none waits.
    public internal(set) var oldest: UInt64?
    /// Events in memory that are not taken; more may wait in the journal.
    public internal(set) var waiting = 0
    public internal(set) var error: String?
    public internal(set) var deliveredCount: UInt64 = 0
    public internal(set) var givenUpCount: UInt64 = 0
    public internal(set) var gapCount: UInt64 = 0
    public internal(set) var failures: [Cause: UInt64] = [:]

    init(_ settings: WebhookSettings) { (name, url, lines) = (settings.name, settings.shownURL, settings.lines) }
}

extension WebhookAnswer {
    /// nil: the event was taken.
    var failure: (cause: WebhookStatus.Cause, text: String)? {
        switch self {
        case .answered(200..<300, _): nil
        case .answered(let status, _): (status < 400 ? .redirect : status < 500 ? .client : .server, "answered \(status)")
        case .unreachable(let text): (.unreachable, text)
        case .timeout(let text): (.timeout, text)
        case .broken(let text): (.broken, text)
        }
    }

    /// - Parameter date: now, for a `Retry-After` that names a date.
    func outcome(at date: Date) -> WebhookSchedule.Outcome {
        switch self {
        case .answered(200..<300, _): .taken
        case .answered(410, _): .gone
        case .answered(429, let after), .answered(503, let after): .failed(pause: after.flatMap { Self.pause($0, at: date) })
        default: .failed(pause: nil)
        }
    }

    /// RFC 9110 §10.2.3: seconds, or a date.
    private static func pause(_ text: String, at date: Date) -> Duration? {
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, 86_400)) }
        let format = DateFormatter()
        (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(secondsFromGMT: 0))
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text).map { .seconds(max(0, min(86_400, Int64($0.timeIntervalSince(date).rounded(.up))))) }
    }
}
