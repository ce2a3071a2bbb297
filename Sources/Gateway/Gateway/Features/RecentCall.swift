import CallKit
import Foundation
import Primitives
import Runtime

/// One call in the list of a line's recents.
public struct RecentCall: Sendable, Equatable, Identifiable {
    /// The direction of the call, as the line sees it.
    public enum Direction: String, Sendable, CaseIterable { case incoming, outgoing }

    /// The outcome of the call for the line.
    public enum Outcome: String, Sendable, CaseIterable {
        case answered
        /// Incoming: nobody answered before the caller or the ring limit ended it.
        case missed
        case declined
        case answeredElsewhere, declinedElsewhere
        /// Outgoing: the caller gave up before the answer.
        case cancelled
        /// Outgoing: nobody answered.
        case unanswered
        case busy
        case failed
    }

    /// The reason of a call that was up when the gateway was killed: it ended at an unknown time, at `ended` or later.
    public static let gatewayKilled = "gatewayKilled"

    /// The CallKit call; an outgoing one has the UUID of the call that it was at the line that was called. Where gateways share the list it is
    /// made of the INVITE's Call-ID and From tag: the same call is one entry, whichever gateway has it.
    public var id: UUID
    /// The number of the line whose recents it is in.
    public var line: String
    /// The direction of the call, as the line sees it.
    public var direction: Direction
    public var handleType: CXHandle.HandleType
    public var handle: String
    /// The contact, the directory's label, or what the caller said.
    public var name: String?
    /// When its INVITE came.
    public var began: Date
    /// When it was answered; nil: nobody answered.
    public var connected: Date?
    public var ended: Date
    /// The outcome of the call for the line.
    public var outcome: Outcome
    /// The reason of its end, as the journal names it.
    public var reason: String

    public init(
        id: UUID, line: String, direction: Direction, handleType: CXHandle.HandleType, handle: String, name: String?, began: Date,
        connected: Date?, ended: Date,
        outcome: Outcome, reason: String
    ) {
        (self.id, self.line, self.direction, self.handleType, self.handle, self.name) = (id, line, direction, handleType, handle, name)
        (self.began, self.connected, self.ended, self.outcome, self.reason) = (began, connected, ended, outcome, reason)
    }

    /// The `id` of a call in recents that gateways share: a UUID of its attempt (RFC 9562 §5.8).
    ///
    /// - Parameter attempt: Call-ID and From tag.
    public static func id(ofAttempt attempt: Text) -> UUID {
        var bytes = Array(OpenSSLDigest.hash(.sha256, Array(attempt.bytes)).prefix(16))
        (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x80, bytes[8] & 0x3F | 0x80)
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The other party.
    public var remote: CXHandle { CXHandle(type: handleType, value: handle) }
    /// From answer to end; zero where nobody answered.
    public var duration: TimeInterval { connected.map { ended.timeIntervalSince($0) } ?? 0 }
}

/// The recents of one line, the newest first; the oldest give way.
struct RecentCalls {
    private let limit: Int
    private(set) var calls: [RecentCall]

    init(limit: Int, kept: [RecentCall] = []) { (self.limit, calls) = (limit, Array(kept.prefix(limit))) }

    mutating func add(_ call: RecentCall) {
        calls.removeAll { $0.id == call.id && $0.direction == call.direction }
        calls.insert(call, at: 0)
        if calls.count > limit { calls.removeLast() }
    }

    /// Takes calls of another gateway beside these, in the order of their ends.
    mutating func adopt(_ others: [RecentCall]) {
        let names = Set(others.map { "\($0.id) \($0.direction)" })
        let all = others + calls.filter { !names.contains("\($0.id) \($0.direction)") }
        calls = Array(all.sorted { $0.ended > $1.ended }.prefix(limit))
    }

    subscript(id: UUID) -> RecentCall? { calls.first { $0.id == id } }
    var lastCaller: CXHandle? { calls.first { $0.direction == .incoming }?.remote }
}

extension RecentCall.Outcome {
    /// Makes the outcome for the line that was called.
    init(incoming end: CallEnd, cause: EndCause?, wasAnswered: Bool) {
        guard !wasAnswered else { self = .answered; return }
        switch end {
        case .reported(.answeredElsewhere): self = .answeredElsewhere
        case .reported(.declinedElsewhere): self = .declinedElsewhere
        case .reported(.remoteEnded), .reported(.unanswered): self = .missed
        case .action: self = Self.ofDevices(cause?.status ?? 603)
        default: self = .failed
        }
    }

    /// Gives the outcome of a status that the line's devices gave.
    private static func ofDevices(_ status: Int) -> Self {
        switch status {
        case 486, 600, 603, 607: .declined
        case 408, 480, 487: .missed
        default: .failed
        }
    }

    /// Makes the outcome for the line that called.
    init(outgoing cause: EndCause?, wasAnswered: Bool) {
        guard !wasAnswered else { self = .answered; return }
        switch cause?.status {
        case 487: self = .cancelled
        case 486, 600: self = .busy
        case 603, 607, 608, 403: self = .declined
        case 408, 480: self = .unanswered
        default: self = .failed
        }
    }
}
