import Gateway
import Primitives

/// The call of a journal that a ladder is wanted of.
struct LadderChoice {
    var call: CallDetailRecord
    /// A note on the choice, where nobody made it.
    var note: String?

    /// - Parameter name: a UUID (in the journal of an app also the app's own), the first four hexadecimal digits of it or more, or a Call-ID; nil for the
    ///   last call.
    /// - Throws: exit code 1 where there is none, 2 where there are several or the name is none.
    init(_ name: String?, of calls: [CallDetailRecord], in file: String, isLast: Bool) throws {
        guard let name else {
            guard let last = calls.last else { throw Failure(message: "\(file): there are no calls", exitCode: 1) }
            call = last
            if calls.count > 1, !isLast {
                note = "\(CallWords.name(last.first)) is the last of \(calls.count) calls; 'hookswitch calls \(file)' lists them"
            }
            return
        }
        let found = Self.find(name, in: calls)
        guard let first = found.first else {
            let list = calls.isEmpty ? "there are no calls" : "'hookswitch calls \(file)' lists the \(calls.count) that are there"
            guard let digits = Self.digits(name), digits.count < Self.fewestDigits else {
                throw Failure(message: "\(file): there is no call \(name); \(list)", exitCode: 1)
            }
            throw Failure.usage("'\(name)' is too short for a call: a UUID, \(Self.fewestDigits) digits of it or a Call-ID; \(list)")
        }
        guard found.count == 1 else { throw Self.ambiguous(name, found) }
        call = first
    }

    private static let fewestDigits = 4, mostNamed = 5

    /// A Call-ID of ours is made of hexadecimal digits, too: a whole one goes first.
    static func find(_ name: String, in calls: [CallDetailRecord]) -> [CallDetailRecord] {
        let callID = Text(name), byID = calls.filter { $0.legs.contains { $0.callID == callID } }
        guard byID.isEmpty, let digits = digits(name), digits.count >= fewestDigits else { return byID }
        return calls.filter { call in
            call.legs.flatMap(\.uuids).contains { Self.digits($0.description)?.hasPrefix(digits) ?? false }
        }
    }

    /// In upper case, without hyphens; nil where it is nothing of a UUID.
    private static func digits(_ text: String) -> String? {
        let digits = text.filter { $0 != "-" }.uppercased()
        return digits.isEmpty || digits.count > 32 || !digits.allSatisfy(\.isHexDigit) ? nil : digits
    }

    private static func ambiguous(_ name: String, _ found: [CallDetailRecord]) -> Failure {
        let named = found.prefix(mostNamed).map { call in
            let parties = "\(call.first.from?.shortAddress ?? "–") to \(call.to?.shortAddress ?? "–")"
            let place = "run \(call.first.run.label), \(WallTime.local(call.first.began.wall))"
            return "\(call.first.call) (\(place), \(parties), \(CallWords.status(call.disposition, call.status)))"
        }
        let more = found.count > mostNamed ? ", and \(found.count - mostNamed) more" : ""
        return .usage("'\(name)' is \(found.count) calls: \(named.joined(separator: ", "))\(more)")
    }
}

/// A journal of which first the calls are read, and then the events of one.
struct LadderJournal {
    let history: CallHistory
    let brokenLines: [JournalReader.BrokenLine]
    private let path: String
    /// Those that join calls, by the number of their run; where it can be read once only, all.
    private let events: [Int: [JournalEvent]]
    private let isKept: Bool

    init(_ path: String) throws {
        let isKept = !JournalReader.canBeReadAgain(path)
        var history = CallHistory(), events: [Int: [JournalEvent]] = [:]
        brokenLines = try JournalFiles.read(path) { event in
            history.note(event)
            if isKept || event.kind == .performGroup { events[history.runs.current.number, default: []].append(event) }
        }
        history.finish(isBeingWritten: JournalReader.isBeingWritten(path))
        (self.history, self.path, self.events, self.isKept) = (history, path, events, isKept)
    }

    /// Reads events of the run of a call: those of all calls that were ever joined with it, and those of no call.
    func events(of call: CallDetailRecord) throws -> [JournalEvent] {
        let run = call.first.run.number, kept = events[run] ?? []
        let joined = Ladder.joined(with: call.legs.map(\.call), in: kept)
        if isKept { return kept.filter { $0.call.map(joined.contains) ?? true } }
        var runs = JournalRuns(), found: [JournalEvent] = []
        _ = try JournalFiles.read(path) { event in
            runs.note(event)
            if runs.current.number == run, event.call.map(joined.contains) ?? true { found.append(event) }
        }
        return found
    }
}
