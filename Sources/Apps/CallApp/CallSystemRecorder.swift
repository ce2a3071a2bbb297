import CallJournal
import CallKit
import Calls
import Foundation
import Primitives
import Synchronization

/// Listens to the app's CallKit system: writes its events into the line's journal, in the system's order and before what they cause, and
/// tells the line what they mean for its calls.
///
/// The system speaks on whatever thread it was called; the line lives on one queue. So events are put down in their order here and
/// taken in on the line's queue: at once when the system was called there, else before whatever that queue does next.
final class CallSystemRecorder: CallSystemJournal {
    private let pending = Mutex<[(CallSystemEvent, CallSnapshot?, Instant)]>([])
    private unowned let line: AppLine
    private let journal: LineJournal
    private var isDraining = false
    /// The journal has one session for the line, however many providers have one: on with the first, off when no call needs any.
    private(set) var isSessionOn = false
    private var sessions: Set<AudioSessionName> = []
    private var last: CallSystemEvent?
    /// Whether this thread is the line's, and how to be called there soon if it is not.
    var isHere: () -> Bool = { true }
    var comeSoon: () -> Void = {}

    init(_ line: AppLine) {
        self.line = line
        journal = LineJournal(line.journal, line: line.settings.number)
    }

    /// Has the journal keep a call of the system under another UUID; nil: under its own again.
    func setName(_ name: UUID?, of call: UUID) { journal.setName(name, of: call) }

    var hasPending: Bool { pending.withLock { !$0.isEmpty } }

    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
        // It may be gone when the event is taken in.
        let call = event.described.flatMap(system.call)
        pending.withLock { $0.append((event, call, now)) }
        comeSoon()
    }

    /// Not while an event is told: the app hears of what it means, and may wait for a thread that waits to tell the next one.
    func callSystemHasTold(_ system: CallSystem) {
        if isHere() { drain() }
    }

    /// The journal's reset is the whole line's. That of one provider among several is told by the ends of its calls.
    private func concernsLine(_ event: CallSystemEvent) -> Bool {
        guard case .providerReset(let provider, _) = event else { return true }
        return line.calls.values.allSatisfy { $0.standing == .ended || $0.provider == provider }
    }

    private func isWritten(_ event: CallSystemEvent) -> Bool {
        switch event {
        case .sessionActivated(let name, _):
            sessions.insert(name)
            defer { isSessionOn = true }
            return !isSessionOn
        case .sessionDeactivated(let name, _):
            sessions.remove(name)
            last = event
            guard isSessionOn, !line.needsSession else { return false }
            isSessionOn = false
            return true
        default: return concernsLine(event)
        }
    }

    /// The call for which the session stayed on is over, and never had one of its own.
    private func closeSession(at now: Instant) {
        guard isSessionOn, sessions.isEmpty, !line.needsSession, let last else { return }
        isSessionOn = false
        journal.callSystem(line.system, did: last, at: now)
        line.finishEnded()
    }

    var hasSession: Bool { !sessions.isEmpty }

    /// Takes in what the system has said. On the line's queue.
    func drain() {
        guard !isDraining else { return }
        isDraining = true
        while let (event, call, now) = pending.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            // Outside of a turn it is later than the line's last one.
            line.reach(now)
            line.prepare(for: event)
            if !isRepeated(event) { takeIn(event, call, at: now) }
        }
        isDraining = false
    }

    private func takeIn(_ event: CallSystemEvent, _ call: CallSnapshot? = nil, at now: Instant) {
        if isWritten(event) { journal.callSystem(line.system, did: event, at: max(now, line.now)) }
        if case .systemTransaction(let transaction, let cause) = event {
            for call in transaction.actions.compactMap(\.call) { line.calls[call]?.note(cause) }
        }
        line.take(event)
        closeSession(at: max(now, line.now))
        line.recents?.note(event, call, at: line.system.host.date(at: now))
    }

    /// An action of a transaction that the app has taken as a whole: the system does not say by itself that it is performed.
    func perform(_ action: CallAction) { takeIn(.actionPerformed(action), at: line.now) }

    /// The app set about it when it was offered the transaction, which it did not take in the end.
    private func isRepeated(_ event: CallSystemEvent) -> Bool {
        if case .actionPerformed(let action) = event { line.acting.isPerforming(action.uuid) } else { false }
    }
}

extension CallSystemEvent {
    /// The call that the app has described by it.
    fileprivate var described: UUID? {
        switch self {
        case .incomingAdmitted(let call), .updated(let call): call
        default: nil
        }
    }
}
