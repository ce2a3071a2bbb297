import CallJournal
import CallKit
import Foundation
import Primitives

/// Writes down what a line's CallKit system did.
package final class LineJournal: CallSystemJournal {
    private let journal: Journal
    private let line: Text
    private let ending: (UUID) -> LegEnding?
    /// Calls that the journal has under another UUID than the system: by the system's.
    private var names: [UUID: UUID] = [:]

    /// - Parameters:
    ///   - journal: where it writes.
    ///   - line: the number of the line.
    ///   - ending: of the leg of a call, asked for when the call has ended; nil: nothing is told of it.
    package init(_ journal: Journal, line: Text, ending: @escaping (UUID) -> LegEnding? = { _ in nil }) {
        self.journal = journal
        self.line = line
        self.ending = ending
    }

    /// Writes what concerns a call of the system under another UUID; nil: under its own again.
    package func setName(_ name: UUID?, of call: UUID) { names[call] = name }

    private func name(of call: UUID) -> UUID { names.isEmpty ? call : names[call] ?? call }

    package func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
        switch event {
        case .incomingReported(let call, _): write(.reportIncoming, call, now)
        case .incomingAdmitted(let call): write(.reportIncomingAccepted, call, now)
        case .incomingRefused(let call, let error): write(.reportIncomingRefused, call, now, [.error: .init(Self.name(of: error))])
        case .updated(let call): write(.reportUpdated, call, now)
        case .startedConnecting(let call, _): write(.reportConnecting, call, now)
        case .connected(let call, _): write(.reportConnected, call, now)
        case .endReported(let call, let reason, _): write(.reportEnded, call, now, [.reason: .init(reason.name)])
        case .transactionRequested(let transaction): write(.transactionRequested, transaction, now)
        case .transactionAccepted(let transaction): write(.transactionAccepted, transaction, now)
        case .transactionRefused(let transaction, let code): write(.transactionRefused, transaction, now, code: code.rawValue)
        case .systemTransaction(let transaction, _): write(.systemAction, transaction, now)
        case .actionPerformed(let action): performed(action, now)
        case .actionFulfilled(let action, _): completed(.actionFulfilled, action, now)
        case .actionFailed(let action): completed(.actionFailed, action, now)
        case .actionVoided(let action): completed(.actionFailed, action, now, cause: "call-ended")
        case .actionTimedOut(let action): completed(.actionTimedOut, action, now)
        case .callEnded(let call, let end): ended(call, end, now)
        case .sessionActivated(let session, let calls):
            write(.sessionActivated, calls.first, now, [.session: .init(session.text(of: line))])
        case .sessionDeactivated(let session, let last): write(.sessionDeactivated, last, now, [.session: .init(session.text(of: line))])
        case .providerReset: journal.record(.providerReset, line: line, at: now)
        case .transactionOffered, .transactionHandled, .actionUnimplemented, .providerBegan, .sessionAdmitted: break
        }
    }

    private func write(_ kind: JournalEvent.Kind, _ call: UUID?, _ now: Instant, _ details: JournalEvent.Details = [:]) {
        journal.record(kind, call: call.map { CallUUID(name(of: $0)) }, line: line, at: now, details)
    }

    private func write(_ kind: JournalEvent.Kind, _ transaction: CallTransaction, _ now: Instant, code: Int? = nil) {
        var details = journal.makeDetails()
        details.add(.transaction, .init(transaction.uuid))
        if let code { details.add(.code, .init(code)) } else { details.add(.actions, .actions(transaction.actions)) }
        write(kind, transaction.actions.first?.call, now, details)
    }

    private func ended(_ call: UUID, _ end: CallEnd, _ now: Instant) {
        var details = journal.makeDetails()
        details.add(.reason, .init(end.name))
        if let ending = ending(call) {
            details.add(.endedBy, .init(ending.ender(of: end).text))
            details.add(.q850, ending.cause?.q850.map { .init($0) })
        }
        write(.callEnded, call, now, details)
    }

    private func performed(_ action: CallAction, _ now: Instant) {
        var details = journal.makeDetails()
        details.add(.action, .init(action.uuid))
        details.add(.created, .init(action.created))
        let kind: JournalEvent.Kind
        switch action.kind {
        case .start(let handle, _):
            kind = .performStart
            details.add(.remote, .init(handle.value))
        case .answer: kind = .performAnswer
        case .end: kind = .performEnd
        case .hold(let on):
            kind = .performHeld
            details.add(.on, .init(on))
        case .mute(let on):
            kind = .performMuted
            details.add(.on, .init(on))
        case .group(let other):
            kind = .performGroup
            details.add(.with, other.map { .init(name(of: $0)) })
        case .tones(let digits, _):
            kind = .performDTMF
            details.add(.digits, .init(digits))
        case .translate, .other: return
        }
        write(kind, action.call, now, details)
    }

    private func completed(_ kind: JournalEvent.Kind, _ action: CallAction, _ now: Instant, cause: Text? = nil) {
        var details = journal.makeDetails()
        details.add(.action, .init(action.uuid))
        details.add(.class, .init(action.kind.actionClass.name))
        details.add(.created, .init(action.created))
        details.add(.cause, cause.map { .init($0) })
        write(kind, action.call, now, details)
    }

    private static func name(of error: any Error) -> String {
        if let incoming = error as? CXErrorCodeIncomingCallError { return "\(incoming.code)" }
        if let transaction = error as? CXErrorCodeRequestTransactionError { return "\(transaction.code)" }
        return "unknown"
    }
}

extension CXCallEndedReason {
    private static let remoteEndedName: Text = "remoteEnded"

    /// That of what usually ends a call is made once.
    package var name: Text {
        switch self {
        case .failed: "failed"
        case .remoteEnded: Self.remoteEndedName
        case .unanswered: "unanswered"
        case .answeredElsewhere: "answeredElsewhere"
        case .declinedElsewhere: "declinedElsewhere"
        }
    }
}

extension CallEnd {
    private static let actionName: Text = "action"

    package var name: Text {
        switch self {
        case .reported(let reason): reason.name
        case .action: Self.actionName
        case .endTimedOut: "endTimedOut"
        case .startFailed: "startFailed"
        case .startTimedOut: "startTimedOut"
        case .answerFailed: "answerFailed"
        case .reset: "reset"
        }
    }
}

extension AudioSessionName {
    /// `0` for a provider's one session, `0.17` for that of a group; the line's number goes before, for groups are counted by line.
    func text(of line: Text) -> Text {
        guard let group else { return line }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.count + 21)
        bytes.append(contentsOf: line.bytes)
        bytes.append(0x2E)
        bytes.append(decimal: group)
        return Text(bytes)
    }
}
