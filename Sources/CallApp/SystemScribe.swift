import CallKit
import Foundation
import Gateway
import Primitives
import Synchronization

/// Listens to the app's CallKit system: writes its events into the line's journal, in the system's order and before what they cause, and
/// tells the line what they mean for its calls.
///
/// The system speaks on whatever thread it was called; the line lives on one queue. So events are put down in their order here and
/// taken in on the line's queue: at once when the system was called there, else before whatever that queue does next.
final class SystemScribe: CallSystemJournal {
    private let pending = Mutex<[(CallSystemEvent, Instant)]>([])
    private unowned let line: AppLine
    private let journal: LineJournal
    private var isDraining = false
    /// Whether this thread is the line's, and how to be called there soon if it is not.
    var isHere: () -> Bool = { true }
    var comeSoon: () -> Void = {}

    init(_ line: AppLine) {
        self.line = line
        journal = LineJournal(line.journal, line: line.settings.number)
        journal.onSystemAction = { [unowned line] call, cause in line.calls[call]?.note(cause) }
    }

    var hasPending: Bool { pending.withLock { !$0.isEmpty } }

    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
        pending.withLock { $0.append((event, now)) }
        if isHere() { drain() }
        comeSoon()
    }

    /// Takes in what the system has said. On the line's queue.
    func drain() {
        guard !isDraining else { return }
        isDraining = true
        while let (event, now) = pending.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            line.prepare(for: event)
            journal.callSystem(line.system, did: event, at: max(now, line.now))
            line.take(event)
        }
        isDraining = false
    }
}
