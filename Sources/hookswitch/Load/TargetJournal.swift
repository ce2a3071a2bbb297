import Foundation
import Gateway
import Workbench

/// The journal of the gateway under load: a second opinion on whether everything that was opened is closed again.
struct TargetJournal {
    private let path: String
    private let before: Tally

    /// What was opened and closed, and calls that began and ended.
    struct Tally: Equatable {
        var kinds: [JournalEvent.Kind: Int] = [:]
        var begun: Set<CallUUID> = [], ended: Set<CallUUID> = []
        var violations = 0, events = 0
    }

    /// Each kind that opens something, with the one that closes it.
    private static let pairs: [(JournalEvent.Kind, JournalEvent.Kind, String)] = [
        (.mediaReserved, .mediaReleased, "media ports reserved and not released"), (.mediaOpened, .mediaClosed, "media opened and not closed"),
        (.mediaStarted, .mediaStopped, "media started and not stopped"), (.sessionActivated, .sessionDeactivated, "audio sessions activated and not deactivated"),
    ]

    /// - Throws: exit code 3 where it cannot be read.
    init(path: String) throws {
        self.path = path
        before = try Self.read(path)
    }

    /// After the run: what is still open of what was begun since. Waits a while for what the gateway has not written yet.
    func settled(within limit: TimeInterval = 10) -> LeakReport {
        let end = Date(timeIntervalSinceNow: limit)
        while true {
            guard let now = try? Self.read(path) else { return LeakReport(leftovers: ["the gateway's journal, which cannot be read"]) }
            let report = compare(now)
            if report.isClean || Date() > end { return report }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    private func compare(_ now: Tally) -> LeakReport {
        func since(_ kind: JournalEvent.Kind) -> Int { (now.kinds[kind] ?? 0) - (before.kinds[kind] ?? 0) }
        var leftovers = Self.pairs.compactMap { opened, closed, text in
            since(opened) > since(closed) ? "gateway: \(since(opened) - since(closed)) \(text)" : nil
        }
        let open = now.begun.subtracting(before.begun).subtracting(now.ended)
        if !open.isEmpty { leftovers.append("gateway: \(open.count) calls that did not end") }
        if now.violations > before.violations { leftovers.append("gateway: \(now.violations - before.violations) violations of the contract") }
        if now.events == before.events { leftovers.append("gateway: no event in its journal since the run began: is it the right file?") }
        let kinds = Self.pairs.flatMap { [$0.0, $0.1] }
        return LeakReport(leftovers: leftovers, journal: Dictionary(uniqueKeysWithValues: kinds.map { ($0.rawValue, since($0)) }))
    }

    private static func read(_ path: String) throws -> Tally {
        var tally = Tally(), audit = Audit()
        do {
            _ = try JournalReader.read(path: path) { event in
                tally.events += 1
                tally.violations += audit.observe(event).count
                tally.kinds[event.kind, default: 0] += 1
                guard let call = event.call else { return }
                if event.kind == .reportIncomingAccepted || event.kind == .performStart { tally.begun.insert(call) }
                if event.kind == .callEnded { tally.ended.insert(call) }
            }
        } catch { throw Failure.cannotRun("\(path): cannot be read") }
        return tally
    }
}

extension LeakReport {
    mutating func add(_ other: LeakReport) {
        leftovers += other.leftovers
        journal = other.journal ?? journal
        targetMemory = other.targetMemory ?? targetMemory
    }
}
