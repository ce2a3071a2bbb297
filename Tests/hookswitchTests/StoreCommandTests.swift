import ArgumentParser
import CallKit
import Foundation
import Gateway
import Primitives
import Store
import Testing

@testable import hookswitch

extension Databases {
    /// `hookswitch store`, between a folder and a database.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct StoreCommandTests {
        private let postgres: PostgresServer
        private let folder: SoundFolder

        init() throws {
            postgres = try PostgresServer.shared.get()
            folder = try SoundFolder()
            try Data(PostgresServer.password.utf8).write(to: URL(filePath: folder.path + "/password"))
        }

        private func run(_ words: String...) throws {
            var command = try Hookswitch.parseAsRoot(["store"] + words)
            try command.run()
        }

        private func options(_ place: String) -> [String] {
            PostgresAddress.isMeant(by: place) ? ["--data", place, "--password-file", folder.path + "/password"] : ["--data", place]
        }

        private func place(_ place: String) throws -> StorePlace { try StoreOptions.parse(options(place)).place() }

        private func kept(_ text: String) throws -> KeptState? {
            if case .kept(let kept) = try place(text).read(migrating: false) { kept } else { nil }
        }

        private var changes: [LineChange] {
            let time = Date(timeIntervalSince1970: 1_790_000_000.125)
            let calls: [LineChange] = (0..<3).map { (number: Int) -> LineChange in
                let connected: Date? = number == 1 ? time + 1 : nil, name: String? = number == 0 ? nil : "N"
                return .recent(
                    RecentCall(
                        id: UUID(), line: "1001", direction: .outgoing, handleType: .generic, handle: "sip:'x\"@y", name: name, began: time,
                        connected: connected, ended: time + TimeInterval(number + 2), outcome: .failed, reason: "r"))
            }
            let saved = SavedRegistration(
                user: "1001", contact: "<sip:1001@192.0.2.1>;+sip.instance=\"<urn:uuid:1>\"", path: "<sip:p;lr>, <sip:q;lr>",
                transport: "tls",
                local: "127.0.0.1:5061", remote: "192.0.2.1:5060", userAgent: "phone", callID: "c", cseq: .max, refreshed: time,
                expiry: time + 3_600)
            let push = PushBinding(provider: "acme", identifier: "token", parameter: "p", keptUntil: time + 9, device: "<urn:uuid:1>")
            let others: [LineChange] = [
                .doNotDisturb(line: "1001", DoNotDisturbState(isOn: false, pausedUntil: time)),
                .blocked(line: "1002", caller: "39055", true),
                .pushBindings(line: "1002", [push]), .registrations(user: "1001", [saved]),
                .message(
                    MailboxMessage(
                        id: UUID(), line: "1900", caller: "+39055", name: nil, called: "1900", received: time, duration: 2.5, path: "/m.wav"
                    )),
            ]
            return calls + others
        }

        @Test func `what a folder has is in the database after export and import, and comes back the same`() throws {
            let database = try postgres.makeDatabase(), file = folder.path + "/state.json"
            let (first, second) = (folder.path + "/first", folder.path + "/second")
            try run("migrate", "--data", first)
            try place(first).write(changes)
            let before = try #require(try kept(first))
            try run("export", file, "--data", first)
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            try run("import", file, "--node", "a", "--data", database.url, "--password-file", folder.path + "/password")
            #expect(try postgres.query(database.name, "SELECT user_name, cseq, node FROM registration") == "1001|4294967295|a")
            var between = try #require(try kept(database.url))
            let elsewhere = between.registrations.map(\.isElsewhere)
            #expect(elsewhere == [true], "of the node a, which the reader is not")
            for index in between.registrations.indices { between.registrations[index].isElsewhere = false }
            #expect(between == before, "\(between)")
            try run("export", file, "--data", database.url, "--password-file", folder.path + "/password")
            try run("import", file, "--data", second)
            #expect(try kept(second) == before)
            let report = StoreReport("x", before)
            let numbers: [Int] = [
                report.recents, report.registrations, report.pushBindings, report.doNotDisturb, report.blocked, report.messages,
            ]
            #expect(numbers == [3, 1, 1, 1, 1, 1])
        }

        @Test func `check changes nothing, and migrate makes the tables`() throws {
            let database = try postgres.makeDatabase(), words = options(database.url)
            let check = try #require(try Hookswitch.parseAsRoot(["store", "check"] + words) as? StoreCheck)
            #expect(throws: ExitCode(.bad)) { try check.run() }
            #expect(try postgres.query(database.name, "SELECT to_regclass('schema_version') IS NULL") == "t")
            guard case .otherVersion(.earlier, let fault) = try place(database.url).read(migrating: false) else {
                return #expect(Bool(false))
            }
            #expect(fault == "its tables have version 0, and those of this program 5: 'hookswitch store migrate' brings them up to date")
            try run("migrate", "--data", database.url, "--password-file", folder.path + "/password")
            try check.run()
            try postgres.query(database.name, "INSERT INTO schema_version (version) VALUES (99)")
            #expect(throws: ExitCode(.bad)) { try check.run() }
            let failure = #expect(throws: Failure.self) { try place(database.url).read(migrating: true) }
            #expect(failure?.exitCode == 3 && failure?.message.contains("a later version of hookswitch") == true)
        }

        @Test func `the doctor reads the database, and says what keeps a gateway from it`() throws {
            let database = try postgres.makeDatabase()
            func finding(_ url: String) throws -> DoctorReport.Finding {
                let settings = ["data=\(url)", "data-password-file=\(folder.path)/password"]
                let configuration = try ConfigurationFile.load(nil, environment: [:], flags: settings)
                let findings = Examination(configuration, .here).all(nil).filter { $0.subject == "database" }
                #expect(findings.count == 1)
                return try #require(findings.first)
            }
            let fresh = try finding(database.url)
            #expect(fresh.grade == .note && fresh.text.contains("store migrate"), "\(fresh)")
            try run("migrate", "--data", database.url, "--password-file", folder.path + "/password")
            let good = try finding(database.url)
            #expect(good.grade == .good && good.text.contains("/\(database.name) was read in"), "\(good)")
            try postgres.query(database.name, "INSERT INTO schema_version (version) VALUES (99)")
            let later = try finding(database.url)
            #expect(later.grade == .bad && later.text.contains("a later version of hookswitch"), "\(later)")
            let away = try finding("postgres://u@127.0.0.1:1/x")
            #expect(away.grade == .bad && away.text.contains("127.0.0.1:1"), "\(away)")
            #expect(away.remedy?.contains("starts, and serves") == true)
            try Data("another".utf8).write(to: URL(filePath: folder.path + "/password"))
            let refused = try finding(database.url)
            #expect(refused.grade == .bad && refused.text.contains("password"), "\(refused)")
            #expect(refused.remedy == "a start ends with this line")
            #expect(![fresh, good, later, away].contains { $0.text.contains(PostgresServer.password) })
        }

        @Test func `each fault is one line with its exit code`() throws {
            let file = folder.path + "/state.json", gone = "postgres://u@127.0.0.1:1/x"
            func failure(_ words: String...) -> Failure? {
                #expect(throws: Failure.self) {
                    var command = try Hookswitch.parseAsRoot(["store"] + words)
                    try command.run()
                }
            }
            #expect(failure("check", "--data", folder.path)?.message == "there is no \(folder.path)/hookswitch.sqlite")
            #expect(
                failure("check", "--data", gone)?.message
                    == "the database \(gone): connection to server at \"127.0.0.1\", port 1 failed: Connection refused")
            try Data("no".utf8).write(to: URL(filePath: file))
            let unread = failure("import", file, "--data", folder.path)
            #expect(unread?.message == "'\(file)' is nothing that 'hookswitch store export' has printed" && unread?.exitCode == 2)
            var later = StoreDocument(KeptState())
            later.form = 2
            try JSONEncoder().encode(later).write(to: URL(filePath: file))
            #expect(failure("import", file, "--data", folder.path)?.message == "'\(file)' was exported by a later version of hookswitch")
            let claim = try LockFile(folder.path)
            try withExtendedLifetime(claim) {
                try JSONEncoder().encode(StoreDocument(KeptState())).write(to: URL(filePath: file))
                #expect(
                    failure("import", file, "--data", folder.path)?.message == "the folder \(folder.path) is in use by another hookswitch")
            }
        }
    }
}
