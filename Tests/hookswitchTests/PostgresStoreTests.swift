import CallKit
import Foundation
import Gateway
import Primitives
import Runtime
import Store
import Synchronization
import Testing

@testable import hookswitch

extension Databases {
    /// Gateways whose state is in a PostgreSQL that the tests start.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct PostgresStoreTests {
        private let postgres: PostgresServer

        init() throws { postgres = try PostgresServer.shared.get() }

        private func store(_ url: String, node: String = "a", recents: Int = 100) throws -> PostgresStore {
            PostgresStore(.init(try PostgresAddress(url), password: PostgresServer.password, node: node, recents: recents)) { _ in }
        }

        private func recent(_ number: Int, line: String = "1001", handle: String = "+39055") -> RecentCall {
            let began = Date(timeIntervalSince1970: 1_790_000_000.125 + Double(number * 60))
            return RecentCall(
                id: UUID(), line: line, direction: .incoming, handleType: .phoneNumber, handle: handle, name: nil, began: began,
                connected: nil,
                ended: began.addingTimeInterval(30), outcome: .missed, reason: "remoteEnded")
        }

        @Test func `registrations, Do Not Disturb, blocks and recents are there after a restart of the gateway`() throws {
            let database = try postgres.makeDatabase(), first = try SharedGateway(database.url, node: "a"),
                phone = try BarePhone(first.address)
            #expect(phone.register("1001") == 200)
            #expect(first.server.setDoNotDisturb(true, ofLine: "1002"))
            #expect(first.server.setBlocked(true, caller: CXHandle(type: .phoneNumber, value: "+39055123"), ofLine: "1001"))
            let caller = try BarePhone(first.address), asked = Mutex<Int?>(nil), done = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [caller = Unchecked(caller)] in
                let status = caller.value.call("1001")
                asked.withLock { $0 = status }
                done.signal()
            }
            #expect(phone.hearsCall())
            done.wait()
            #expect(asked.withLock(\.self) == 486)
            first.stop()

            let second = try SharedGateway(database.url, node: "a", address: first.address)
            defer { second.stop() }
            let line = try second.line("1001")
            #expect(line.devices.count == 1 && line.blocked.count == 1, "\(line)")
            #expect(second.server.isDoNotDisturbOn(ofLine: "1002") == true && second.server.isDoNotDisturbOn(ofLine: "1001") == false)
            #expect(second.server.recents(ofLine: "1001")?.map(\.outcome) == [.declined])
            let again = try BarePhone(second.address)
            Thread.detachNewThread { [again = Unchecked(again)] in _ = again.value.call("1001") }
            #expect(phone.hearsCall(), "the device is called without a new REGISTER")
        }

        @Test func `nothing is lost while the database is away, and calls go on`() throws {
            let database = try postgres.makeDatabase(), gateway = try SharedGateway(database.url, node: "a")
            let phone = try BarePhone(gateway.address), other = try BarePhone(gateway.address)
            #expect(phone.register("1001") == 200 && gateway.settles())
            postgres.stop()
            #expect(waits(20) { !gateway.figures.isUp }, "it sees that the connection is gone")
            #expect(other.register("1002") == 200, "it registers devices meanwhile")
            for isOn in [true, false, true, false, true] { _ = gateway.server.setDoNotDisturb(isOn, ofLine: "1001") }
            _ = gateway.server.setBlocked(true, caller: CXHandle(type: .phoneNumber, value: "+39055123"), ofLine: "1002")
            let caller = try BarePhone(gateway.address)
            Thread.detachNewThread { [caller = Unchecked(caller)] in _ = caller.value.call("1002") }
            #expect(other.hearsCall(), "it calls devices meanwhile")
            #expect(waits(10) { gateway.server.recents(ofLine: "1002")?.count == 1 })
            // Two of them are those of the legs that rang.
            #expect(gateway.figures.waiting == 6 && gateway.figures.lost == 0, "changes of a row are one: \(gateway.figures)")
            try postgres.start()
            #expect(gateway.settles())
            let rows = try postgres.query(
                database.name,
                "SELECT (SELECT string_agg(user_name, ',' ORDER BY 1) FROM registration), (SELECT string_agg(is_on::text, ',') FROM do_not_disturb), (SELECT count(*) FROM blocked), (SELECT string_agg(outcome, ',') FROM recent)"
            )
            #expect(rows == "1001,1002|true|1|declined")
            #expect(
                waits(10) { gateway.logged.count { $0.contains("can be used again; 6 changes have waited") } == 1 }, "\(gateway.logged)")
            gateway.stop()
            #expect(gateway.logged.count { $0.hasPrefix("error the database") } == 1, "\(gateway.logged)")
        }

        @Test func `a gateway that starts without its database serves, and takes what was kept when it is there`() throws {
            let database = try postgres.makeDatabase(), first = try SharedGateway(database.url, node: "a")
            let phone = try BarePhone(first.address)
            #expect(phone.register("1001") == 200)
            _ = first.server.setDoNotDisturb(true, ofLine: "1002")
            first.stop()
            postgres.stop()
            let second = try SharedGateway(database.url, node: "a", address: first.address), other = try BarePhone(second.address)
            defer { second.stop() }
            #expect(other.register("1001") == 200)
            #expect(try second.line("1001").devices.count == 1 && second.server.isDoNotDisturbOn(ofLine: "1002") == false)
            try postgres.start()
            #expect(try waits(30) { try second.line("1001").devices.count == 2 }, "the device of before and the one of meanwhile")
            #expect(second.server.isDoNotDisturbOn(ofLine: "1002") == true)
            #expect(second.settles())
            #expect(try postgres.query(database.name, "SELECT count(*) FROM registration") == "2")
        }

        @Test func `texts that would be SQL, have NUL, or are very long come back`() throws {
            let database = try postgres.makeDatabase(),
                long = String((0..<65_536).map { _ in Character(UnicodeScalar(UInt8.random(in: 48...122))) })
            let hostile = ["'; DROP TABLE blocked; --", "\\'\"$1%s{}", "ü☎\u{1F4DE}\u{0}x", long]
            do {
                let store = try store(database.url)
                #expect(try store.load() == KeptState())
                for text in hostile {
                    store.keep(.blocked(line: "1001", caller: text, true))
                    store.keep(.recent(recent(0, handle: text)))
                }
                store.keep(.registrations(user: "1001", [registration(contact: "<sip:1001@192.0.2.1;x=\(long)>")]))
                store.finish()
                #expect(store.figures.lost == 0)
            }
            let kept = try #require(try store(database.url).load())
            let expected = Set(hostile.map { $0.replacing("\0", with: "\u{FFFD}") })
            #expect(kept["1001"].blocked == expected)
            #expect(Set(kept["1001"].recents.map(\.handle)) == expected)
            #expect(kept.registrations.map(\.contact.utf8.count) == ["<sip:1001@192.0.2.1;x=\(long)>".utf8.count])
        }

        private func registration(_ user: String = "1001", contact: String, cseq: UInt32 = 1, at seconds: Double = 0) -> SavedRegistration {
            let refreshed = Date(timeIntervalSince1970: 1_790_000_000 + seconds)
            return SavedRegistration(
                user: user, contact: contact, path: "", transport: "udp", local: "127.0.0.1:5060", remote: "192.0.2.1:5060", userAgent: nil,
                callID: "c", cseq: cseq, refreshed: refreshed, expiry: Date(timeIntervalSinceNow: 3_600))
        }

        @Test func `two stores that write the registrations of one user keep each other's, and an old one takes nothing away`() throws {
            let database = try postgres.makeDatabase(), a = try store(database.url), b = try store(database.url, node: "b")
            #expect(try a.load() == KeptState() && b.load() == KeptState())
            let (x, y) = (registration(contact: "<sip:x@192.0.2.1>"), registration(contact: "<sip:y@192.0.2.2>"))
            a.keep(.registrations(user: "1001", [x]))
            b.keep(.registrations(user: "1001", [y]))
            a.finish()
            b.finish()
            #expect(try Set(store(database.url).load()?.registrations.map(\.contact) ?? []) == [x.contact, y.contact])
            // It was refreshed at the other meanwhile, and expires here.
            let refreshed = registration(contact: x.contact, cseq: 2, at: 60)
            b.keep(.registrations(user: "1001", [y, refreshed]))
            b.finish()
            a.keep(.registrations(user: "1001", []))
            a.finish()
            #expect(try Set(store(database.url).load()?.registrations.map(\.cseq) ?? []) == [1, 2])
        }

        @Test func `rows that are being written when the database dies are written when it is back`() throws {
            let database = try postgres.makeDatabase(), written = try store(database.url)
            _ = try written.load()
            for number in 0..<5_000 { written.keep(.blocked(line: "1001", caller: "\(number)", true)) }
            #expect(waits(30) { written.figures.waiting < 4_600 }, "some batches are done, and the next is under way")
            postgres.stop()
            #expect(waits(20) { !written.figures.isUp } && written.figures.waiting > 0)
            try postgres.start()
            #expect(waits(30) { written.figures.isUp && written.figures.waiting == 0 } && written.figures.lost == 0)
            #expect(try postgres.query(database.name, "SELECT count(*) FROM blocked") == "5000")
        }

        @Test func `only so many calls of a line are kept`() throws {
            let database = try postgres.makeDatabase(), first = try store(database.url, recents: 3), calls = (0..<5).map { recent($0) }
            _ = try first.load()
            for call in calls { first.keep(.recent(call)) }
            first.finish()
            #expect(try store(database.url).load()?["1001"].recents == calls.suffix(3).reversed())
        }

        @Test func `the recents of a line are trimmed once for a call, when it is over`() throws {
            let database = try postgres.makeDatabase(), kept = try store(database.url, recents: 1)
            _ = try kept.load()
            func rows() throws -> String {
                #expect(waits(10) { kept.figures.waiting == 0 })
                return try postgres.query(database.name, "SELECT count(*) FROM recent")
            }
            var calls = (0..<3).map { recent($0) }
            for index in calls.indices {
                calls[index].reason = RecentCall.gatewayKilled
                kept.keep(.recent(calls[index]))
                #expect(try rows() == "\(index + 1)", "they go on")
            }
            calls[2].reason = "remoteEnded"
            kept.keep(.recent(calls[2]))
            #expect(try rows() == "1")
            kept.finish()
        }

        @Test(arguments: [
            ("postgres://postgres@127.0.0.1:PORT/NAME", "wrong", "password authentication failed", 2),
            ("postgres://nobody@127.0.0.1:PORT/NAME", "x", "password authentication failed", 2),
            ("postgres://postgres@127.0.0.1:PORT/nosuch", PostgresServer.password, "database \"nosuch\" does not exist", 2),
            ("postgres://postgres@127.0.0.1:PORT/NAME?sslmode=require", PostgresServer.password, "SSL was required", 2),
            ("postgres://postgres@127.0.0.1:PORT/NAME?colour=red", PostgresServer.password, "invalid URI query parameter: \"colour\"", 2),
            ("postgres://postgres:hush@127.0.0.1:PORT/NAME", PostgresServer.password, "has a password in its URL", 2),
            ("postgres://postgres@127.0.0.1:PORT/NAME?password=hush", PostgresServer.password, "has a password in its URL", 2),
        ]) func `what is wrong with the database is one line without a password, and ends the start`(
            url: String, password: String, words: String, code: Int32
        ) throws {
            let database = try postgres.makeDatabase(), folder = try SoundFolder(), file = folder.path + "/password"
            try Data(password.utf8).write(to: URL(filePath: file))
            let place = url.replacing("PORT", with: "\(postgres.port)").replacing("NAME", with: database.name)
            let (line, status) = try failure(["data=\(place)", "data-password-file=\(file)"])
            #expect(
                line.contains(words) && !line.contains("\n") && !line.contains("hush") && !line.contains(PostgresServer.password), "\(line)"
            )
            #expect(status == code)
        }

        @Test func `tables of a later program are one line, and ends the start`() throws {
            let database = try postgres.makeDatabase(), folder = try SoundFolder(), file = folder.path + "/password"
            try Data(PostgresServer.password.utf8).write(to: URL(filePath: file))
            _ = try store(database.url).load()
            try postgres.query(database.name, "INSERT INTO schema_version (version) VALUES (99)")
            let (line, status) = try failure(["data=\(database.url)", "data-password-file=\(file)"])
            #expect(
                line
                    == "the database \(database.url): it was written by a later version of hookswitch: its tables have version 99, and this program knows 5"
            )
            #expect(status == 3)
        }

        /// The line that a start ends with.
        private func failure(_ flags: [String]) throws -> (String, Int32) {
            do {
                let configuration = try ConfigurationFile.load(nil, environment: [:], flags: flags)
                var settings = configuration.server
                try ServeStore.open(configuration, NoticeLog { _, _, _ in })?.restore(into: &settings, configuration.data.address)
            } catch let failure as Failure { return (failure.message, failure.exitCode) } catch let error as ConfigurationError {
                return (error.description, error.exitCode)
            }
            return ("it started", 0)
        }

        @Test(arguments: [
            ("./data", Optional("./data"), String?.none), ("a, b", "a, b", nil), ("postgres://u@h/d", nil, "postgres://u@h/d"),
            ("./data, postgresql://u@h1,h2/d?sslmode=require", "./data", "postgresql://u@h1,h2/d"),
            ("postgres://u@h/d, ./data", "./data", "postgres://u@h/d"),
        ]) func `data is a folder, a database, or both`(text: String, folder: String?, database: String?) throws {
            let configuration = try ConfigurationFile.load(nil, environment: [:], flags: ["data=\(text)"])
            #expect(configuration.dataFolder == folder && configuration.data.address?.description == database)
            #expect((configuration.databaseFile == nil) == (database != nil || folder == nil))
        }
    }
}

/// Used by one thread at a time.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
