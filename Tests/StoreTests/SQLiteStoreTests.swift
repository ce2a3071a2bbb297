import CallKit
import Foundation
import GRDB
import Gateway
import Primitives
import Synchronization
import Testing

@testable import Store

extension RealTime {
    @Suite struct SQLiteStoreTests {
        /// A folder for the database, gone with the test.
        final class Folder {
            let url = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID())")
            init() { try! FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
            deinit { try? FileManager.default.removeItem(at: url) }
            var path: String { url.appending(path: "hookswitch.sqlite").path }
        }

        final class Notices: Sendable {
            private let heard = Mutex<[SQLiteStore.Notice]>([])
            func take(_ notice: SQLiteStore.Notice) { heard.withLock { $0.append(notice) } }
            var all: [SQLiteStore.Notice] { heard.withLock { $0 } }
        }

        let folder = Folder()
        let notices = Notices()

        private func open(recents: Int = 100) throws -> SQLiteStore {
            let notices = notices
            return try SQLiteStore(path: folder.path, recents: recents) { notices.take($0) }
        }

        private func recent(_ number: Int, line: String = "1001", connected: Bool = true) -> RecentCall {
            let began = Date(timeIntervalSince1970: 1_790_000_000 + Double(number * 60))
            return RecentCall(
                id: UUID(), line: line, direction: number % 2 == 0 ? .incoming : .outgoing, handleType: .phoneNumber,
                handle: "+39\(number)",
                name: number % 3 == 0 ? nil : "Caller '\(number)'", began: began, connected: connected ? began.addingTimeInterval(5) : nil,
                ended: began.addingTimeInterval(30), outcome: connected ? .answered : .missed, reason: "remoteEnded")
        }

        private let registration = SavedRegistration(
            user: "1001", contact: "<sip:1001@192.0.2.1:5060;pn-prid=x>;+sip.instance=\"<urn:uuid:1>\"", path: "<sip:proxy@192.0.2.7;lr>",
            transport: "udp",
            local: "127.0.0.1:5060", remote: "192.0.2.1:5060", userAgent: "phone", callID: "abc", cseq: 7,
            refreshed: Date(timeIntervalSince1970: 1_790_000_000),
            expiry: Date(timeIntervalSince1970: 1_790_003_600))

        @Test func `what lines keep is there after the store was opened again`() throws {
            let paused = DoNotDisturbState(isOn: false, pausedUntil: Date(timeIntervalSince1970: 1_790_000_123))
            let push = PushBinding(
                provider: "acme", identifier: "token", parameter: nil, keptUntil: Date(timeIntervalSince1970: 1_790_999_999),
                device: "<urn:uuid:1>")
            let calls = (0..<4).map { recent($0, connected: $0 != 2) }
            do {
                let store = try open()
                for call in calls { store.keep(.recent(call)) }
                store.keep(.doNotDisturb(line: "1001", DoNotDisturbState(isOn: true)))
                store.keep(.doNotDisturb(line: "1001", paused))
                store.keep(.doNotDisturb(line: "1002", DoNotDisturbState(isOn: true)))
                for caller in ["39055", "sip:x@y", "39055"] { store.keep(.blocked(line: "1001", caller: caller, true)) }
                store.keep(.blocked(line: "1001", caller: "sip:x@y", false))
                store.keep(.pushBindings(line: "1001", [push]))
                store.keep(.registrations(user: "1001", [registration, registration]))
                store.keep(.registrations(user: "1001", [registration]))
                store.keep(.registrations(user: "1002", [registration]))
                store.keep(.registrations(user: "1002", []))
                store.synchronize()
            }
            let kept = try open().load()
            #expect(kept["1001"].recents == calls.reversed())
            #expect(kept["1001"].doNotDisturb == paused && kept["1002"].doNotDisturb == DoNotDisturbState(isOn: true))
            #expect(kept["1001"].blocked == ["39055"] && kept["1001"].pushBindings == [push])
            #expect(kept.registrations == [registration])
            #expect(notices.all.isEmpty)
        }

        @Test func `of the recents of a line only the newest are kept`() throws {
            let store = try open(recents: 3)
            let calls = (0..<8).map { recent($0) }
            for call in calls { store.keep(.recent(call)) }
            store.keep(.recent(recent(0, line: "1002")))
            store.synchronize()
            let kept = try open(recents: 100).load()
            #expect(kept["1001"].recents == [calls[7], calls[6], calls[5]])
            #expect(kept["1002"].recents.count == 1)
        }

        @Test func `what is kept again is there once, and what is no recent call after all is not there`() throws {
            let store = try open(), calls = (0..<2).map { recent($0) }
            var over = calls[0]
            over.reason = "remoteEnded"
            for call in calls + [over] { store.keep(.recent(call)) }
            store.keep(.noRecent(line: "1001", id: calls[1].id, calls[1].direction))
            store.keep(.noRecent(line: "1002", id: over.id, over.direction))
            store.synchronize()
            #expect(try open().load()["1001"].recents == [over])
        }

        @Test func `messages of mailboxes are kept, the newest first, and removed`() throws {
            let store = try open()
            func message(_ minute: Double, line: String = "1900", name: String? = nil) -> MailboxMessage {
                MailboxMessage(
                    id: UUID(), line: line, caller: "+39 'x'", name: name, called: "1900",
                    received: Date(timeIntervalSince1970: 1_790_000_000 + minute * 60), duration: 3.02, path: "mailbox/\(minute).wav")
            }
            var messages = [message(3, name: "Alice"), message(1), message(2), message(1, line: "1901")]
            for message in messages { store.keep(.message(message)) }
            messages[1].isHeard = true
            store.keep(.message(messages[1]))
            store.keep(.noMessage(line: "1900", id: messages[2].id))
            store.keep(.noMessage(line: "1900", id: messages[3].id))
            store.synchronize()
            let kept = try open().load()
            #expect(kept["1900"].messages == [messages[0], messages[1]] && kept["1901"].messages == [messages[3]])
        }

        @Test func `the file is for its owner alone`() throws {
            _ = try open()
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }

        @Test func `keeping returns at once, whatever the disk does, and synchronize waits`() throws {
            let store = try open()
            let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? store.database.write { _ in
                    entered.signal()
                    go.wait()
                }
            }
            entered.wait()
            // The database is taken: were this to write, it would never come back.
            for number in 0..<1_000 { store.keep(.recent(recent(number))) }
            go.signal()
            store.synchronize()
            #expect(try store.load()["1001"].recents.count == 100)
        }

        // MARK: What is broken

        @Test func `a file that is no database is one clear line`() throws {
            try Data("this is not a database, and it is long enough to be looked at as one ..........................".utf8).write(
                to: URL(filePath: folder.path))
            let error = try #require(throws: SQLiteStore.OpenError.self) { try open() }
            #expect(error.description == "the database \(folder.path): file is not a database")
        }

        @Test func `the database of a later version is left alone, in one clear line`() throws {
            try open().database.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('of tomorrow')") }
            let error = try #require(throws: SQLiteStore.OpenError.self) { try open() }
            #expect(error.description == "the database \(folder.path): it was written by a later version of hookswitch")
        }

        @Test func `a folder that is not there is one clear line`() throws {
            let error = try #require(throws: SQLiteStore.OpenError.self) { try SQLiteStore(path: "/nowhere/x.sqlite", recents: 1) { _ in } }
            #expect(error.description == "the database /nowhere/x.sqlite: unable to open database file")
        }

        @Test func `a full disk is told once, counted, and over when there is room again`() throws {
            let store = try open()
            // As full as SQLite can make it: no page more than there are.
            try store.database.write { try $0.execute(sql: "PRAGMA max_page_count = 1") }
            let long = String(repeating: "x", count: 20_000)
            for _ in 0..<3 {
                for number in 0..<10 { store.keep(.blocked(line: "1001", caller: "\(number)\(long)", true)) }
                store.synchronize()
            }
            #expect(store.lost >= 20)
            #expect(notices.all == [.failing("database or disk is full")])
            try store.database.write { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
            let lost = store.lost
            store.keep(.doNotDisturb(line: "1001", DoNotDisturbState(isOn: true)))
            store.synchronize()
            #expect(notices.all == [.failing("database or disk is full"), .recovered(lost: lost)])
            #expect(try store.load()["1001"].doNotDisturb?.isOn == true)
        }
    }
}
