import Foundation
import Gateway
import Workbench

/// The journal of the gateway under load: a second opinion on whether everything that was opened is closed again.
struct TargetJournal {
    private let path: String
    private let before: Tally
    /// The youngest file that was rotated away before the run, by when its first event was written: nanoseconds since 1970.
    private let rotatedBefore: UInt64?

    /// Counts of what was opened and closed, and calls that began and ended.
    struct Tally: Equatable {
        var kinds: [JournalEvent.Kind: Int] = [:]
        var begun: Set<CallUUID> = [], ended: Set<CallUUID> = []
        /// Places where events are missing.
        var gaps = 0
        var violations = 0, events = 0
        /// When the first event was written: nanoseconds since 1970.
        var beginning: UInt64?

        /// Whether it goes on from where the other was.
        func contains(_ other: Tally) -> Bool { other.events == 0 || (events >= other.events && beginning == other.beginning) }
    }

    /// Each kind that opens something, with the one that closes it.
    private static let pairs: [(JournalEvent.Kind, JournalEvent.Kind, String)] = [
        (.mediaReserved, .mediaReleased, "media ports reserved and not released"),
        (.mediaOpened, .mediaClosed, "media opened and not closed"),
        (.mediaStarted, .mediaStopped, "media started and not stopped"),
        (.sessionActivated, .sessionDeactivated, "audio sessions activated and not deactivated"),
    ]

    /// - Throws: exit code 3 where it cannot be read.
    init(path: String) throws {
        guard JournalReader.canBeReadAgain(path) else {
            throw Failure.cannotRun("\(path): is no file, and a journal is read before the run and after it")
        }
        self.path = path
        (before, rotatedBefore) = (try Self.read([path]), Self.rotated(path).compactMap(JournalReader.beginning).max())
    }

    /// After the run: what is still open of what was begun since. Waits a while for what the gateway has not written yet.
    func settled(within limit: TimeInterval = 10) -> LeakReport {
        let end = Date(timeIntervalSinceNow: limit)
        while true {
            let report = (try? Self.read(files)).map(compare) ?? LeakReport(leftovers: ["the gateway's journal, which cannot be read"])
            if report.isClean && report.notJudged == nil || Date() > end { return report }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    /// Files of the journal since the run began: the file, and those that it was rotated to meanwhile.
    var files: [String] {
        let since = Self.rotated(path).filter { file in JournalReader.beginning(of: file).map { $0 > rotatedBefore ?? 0 } ?? false }
        return JournalReader.inOrder(since + [path])
    }

    private static func rotated(_ path: String) -> [String] {
        var files: [String] = []
        while case let file = "\(path).\(files.count + 1)", FileManager.default.fileExists(atPath: file) { files.append(file) }
        return files
    }

    private func compare(_ now: Tally) -> LeakReport {
        guard now.contains(before) else {
            return LeakReport(leftovers: [], notJudged: "the gateway's journal, of which too much was rotated away (journal.rotate)")
        }
        let violations =
            now.violations > before.violations ? ["gateway: \(now.violations - before.violations) violations of the contract"] : []
        // Missing events may be the end of anything; a violation stays one.
        guard now.gaps <= before.gaps else {
            return LeakReport(leftovers: violations, notJudged: "the gateway's journal, in which events are missing")
        }
        func since(_ kind: JournalEvent.Kind) -> Int { (now.kinds[kind] ?? 0) - (before.kinds[kind] ?? 0) }
        var leftovers = Self.pairs.compactMap { opened, closed, text in
            since(opened) > since(closed) ? "gateway: \(since(opened) - since(closed)) \(text)" : nil
        }
        let open = now.begun.subtracting(before.begun).subtracting(now.ended)
        if !open.isEmpty { leftovers.append("gateway: \(open.count) calls that did not end") }
        leftovers += violations
        if now.events == before.events { leftovers.append("gateway: no event in its journal since the run began: is it the right file?") }
        let kinds = Self.pairs.flatMap { [$0.0, $0.1] }
        return LeakReport(leftovers: leftovers, journal: Dictionary(uniqueKeysWithValues: kinds.map { ($0.rawValue, since($0)) }))
    }

    private static func read(_ paths: [String]) throws -> Tally {
        var tally = Tally()
        let audit = Audit()
        for path in paths { try read(path, &tally, audit) }
        tally.gaps = audit.gaps.count
        return tally
    }

    private static func read(_ path: String, _ tally: inout Tally, _ audit: Audit) throws {
        do {
            _ = try JournalReader.read(path: path) { event in
                tally.events += 1
                tally.beginning = tally.beginning ?? event.wall
                tally.violations += audit.observe(event).count { $0.level == .fault }
                tally.kinds[event.kind, default: 0] += 1
                guard let call = event.call else { return }
                if event.kind == .reportIncomingAccepted || event.kind == .performStart { tally.begun.insert(call) }
                if event.kind == .callEnded { tally.ended.insert(call) }
            }
        } catch { throw Failure.cannotRun("\(path): cannot be read") }
    }
}

extension LeakReport {
    mutating func add(_ other: LeakReport) {
        leftovers += other.leftovers
        journal = other.journal ?? journal
        notJudged = other.notJudged ?? notJudged
        targetMemory = other.targetMemory ?? targetMemory
    }
}
