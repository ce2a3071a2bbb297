import CallJournal
import Foundation
import Primitives
import Synchronization
import Testing

extension RealTime {
    @Suite struct JournalRecorderTests {
        private static func journal(_ sink: MemorySink? = nil, limits: Journal.Limits = .init()) -> Journal {
            Journal(lane: "s0", clock: JournalEncodingTests.clock, sink: sink, limits: limits)
        }

        private static func call(_ number: Int) -> CallUUID { CallUUID(high: 1, low: UInt64(number)) }

        @Test func `a full batch goes out without a flush, the rest with one`() {
            var limits = Journal.Limits()
            (limits.batchBytes, limits.batchEvents) = (500, 4)
            let sink = MemorySink()
            let journal = Self.journal(sink, limits: limits)
            for _ in 1...10 { journal.record(.configurationReloaded, at: .zero) }
            let early = sink.batches.count
            #expect(early >= 1 && early < 10)
            journal.flush()
            journal.flush()
            #expect(sink.batches.count == early + 1)
            #expect(JournalReader.parse(sink.bytes, name: "m").events.map(\.sequence) == Array(1...10))
        }

        @Test func `behind the end of a run nothing is written until the next begins`() {
            let sink = MemorySink(), journal = Self.journal(sink)
            let kinds: [JournalEvent.Kind] = [
                .gatewayStarted, .gatewayStopped, .sipReceived, .gatewayStopped, .gatewayStarted, .sipReceived,
            ]
            for kind in kinds { journal.record(kind, at: .zero) }
            journal.flush()
            let events = JournalReader.parse(sink.bytes, name: "m").events
            #expect(events.map(\.kind) == [.gatewayStarted, .gatewayStopped, .gatewayStarted, .sipReceived])
            #expect(events.map(\.sequence) == Array(1...4))
        }

        @Test(arguments: [1, 64]) func `a violation is told of when its turn is over, or a batch full, and journalled`(batchEvents: Int) {
            let sink = MemorySink()
            var limits = Journal.Limits()
            limits.batchEvents = batchEvents
            let journal = Self.journal(sink, limits: limits)
            var told: [Violation] = []
            journal.onViolation = {
                told.append($0)
                journal.record(.configurationReloaded, at: .zero)   // whoever is told may have something to say
            }
            journal.record(.mediaStarted, call: Self.call(1), line: "1", at: .zero)
            #expect(told.isEmpty == (batchEvents > 1))
            journal.flush()
            #expect(told.map(\.rule) == [.M1, .M2])
            #expect(journal.violations == 2)
            journal.finish(at: .zero)
            let events = JournalReader.parse(sink.bytes, name: "m").events
            let again: [JournalEvent.Kind] = [.auditViolation, .configurationReloaded]
            #expect(events.map(\.kind) == [.mediaStarted] + again + again)
            #expect(events.map(\.sequence) == Array(1...5))
            #expect(events.compactMap { $0.details.text(.rule) } == ["M1", "M2"])
        }
    }
}

extension RealTime {
    @Suite struct JournalFileTests {
        /// A folder of its own that goes with the test.
        final class Folder {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("hookswitch-journal-\(UUID().uuidString)").path
            init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
            deinit { try? FileManager.default.removeItem(atPath: path) }
            func read(_ name: String) -> String? {
                FileManager.default.contents(atPath: path + "/" + name).map { String(decoding: $0, as: UTF8.self) }
            }
        }

        final class Reports: Sendable {
            let all = Mutex<[JournalFile.Report]>([])
            func take(_ report: JournalFile.Report) { all.withLock { $0.append(report) } }
        }

        @Test func `batches are appended in order to what is there`() throws {
            let folder = try Folder()
            for round in ["a", "b"] {
                let file = try JournalFile(path: folder.path + "/j") { _ in Issue.record("no report is due") }
                for number in 1...50 { file.accept(Array("\(round)\(number)\n".utf8)) }
                file.synchronize()
                #expect(file.counts.waitingBytes == 0)
            }
            let expected = ["a", "b"].flatMap { round in (1...50).map { "\(round)\($0)\n" } }.joined()
            #expect(folder.read("j") == expected)
        }

        @Test func `a file that is claimed has one writer, also after it was rotated`() throws {
            let folder = try Folder(), path = folder.path + "/j"
            let file = try JournalFile(path: path, settings: .init(rotationBytes: 10, isClaimed: true)) { _ in
                Issue.record("no report is due")
            }
            for round in 1...2 {
                let error = try #require(throws: JournalFileError.self) {
                    _ = try JournalFile(path: path, settings: .init(isClaimed: true)) { _ in }
                }
                #expect(error.description == "another hookswitch writes it")
                file.accept(Array("round \(round), which is long enough\n".utf8))
                file.synchronize()
            }
            #expect(file.counts.rotations == 1)
            withExtendedLifetime(file) {}
        }

        @Test func `a killed writer's half line stays alone, and the next run is clean`() throws {
            let folder = try Folder(), path = folder.path + "/j"
            for (round, isKilled) in [true, false].enumerated() {
                let file = try JournalFile(path: path) { _ in Issue.record("no report is due") }
                let journal = Journal(lane: "s0", clock: JournalEncodingTests.clock, sink: file)
                journal.record(.gatewayStarted, at: Instant(nanoseconds: UInt64(2_000 + round)))
                journal.record(.configurationReloaded, at: Instant(nanoseconds: UInt64(3_000 + round)))
                journal.flush()
                file.synchronize()
                if isKilled { #expect(truncate(path, off_t(file.counts.writtenBytes - 20)) == 0) }
            }
            let result = try JournalReader.read(path: path)
            #expect(result.brokenLines.map(\.line) == [2])
            #expect(result.events.map(\.kind) == [.gatewayStarted, .gatewayStarted, .configurationReloaded])
            let audit = Audit()
            #expect((result.events.flatMap { audit.observe($0) } + audit.finish()).isEmpty)
        }

        @Test func `a file is rotated before it grows too long, and the oldest goes`() throws {
            let folder = try Folder()
            var settings = JournalFile.Settings(rotationBytes: 10)
            settings.rotatedFiles = 2
            let file = try JournalFile(path: folder.path + "/j", settings: settings) { _ in Issue.record("no report is due") }
            for number in 1...4 {
                file.accept(Array("line \(number)\n".utf8))
                file.synchronize()
            }
            #expect(["j", "j.1", "j.2", "j.3"].map(folder.read) == ["line 4\n", "line 3\n", "line 2\n", nil])
            #expect(file.counts.rotations == 3)
        }

        @Test func `a deleted file is told of once and made anew`() throws {
            let folder = try Folder()
            let reports = Reports()
            let file = try JournalFile(path: folder.path + "/j") { reports.take($0) }
            file.accept(Array("one\n".utf8))
            file.synchronize()
            try FileManager.default.removeItem(atPath: folder.path + "/j")
            for line in ["two\n", "three\n"] {
                file.accept(Array(line.utf8))
                file.synchronize()
            }
            #expect(folder.read("j") == "two\nthree\n")
            #expect(reports.all.withLock { $0 } == [.failing(cause: "the file was moved or deleted; a new one was made")])
        }

        @Test func `a full disk is told of once, counted, and survived`() throws {
            let reports = Reports()
            let file = try JournalFile(path: "/dev/full") { reports.take($0) }
            for _ in 1...3 {
                file.accept(Array("line\n".utf8))
                file.synchronize()
            }
            #expect(file.counts.lostBytes == 15 && file.counts.lostEvents == 3)
            #expect(file.counts.failures == 1)
            let told = (1...3).map { JournalFile.Report.stillFailing(lost: .init(events: $0, bytes: 5 * $0)) }
            #expect(reports.all.withLock { $0 } == [.failing(cause: "cannot write /dev/full: No space left on device")] + told)
            file.synchronize()
            #expect(reports.all.withLock { $0.count } == 4, "what was told is not told again")
        }

        @Test func `when a lost folder comes back, so does writing, and the loss is told`() throws {
            let folder = try Folder()
            let reports = Reports()
            var settings = JournalFile.Settings()
            settings.retryPause = .zero
            let file = try JournalFile(path: folder.path + "/sub", settings: settings) { reports.take($0) }
            try FileManager.default.removeItem(atPath: folder.path)
            file.accept(Array("lost\n".utf8))
            file.synchronize()
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            file.accept(Array("kept\n".utf8))
            file.synchronize()
            #expect(folder.read("sub") == "kept\n")
            let path = folder.path + "/sub"
            #expect(
                reports.all.withLock { $0 } == [
                    .failing(cause: "cannot open \(path): No such file or directory"), .stillFailing(lost: .init(events: 1, bytes: 5)),
                    .recovered(lost: .init(events: 1, bytes: 5)),
                ])
        }

        @Test func `after a failure nothing is tried until the pause is over`() throws {
            let folder = try Folder()
            let reports = Reports()
            var settings = JournalFile.Settings()
            settings.retryPause = .seconds(3600)
            let file = try JournalFile(path: folder.path + "/sub", settings: settings) { reports.take($0) }
            try FileManager.default.removeItem(atPath: folder.path)
            file.accept(Array("lost\n".utf8))
            file.synchronize()
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            file.accept(Array("lost too\n".utf8))
            file.synchronize()
            #expect(file.counts.lostBytes == 14 && file.counts.failures == 1 && file.counts.waitingBytes == 0)
            #expect(reports.all.withLock { $0.count(where: { if case .failing = $0 { true } else { false } }) } == 1)
        }

        @Test func `a backlog that is too long drops whole batches and says so`() throws {
            let folder = try Folder()
            let reports = Reports()
            var settings = JournalFile.Settings()
            settings.backlogBytes = 8
            let file = try JournalFile(path: folder.path + "/j", settings: settings) { reports.take($0) }
            file.accept(Array("too long a batch\n".utf8))
            file.accept(Array("short\n".utf8))
            file.synchronize()
            #expect(folder.read("j") == "short\n")
            #expect(file.counts.lostBytes == 17)
            #expect(reports.all.withLock { $0 }.contains(.failing(cause: "the disk is too slow: 8 bytes wait for it")))
        }

        @Test func `a file longer than the reader's piece reads back whole`() throws {
            let folder = try Folder()
            let file = try JournalFile(path: folder.path + "/j") { _ in Issue.record("no report is due") }
            let journal = Journal(lane: "s0", clock: JournalEncodingTests.clock, sink: file, audit: nil)
            for number in 1...6_000 {
                journal.record(.reportUpdated, at: Instant(nanoseconds: UInt64(number)), [.text: "a sentence of some length"])
            }
            journal.flush()
            file.synchronize()
            #expect(file.counts.writtenBytes > 512 * 1024)
            let result = try JournalReader.read(path: folder.path + "/j")
            #expect(result.brokenLines == [])
            #expect(result.events.map(\.sequence) == Array(1...6_000))
        }

        @Test func `a pipe that nobody reads is refused at once`() throws {
            let folder = try Folder(), path = folder.path + "/pipe", done = DispatchSemaphore(value: 0)
            try #require(mkfifo(path, 0o600) == 0)
            let failure = Mutex<JournalFileError?>(nil)
            Thread.detachNewThread {
                do throws(JournalFileError) { _ = try JournalFile(path: path) { _ in } } catch { failure.withLock { $0 = error } }
                done.signal()
            }
            let isRefused = done.wait(timeout: .now() + 20) == .success
            let reader = open(path, O_RDONLY | O_NONBLOCK)   // lets go who waits for one
            defer { close(reader) }
            #expect(isRefused && failure.withLock { $0 }?.description == "nobody reads it")
        }

        @Test func `a pipe whose reader stalls holds up nobody, keeps its name, and has whole lines behind the loss`() throws {
            let folder = try Folder(), path = folder.path + "/pipe"
            try #require(mkfifo(path, 0o600) == 0)
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            var settings = JournalFile.Settings(rotationBytes: 1_000)
            settings.retryPause = .zero
            let file = try JournalFile(path: path, settings: settings) { _ in }
            file.accept(Array("first\n".utf8))
            file.synchronize()
            file.accept([UInt8](repeating: 0x61, count: 1 << 20))
            file.synchronize()
            #expect(file.counts.lostBytes == 1 << 20)
            var piece = [UInt8](repeating: 0, count: 2 << 20)
            while read(reader, &piece, piece.count) > 0 {}
            file.accept(Array("next\n".utf8))
            file.synchronize()
            let count = read(reader, &piece, piece.count)
            #expect(String(decoding: piece[..<max(count, 0)], as: UTF8.self) == "\nnext\n")
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        }

        @Test func `a folder that is not there is an error that names it`() {
            #expect(throws: JournalFileError.self) { try JournalFile(path: "/nonexistent/j") { _ in } }
            #expect(throws: JournalFileError.self) { try JournalReader.read(path: "/nonexistent/j") }
        }
    }
}
