import Primitives
import SIP
import UserAgent

/// A request that we sent, and what came of it.
final class TortureExchange {
    struct Final {
        var status: Int
        /// Nil where it cannot be read as a message.
        var response: Message?

        /// For a person: `404 Not Found`.
        var text: String { "\(status) \(response?.reasonPhrase ?? Message.reasonPhrase(status))" }
    }

    /// Nil where the bytes are no message to our own eyes.
    private(set) var request: Message?
    private(set) var bytes: [UInt8]
    /// The Call-ID by which the answers to bytes that are no message are known; nil: they have none.
    private let callID: Text?
    private(set) var isSent = false
    /// Statuses of 101 and more.
    private(set) var provisionals: [Int] = []
    private(set) var finals: [Final] = []
    var isAcknowledged = false
    var wasChallenged = false
    private(set) var resend: (due: Instant, interval: Duration)?

    init(_ request: Message) { (self.request, bytes, callID) = (request, request.serialized(), nil) }

    /// Bytes that may be anything.
    init(bytes: [UInt8], callID: Text?) {
        (self.bytes, self.callID) = (bytes, callID)
        request = (try? Message(parsing: bytes)).flatMap { $0.isRequest ? $0 : nil }
    }

    var method: Method? { request?.method }
    var final: Final? { finals.first }
    var acceptance: Message? { final.flatMap { (200..<300).contains($0.status) ? $0.response : nil } }
    var isProvisional: Bool { !provisionals.isEmpty && finals.isEmpty }

    /// Notes that it leaves; over UDP it is sent again until something comes (RFC 3261 §17.1).
    func sent(at now: Instant, isReliable: Bool) {
        isSent = true
        guard !isReliable, method != .ack, resend == nil else { return }
        resend = (now + .milliseconds(500), .milliseconds(500))
    }

    func resent(at now: Instant) {
        guard let resend else { return }
        let interval = min(resend.interval * 2, .seconds(4))
        self.resend = (now + interval, interval)
    }

    func rests() { resend = nil }

    /// The same with new credentials.
    func replace(by request: Message) {
        (self.request, bytes, wasChallenged) = (request, request.serialized(), true)
        (finals, provisionals, resend) = ([], [], nil)
    }

    /// Whether a response answers this: by branch and method, or where one of the two cannot be read by its Call-ID.
    func takes(_ response: Message?, _ bytes: [UInt8]) -> Bool {
        if let request, let response {
            return response.callID == request.callID && response.cseq == request.cseq && response.via.branch == request.via.branch
        }
        let known = request?.callID ?? callID
        return known.map { bytes.firstRange(of: $0.bytes) != nil } ?? !bytes.mentionsCallID
    }

    func note(_ status: Int, _ response: Message?) {
        guard status > 100 else { return }
        resend = nil
        if status < 200 { provisionals.append(status) } else { finals.append(Final(status: status, response: response)) }
    }
}

extension [UInt8] {
    fileprivate var mentionsCallID: Bool { Text(self).lowercased.bytes.firstRange(of: Array("\r\ncall-id".utf8)) != nil }

    /// The status of what looks like a response, whatever else is wrong with it.
    var statusOfResponse: Int? {
        let prefix = Array("SIP/2.0 ".utf8)
        guard starts(with: prefix) else { return nil }
        return Text(self[prefix.count...].prefix(3)).integer(Int.self)
    }
}

/// A request of the target.
struct TortureArrival {
    let message: Message
    let flow: Flow
    /// Our last answer to it, which comes again when it does.
    var answer: [UInt8]?
    /// A step has waited for it.
    var isNoticed = false
}
