import Gateway
import Primitives

/// The calls of a trace that are wanted together: one, or all legs of a call of the journal.
enum TraceChoice {
    private static let fewest = 4

    /// - Parameters:
    ///   - name: a Call-ID, four characters of its beginning or more, the number in the list, or with a journal also what names a call there.
    ///   - journal: a journal of the same gateway; with one the call is drawn with all its legs.
    /// - Throws: exit code 1 where there is none, 2 where there are several.
    static func calls(_ name: String, in calls: [TracedCall], of file: String, journal: String?) throws -> [TracedCall] {
        if let journal, let legs = try legs(name, journal) {
            let found = calls.filter { legs.contains($0.callID) }
            guard !found.isEmpty else { throw Failure.bad("\(file): no message of the call \(name) is there") }
            return found
        }
        let found = find(name, calls)
        guard found.count <= 1 else {
            let named = found.prefix(5).map { "\($0.number) (\($0.callID))" }.joined(separator: ", ")
            throw Failure.usage("'\(name)' is \(found.count) calls: \(named)\(found.count > 5 ? " …" : "")")
        }
        guard !found.isEmpty else {
            let hint = journal == nil ? "; a UUID needs --journal" : ""
            throw Failure.bad(
                "\(file): there is no call \(name); 'hookswitch trace \(file)' lists the \(calls.count) that are there\(hint)")
        }
        return found
    }

    private static func find(_ name: String, _ calls: [TracedCall]) -> [TracedCall] {
        let exact = calls.filter { $0.callID == Text(name) }
        guard exact.isEmpty else { return exact }
        if let number = Int(name), let call = calls.first(where: { $0.number == number }) { return [call] }
        return name.utf8.count < fewest ? [] : calls.filter { $0.callID.hasPrefix(Text(name)) }
    }

    /// The Call-IDs of a call of the journal; nil where it has none of that name.
    private static func legs(_ name: String, _ journal: String) throws -> Set<Text>? {
        let history = try LadderJournal(journal.named(by: "--journal")).history
        do {
            let choice = try LadderChoice(name, of: history.calls, in: journal, isLast: false)
            return Set(choice.call.legs.compactMap(\.callID))
        } catch let failure as Failure where failure.exitCode == ExitStatus.bad.rawValue { return nil }
    }
}
