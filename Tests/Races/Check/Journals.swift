import CallJournal
import Foundation
import Primitives
import Runtime

/// A lane that writes a journal, while other threads read the counts of its file, wait for the disk and move the file away.
func raceJournal(_ run: Run) throws -> [Figure] {
    try withFolder { folder in
        let path = folder + "/journal.jsonl", reports = Tally(), looks = Tally(), events = Tally()
        var settings = JournalFile.Settings(rotationBytes: 64 * 1_024)
        (settings.rotatedFiles, settings.gathering) = (2, .milliseconds(1))
        let file = try JournalFile(path: path, settings: settings) { _ in reports.add() }
        let lane = Lane<Clerk>(label: "clerk") { _, now in Clerk(file, now) }
        onThreads(4) { number in
            var rotations = 0
            while !run.isOver {
                switch number {
                case 0, 1: lane.sync { clerk, now in clerk.write(50, at: now) }.map { events.add($0) }
                case 2:
                    looks.add(file.counts.writtenBytes > 0 ? 1 : 0)
                    usleep(100)
                default:
                    // A file that is taken away before it is full is never rotated.
                    if case let count = file.counts.rotations, count > rotations {
                        rotations = count
                        try? FileManager.default.removeItem(atPath: path)
                    }
                    file.synchronize()
                    usleep(2_000)
                }
            }
        }
        lane.close()
        file.synchronize()
        return [
            ("events", events.count), ("looks at the counts", looks.count), ("rotations", file.counts.rotations),
            ("reports of a lost file", reports.count), ("bytes", file.counts.writtenBytes),
        ]
    }
}

/// Records on its lane.
private final class Clerk: LaneResident {
    private let journal: Journal
    var deadline: Instant? { nil }

    init(_ file: JournalFile, _ now: Instant) {
        let clock = CallJournal.WallClock(instant: now, unixNanoseconds: Runtime.WallClock.now)
        journal = Journal(lane: "race", clock: clock, sink: file, audit: nil)
    }

    func advance(to now: Instant) {}

    func write(_ count: Int, at now: Instant) -> Int {
        for number in 0..<count { journal.record(.featureDialled, line: "1001", at: now, [.digits: .init(number)]) }
        journal.flush()
        return count
    }
}
