import Audio
import CallKit
import Foundation
import Media
import Primitives
import SDP

/// Which calls are recorded, and what becomes of a recording that cannot be written.
extension Gateway {
    /// A call is recorded at the leg of its caller: all that is said and heard there. By the line that was called, or else by the line that calls.
    func beginRecording(_ leg: Leg) {
        guard let writer = recordings, leg.media.recording == nil, isCaller(leg), leg.announcement == nil, let audio = leg.negotiated else { return }
        let wanting = [leg.line, leg.origin?.line].lazy.compactMap { $0?.configuration }.first { $0.recording != nil }
        guard let line = wanting, let place = line.recording else { return }
        let called = leg.origin.flatMap { $0.dialled.isEmpty ? nil : $0.dialled } ?? leg.line.configuration.number
        let path = place.path(of: leg.uuid, caller: leg.party.isPrivate ? .empty : leg.party.user ?? .empty, called: called, line: line.number, at: date)
        let order = RecordingWriter.Order(path: path, format: place.format, sampleRate: audio.isWideband ? 16_000 : 8_000)
        leg.media.recording = LegRecording(order, by: writer, leg.scribe, at: now)
        leg.media.update(leg.plan(for: audio), at: now)
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
