import CallJournal
import Foundation
import Primitives
import Synchronization
import Testing

extension RealTime {
    /// What a journal says of itself where the disk took no more.
    @Suite struct JournalLossTests {
        typealias Folder = JournalFileTests.Folder

        /// Runs of calls that are reported and ended, so many events each.
        private static let eventsOfCall = 3

        private static func play(_ calls: ClosedRange<Int>, _ journal: Journal) {
            for number in calls {
                let call = CallUUID(high: 5, low: UInt64(number)), now = Instant(nanoseconds: UInt64(number) * 1_000)
                journal.record(.reportIncoming, call: call, line: "1", at: now)
                journal.record(.reportUpdated, call: call, line: "1", at: now, [.text: "long enough to fill a disk of no great size"])
                journal.record(.callEnded, call: call, line: "1", at: now)
            }
            journal.flush()
        }

        /// A journal whose audit would find the calls of `play` wanting, and need not.
        private static func journal(_ file: JournalFile) -> Journal {
            let journal = Journal(lane: "s0", clock: JournalEncodingTests.clock, sink: file, audit: nil)
            journal.record(.gatewayStarted, at: .zero)
            return journal
        }

        private static var settings: JournalFile.Settings {
            var settings = JournalFile.Settings()
            settings.retryPause = .zero
            return settings
        }

        /// No file of this process grows beyond so many bytes: what a full disk is to it.
        private static func limitFiles(to bytes: Int) {
            signal(SIGXFSZ, SIG_IGN)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var limit = rlimit()
            getrlimit(resource, &limit)
            limit.rlim_cur = rlim_t(bytes)
            setrlimit(resource, &limit)
        }

        private static func freeFiles() { limitFiles(to: Int.max) }

        /// Ends the process of an exit test where it does not hold.
        private static func require(_ holds: Bool, _ what: String, line: Int = #line) {
            guard !holds else { return }
            try? FileHandle.standardError.write(contentsOf: Data("line \(line): \(what)\n".utf8))
            exit(1)
        }

        private static func audit(_ path: String) throws -> Audit {
            var options = Audit.Options()
            options.rules = []
            let audit = Audit(options: options)
            _ = try JournalReader.read(path: path) { _ = audit.observe($0) }
            _ = audit.finish()
            return audit
        }

        @Test func `a disk that stays full is told of in the journal, and how much is missing in its log`() async {
            await #expect(processExitsWith: .success) {
                let folder = try Folder(), path = folder.path + "/j", reports = JournalFileTests.Reports()
                let file = try JournalFile(path: path, settings: Self.settings) { reports.take($0) }, journal = Self.journal(file)
                Self.play(1...10, journal)
                file.synchronize()
                let size = file.counts.writtenBytes
                Self.limitFiles(to: size + 100)
                for calls in [11...20, 21...60] {
                    Self.play(calls, journal)
                    file.synchronize()
                }
                Self.freeFiles()
                let result = try JournalReader.read(path: path), last = result.events.last
                Self.require(result.brokenLines.isEmpty, "\(result.brokenLines)")
                Self.require(last?.kind == .journalLost && last?.sequence == 181, "\(String(describing: last))")
                Self.require(last?.details.number(.calls) == 60, "\(String(describing: last))")
                let kept = result.events.dropLast().last?.sequence ?? 0
                Self.require(kept < 31 && kept > 25, "\(kept)")
                Self.require(last?.details.number(.count) == Int64(181 - kept), "\(String(describing: last))")
                Self.require(
                    Int(truncatingIfNeeded: (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0) == size, "it grew"
                )
                let audit = try Self.audit(path)
                Self.require(audit.gaps.count == 1 && audit.gaps.first?.missing == 181 - kept, "\(audit.gaps)")
                Self.require(audit.missingCalls == 50 || audit.missingCalls == 51, "\(audit.missingCalls)")
                let lost = JournalFile.Report.stillFailing(lost: .init(events: Int(181 - kept), bytes: file.counts.lostBytes))
                Self.require(reports.all.withLock { $0.last } == lost, "\(reports.all.withLock { $0 })")
                Self.require(file.counts.lostEvents == Int(181 - kept), "\(file.counts)")
            }
        }

        @Test func `when there is room again the journal goes on behind the line that tells of the loss`() async {
            await #expect(processExitsWith: .success) {
                let folder = try Folder(), path = folder.path + "/j", reports = JournalFileTests.Reports()
                let file = try JournalFile(path: path, settings: Self.settings) { reports.take($0) }, journal = Self.journal(file)
                Self.play(1...10, journal)
                file.synchronize()
                for round in 0..<2 {
                    Self.limitFiles(to: file.counts.writtenBytes + 10)
                    Self.play(11 + 20 * round...20 + 20 * round, journal)
                    file.synchronize()
                    Self.freeFiles()
                    Self.play(21 + 20 * round...30 + 20 * round, journal)
                    file.synchronize()
                }
                let result = try JournalReader.read(path: path), lost = result.events.filter { $0.kind == .journalLost }
                Self.require(result.brokenLines.isEmpty && lost.map(\.sequence) == [61, 121], "\(lost.map(\.sequence))")
                Self.require(result.events.last?.sequence == 151, "\(String(describing: result.events.last))")
                let audit = try Self.audit(path), missing = audit.gaps.map(\.missing)
                Self.require(
                    missing.count == 2 && missing.reduce(0, +) == UInt64(151 - result.events.count { $0.kind != .journalLost }),
                    "\(missing)")
                Self.require(audit.missingCalls >= 20 && audit.missingCalls <= 22, "\(audit.missingCalls)")
                let told = reports.all.withLock { $0 }
                Self.require(told.count { if case .recovered = $0 { true } else { false } } == 2, "\(told)")
            }
        }

        @Test func `what found no room in the backlog is told of where it is missing`() throws {
            let folder = try Folder(), path = folder.path + "/j"
            var settings = Self.settings
            settings.backlogBytes = 2_000
            settings.gathering = .seconds(3600)
            let file = try JournalFile(path: path, settings: settings) { _ in }, journal = Self.journal(file)
            Self.play(1...3, journal)
            Self.play(4...20, journal)
            file.synchronize()
            Self.play(21...22, journal)
            file.synchronize()
            let events = try JournalReader.read(path: path).events
            #expect(events.map(\.sequence) == Array(1...10) + [61] + Array(62...67))
            #expect(events[10].kind == .journalLost && events[10].details.number(.count) == 51 && events[10].details.number(.calls) == 20)
            #expect(try Self.audit(path).missingCalls == 17)
        }

        @Test func `a line that cannot be put in the place of others leaves them as they are`() async {
            await #expect(processExitsWith: .success) {
                let folder = try Folder(), path = folder.path + "/j"
                let file = try JournalFile(path: path, settings: Self.settings) { _ in }, journal = Self.journal(file)
                Self.play(1...10, journal)
                file.synchronize()
                let before = FileManager.default.contents(atPath: path)
                Self.limitFiles(to: file.counts.writtenBytes - 20)
                Self.play(11...20, journal)
                file.synchronize()
                Self.freeFiles()
                Self.require(FileManager.default.contents(atPath: path)?.count == before?.count, "it is shorter")
                let events = try JournalReader.read(path: path).events
                Self.require(events.map(\.sequence) == Array(1...31), "\(events.map(\.sequence))")
            }
        }

        @Test func `lines of an earlier run are not written over`() async {
            await #expect(processExitsWith: .success) {
                let folder = try Folder(), path = folder.path + "/j"
                do {
                    let file = try JournalFile(path: path, settings: Self.settings) { _ in }, journal = Self.journal(file)
                    Self.play(1...10, journal)
                    file.synchronize()
                }
                let before = FileManager.default.contents(atPath: path)
                let file = try JournalFile(path: path, settings: Self.settings) { _ in }, journal = Self.journal(file)
                Self.limitFiles(to: before?.count ?? 0)
                Self.play(1...10, journal)
                file.synchronize()
                Self.freeFiles()
                Self.require(FileManager.default.contents(atPath: path) == before, "the file was changed")
                Self.play(11...11, journal)
                file.synchronize()
                let events = try JournalReader.read(path: path).events.dropFirst(31)
                Self.require(events.map(\.sequence) == [31, 32, 33, 34] && events.first?.kind == .journalLost, "\(events.map(\.sequence))")
            }
        }

        @Test func `a loss that goes on is told of now and then`() throws {
            let reports = JournalFileTests.Reports()
            var settings = Self.settings
            settings.reportPause = .zero
            let file = try JournalFile(path: "/dev/full", settings: settings) { reports.take($0) }
            for _ in 1...3 {
                file.accept(Array("line\n".utf8))
                file.synchronize()
            }
            let told = (2...3).map { JournalFile.Report.stillFailing(lost: .init(events: $0, bytes: 5 * $0)) }
            #expect(reports.all.withLock { Array($0.suffix(2)) } == told)
        }
    }
}
