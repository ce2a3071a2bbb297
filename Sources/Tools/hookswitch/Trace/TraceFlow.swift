import Foundation
import Gateway
import Primitives
import SIP
import UserAgent

/// The messages of one call, or of several that belong together: as a ladder, and as text.
struct TraceFlow {
    /// In their order.
    let messages: [TracedMessage]

    init(_ calls: [TracedCall]) {
        let all = calls.flatMap { $0.messages ?? [] }
        // Messages of one call are in order: a stable sort keeps those of one moment so.
        messages = all.enumerated().sorted { ($0.element.wall, $0.offset) < ($1.element.wall, $1.offset) }.map(\.element)
    }

    /// The ladder, and below it each message.
    func text(_ options: LadderOptions) -> String { ladder(options) + texts }

    func ladder(_ options: LadderOptions) -> String { MessageLadder(arrows, options: options).text }

    /// Each message, with an empty line above it.
    var texts: String { messages.map { "\n" + Self.text(of: $0) }.joined() }

    /// When, which way and what.
    static func text(of message: TracedMessage) -> String {
        let way = message.direction == .received ? "received" : "sent"
        let head = "-- \(WallTime.local(message.wall))  \(way) \(message.transport) \(message.source) → \(message.destination)\n"
        let text = String(decoding: message.bytes, as: UTF8.self).replacing("\r\n", with: "\n").sanitized
        return head + text + (text.hasSuffix("\n") ? "" : "\n")
    }

    var arrows: [MessageLadder.Arrow] {
        var seen: Set<[UInt8]> = []
        return messages.compactMap { traced in
            guard let message = try? Message(parsing: traced.bytes) else { return nil }
            let isNew = seen.insert(traced.bytes).inserted
            return MessageLadder.Arrow(
                peer: "\(traced.remote)", isReceived: traced.direction == .received, isRetransmission: !isNew,
                label: Self.label(of: message), status: message.status, wall: traced.wall)
        }
    }

    /// `INVITE`, `200 OK (BYE)`, `INVITE (SDP)`
    private static func label(of message: Message) -> String {
        let body = message.contentType.map { $0.description.contains("application/sdp") && !message.content.isEmpty } ?? false
        guard let status = message.status else { return message.method.description + (body ? " (SDP)" : "") }
        let phrase = message.reasonPhrase.map { " \($0)" } ?? ""
        return "\(status)\(phrase)" + (message.method == .invite ? "" : " (\(message.method))") + (body ? " (SDP)" : "")
    }
}

/// A call of a trace as JSON; what is not known is left out.
struct TraceDescription: Encodable {
    struct Message: Encodable {
        var time: String
        /// `received` or `sent`.
        var direction: String
        var transport: String, local: String, remote: String
        var text: String
    }

    var number: Int
    /// Times of the first and the last message.
    var time: String, lastTime: String
    var method: String, from: String, to: String
    /// As of 'hookswitch calls'.
    var status: String
    var sipStatus: Int?
    var transport: String, peer: String, callID: String
    var count: Int
    var messages: [Message]?

    /// - Parameter isWhole: with its messages.
    init(_ call: TracedCall, isWhole: Bool) {
        (number, time, lastTime) = (call.number, WallTime.universal(call.began), WallTime.universal(call.last))
        (method, from, to) = (call.method.description, call.from.text.description, call.to.text.description)
        (status, sipStatus) = (call.disposition.rawValue, call.status)
        (transport, peer, callID) = ("\(call.transport)", "\(call.peer)", call.callID.description)
        count = call.count
        guard isWhole else { return }
        messages = (call.messages ?? []).map { message in
            Message(
                time: WallTime.universal(message.wall), direction: message.direction == .received ? "received" : "sent",
                transport: "\(message.transport)", local: "\(message.local)", remote: "\(message.remote)",
                text: String(decoding: message.bytes, as: UTF8.self))
        }
    }
}
