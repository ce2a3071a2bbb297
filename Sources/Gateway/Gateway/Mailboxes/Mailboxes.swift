import CallJournal
import Foundation
import Media
import Primitives

/// The messages of lines that take them. Lives on the signalling lane.
final class Mailboxes {
    /// Messages that the list of a line has; the files of older ones stay.
    static let limit = 1_000

    /// Tells telephones of what changes; nil: nobody is told.
    var waiting: MessageWaiting?
    private let context: GatewayContext
    private let lines: LineTable
    private let writer: RecordingWriter?
    /// By the number of the line, the newest first.
    private var messages: [String: [MailboxMessage]]
    /// Messages that are being recorded.
    private var unfinished: [RecordingTap: MailboxMessage] = [:]

    init(_ context: GatewayContext, _ lines: LineTable, _ writer: RecordingWriter?, kept: KeptState) {
        (self.context, self.lines, self.writer) = (context, lines, writer)
        messages = kept.lines.mapValues { Array($0.messages.prefix(Self.limit)) }
    }

    /// A caller speaks after the beep.
    func begin(_ message: MailboxMessage, recordedBy tap: RecordingTap) { unfinished[tap] = message }

    /// The writer has decided what became of a message.
    func receive(_ notice: MessageNotice) {
        switch notice {
        case .silent: break
        case .kept(let tap, let path, let length):
            guard var message = unfinished.removeValue(forKey: tap) else { return }
            (message.path, message.duration) = (path, Double(length.wholeMilliseconds) / 1_000)
            add(message)
            write(
                .mailboxMessage, message,
                [.remote: .init(message.caller), .count: .init(length.wholeMilliseconds), .text: .init(path)])
        case .discarded(let tap):
            guard let message = unfinished.removeValue(forKey: tap) else { return }
            write(.mailboxDiscarded, message)
        }
    }

    private func write(_ kind: JournalEvent.Kind, _ message: MailboxMessage, _ details: JournalEvent.Details = [:]) {
        context.journal.record(kind, call: CallUUID(message.id), line: Text(message.line), at: context.now, details)
    }

    /// The newest are kept, and of those that are too many the oldest goes.
    private func add(_ message: MailboxMessage) {
        var list = messages[message.line] ?? []
        list.insert(message, at: 0)
        if list.count > Self.limit, let oldest = list.popLast() { context.store?.keep(.noMessage(line: oldest.line, id: oldest.id)) }
        messages[message.line] = list
        context.store?.keep(.message(message))
        waiting?.changed(message.line)
    }

    /// The numbers of messages that are new, and that were heard.
    func counts(ofLine number: Text) -> (new: Int, heard: Int) {
        let messages = messages[number.description] ?? [], heard = messages.count(where: \.isHeard)
        return (messages.count - heard, heard)
    }

    /// Takes the messages that are kept of a line in the place of these.
    func adopt(_ kept: [MailboxMessage], ofLine line: String) {
        let kept = Array(kept.prefix(Self.limit))
        guard messages[line] ?? [] != kept else { return }
        messages[line] = kept
        waiting?.changed(line)
    }

    // MARK: Outside

    /// Mailboxes, and lines that were one and have messages still, in the order of the lines.
    func summaries() -> [MailboxSummary] {
        lines.all.map(\.configuration).compactMap { line in
            let messages = messages[line.number.description] ?? []
            guard line.takesMessages || !messages.isEmpty else { return nil }
            return MailboxSummary(line: line.number, name: line.name, messages: messages)
        }
    }

    /// False when there is no such message.
    func setHeard(_ isHeard: Bool, _ id: UUID, ofLine number: Text) -> Bool {
        let line = number.description
        guard let index = messages[line]?.firstIndex(where: { $0.id == id }), var message = messages[line]?[index] else { return false }
        guard message.isHeard != isHeard else { return true }
        message.isHeard = isHeard
        messages[line]?[index] = message
        context.store?.keep(.message(message))
        waiting?.changed(line)
        return true
    }

    /// Its file goes, too. False when there is no such message.
    func remove(_ id: UUID, ofLine number: Text) -> Bool {
        let line = number.description
        guard let index = messages[line]?.firstIndex(where: { $0.id == id }), let message = messages[line]?.remove(at: index) else {
            return false
        }
        writer?.remove(message.path)
        context.store?.keep(.noMessage(line: line, id: id))
        waiting?.changed(line)
        return true
    }
}

extension LineConfiguration {
    var takesMessages: Bool {
        if case .application(let application) = endpoint { application.kind.takesMessages } else { false }
    }
}
