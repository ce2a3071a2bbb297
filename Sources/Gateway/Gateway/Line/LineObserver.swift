import CallKit
import Calls
import Foundation
import Primitives

/// Told what follows for the gateway from what a line's CallKit system did. Only notes it.
protocol LineListener: AnyObject {
    /// The system asks for something by itself.
    func systemActs(on call: UUID, _ cause: SystemCause, of line: Line)
    /// An incoming call was answered, to the end of the action.
    func answered(_ call: UUID, on line: Line)
    func ended(_ call: UUID, _ end: CallEnd, on line: Line)
}

/// Hears what a line's CallKit system did: writes it into the journal, and then notes for the gateway what follows from it.
///
/// It hears of everything in the moment in which it happens. The gateway only notes, too: what follows is done when the input is worked
/// off.
final class LineObserver: CallSystemJournal {
    private let journal: LineJournal
    private unowned let line: Line
    /// Nil when the gateway goes: calls that are still up end then, and nobody is there to be told.
    weak var listener: (any LineListener)?

    init(_ line: Line, _ journal: LineJournal) { (self.line, self.journal) = (line, journal) }

    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
        journal.callSystem(system, did: event, at: now)
        guard let listener else { return }
        switch event {
        case .systemTransaction(let transaction, let cause):
            for call in transaction.actions.compactMap(\.call) { listener.systemActs(on: call, cause, of: line) }
        case .actionFulfilled(let action, _): if action.kind == .answer, let call = action.call { listener.answered(call, on: line) }
        case .callEnded(let call, let end): listener.ended(call, end, on: line)
        default: break
        }
    }
}
