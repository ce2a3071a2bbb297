import Media
import Primitives
import RTP

/// A step of a call as the ends of the tool saw it: a message, or where sound began or stopped.
public struct CallTraceStep: Codable, Hashable, Sendable {
    /// The sender or the receiver of it.
    public enum Party: String, Codable, Hashable, Sendable, CaseIterable {
        /// The end of the tool that called.
        case caller
        /// The system under test.
        case target
        /// The end of the tool that was called.
        case callee
    }

    /// Milliseconds after the caller's INVITE.
    public var at: Double
    /// The sender.
    public var from: Party
    /// The receiver; the same as the sender where nothing was sent, and something did not come.
    public var to: Party
    /// `INVITE`, `200 OK`, `sound stops` …
    public var text: String

    /// All steps of a call that is over, in the order of their times.
    static func all(of call: LoadedCall) -> [CallTraceStep] {
        let ends = [(call.caller, Party.caller)] + (call.callee.map { [($0, Party.callee)] } ?? [])
        let steps = ends.flatMap { record, party in CallCourse(record, party, origin: call.caller.began, call: call).steps }
        return steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}

/// The steps of one end. A value.
private struct CallCourse {
    private let record: CallRecord
    private let party: CallTraceStep.Party
    private let origin: Instant
    private let wasForgotten: Bool
    private(set) var steps: [CallTraceStep] = []

    init(_ record: CallRecord, _ party: CallTraceStep.Party, origin: Instant, call: LoadedCall) {
        (self.record, self.party, self.origin) = (record, party, origin)
        wasForgotten = party == .callee && call.calleeWasForgotten
        let callerIsUs = record.isOutgoing
        note(record.began, isOurs: callerIsUs, "INVITE")
        if let ringing = record.ringing { note(ringing, isOurs: !callerIsUs, "1xx, it rings") }
        if let answered = record.answered {
            note(answered, isOurs: !callerIsUs, "200 OK")
            addSound(answered)
            addEnd()
        } else {
            addRefusal()
        }
        if record.retransmissions > 0 { remark(record.ended, "\(record.retransmissions.counted("message", "messages")) sent again") }
    }

    private mutating func note(_ time: Instant, isOurs: Bool, _ text: String) {
        steps.append(
            CallTraceStep(at: (time - origin).inMilliseconds, from: isOurs ? party : .target, to: isOurs ? .target : party, text: text))
    }

    /// Nothing was sent.
    private mutating func remark(_ time: Instant, _ text: String) {
        steps.append(CallTraceStep(at: (time - origin).inMilliseconds, from: party, to: party, text: text))
    }

    private mutating func addSound(_ answered: Instant) {
        guard let statistics = record.statistics else { return }
        let (received, sent) = (statistics.receiving.packets, statistics.sending.packets)
        if let first = statistics.firstSent { note(first, isOurs: true, "sound, the first packet") }
        if let last = statistics.lastSent { note(last, isOurs: true, "sound, the last of \(sent.counted("packet", "packets"))") }
        if let first = statistics.firstReceived, let last = statistics.lastReceived {
            note(first, isOurs: false, "sound, the first packet")
            note(last, isOurs: false, "sound, the last of \(received.counted("packet", "packets"))")
        } else {
            remark(record.ended, "no sound came")
        }
    }

    private mutating func addEnd() {
        switch record.endedBy {
        case .us:
            note(record.ended, isOurs: true, wasForgotten ? "BYE, since none came" : "BYE")
            if let status = record.byeStatus {
                note(record.disconnected ?? record.ended, isOurs: false, "\(status) to the BYE")
            } else if let agreed = record.disconnected {
                note(agreed, isOurs: false, "200 to the BYE")
            } else {
                remark(record.ended, "no answer to the BYE")
            }
        case .them: note(record.ended, isOurs: false, "BYE")
        case .nobody: remark(record.ended, record.failure.map { "\($0)" } ?? "it ends")
        }
    }

    private mutating func addRefusal() {
        let words = record.failure.map { ": \($0)" } ?? ""
        if record.endedBy == .us, record.isOutgoing { note(record.ended, isOurs: true, "CANCEL") }
        if record.isUnheard || record.status == 0 { return remark(record.ended, "no final response\(words)") }
        note(record.ended, isOurs: !record.isOutgoing, "\(record.status) \(record.reason)")
    }
}
