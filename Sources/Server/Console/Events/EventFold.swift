import CallJournal
import Primitives

/// Makes of the journal's events those that are told outside: of what comes, and of what stands in files.
struct EventFold {
    private(set) var view = CallsView()
    private var runs = JournalRuns()
    /// The position of the last journal event, public or not.
    private(set) var position: EventPosition?

    init() {}

    /// - Parameter run: of the first event.
    init(in run: String) { begin(JournalEvent(sequence: 1, time: .zero, kind: .gatewayStarted, details: [.run: .init(Text(run))])) }

    /// Events of a run follow whose beginning is not among them.
    ///
    /// - Parameter start: its `gateway.started`.
    mutating func begin(_ start: borrowing JournalEvent) { runs.note(start) }

    /// Takes an event; nil for one that is not told.
    mutating func note(_ event: borrowing JournalEvent) -> PublicEvent? {
        runs.note(event)
        let run = runs.current.label
        position = EventPosition(run: run, sequence: event.sequence)
        guard let type = view.note(event) else { return nil }
        var told = PublicEvent(event, type, run: run)
        if let call = event.call.flatMap({ view.calls[$0] }) { told.add(call) }
        return told
    }
}
