import CallJournal
import HTTP
import Primitives

/// The part of the control interface that reads what was written down: the journal, recordings, and messages that are kept.
///
/// Lane-confined. Files are read by jobs apart from the lane, of which few run at the same time.
final class RecordsAPI {
    unowned let api: ControlAPI
    /// nil: none is written.
    var journal: JournalArchive?
    /// The run that is being written.
    private(set) var journalRun: JournalArchive.Running?
    let jobs = JobQueue(label: "control.journal")
    var statistics = StatisticsCache()
    /// Places behind pages of the journal that were read, by position: whoever pages on need not be looked for.
    private(set) var marks: [String: JournalArchive.Mark] = [:]
    private static let mostMarks = 64

    init(_ api: ControlAPI) { self.api = api }

    func add(to routes: inout HTTPRoutes) {
        addJournal(to: &routes)
        addTraces(to: &routes)
        addRecordings(to: &routes)
    }

    /// A run begins.
    func noteStart(_ event: borrowing JournalEvent) {
        if let run = api.hub.position?.run { journalRun = .init(label: run, began: event.wall) }
    }

    func keep(_ mark: JournalArchive.Mark, of position: String) {
        if marks.count >= Self.mostMarks { marks = [:] }
        marks[position] = mark
    }

    /// Answers with the result of a job that may take long, and is done elsewhere.
    func work(
        _ responder: HTTPResponder, _ job: @escaping @Sendable () -> Result<HTTPReply, Problem>
    ) throws(Problem) -> HTTPReply? {
        guard jobs.hasRoom else { throw .busy }
        let later = api.park(responder)
        jobs.perform {
            let reply = job()
            later { responder, now in responder.reply(reply.reply, at: now) }
        }
        return nil
    }
}
