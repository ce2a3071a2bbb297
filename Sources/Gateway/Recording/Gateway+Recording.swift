import Audio
import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// Which calls are recorded, and what becomes of a recording that cannot be written.
extension Gateway {
    /// A call is recorded at the leg of its caller: all that is said and heard there. By the line that was called, or else by the line that calls.
    func beginRecording(_ leg: Leg) {
        guard let writer = recordings, leg.media.recording == nil, isCaller(leg), leg.announcement == nil, let audio = leg.negotiated else { return }
        guard let line = lineThatRecords(leg), let place = line.recording, !isRecordedElsewhere(leg) else { return }
        let called = leg.origin.flatMap { $0.dialled.isEmpty ? nil : $0.dialled } ?? leg.line.configuration.number
        let path = place.path(of: leg.uuid, caller: leg.party.isPrivate ? .empty : leg.party.user ?? .empty, called: called, line: line.number, at: date)
        let order = RecordingWriter.Order(path: path, format: place.format, sampleRate: audio.isWideband ? 16_000 : 8_000)
        leg.media.recording = LegRecording(order, by: writer, leg.scribe, at: now)
        leg.media.update(leg.plan(for: audio), at: now)
    }

    private func lineThatRecords(_ leg: Leg) -> LineConfiguration? {
        [leg.line, leg.origin?.line].lazy.compactMap { $0?.configuration }.first { $0.recording != nil }
    }

    // MARK: A call of ours to ourselves: both of its ends have a caller, and what is said is one conversation

    private func isRecordedElsewhere(_ leg: Leg) -> Bool {
        isRecordedBefore(leg) || ([leg] + partners(of: leg)).contains { isRecordedBehind($0, partner: leg) }
    }

    /// The call arrived from ourselves, and the same line records the leg that it was made for.
    private func isRecordedBefore(_ leg: Leg) -> Bool {
        guard leg.direction == .incoming, let session = leg.session, let made = userAgent.ownCall(session.request)?.delegate as? Leg else { return false }
        return partners(of: made).contains { isRecorded($0, bySameLineAs: leg) }
    }

    /// The call was made to ourselves, and is recorded where it arrives: by the same line, or as the call that a line's user asked for (`Origination`).
    private func isRecordedBehind(_ made: Leg, partner leg: Leg) -> Bool {
        guard let session = made.session, session.isToOurselves else { return false }
        return leg.origination != nil || self.leg(ofAttempt: session.attempt).map { isRecorded($0, bySameLineAs: leg) } ?? false
    }

    private func isRecorded(_ leg: Leg, bySameLineAs other: Leg) -> Bool {
        leg.media.recording != nil && lineThatRecords(leg)?.number == lineThatRecords(other)?.number
    }

    private func isCaller(_ leg: Leg) -> Bool { leg.bridge.map { bridges[$0]?.caller == leg.uuid } ?? (leg.direction == .incoming) }

    /// The call goes on without it.
    public func recordingFailed(_ failure: RecordingWriter.Failure, at now: Instant) {
        enter(now)
        for leg in lines.flatMap(\.legsInOrder) where leg.media.recording?.tap == failure.tap {
            leg.media.recording?.end(failure.error, at: self.now)
            if let audio = leg.negotiated { leg.media.update(leg.plan(for: audio), at: self.now) }
        }
        settle()
    }
}

extension NegotiatedAudio {
    /// Has more to record than a telephone's 4 kHz.
    fileprivate var isWideband: Bool { codecs.contains { $0.codec.matches(.opus) || $0.codec.matches(.g722) || $0.codec.clockRate > 8_000 } }
}
