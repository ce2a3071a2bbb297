import CallJournal
import Primitives
import SIP
import UserAgent

/// A flow as the journal names it; made once for a leg, for each of its messages says it.
package struct FlowLabel {
    let transport: Text
    let remote: Text

    /// The label of a flow.
    package init(_ flow: Flow) {
        transport = flow.transport.text
        remote = flow.remote.text
    }
}

/// Writes what happens to one leg into the journal.
package struct LegJournal {
    /// Gets the events.
    package let journal: Journal
    /// nil: what it writes is the line's alone.
    let call: CallUUID?
    let line: Text

    package init(journal: Journal, call: CallUUID?, line: Text) { (self.journal, self.call, self.line) = (journal, call, line) }

    /// Records an event of the leg.
    package func write(_ kind: JournalEvent.Kind, at now: Instant, _ details: JournalEvent.Details = [:]) {
        journal.record(kind, call: call, line: line, at: now, details)
    }

    /// A SIP message, by what the rules and a ladder need of it. Credentials have no place in it.
    package func trace(
        _ message: Message, _ direction: SessionEvent.Direction, _ isRetransmission: Bool, over flow: FlowLabel, at now: Instant
    ) {
        var details = journal.makeDetails()
        let sequence = message.cseq
        details.add(.method, .text(sequence.method.name))
        if let status = message.status {
            details.add(.status, .init(status))
            details.add(.phrase, message.reasonPhrase.map { .init($0) })
        }
        details.add(.cseq, .init(sequence.number))
        details.add(.callid, .init(message.callID))
        let remote = (direction == .received) == message.isRequest ? message.from : message.to
        details.add(.remoteTag, remote.tag.map { .init($0) })
        details.add(.reason, message.headers[.reason].map { .init($0) })
        if isRetransmission { details.add(.retransmission, true) }
        details.add(.transport, .text(flow.transport))
        details.add(.remote, .text(flow.remote))
        write(direction == .received ? .sipReceived : .sipSent, at: now, details)
    }
}

extension Method {
    private static let inviteName = invite.text, ackName = ack.text, byeName = bye.text, cancelName = cancel.text

    /// Its text; that of the methods that every call has is made once.
    fileprivate var name: Text {
        switch self {
        case .invite: Self.inviteName
        case .ack: Self.ackName
        case .bye: Self.byeName
        case .cancel: Self.cancelName
        default: text
        }
    }
}
