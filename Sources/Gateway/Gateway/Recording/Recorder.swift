import Audio
import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import UserAgent

/// Decides which calls are recorded, and what becomes of a recording that cannot be written. Lives on the signalling lane.
final class Recorder {
    private let context: GatewayContext
    private let table: CallTable
    private let userAgent: UserAgent
    /// nil: nothing is recorded.
    let writer: RecordingWriter?
    let mailboxes: Mailboxes

    init(
        _ context: GatewayContext, _ table: CallTable, _ userAgent: UserAgent, _ writer: RecordingWriter?, kept: KeptState = KeptState()
    ) {
        (self.context, self.table, self.userAgent, self.writer) = (context, table, userAgent, writer)
        mailboxes = Mailboxes(context, table.lines, writer, kept: kept)
    }

    /// A call is recorded at the leg of its caller: all that is said and heard there. By the line that was called, or else by the line that
    /// calls.
    /// - Parameter partner: with whom the leg was joined; nil while it talks with whom it called.
    func begin(_ leg: Leg, with partner: Leg? = nil) {
        guard let writer, leg.media.recording == nil, isCaller(leg), let audio = leg.call.agreed
        else { return }
        guard let line = lineThatRecords(leg), let place = line.recording, !isRecordedElsewhere(leg) else { return }
        let isMessage = leg.isMessage(for: line)
        if isMessage, leg.application?.message == .later { return }
        let dialled = leg.origin.flatMap { $0.dialled.isEmpty ? nil : $0.dialled } ?? leg.line.configuration.number
        let (caller, called) = (shownNumber(of: leg), partner.map(shownNumber) ?? dialled)
        let path = place.path(of: leg.uuid, caller: caller, called: called, line: line.number, at: context.date)
        var order = RecordingWriter.Order(
            path: path, format: place.format, sampleRate: audio.isWideband ? 16_000 : 8_000, sides: isMessage ? .farEnd : .both)
        if isMessage { order.message = leg.application?.messageRules }
        let recording = LegRecording(order, of: line.number, by: writer, leg.scribe, at: context.now)
        leg.media.recording = recording
        if isMessage { mailboxes.begin(message(of: leg, caller: caller, called: called, to: line), recordedBy: recording.tap) }
        leg.media.update(leg.plan(for: audio), at: context.now)
    }

    private func message(of leg: Leg, caller: Text, called: Text, to line: LineConfiguration) -> MailboxMessage {
        MailboxMessage(
            id: leg.uuid, line: line.number.description, caller: caller.description,
            name: leg.party.isPrivate ? nil : leg.origin?.name, called: called.description, received: context.date)
    }

    /// Two talk with each other from here on: what no line of theirs wants recorded is recorded no more, and what one wants is, once.
    func beginAnew(_ first: Leg, _ second: Leg) {
        let pair = [(first, second), (second, first)].filter { $0.0.state == .connected }
        for (leg, _) in pair { endUnwanted(leg) }
        for (leg, other) in pair { begin(leg, with: other) }
    }

    /// One that could not be written stays where it is, so that the same line does not begin again.
    private func endUnwanted(_ leg: Leg) {
        guard let recording = leg.media.recording else { return }
        guard
            !table.linesTalking(on: leg).contains(where: { $0.configuration.number == recording.line && $0.configuration.recording != nil })
        else { return }
        recording.end(at: context.now)
        leg.media.recording = nil
        if let audio = leg.call.agreed { leg.media.update(leg.plan(for: audio), at: context.now) }
    }

    private func shownNumber(of leg: Leg) -> Text { leg.party.isPrivate ? .empty : leg.party.user ?? .empty }

    private func lineThatRecords(_ leg: Leg) -> LineConfiguration? {
        table.linesTalking(on: leg).lazy.map(\.configuration).first { $0.recording != nil }
    }

    // MARK: A call of ours to ourselves: both of its ends have a caller, and what is said is one conversation

    private func isRecordedElsewhere(_ leg: Leg) -> Bool {
        table.partners(of: leg).contains(where: \.isRecorded) || isRecordedBefore(leg)
            || ([leg] + table.partners(of: leg)).contains { isRecordedBehind($0, partner: leg) }
    }

    /// The call arrived from ourselves, and the same line records the leg that it was made for.
    private func isRecordedBefore(_ leg: Leg) -> Bool {
        guard leg.direction == .incoming, let session = leg.session, let made = userAgent.ownCall(session.request)?.delegate as? Leg else {
            return false
        }
        return table.partners(of: made).contains { isRecorded($0, bySameLineAs: leg) }
    }

    /// The call was made to ourselves, and is recorded where it arrives: by the same line, or as the call that a line's user asked for
    /// (`Origination`).
    private func isRecordedBehind(_ made: Leg, partner leg: Leg) -> Bool {
        guard let session = made.session, session.isToOurselves else { return false }
        return leg.origination != nil || table.leg(ofAttempt: session.attempt).map { isRecorded($0, bySameLineAs: leg) } ?? false
    }

    private func isRecorded(_ leg: Leg, bySameLineAs other: Leg) -> Bool {
        leg.media.recording.map { $0.line == lineThatRecords(other)?.number } ?? false
    }

    private func isCaller(_ leg: Leg) -> Bool { leg.bridge.map { table.bridges[$0]?.caller == leg.uuid } ?? (leg.direction == .incoming) }

    /// A recording could not be written: its call goes on without it.
    func failed(_ failure: RecordingWriter.Failure) {
        guard let leg = leg(recordedBy: failure.tap) else { return }
        leg.media.recording?.end(failure.error, at: context.now)
        if let audio = leg.call.agreed { leg.media.update(leg.plan(for: audio), at: context.now) }
    }

    /// nil where its call is over.
    func leg(recordedBy tap: RecordingTap) -> Leg? {
        for line in table.lines.all {
            if let leg = line.legsInOrder.first(where: { $0.media.recording?.tap == tap }) { return leg }
        }
        return nil
    }
}

extension Leg {
    /// It talks to the mailbox that wants the recording: a message, which begins after the beep.
    fileprivate func isMessage(for recording: LineConfiguration) -> Bool {
        bridge == nil && application?.message != nil && line.configuration.number == recording.number
    }
}

extension NegotiatedAudio {
    /// Has more to record than a telephone's 4 kHz.
    fileprivate var isWideband: Bool {
        codecs.contains { $0.codec.matches(.opus) || $0.codec.matches(.g722) || $0.codec.clockRate > 8_000 }
    }
}
